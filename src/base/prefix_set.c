/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * A set of prefixes with longest match. It is a hash table while it is built. Freezing makes a
 * sorted array of range starts for each family, and a sorted array of the addresses that have a
 * zone. Invariant of a frozen family: starts[0] is 0, starts rise, and values[i] applies from
 * starts[i] up to the next start.
 *
 * An index by the first bits of an address narrows the search: of ten thousand ranges, one or two
 * are left where addresses are spread evenly, and one where the first bits occur in no prefix.
 */
#include "base/prefix.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/hash.h"

typedef unsigned __int128 key128; /* an address as a number; IPv4 uses the low 32 bits */

enum {
    FIRST_SLOTS = 16,
    DEPTH_MAX = 129,     /* prefixes in a nested chain */
    INDEXED_MIN = 64,    /* ranges; fewer are searched as quickly without an index */
    INDEX_BITS_MAX = 16, /* more would take memory without making a bucket much smaller */
};

struct slot {
    key128 first, last;
    int value;     /* -1: empty */
    uint32_t zone; /* 0: none; else the prefix is one address */
    uint8_t length;
    bool v6;
};

struct ranges {
    key128 *starts;
    int *values;
    size_t count;
    uint32_t *index; /* for each bucket the range of its first address, and at the end the last;
                        NULL below INDEXED_MIN */
    unsigned shift;  /* shifts the hash of an address to its bucket */
};

struct prefix_set {
    struct slot *slots; /* NULL once frozen */
    size_t slot_count, used;
    bool frozen;
    struct ranges v4, v6;
    struct slot *zoned; /* indexed by address and zone */
    size_t zoned_count;
};

static key128 key_of(const struct addr *addr)
{
    size_t len;
    const uint8_t *bytes = addr_bytes(addr, &len);
    if (len == 4)
        return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 |
               bytes[3];
    uint64_t high, low;
    memcpy(&high, bytes, 8);
    memcpy(&low, bytes + 8, 8);
    return (key128)be64toh(high) << 64 | be64toh(low);
}

struct prefix_set *prefix_set_new(void)
{
    return calloc(1, sizeof(struct prefix_set));
}

static void free_ranges(struct ranges *ranges)
{
    free(ranges->starts);
    free(ranges->values);
    free(ranges->index);
    *ranges = (struct ranges){0};
}

void prefix_set_free(struct prefix_set *set)
{
    if (!set)
        return;
    free(set->slots);
    free(set->zoned);
    free_ranges(&set->v4);
    free_ranges(&set->v6);
    free(set);
}

/* Returns the slot of the same prefix, or the empty slot for it. */
static struct slot *prefix_set_find_slot(struct slot *slots, size_t count, const struct slot *want)
{
    uint64_t seed = (uint64_t)want->length << 1 | want->v6;
    size_t at = hash_bytes(&want->first, sizeof(want->first), seed) & (count - 1);
    for (;; at = (at + 1) & (count - 1)) {
        struct slot *slot = &slots[at];
        if (slot->value < 0 || (slot->first == want->first && slot->length == want->length &&
                                slot->v6 == want->v6 && slot->zone == want->zone))
            return slot;
    }
}

static bool grow_slots(struct prefix_set *set)
{
    size_t count = set->slot_count ? set->slot_count * 2 : FIRST_SLOTS;
    struct slot *slots = calloc(count, sizeof(*slots));
    if (!slots)
        return false;
    for (size_t i = 0; i < count; i++)
        slots[i].value = -1;
    for (size_t i = 0; i < set->slot_count; i++)
        if (set->slots[i].value >= 0)
            *prefix_set_find_slot(slots, count, &set->slots[i]) = set->slots[i];
    free(set->slots);
    set->slots = slots;
    set->slot_count = count;
    return true;
}

static struct slot prefix_set_slot_of(const struct prefix *prefix, int value)
{
    bool v6 = addr_family(&prefix->addr) == AF_INET6;
    unsigned host_bits = (v6 ? 128U : 32U) - prefix->length;
    key128 host_mask = host_bits == 128 ? ~(key128)0 : ((key128)1 << host_bits) - 1;
    key128 first = key_of(&prefix->addr) & ~host_mask;
    return (struct slot){
        .first = first,
        .last = first | host_mask,
        .value = value,
        .zone = v6 ? prefix->addr.in6.sin6_scope_id : 0,
        .length = prefix->length,
        .v6 = v6,
    };
}

enum err prefix_set_add(struct prefix_set *set, const struct prefix *prefix, int value)
{
    MUST(!set->frozen && value >= 0);
    if (set->used * 2 >= set->slot_count && !grow_slots(set))
        return ERR_NO_MEMORY;
    struct slot slot = prefix_set_slot_of(prefix, value);
    struct slot *place = prefix_set_find_slot(set->slots, set->slot_count, &slot);
    if (place->value >= 0)
        return ERR_INVALID;
    *place = slot;
    set->used++;
    return ERR_OK;
}

/* Sorts outer prefixes before inner ones, and slots without a zone before those with one. */
static int compare_slots(const void *left, const void *right)
{
    const struct slot *a = left, *b = right;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    if (a->length != b->length)
        return a->length < b->length ? -1 : 1;
    return (a->zone > b->zone) - (a->zone < b->zone);
}

/* Sets the value from start on. A later call for the same start wins; a start without a change is
 * left out. */
static void put_range(struct ranges *ranges, key128 start, int value)
{
    if (ranges->count && ranges->starts[ranges->count - 1] == start)
        ranges->count--;
    if (ranges->count && ranges->values[ranges->count - 1] == value)
        return;
    ranges->starts[ranges->count] = start;
    ranges->values[ranges->count++] = value;
}

