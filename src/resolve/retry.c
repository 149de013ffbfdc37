/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Invariant: the timer is armed for the first retry of the queue, and only when there is one. */
#include "resolve/retry.h"

#include "base/check.h"
#include "cache/cache.h"
#include "loop/loop.h"

static void retry_on_due(struct timer *timer)
{
    struct retries *retries = CONTAINER_OF(timer, struct retries, timer);
    uint64_t now = loop_now(retries->loop);
    cache_read_begin();
    while (retries->count && retries->retry[retries->first].due_at <= now) {
        cache_unclaim(retries->cache, &retries->retry[retries->first].key);
        retries->first = (retries->first + 1) % RETRIES_MAX;
        retries->count--;
    }
    cache_read_end();
    if (retries->count)
        timer_start(retries->loop, timer, retries->retry[retries->first].due_at);
}

void retries_init(struct retries *retries, struct loop *loop, struct cache *cache)
{
    retries->loop = loop;
    retries->cache = cache;
    retries->first = retries->count = 0;
    timer_init(&retries->timer, retry_on_due);
}

void retries_deinit(struct retries *retries)
{
    timer_stop(&retries->timer);
}

void retries_note(struct retries *retries, const struct cache_key *key)
{
    if (retries->count == RETRIES_MAX)
        return;
    struct retry *last = &retries->retry[(retries->first + retries->count++) % RETRIES_MAX];
    *last = (struct retry){*key, loop_now(retries->loop) + RETRY_REST_US};
    if (retries->count == 1)
        timer_start(retries->loop, &retries->timer, last->due_at);
}
