/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * A token bucket for each client, kept as the instant at which the bucket would be full again (the
 * generic cell rate algorithm of ITU-T I.371). A query within the limit moves that instant ahead by
 * the cost of one query. A query that would move it more than a second ahead of now is over the
 * limit and moves nothing. A client whose instant is past needs no place.
 *
 * A place is one word: a tag of 24 bits for the client, and 40 bits of the instant, which wrap
 * after hours. Eight words fill a cache line, and a client has its place in one line. Invariant:
 * the instant of a place is at most a second ahead of the clock that wrote it.
 */
#include "serve/rate_limit.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/check.h"

enum {
    WAYS = 8,
    TICKS_PER_US = 64, /* so that the cost is nearly right even at a million a second */
    TICK_BITS = 40,
    TRIES = 4, /* while other workers write the same place */
};

#define TICK_MASK ((UINT64_C(1) << TICK_BITS) - 1)
#define BURST_TICKS (UINT64_C(1000000) * TICKS_PER_US)

struct line {
    _Alignas(64) _Atomic uint64_t ways[WAYS]; /* 0: free */
};

/* Shared by a limit and its successors. */
struct table {
    atomic_uint users;
    uint64_t line_count;
    struct line *lines;
};

struct rate_limit {
    uint64_t cost_ticks; /* of one query */
    uint64_t line_mask;
    struct line *lines; /* of the table */
    struct table *table;
};

/* Never zero: zero is a free place. */
static uint64_t rate_limit_tag_of(uint64_t client)
{
    return (client >> TICK_BITS | 1) << TICK_BITS;
}

/* How far ahead of now the instant is. An instant further ahead than the clocks of two threads can
 * differ is in the past, or is left from before the ticks wrapped. */
static uint64_t debt_of(uint64_t word, uint64_t now_ticks)
{
    uint64_t ahead = (word - now_ticks) & TICK_MASK;
    return ahead <= 2 * BURST_TICKS ? ahead : 0;
}

/* The client's place, or the place whose loss matters least. */
static unsigned rate_limit_find_way(struct line *line, uint64_t tag, uint64_t now_ticks,
                                    uint64_t *word)
{
    unsigned least = 0;
    uint64_t least_debt = UINT64_MAX;
    for (unsigned way = 0; way < WAYS; way++) {
        uint64_t here = atomic_load_explicit(&line->ways[way], memory_order_relaxed);
        uint64_t debt = debt_of(here, now_ticks);
        if ((here & ~TICK_MASK) == tag) {
            *word = here;
            return way;
        }
        if (debt < least_debt) {
            least = way;
            least_debt = debt;
            *word = here;
        }
    }
    return least;
}

bool rate_limit_take(struct rate_limit *limit, uint64_t client, uint64_t now_us)
{
    struct line *line = &limit->lines[client & limit->line_mask];
    uint64_t tag = rate_limit_tag_of(client), now_ticks = now_us * TICKS_PER_US;
    for (int tries = 0; tries < TRIES; tries++) {
        uint64_t word;
        unsigned way = rate_limit_find_way(line, tag, now_ticks, &word);
        uint64_t debt = (word & ~TICK_MASK) == tag ? debt_of(word, now_ticks) : 0;
        if (debt + limit->cost_ticks > BURST_TICKS)
            return false;
        uint64_t next = tag | ((now_ticks + debt + limit->cost_ticks) & TICK_MASK);
        if (atomic_compare_exchange_weak_explicit(&line->ways[way], &word, next,
                                                  memory_order_relaxed, memory_order_relaxed))
            return true;
    }
    return true; /* other workers count at the same time: one missing query does no harm */
}

/* ---- life ---- */

static struct table *table_new(uint64_t line_count)
{
    struct table *table = malloc(sizeof(*table));
    struct line *lines = aligned_alloc(_Alignof(struct line), line_count * sizeof(*lines));
    if (!table || !lines) {
        free(table);
        free(lines);
        return NULL;
    }
    for (uint64_t i = 0; i < line_count; i++)
        for (unsigned way = 0; way < WAYS; way++)
            atomic_init(&lines[i].ways[way], 0);
    table->line_count = line_count;
    table->lines = lines;
    atomic_init(&table->users, 1);
    return table;
}

static void table_unref(struct table *table)
{
    if (atomic_fetch_sub(&table->users, 1) > 1)
        return;
    free(table->lines);
    free(table);
}

/* The table of the predecessor if it has the right size, else a new one. */
static struct table *table_take(uint64_t line_count, const struct rate_limit *before)
{
    if (!before || before->table->line_count != line_count)
        return table_new(line_count);
    atomic_fetch_add(&before->table->users, 1);
    return before->table;
}

struct rate_limit *rate_limit_new(uint32_t queries_per_second, uint32_t clients,
                                  const struct rate_limit *before)
{
    MUST(queries_per_second > 0 && queries_per_second <= RATE_LIMIT_QPS_MAX);
    uint64_t count = 1;
    while (count * WAYS < clients && count * WAYS < RATE_LIMIT_CLIENTS_MAX)
        count *= 2;
    struct rate_limit *limit = malloc(sizeof(*limit));
    struct table *table = limit ? table_take(count, before) : NULL;
    if (!table) {
        free(limit);
        return NULL;
    }
    *limit = (struct rate_limit){BURST_TICKS / queries_per_second, count - 1, table->lines, table};
    return limit;
}

void rate_limit_free(struct rate_limit *limit)
{
    if (!limit)
        return;
    table_unref(limit->table);
    free(limit);
}
