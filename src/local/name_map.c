/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * A hash table with open addressing over names in one block. A lookup by suffix tries only label
 * counts that occur, and none when no name has the last label. A filter of the last two labels
 * tells most names apart from those of a long list, which has names under every top-level domain.
 *
 * Invariant: at most half of the slots are in use, so each probe ends. A slot has 32 bits of the
 * hash, so names that are compared are nearly always equal.
 */
#include "local/name_map.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/hash.h"
#include "base/rand.h"

enum {
    SLOTS_FIRST = 64,
    BYTES_FIRST = 4096,
    LABEL_COUNTS = NAME_LABELS_MAX + 1,
    ENDS = 1024, /* bits of the filter of last labels */
};

/* Place 0 is a free slot. Otherwise the record is at (place - 1) * 4 in the block. */
struct slot {
    uint32_t place;
    uint32_t tag;
};

/* A record: the number, the name in wire form, and bytes up to a multiple of four. */
struct name_map {
    uint64_t seed;
    struct slot *slots;
    uint8_t *tails; /* the filter of last labels: a byte for each slot */
    size_t mask, count;
    uint8_t *block;
    size_t used, room;
    uint64_t label_counts[(LABEL_COUNTS + 63) / 64]; /* a bit for each label count that occurs */
    uint64_t ends[ENDS / 64];
};

static size_t record_size(size_t name_len)
{
    return (sizeof(uint32_t) + name_len + 3) & ~(size_t)3;
}

struct name_map *name_map_new(void)
{
    struct name_map *map = calloc(1, sizeof(*map));
    if (!map)
        return NULL;
    map->seed = rand_u64();
    map->mask = SLOTS_FIRST - 1;
    map->slots = calloc(SLOTS_FIRST, sizeof(*map->slots));
    map->tails = calloc(SLOTS_FIRST, sizeof(*map->tails));
    if (map->slots && map->tails)
        return map;
    name_map_free(map);
    return NULL;
}

void name_map_free(struct name_map *map)
{
    if (!map)
        return;
    free(map->slots);
    free(map->tails);
    free(map->block);
    free(map);
}

/* ---- looking up ---- */

static uint8_t *record_of(const struct name_map *map, const struct slot *slot)
{
    return map->block + (size_t)(slot->place - 1) * 4;
}

static uint32_t *record_number(uint8_t *record)
{
    return (uint32_t *)(void *)record;
}

/* A name contains its end, so equal bytes of its length are an equal name. The block has room for
 * the longest name after the last record. */
static struct slot *find_slot(const struct name_map *map, struct name name, uint64_t hash)
{
    uint32_t tag = (uint32_t)(hash >> 32);
    for (size_t at = hash & map->mask;; at = (at + 1) & map->mask) {
        struct slot *slot = &map->slots[at];
        if (!slot->place || (slot->tag == tag && memcmp(record_of(map, slot) + sizeof(uint32_t),
                                                        name.wire, name.len) == 0))
            return slot;
    }
}

static const uint32_t *find_hashed(const struct name_map *map, struct name name)
{
    struct slot *slot = find_slot(map, name, hash_bytes(name.wire, name.len, map->seed));
    return slot->place ? record_number(record_of(map, slot)) : NULL;
}

const uint32_t *name_map_find(const struct name_map *map, struct name name)
{
    return map->count ? find_hashed(map, name) : NULL;
}

static bool has_labels(const struct name_map *map, unsigned labels)
{
    return map->label_counts[labels / 64] >> labels % 64 & 1;
}

/* Hashes a label by its length, first and last byte. A collision costs only a few hashes. */
static unsigned end_bit(const uint8_t *label)
{
    return (label[0] * 211u + label[1] * 37u + label[label[0]] * 5u) % ENDS;
}

static bool has_end(const struct name_map *map, const uint8_t *label)
{
    unsigned bit = end_bit(label);
    return map->ends[bit / 64] >> bit % 64 & 1;
}

static struct name suffix_at(struct name name, uint8_t start)
{
    return (struct name){name.wire + start, (uint8_t)(name.len - start)};
}

/* Returns the place of the name in the filter. At most a sixteenth of the bits is set. */
static size_t tail_bit(const struct name_map *map, struct name tail)
{
    return hash_bytes(tail.wire, tail.len, map->seed) & (map->mask * 8 + 7);
}

static bool has_tail(const struct name_map *map, struct name tail)
{
    size_t bit = tail_bit(map, tail);
    return map->tails[bit / 8] >> bit % 8 & 1;
}

bool name_map_may_have(const struct name_map *map, struct name name)
{
    const uint8_t *before = name.wire, *last = name.wire;
    if (!*last)
        return has_labels(map, 0);
    for (const uint8_t *next; *(next = last + *last + 1); last = next)
        before = last;
    if (!has_end(map, last))
        return false;
    return has_labels(map, 0) || has_tail(map, suffix_at(name, (uint8_t)(before - name.wire))) ||
           (has_labels(map, 1) && has_tail(map, suffix_at(name, (uint8_t)(last - name.wire))));
}

/* Finds the root. */
static const uint32_t *find_root(const struct name_map *map, struct name name, uint8_t *len)
{
    *len = 1;
    return has_labels(map, 0) ? find_hashed(map, suffix_at(name, (uint8_t)(name.len - 1))) : NULL;
}

