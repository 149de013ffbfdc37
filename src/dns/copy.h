/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DNS_COPY_H
#define NAILUP_DNS_COPY_H

/*
 * Copies chosen records of a parsed message into one being built: owner and RDATA names are
 * decompressed and compressed anew where RFC 3597 section 4 allows it, malformed RDATA is refused.
 * So what leaves here is sound whatever came in. No allocation.
 *
 *   struct copy copy;
 *   copy_init(&copy, &build, &message);
 *   ... if (!copy_rr(&copy, &rr, rr.ttl)) refuse the message
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "dns/build.h"
#include "dns/message.h"

enum { COPY_PLACES = 32 }; /* names whose new place is remembered, by their old one */

/* One message's copying; lives on the caller's stack while both message and build do. */
struct copy {
    struct build *to;
    const struct message *from;
    struct {
        uint16_t from, to; /* offsets of the same name in both */
    } places[COPY_PLACES];
    uint32_t rollbacks; /* of the build when the places were right */
    uint32_t used;      /* a bit for each place: cheaper to clear than they are */
};

/* to must have its header and question, if any, written; from has parsed OK. */
void copy_init(struct copy *copy, struct build *to, const struct message *from);

/* Appends rr with this TTL to the build's current section. False when the RDATA is malformed:
 * nothing is then written. A lack of room is the build's overflow; build_rollback() is allowed
 * between records. Not for OPT (MUST). */
MUST_USE bool copy_rr(struct copy *copy, const struct rr *rr, uint32_t ttl);

#endif
