/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DNS_COPY_H
#define NAILUP_DNS_COPY_H

/*
 * Copies records of a parsed message into a new one. Names in owners and RDATA are decompressed,
 * and compressed again where RFC 3597 section 4 allows it. Malformed RDATA is refused, so each copy
 * is sound. No allocation.
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

enum { COPY_PLACES = 32 }; /* names whose new offset is remembered */

/* The copying of one message. It lives on the caller's stack, no longer than message and build. */
struct copy {
    struct build *to;
    const struct message *from;
    struct {
        uint16_t from, to; /* offsets of the same name in both */
    } places[COPY_PLACES];
    uint32_t rollbacks; /* the build's rollbacks when the places were valid */
    uint32_t used;      /* a bit for each valid place; cheaper to clear than the places */
};

/* The header and the question of `to` have been written; `from` has been parsed with MESSAGE_OK. */
void copy_init(struct copy *copy, struct build *to, const struct message *from);

/* Appends rr with this TTL to the current section of the build. Returns false and writes nothing
 * when the RDATA is malformed. A lack of room sets the build's overflow. build_rollback() is
 * allowed between records. rr is not OPT (MUST). */
MUST_USE bool copy_rr(struct copy *copy, const struct rr *rr, uint32_t ttl);

#endif
