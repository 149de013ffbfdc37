/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DNS_RDATA_H
#define NAILUP_DNS_RDATA_H

/* RDATA taken apart as the layout of its type says, for checking and copying. Pure. */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "dns/message.h"
#include "dns/rrtype.h"

/* Where the names stand; offsets count from the header. */
struct rdata_parts {
    const struct rrtype_layout *layout; /* NULL: opaque, all of it is head */
    uint16_t names_offset;              /* after the fixed bytes and strings */
    uint16_t tail_offset;               /* after the names */
};

/* False when the RDATA does not have the shape of its type (message_check_rr() says how). */
MUST_USE bool rdata_split(const struct message *message, const struct rr *rr,
                          struct rdata_parts *out);

#endif
