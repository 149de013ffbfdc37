/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_REPLY_TSIG_H
#define NAILUP_SERVE_REPLY_TSIG_H

/*
 * The TSIG record for a client whose key we do not know: unsigned, with the error BADKEY (RFC 8945
 * sections 5.2.1 and 5.3.2). Pure.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/span.h"

/* The length of that record for a query that message_parse() has found sound and signed. 0: the
 * TSIG record of the query is malformed, so none goes back. */
size_t reply_tsig_len(struct span query);

/* Writes the record and returns its end. */
uint8_t *reply_tsig_write(struct span query, uint8_t *at);

#endif
