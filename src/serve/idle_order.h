/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_IDLE_ORDER_H
#define NAILUP_SERVE_IDLE_ORDER_H

/*
 * Keeps idle sessions in the order in which they became idle, for all clients and for each client
 * (client_prefix.h). It finds the session that closes when a new client finds no place. One a
 * worker, one thread; it allocates nothing.
 */

#include <stdint.h>

#include "base/list.h"

enum { IDLE_BUCKETS = 1024 };

/* Embedded by its session; initialised by idle_entry_init(). */
struct idle_entry {
    uint64_t client; /* server_quota_client() */
    uint64_t since_at;
    struct list all;
    struct list bucket;
};

struct idle_order {
    struct list all;                   /* the longest idle first, as in the buckets */
    struct list buckets[IDLE_BUCKETS]; /* by client */
};

void idle_order_init(struct idle_order *order);
void idle_entry_init(struct idle_entry *entry);

/* Adds a session that is idle from now on. Its idle time begins. */
void idle_order_put(struct idle_order *order, struct idle_entry *entry, uint64_t client,
                    uint64_t now);

/* Only for idle_order_touch(). */
void idle_order_move_last(struct idle_order *order, struct idle_entry *entry);

/* Restarts the idle time of a session that is idle. Inline for bursts of queries of one session. */
static inline void idle_order_touch(struct idle_order *order, struct idle_entry *entry,
                                    uint64_t now)
{
    entry->since_at = now;
    if (list_is_linked(&entry->all) && entry->all.next != &order->all)
        idle_order_move_last(order, entry);
}

/* Removes a session that is no longer idle. Does nothing if it was not idle. */
void idle_order_remove(struct idle_entry *entry);

static inline bool idle_entry_is_idle(const struct idle_entry *entry)
{
    return list_is_linked(&entry->all);
}

/* The session that has been idle for the longest time, if it became idle at this instant or before;
 * else NULL. */
struct idle_entry *idle_order_longest(const struct idle_order *order, uint64_t at);
struct idle_entry *idle_order_longest_of(const struct idle_order *order, uint64_t client,
                                         uint64_t at);

#endif
