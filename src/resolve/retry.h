/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_RETRY_H
#define NAILUP_RESOLVE_RETRY_H

/*
 * Refreshes that failed: after a rest the answer is due again, so that one bad moment of a server
 * does not let a popular answer end. In a queue, since all rest equally long. One worker's.
 */

#include <stdint.h>

#include "base/units.h"
#include "cache/key.h"
#include "loop/timer.h"

struct cache;
struct loop;

enum { RETRIES_MAX = 64 }; /* those above it are asked for when their time is over */

/* As RFC 8767 section 5 has it for servers that failed. */
#define RETRY_REST_US (30 * US_PER_S)

struct retry {
    struct cache_key key;
    uint64_t due_at;
};

struct retries {
    struct loop *loop;
    struct cache *cache;
    struct timer timer;
    unsigned first, count;
    struct retry retry[RETRIES_MAX];
};

void retries_init(struct retries *retries, struct loop *loop, struct cache *cache);
void retries_deinit(struct retries *retries);

/* The refresh of this key failed now. */
void retries_note(struct retries *retries, const struct cache_key *key);

#endif
