/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DNS_RECORD_TEXT_H
#define NAILUP_DNS_RECORD_TEXT_H

/*
 * What ldns takes in a line of a zone file and an operator cannot have meant where a line stands
 * for itself, without a zone and without a line before it. Pure.
 */

/* NULL: nothing. Else what is wrong and what to do, static text, to follow "the record" or "it". */
const char *record_text_fault(const char *line);

#endif
