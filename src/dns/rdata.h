/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DNS_RDATA_H
#define NAILUP_DNS_RDATA_H

/* Splits RDATA by the layout of its type, for checking and copying. Pure. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "dns/message.h"
#include "dns/rrtype.h"

/* The place of the names. Offsets count from the header. */
struct rdata_parts {
    const struct rrtype_layout *layout; /* NULL: opaque, without names */
    uint16_t names_offset;              /* after the fixed bytes and strings */
    uint16_t tail_offset;               /* after the names */
};

/* Returns false when the RDATA does not have the shape of its type: see message_check_rr(). */
MUST_USE bool rdata_split(const struct message *message, const struct rr *rr,
                          struct rdata_parts *out);

/* Splits RDATA of class IN that has no pointers and no message around it; the offsets count from
 * its start. Returns false when it does not have the shape of its type, or exceeds 65535 bytes. */
MUST_USE bool rdata_split_plain(uint16_t type, struct span rdata, struct rdata_parts *out);

/* Writes the RDATA with its names uncompressed and in their case. Returns the length, or 0 when it
 * is malformed, empty or does not fit. */
MUST_USE size_t rdata_expand(const struct message *message, const struct rr *rr, uint8_t *out,
                             size_t max);

#endif