/* Walks the prefixes from low to high, with a stack of the open ones. */
static void build_ranges(struct ranges *ranges, const struct slot *slots, size_t count)
{
    const struct slot *open[DEPTH_MAX];
    key128 end = count && slots[0].v6 ? ~(key128)0 : UINT32_MAX; /* nothing follows it */
    size_t depth = 0;
    put_range(ranges, 0, -1);
    for (size_t i = 0; i <= count; i++) {
        while (depth && (i == count || open[depth - 1]->last < slots[i].first)) {
            key128 last = open[--depth]->last;
            if (last != end)
                put_range(ranges, last + 1, depth ? open[depth - 1]->value : -1);
        }
        if (i == count)
            break;
        MUST(depth < DEPTH_MAX);
        put_range(ranges, slots[i].first, slots[i].value);
        open[depth++] = &slots[i];
    }
}

/* Makes at most as many buckets as there are ranges, so that the index stays the smaller part. */
static bool build_index(struct ranges *ranges, unsigned width)
{
    unsigned bits = 1;
    if (ranges->count < INDEXED_MIN)
        return true;
    while (bits < INDEX_BITS_MAX && (size_t)2 << bits <= ranges->count)
        bits++;
    size_t buckets = (size_t)1 << bits, at = 0;
    ranges->shift = width - bits;
    ranges->index = malloc((buckets + 1) * sizeof(*ranges->index));
    if (!ranges->index)
        return false;
    for (size_t bucket = 0; bucket < buckets; bucket++) {
        while (at + 1 < ranges->count && ranges->starts[at + 1] <= (key128)bucket << ranges->shift)
            at++;
        ranges->index[bucket] = (uint32_t)at;
    }
    ranges->index[buckets] = (uint32_t)(ranges->count - 1);
    return true;
}

static enum err freeze_family(struct ranges *ranges, struct slot *slots, size_t count,
                              unsigned width)
{
    qsort(slots, count, sizeof(*slots), compare_slots);
    size_t room = 2 * count + 1;
    ranges->starts = malloc(room * sizeof(*ranges->starts));
    ranges->values = malloc(room * sizeof(*ranges->values));
    if (!ranges->starts || !ranges->values) {
        free_ranges(ranges);
        return ERR_NO_MEMORY;
    }
    build_ranges(ranges, slots, count);
    if (build_index(ranges, width))
        return ERR_OK;
    free_ranges(ranges);
    return ERR_NO_MEMORY;
}

/* Moves the slots of this kind, from first to the end, to first; returns their number. */
static size_t prefix_set_gather(struct slot *slots, size_t count,
                                bool (*is_kind)(const struct slot *slot))
{
    size_t gathered = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_kind(&slots[i]))
            continue;
        struct slot swap = slots[gathered];
        slots[gathered++] = slots[i];
        slots[i] = swap;
    }
    return gathered;
}

static bool is_used(const struct slot *slot)
{
    return slot->value >= 0;
}

static bool is_v4(const struct slot *slot)
{
    return !slot->v6;
}

static bool is_zoned(const struct slot *slot)
{
    return slot->zone != 0;
}

/* Keeps the slots with a zone, which come first. */
static enum err freeze_zoned(struct prefix_set *set, size_t count)
{
    if (count == 0)
        return ERR_OK;
    set->zoned = malloc(count * sizeof(*set->zoned));
    if (!set->zoned)
        return ERR_NO_MEMORY;
    memcpy(set->zoned, set->slots, count * sizeof(*set->zoned));
    qsort(set->zoned, count, sizeof(*set->zoned), compare_slots);
    set->zoned_count = count;
    return ERR_OK;
}

enum err prefix_set_freeze(struct prefix_set *set)
{
    MUST(!set->frozen);
    set->frozen = true;
    if (set->used == 0)
        return ERR_OK;
    prefix_set_gather(set->slots, set->slot_count, is_used);
    size_t zoned = prefix_set_gather(set->slots, set->used, is_zoned);
    size_t v4 = prefix_set_gather(set->slots + zoned, set->used - zoned, is_v4);
    enum err err = freeze_zoned(set, zoned);
    if (!err)
        err = freeze_family(&set->v4, set->slots + zoned, v4, 32);
    if (!err)
        err = freeze_family(&set->v6, set->slots + zoned + v4, set->used - zoned - v4, 128);
    free(set->slots);
    set->slots = NULL;
    return err;
}

/* Returns NULL if the set has no address with this zone. */
static const struct slot *find_zoned(const struct prefix_set *set, const struct addr *addr)
{
    struct slot want = {.first = key_of(addr), .length = 128, .zone = addr->in6.sin6_scope_id};
    return bsearch(&want, set->zoned, set->zoned_count, sizeof(want), compare_slots);
}

int prefix_set_find(const struct prefix_set *set, const struct addr *addr)
{
    MUST(set->frozen);
    const struct ranges *ranges = addr_family(addr) == AF_INET6 ? &set->v6 : &set->v4;
    if (set->zoned_count > 0 && addr_family(addr) == AF_INET6) {
        const struct slot *zoned = find_zoned(set, addr);
        if (zoned)
            return zoned->value;
    }
    if (ranges->count == 0)
        return -1;
    key128 key = key_of(addr);
    size_t low = 0, count = ranges->count; /* starts[low] <= key always holds */
    if (ranges->index) {
        const uint32_t *bucket = &ranges->index[(size_t)(key >> ranges->shift)];
        low = bucket[0];
        count = bucket[1] - low + 1;
    }
    while (count > 1) {
        size_t half = count / 2;
        if (ranges->starts[low + half] <= key)
            low += half;
        count -= half;
    }
    return ranges->values[low];
}
