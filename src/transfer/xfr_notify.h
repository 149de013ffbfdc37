/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TRANSFER_XFR_NOTIFY_H
#define NAILUP_TRANSFER_XFR_NOTIFY_H

/*
 * NOTIFY messages (RFC 1996): a primary says that a zone has changed. Pure; the caller checks the
 * signature and whether the sender may notify.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/span.h"
#include "dns/name.h"

struct xfr_notify {
    uint16_t id;
    uint8_t zone_wire[NAME_WIRE_MAX];
    uint8_t zone_len;
    bool has_serial; /* section 3.7: a hint, which may be old */
    uint32_t serial;
    bool has_tsig;
};

/* Reads a NOTIFY of type SOA and class IN. Returns false for every other message. */
MUST_USE bool xfr_notify_read(struct xfr_notify *out, struct span message);

static inline struct name xfr_notify_zone(const struct xfr_notify *notify)
{
    return (struct name){.wire = notify->zone_wire, .len = notify->zone_len};
}

enum { XFR_NOTIFY_REPLY_MAX = 12 + NAME_WIRE_MAX + 4 };

/* Writes the reply: the question of the NOTIFY and this rcode. Returns its length. */
size_t xfr_notify_reply(const struct xfr_notify *notify, uint16_t rcode,
                        uint8_t out[XFR_NOTIFY_REPLY_MAX]);

#endif
