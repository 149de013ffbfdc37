/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DNS_RECORD_TEXT_H
#define NAILUP_DNS_RECORD_TEXT_H

/*
 * Finds faults that ldns accepts in a line of a zone file. They have no meaning in a single line,
 * which has no zone and no line before it. Pure.
 */

/* Returns NULL, or the fault and its remedy: static text that follows "the record" or "it". */
const char *record_text_fault(const char *line);

#endif
