/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_SCRUB_H
#define NAILUP_RESOLVE_SCRUB_H

/*
 * What of a response is kept: written anew as an answer ready to send (cache/answer.h).
 *
 * Kept are the aliases of one chain, the records asked for at its end, for a negative answer the
 * zone's SOA (not that of a zone above, which limits its life all the same), with DO their
 * signatures and the proofs of absence (NSEC, NSEC3), where answers are not minimal the zone's NS
 * records and the addresses that kept records point to, and those of name servers that were asked
 * for. All of it is owned by names that the
 * asked zone owns; everything else is dropped.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "cache/answer.h"
#include "cache/cache.h"
#include "cache/compose.h"
#include "dns/message.h"
#include "dns/question.h"
#include "resolve/classify.h"
#include "resolve/private_addrs.h"

struct zone;

struct scrub_rules {
    const struct zone *zone;      /* whose servers answered */
    const struct cache *cache;    /* bounds of TTLs */
    struct private_addrs private; /* addresses that are taken out */
    bool dnssec_ok;
    bool minimal_responses;
    uint64_t now; /* us: when it came */
};

/*
 * Writes the answer into space and *out, which borrows from it. response is classify()'s of this
 * message, of a useful kind (MUST); question has its name in lower case. TTLs are those of their
 * RRset's least (RFC 2181 section 5.2) within the cache's bounds; ttl_s is the least of all, and 0
 * for a negative answer without SOA (RFC 2308 section 5) and where the zone's answers are not kept.
 * Where all the records asked for have private addresses it is an answer without data, and says so
 * (EDE Blocked); its life is that of the records.
 * False when the message would not come out whole: then it is of no use.
 */
MUST_USE bool scrub(struct answer *out, struct compose_space *space, const struct message *message,
                    const struct question *question, const struct response *response,
                    const struct scrub_rules *rules);

#endif
