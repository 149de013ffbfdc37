/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * The table behind inflight.h: linear probing with deletion by shifting back, so that it needs no
 * tombstones. Ids are random already and serve as their own hash.
 */

#include "upstream/inflight.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/rand.h"

enum { FIRST_SLOTS = 16 };

/* A Feistel network over two bytes is a permutation with any round function, so no id repeats
 * before all ids were used. */
static uint16_t permute(const uint64_t *keys, uint16_t number)
{
    uint8_t left = (uint8_t)(number >> 8), right = (uint8_t)number;
    for (int i = 0; i < INFLIGHT_ROUNDS; i++) {
        uint64_t mixed = (keys[i] + right) * (keys[i] >> 32 | 1) * UINT64_C(0x9e3779b97f4a7c15);
        uint8_t next = left ^ (uint8_t)(mixed >> 56);
        left = right;
        right = next;
    }
    return (uint16_t)(left << 8 | right);
}

void inflight_init(struct inflight *inflight)
{
    memset(inflight, 0, sizeof(*inflight));
    rand_bytes(inflight->keys, sizeof(inflight->keys));
    inflight->next_id = permute(inflight->keys, 0);
}

void inflight_deinit(struct inflight *inflight)
{
    free(inflight->table);
    inflight->table = NULL;
}

static void inflight_put(struct inflight_entry *table, uint32_t mask, struct inflight_entry entry)
{
    uint32_t at = entry.id & mask;
    while (table[at].used)
        at = (at + 1) & mask;
    table[at] = entry;
}

static enum err inflight_grow(struct inflight *inflight)
{
    uint32_t slots = inflight->table ? (inflight->mask + 1) * 2 : FIRST_SLOTS;
    struct inflight_entry *table = calloc(slots, sizeof(*table));
    if (!table)
        return ERR_NO_MEMORY;
    for (uint32_t i = 0; inflight->table && i <= inflight->mask; i++) {
        if (inflight->table[i].used)
            inflight_put(table, slots - 1, inflight->table[i]);
    }
    free(inflight->table);
    inflight->table = table;
    inflight->mask = slots - 1;
    return ERR_OK;
}

enum err inflight_add(struct inflight *inflight, struct flight *flight)
{
    if (inflight->next >= INFLIGHT_IDS)
        return ERR_LIMIT;
    if (!inflight->table || 2 * (inflight->live + inflight->owed + 1) > inflight->mask + 1) {
        enum err err = inflight_grow(inflight);
        if (err)
            return err;
    }
    struct inflight_entry entry = {.flight = flight, .id = inflight->next_id, .used = true};
    inflight_put(inflight->table, inflight->mask, entry);
    inflight->any_at = 0;
    inflight->next++;
    inflight->next_id = permute(inflight->keys, (uint16_t)inflight->next);
    inflight->live++;
    return ERR_OK;
}

static struct inflight_entry *inflight_find(struct inflight *inflight, uint16_t id)
{
    if (!inflight->table)
        return NULL;
    for (uint32_t at = id & inflight->mask; inflight->table[at].used;
         at = (at + 1) & inflight->mask) {
        if (inflight->table[at].id == id)
            return &inflight->table[at];
    }
    return NULL;
}

/* Closes the gap: later entries that belong at or before the gap move up. */
static void delete (struct inflight *inflight, struct inflight_entry *entry)
{
    struct inflight_entry *table = inflight->table;
    uint32_t mask = inflight->mask;
    uint32_t gap = (uint32_t)(entry - table);

    inflight->any_at = MIN(inflight->any_at, gap); /* a live query may move there */
    for (uint32_t at = (gap + 1) & mask; table[at].used; at = (at + 1) & mask) {
        uint32_t home = table[at].id & mask;
        if (((at - home) & mask) >= ((at - gap) & mask)) {
            table[gap] = table[at];
            gap = at;
        }
    }
    table[gap] = (struct inflight_entry){0};
}

enum inflight_found inflight_take(struct inflight *inflight, uint16_t id, struct flight **flight)
{
    struct inflight_entry *entry = inflight_find(inflight, id);
    if (!entry)
        return INFLIGHT_UNKNOWN;
    *flight = entry->flight;
    if (entry->flight)
        inflight->live--;
    else
        inflight->owed--;
    delete (inflight, entry);
    return *flight ? INFLIGHT_LIVE : INFLIGHT_LATE;
}

void inflight_give_up(struct inflight *inflight, uint16_t id)
{
    struct inflight_entry *entry = inflight_find(inflight, id);
    MUST(entry && entry->flight);
    entry->flight = NULL;
    inflight->live--;
    inflight->owed++;
}

/* Continues where the last call ended. A search from the first slot each time would take a worker
 * half a second when a connection with 16384 queries ends. */
struct flight *inflight_take_any(struct inflight *inflight)
{
    if (inflight->live == 0)
        return NULL;
    for (; inflight->any_at <= inflight->mask; inflight->any_at++) {
        struct inflight_entry *entry = &inflight->table[inflight->any_at];
        if (!entry->used || !entry->flight)
            continue;
        struct flight *flight = entry->flight;
        inflight->live--;
        delete (inflight, entry);
        return flight;
    }
    MUST(!"a live query is in the table");
    return NULL;
}
