/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_REPLY_TSIG_H
#define NAILUP_SERVE_REPLY_TSIG_H

/*
 * The TSIG record that tells a client we do not know its key: unsigned, error BADKEY (RFC 8945
 * sections 5.2.1 and 5.3.2). Pure.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/span.h"

/* Bytes of that record for a query that message_parse() has found sound and signed; 0 when the
 * query's own TSIG record makes no sense, so that none goes back. */
size_t reply_tsig_len(struct span query);

/* Writes it and returns the place after it. */
uint8_t *reply_tsig_write(struct span query, uint8_t *at);

#endif
