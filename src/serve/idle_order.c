/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Keeps idle sessions sorted by the time they became idle. session.c decides which sessions are
 * idle.
 * Invariant: an entry is in both lists or in none, and each list is sorted by since_at.
 */
#include "serve/idle_order.h"

#include "base/check.h"

void idle_order_init(struct idle_order *order)
{
    list_init(&order->all);
    for (size_t i = 0; i < IDLE_BUCKETS; i++)
        list_init(&order->buckets[i]);
}

void idle_entry_init(struct idle_entry *entry)
{
    *entry = (struct idle_entry){0};
    list_init(&entry->all);
    list_init(&entry->bucket);
}

void idle_order_put(struct idle_order *order, struct idle_entry *entry, uint64_t client,
                    uint64_t now)
{
    entry->since_at = now;
    entry->client = client;
    idle_order_move_last(order, entry);
}

void idle_order_move_last(struct idle_order *order, struct idle_entry *entry)
{
    idle_order_remove(entry);
    list_append(&order->all, &entry->all);
    list_append(&order->buckets[entry->client % IDLE_BUCKETS], &entry->bucket);
}

void idle_order_remove(struct idle_entry *entry)
{
    list_remove(&entry->all);
    list_remove(&entry->bucket);
}

struct idle_entry *idle_order_longest(const struct idle_order *order, uint64_t at)
{
    struct list *node = list_first(&order->all);
    struct idle_entry *longest = node ? LIST_ITEM(node, struct idle_entry, all) : NULL;
    return longest && longest->since_at <= at ? longest : NULL;
}

struct idle_entry *idle_order_longest_of(const struct idle_order *order, uint64_t client,
                                         uint64_t at)
{
    LIST_EACH(node, &order->buckets[client % IDLE_BUCKETS])
    {
        struct idle_entry *entry = LIST_ITEM(node, struct idle_entry, bucket);
        if (entry->since_at > at)
            return NULL;
        if (entry->client == client)
            return entry;
    }
    return NULL;
}
