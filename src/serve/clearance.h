/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_CLEARANCE_H
#define NAILUP_SERVE_CLEARANCE_H

/*
 * Remembers the queries and cached answers that no rule of the response policy concerns, so that a
 * worker searches the rules once and not for each hit. It is a table without chains: a later query
 * displaces an earlier one, and nothing else is lost. The hashes of the keys have a secret seed: a
 * client cannot aim at a slot, and cannot make two queries look alike.
 *
 * One per worker, on its thread. Only a worker with a policy touches its memory.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "cache/answer.h"
#include "cache/key.h"

/* 512 KiB for each worker. A power of two. */
enum { CLEARANCE_SLOTS = 1 << 15 };

struct clearance_slot {
    uint64_t query;  /* no rule is about this query */
    uint64_t answer; /* and about this answer to it */
};

struct clearance {
    uint64_t salt; /* of the policy: with another one, nothing in the table counts */
    struct clearance_slot *slots;
};

/* False: out of memory. */
MUST_USE bool clearance_init(struct clearance *clearance);
void clearance_deinit(struct clearance *clearance);

/* Follows a change of the policy or of the choice of its zones. */
void clearance_forget(struct clearance *clearance);

static inline struct clearance_slot *clearance_slot(const struct clearance *clearance,
                                                    const struct cache_key *key)
{
    return &clearance->slots[key->hash % CLEARANCE_SLOTS];
}

/* except: the zones of the policy that do not apply (rpz/rpz_policy.h). */
static inline uint64_t clearance_of_query(const struct clearance *clearance,
                                          const struct cache_key *key, uint32_t except)
{
    return (key->hash ^ clearance->salt) + except * UINT64_C(0x9E3779B97F4A7C15);
}

/* A newer answer has another place in memory or another time. Two that were made in one turn may
 * have both in common: local data of two views has one key and one buffer. So an answer is not
 * noted in the turn that made it. */
static inline uint64_t clearance_of_answer(uint64_t query, const struct answer *answer)
{
    return query + answer->stored_at * UINT64_C(0xD6E8FEB86659FD93) +
           (uintptr_t)answer->message.data * UINT64_C(0xA0761D6478BD642F) + answer->message.len;
}

#endif