const uint32_t *name_map_find_suffix(const struct name_map *map, struct name name, uint8_t *len)
{
    uint8_t starts[LABEL_COUNTS];
    unsigned labels = 0;
    if (!map->count)
        return NULL;
    for (unsigned at = 0; name.wire[at]; at += name.wire[at] + 1u)
        starts[labels++] = (uint8_t)at;
    if (!labels || !has_end(map, name.wire + starts[labels - 1]))
        return find_root(map, name, len);
    for (unsigned count = labels; count > 0; count--) {
        if (!has_labels(map, count))
            continue;
        struct name suffix = suffix_at(name, starts[labels - count]);
        const uint32_t *number = find_hashed(map, suffix);
        *len = suffix.len;
        if (number)
            return number;
    }
    return find_root(map, name, len);
}

/* ---- filling ---- */

/* Makes room for a record of this size, and NAME_WIRE_MAX bytes that a comparison may read. */
static enum err reserve_bytes(struct name_map *map, size_t size)
{
    size_t needed = map->used + size + NAME_WIRE_MAX;
    if (needed <= map->room)
        return ERR_OK;
    size_t room = MAX(needed, MAX(map->room + map->room / 2, (size_t)BYTES_FIRST));
    uint8_t *block = realloc(map->block, room);
    if (!block)
        return ERR_NO_MEMORY;
    memset(block + map->room, 0, room - map->room);
    map->block = block;
    map->room = room;
    return ERR_OK;
}

static struct name name_of(uint8_t *record)
{
    struct name name;
    MUST(name_view(span_of(record + sizeof(uint32_t), NAME_WIRE_MAX), 0, &name));
    return name;
}

static void mark_tail(struct name_map *map, struct name name)
{
    size_t bit = tail_bit(map, name_suffix(name, 2));
    map->tails[bit / 8] |= (uint8_t)(1u << bit % 8);
}

static void index_all(struct name_map *map)
{
    for (size_t at = 0; at < map->used;) {
        struct name name = name_of(map->block + at);
        uint64_t hash = hash_bytes(name.wire, name.len, map->seed);
        struct slot *slot = find_slot(map, name, hash);
        *slot = (struct slot){.place = (uint32_t)(at / 4 + 1), .tag = (uint32_t)(hash >> 32)};
        mark_tail(map, name);
        at += record_size(name.len);
    }
}

static enum err grow_table(struct name_map *map)
{
    size_t count = (map->mask + 1) * 2;
    struct slot *slots = calloc(count, sizeof(*slots));
    uint8_t *tails = calloc(count, sizeof(*tails));
    if (!slots || !tails) {
        free(slots);
        free(tails);
        return ERR_NO_MEMORY;
    }
    free(map->slots);
    free(map->tails);
    map->slots = slots;
    map->tails = tails;
    map->mask = count - 1;
    index_all(map);
    return ERR_OK;
}

static void mark_labels(struct name_map *map, struct name name)
{
    unsigned labels = name_label_count(name);
    map->label_counts[labels / 64] |= UINT64_C(1) << labels % 64;
    if (labels == 0) { /* every name is below the root */
        memset(map->ends, 0xff, sizeof(map->ends));
        return;
    }
    unsigned bit = end_bit(name_suffix(name, 1).wire);
    map->ends[bit / 64] |= UINT64_C(1) << bit % 64;
}

static enum err append_name(struct name_map *map, struct name name, uint32_t initial, size_t *at)
{
    size_t size = record_size(name.len);
    if (map->count == NAME_MAP_NAMES_MAX || map->used + size > NAME_MAP_BYTES_MAX)
        return ERR_LIMIT;
    enum err err = reserve_bytes(map, size);
    if (err)
        return err;
    uint8_t *record = map->block + map->used;
    *record_number(record) = initial;
    memcpy(record + sizeof(uint32_t), name.wire, name.len);
    *at = map->used;
    map->used += size;
    map->count++;
    mark_labels(map, name);
    mark_tail(map, name);
    return ERR_OK;
}

enum err name_map_put(struct name_map *map, struct name name, uint32_t initial, uint32_t **number)
{
    enum err err = ERR_OK;
    if (2 * (map->count + 1) > map->mask + 1)
        err = grow_table(map);
    if (err)
        return err;
    size_t at;
    uint64_t hash = hash_bytes(name.wire, name.len, map->seed);
    struct slot *slot = find_slot(map, name, hash);
    if (!slot->place) {
        err = append_name(map, name, initial, &at);
        if (err)
            return err;
        *slot = (struct slot){.place = (uint32_t)(at / 4 + 1), .tag = (uint32_t)(hash >> 32)};
    }
    *number = record_number(record_of(map, slot));
    return ERR_OK;
}

void name_map_trim(struct name_map *map)
{
    if (!map->block)
        return;
    uint8_t *block = realloc(map->block, map->used + NAME_WIRE_MAX);
    if (!block)
        return;
    map->block = block;
    map->room = map->used + NAME_WIRE_MAX;
}

bool name_map_is_full(const struct name_map *map)
{
    return map->count == NAME_MAP_NAMES_MAX ||
           map->used + record_size(NAME_WIRE_MAX) > NAME_MAP_BYTES_MAX;
}

size_t name_map_count(const struct name_map *map)
{
    return map->count;
}

size_t name_map_bytes(const struct name_map *map)
{
    return sizeof(*map) + (map->mask + 1) * (sizeof(*map->slots) + sizeof(*map->tails)) + map->room;
}

void name_map_each(struct name_map *map,
                   void (*visit)(void *context, struct name name, uint32_t *number), void *context)
{
    for (size_t at = 0; at < map->used;) {
        struct name name = name_of(map->block + at);
        visit(context, name, record_number(map->block + at));
        at += record_size(name.len);
    }
}
