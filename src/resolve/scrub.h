/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_SCRUB_H
#define NAILUP_RESOLVE_SCRUB_H

/*
 * Writes the useful part of a response as an answer ready to send (cache/answer.h).
 *
 * It keeps the aliases of one chain and the records asked for at its end; for a negative answer the
 * zone's SOA (the SOA of a zone above is dropped but limits the life); with DO the signatures and
 * the proofs of absence and of wildcards (NSEC, NSEC3). Where answers are not minimal it also keeps
 * the zone's NS records, the addresses that kept records point to, and proofs that prove nothing
 * about this answer. All owners belong to the asked zone; everything else is dropped.
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

struct rrsets;
struct validation;
struct verdict;
struct zone;

struct scrub_rules {
    const struct zone *zone;      /* of the servers that answered */
    const struct cache *cache;    /* bounds of TTLs */
    struct private_addrs private; /* that are removed */
    bool dnssec_ok;
    bool minimal_responses;
    bool is_trust; /* for a validation: of the signatures of a validated message, only the verified
                      ones stay */
    uint64_t now;  /* us: when the message came */
    /* The verdict about a validated message, which is not bogus, and the state of its validation.
     * NULL: it was not validated. */
    const struct verdict *verdict;
    const struct validation *validation;
    const struct rrsets *sets; /* validation_sets() */
};

/*
 * Writes the answer into space and *out, which borrows from it. response is classify()'s of this
 * message and of a useful kind (MUST); the QNAME is in lower case. Each RRset gets its lowest TTL
 * (RFC 2181 section 5.2) within the cache's bounds. ttl_s is the lowest of all, and 0 for a
 * negative answer without SOA (RFC 2308 section 5) and for a zone whose answers are not kept. Where
 * all records asked for have private addresses, the answer has no data and says so (EDE Blocked);
 * it lives as long as the records. A secure answer has AD and only authority records that were
 * verified, and no record outlives its signature. It is merely insecure where a record was removed.
 * False: the message does not come out whole and is useless.
 */
MUST_USE bool scrub(struct answer *out, struct compose_space *space, const struct message *message,
                    const struct question *question, const struct response *response,
                    const struct scrub_rules *rules);

#endif
