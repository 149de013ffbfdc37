/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_RETRY_H
#define NAILUP_RESOLVE_RETRY_H

/*
 * Refreshes that failed. Each becomes due again after a rest, so that one bad moment of a server
 * does not let a popular answer expire. All rest for the same time, so a queue is enough. One
 * worker's.
 */

#include <stdint.h>

#include "base/units.h"
#include "cache/key.h"
#include "loop/timer.h"

struct cache;
struct loop;

enum { RETRIES_MAX = 64 }; /* beyond this, an answer is resolved again only after it has expired */

/* RFC 8767 section 5 gives this rest to servers that failed. */
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

/* Notes that the refresh of this key has just failed. */
void retries_note(struct retries *retries, const struct cache_key *key);

#endif
