/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * A hash table of zones, each with three sorted arrays. Zones, arrays and items are blocks that
 * never change once a reader may see them, except for the links of the table and the pointers to
 * the arrays. A block that is unlinked waits for its readers (grace.h).
 *
 * Invariants: one lock orders all writers. Under it nothing waits, and nothing is hashed. bytes
 * counts all blocks until they are freed, and never exceeds bytes_max.
 */
#include "cache/spans.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/rand.h"
#include "cache/grace.h"

enum {
    BUCKETS = 4096,        /* a power of two */
    VICTIMS = 16,          /* zones that are looked at when one must make room */
    ALLOCATION_BYTES = 16, /* what an allocation costs besides its size */
    TOUCH_US = 1000000,    /* the time of the last use is no more exact than this */
};

/* The head of everything that readers see. */
struct block {
    struct block *next; /* retired */
    uint64_t ticket;
    size_t bytes;
};

struct kept {
    struct block block;
    struct spans_item item;
    uint8_t bytes[];
};

struct shelf {
    struct block block;
    struct span chain; /* after the items */
    unsigned count;
    struct kept *at[];
};

struct spans_zone {
    struct block block;
    _Atomic(struct spans_zone *) next; /* the next zone of the bucket */
    uint64_t hash;
    unsigned place; /* its index in spans.all */
    uint32_t space;
    uint8_t labels;
    _Atomic(struct shelf *) shelf[SPANS_SHELVES]; /* NULL: empty */
    _Atomic(uint64_t) used_at;
    struct name name;
    uint8_t wire[];
};

struct spans {
    uint64_t seed;
    struct grace *grace;
    size_t bytes_max;
    _Atomic(unsigned) zone_count;
    _Atomic(uint16_t) labels[NAME_LABELS_MAX + 1]; /* zones with this many labels */
    _Atomic(struct spans_zone *) bucket[BUCKETS];

    pthread_mutex_t lock; /* of the rest */
    struct spans_zone *all[SPANS_ZONES_MAX];
    struct block *retired, **retired_end; /* the oldest ticket first */
    size_t retired_bytes;                 /* of these; usage.bytes includes them */
    struct spans_usage usage;             /* zones is in zone_count */
};

_Static_assert(SPANS_ZONES_MAX <= UINT16_MAX, "labels counts zones");

/* ---- blocks ---- */

/* Returns NULL when the bytes do not suffice, or out of memory. */
static void *block_new(struct spans *spans, size_t size)
{
    size_t bytes = size + ALLOCATION_BYTES;
    if (bytes > spans->bytes_max - spans->usage.bytes)
        return NULL;
    struct block *block = malloc(size);
    if (!block)
        return NULL;
    *block = (struct block){.bytes = bytes};
    spans->usage.bytes += bytes;
    return block;
}

/* Frees a block that no reader has seen, or which all have left. */
static void block_free(struct spans *spans, struct block *block)
{
    spans->usage.bytes -= block->bytes;
    free(block);
}

static void block_retire(struct spans *spans, struct block *block)
{
    block->ticket = grace_ticket(spans->grace);
    block->next = NULL;
    *spans->retired_end = block;
    spans->retired_end = &block->next;
    spans->retired_bytes += block->bytes;
}

/* Frees the block that was retired first. */
static void spans_free_first(struct spans *spans)
{
    struct block *block = spans->retired;
    spans->retired = block->next;
    if (!spans->retired)
        spans->retired_end = &spans->retired;
    spans->retired_bytes -= block->bytes;
    block_free(spans, block);
}

static void spans_free_passed(struct spans *spans)
{
    while (spans->retired && grace_has_passed(spans->grace, spans->retired->ticket))
        spans_free_first(spans);
}

/* ---- items ---- */

static size_t entry_bytes(const struct spans_entry *entry)
{
    size_t bytes = entry->owner.len + entry->signature.len;
    for (unsigned i = 0; i < entry->count; i++)
        bytes += 2 + entry->record[i].len;
    return bytes;
}

static struct span kept_append(uint8_t **at, struct span bytes)
{
    struct span copy = span_of(*at, bytes.len);
    if (bytes.len)
        memcpy(*at, bytes.data, bytes.len);
    *at += bytes.len;
    return copy;
}

static struct kept *kept_new(struct spans *spans, const struct spans_entry *entry)
{
    struct kept *kept = block_new(spans, sizeof(*kept) + entry_bytes(entry));
    if (!kept)
        return NULL;
    uint8_t *at = kept->bytes, *records;
    struct name owner = name_fold(entry->owner, at);
    at += owner.len;
    records = at;
    for (unsigned i = 0; i < entry->count; i++) {
        put_u16(at, (uint16_t)entry->record[i].len);
        at += 2;
        kept_append(&at, entry->record[i]);
    }
    kept->item = (struct spans_item){.expires_at = entry->expires_at,
                                     .owner = owner,
                                     .type = entry->type,
                                     .count = (uint16_t)entry->count,
                                     .records = span_of(records, (size_t)(at - records))};
    kept->item.signature = kept_append(&at, entry->signature);
    return kept;
}

bool spans_next(struct span *records, struct span *rdata)
{
    uint16_t len;
    return span_take_u16(records, &len) && span_take(records, len, rdata);
}

/* ---- searching ---- */

/* Compares the place of the item on its shelf with the place that this owner and type have. */
static int kept_compare(const struct kept *kept, struct name owner, uint16_t type)
{
    int order = name_compare(kept->item.owner, owner);
    return order ? order : (int)kept->item.type - (int)type;
}

/* Returns the number of items that come before this owner and type, or equal them. */
static unsigned shelf_count_up_to(const struct shelf *shelf, struct name owner, uint16_t type)
{
    unsigned low = 0, high = shelf->count;
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        if (kept_compare(shelf->at[middle], owner, type) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct kept *shelf_find(const struct shelf *shelf, struct name owner, uint16_t type)
{
    unsigned count = shelf ? shelf_count_up_to(shelf, owner, type) : 0;
    if (!count || kept_compare(shelf->at[count - 1], owner, type) != 0)
        return NULL;
    return shelf->at[count - 1];
}

static const struct shelf *zone_shelf(const struct spans_zone *zone, enum spans_shelf shelf)
{
    return atomic_load_explicit(&zone->shelf[shelf], memory_order_acquire);
}

static const struct spans_item *spans_if_live(const struct kept *kept, uint64_t now)
{
    return kept && now < kept->item.expires_at ? &kept->item : NULL;
}

const struct spans_item *spans_before(const struct spans_zone *zone, enum spans_shelf shelf,
                                      struct name name, uint64_t now)
{
    const struct shelf *items = zone_shelf(zone, shelf);
    if (!items)
        return NULL;
    unsigned count = shelf_count_up_to(items, name, UINT16_MAX);
    return spans_if_live(items->at[(count ? count : items->count) - 1], now);
}

const struct spans_item *spans_records(const struct spans_zone *zone, struct name owner,
                                       uint16_t type, uint64_t now)
{
    return spans_if_live(shelf_find(zone_shelf(zone, SPANS_RECORDS), owner, type), now);
}

bool spans_has(const struct spans_zone *zone, enum spans_shelf shelf)
{
    return zone_shelf(zone, shelf) != NULL;
}

struct span spans_chain(const struct spans_zone *zone, enum spans_shelf shelf)
{
    const struct shelf *items = zone_shelf(zone, shelf);
    return items ? items->chain : span_of(NULL, 0);
}

struct name spans_zone_name(const struct spans_zone *zone)
{
    return zone->name;
}

bool spans_any(const struct spans *spans)
{
    return atomic_load_explicit(&spans->zone_count, memory_order_relaxed) > 0;
}

static uint64_t spans_hash(const struct spans *spans, uint32_t space, struct name name)
{
    return name_hash(name, spans->seed + space);
}

static struct spans_zone *spans_find_hashed(const struct spans *spans, uint32_t space,
                                            struct name name, uint64_t hash)
{
    struct spans_zone *zone =
        atomic_load_explicit(&spans->bucket[hash % BUCKETS], memory_order_acquire);
    while (zone && !(zone->hash == hash && zone->space == space && name_equal(zone->name, name)))
        zone = atomic_load_explicit(&zone->next, memory_order_acquire);
    return zone;
}

const struct spans_zone *spans_zone_above(const struct spans *spans, uint32_t space,
                                          struct name name)
{
    for (unsigned labels = name_label_count(name);; labels--) {
        if (atomic_load_explicit(&spans->labels[labels], memory_order_relaxed)) {
            const struct spans_zone *zone =
                spans_find_hashed(spans, space, name, spans_hash(spans, space, name));
            if (zone)
                return zone;
        }
        if (!labels)
            return NULL;
        name = name_parent(name);
    }
}

/* Readers share the zone, so they seldom write to it. */
void spans_touch(const struct spans_zone *zone, uint64_t now)
{
    _Atomic(uint64_t) *used_at = &((struct spans_zone *)zone)->used_at;
    uint64_t before = atomic_load_explicit(used_at, memory_order_relaxed);
    if (now > before && now - before >= TOUCH_US)
        atomic_store_explicit(used_at, now, memory_order_relaxed);
}

/* ---- zones, under the lock ---- */

static void add_zone_labels(struct spans *spans, const struct spans_zone *zone, int change)
{
    _Atomic(uint16_t) *labels = &spans->labels[zone->labels];
    uint16_t count = atomic_load_explicit(labels, memory_order_relaxed);
    atomic_store_explicit(labels, (uint16_t)(count + change), memory_order_relaxed);
    unsigned zones = atomic_load_explicit(&spans->zone_count, memory_order_relaxed);
    atomic_store_explicit(&spans->zone_count, zones + (unsigned)change, memory_order_relaxed);
}

static void zone_unlink(struct spans *spans, struct spans_zone *zone)
{
    _Atomic(struct spans_zone *) *link = &spans->bucket[zone->hash % BUCKETS];
    struct spans_zone *at;
    while ((at = atomic_load_explicit(link, memory_order_relaxed)) != zone)
        link = &at->next;
    atomic_store_explicit(link, atomic_load_explicit(&zone->next, memory_order_relaxed),
                          memory_order_release);
    unsigned last = atomic_load_explicit(&spans->zone_count, memory_order_relaxed) - 1;
    spans->all[zone->place] = spans->all[last];
    spans->all[zone->place]->place = zone->place;
    add_zone_labels(spans, zone, -1);
}

static void zone_drop(struct spans *spans, struct spans_zone *zone)
{
    zone_unlink(spans, zone);
    for (unsigned i = 0; i < SPANS_SHELVES; i++) {
        struct shelf *shelf = atomic_load_explicit(&zone->shelf[i], memory_order_relaxed);
        if (!shelf)
            continue;
        for (unsigned k = 0; k < shelf->count; k++)
            block_retire(spans, &shelf->at[k]->block);
        spans->usage.items -= shelf->count;
        block_retire(spans, &shelf->block);
    }
    block_retire(spans, &zone->block);
}

/* Whether to drop a rather than b. */
static bool is_rather_dropped(const struct spans_zone *a, const struct spans_zone *b)
{
    if (a->labels != b->labels)
        return a->labels > b->labels;
    return atomic_load_explicit(&a->used_at, memory_order_relaxed) <
           atomic_load_explicit(&b->used_at, memory_order_relaxed);
}

/* Drops a zone with at least this many labels, but never the zone `but`. False: no zone may be
 * dropped. */
static bool spans_make_room(struct spans *spans, unsigned labels, const struct spans_zone *but)
{
    struct spans_zone *victim = NULL;
    unsigned count = atomic_load_explicit(&spans->zone_count, memory_order_relaxed);
    uint64_t start = rand_below(count);
    for (unsigned i = 0; i < MIN(count, (unsigned)VICTIMS); i++) {
        struct spans_zone *zone = spans->all[(start + i) % count];
        if (zone == but || zone->labels < labels)
            continue;
        if (!victim || is_rather_dropped(zone, victim))
            victim = zone;
    }
    if (!victim)
        return false;
    zone_drop(spans, victim);
    spans->usage.dropped_zones++;
    return true;
}

static struct spans_zone *zone_add(struct spans *spans, uint32_t space, struct name name,
                                   uint64_t now)
{
    uint64_t hash = spans_hash(spans, space, name);
    unsigned labels = name_label_count(name);
    if (atomic_load(&spans->zone_count) == SPANS_ZONES_MAX && !spans_make_room(spans, labels, NULL))
        return NULL;
    struct spans_zone *zone = block_new(spans, sizeof(*zone) + name.len);
    if (!zone)
        return NULL;
    zone->hash = hash;
    zone->space = space;
    zone->labels = (uint8_t)labels;
    zone->name = name_fold(name, zone->wire);
    for (unsigned i = 0; i < SPANS_SHELVES; i++)
        atomic_init(&zone->shelf[i], NULL);
    atomic_init(&zone->used_at, now);
    _Atomic(struct spans_zone *) *bucket = &spans->bucket[hash % BUCKETS];
    atomic_init(&zone->next, atomic_load_explicit(bucket, memory_order_relaxed));
    zone->place = atomic_load(&spans->zone_count);
    spans->all[zone->place] = zone;
    add_zone_labels(spans, zone, 1);
    atomic_store_explicit(bucket, zone, memory_order_release);
    return zone;
}

/* ---- storing, under the lock ---- */

static bool is_same(const struct spans_item *item, const struct spans_item *other)
{
    return span_equal(item->records, other->records) &&
           span_equal(item->signature, other->signature);
}

/* Whether the RRset is there already, and lives nearly as long. */
static bool adds_nothing(const struct shelf *before, const struct kept *kept, uint64_t now)
{
    const struct kept *there = shelf_find(before, kept->item.owner, kept->item.type);
    uint64_t life_us = kept->item.expires_at - now;
    return there && is_same(&there->item, &kept->item) &&
           there->item.expires_at + life_us / 8 >= kept->item.expires_at;
}

/* Returns the place to give up on a full shelf, on which nothing has expired. */
static unsigned shelf_choose(const struct shelf *before, const struct kept *kept, uint64_t now)
{
    unsigned live = 0;
    if (!before || before->count < SPANS_SHELF_MAX)
        return UINT32_MAX;
    for (unsigned i = 0; i < before->count; i++)
        live += now < before->at[i]->item.expires_at;
    if (live < SPANS_SHELF_MAX || shelf_find(before, kept->item.owner, kept->item.type))
        return UINT32_MAX;
    return (unsigned)rand_below(before->count);
}

/* Fills the new shelf and retires the items that it leaves out. A search finds the place of the new
 * item: comparing it with each item of a full shelf takes milliseconds where the owners have a
 * hundred labels, and the zone chooses them. */
static void shelf_fill(struct spans *spans, struct shelf *after, const struct shelf *before,
                       struct kept *kept, uint64_t now)
{
    unsigned given_up = shelf_choose(before, kept, now), before_count = before ? before->count : 0;
    bool is_there = shelf_find(before, kept->item.owner, kept->item.type);
    unsigned place =
        before ? shelf_count_up_to(before, kept->item.owner, kept->item.type) - is_there : 0;
    after->count = 0;
    for (unsigned i = 0; i < before_count; i++) {
        struct kept *old = before->at[i];
        bool is_replaced = is_there && i == place;
        if (i == place)
            after->at[after->count++] = kept;
        if (!is_replaced && i != given_up && now < old->item.expires_at)
            after->at[after->count++] = old;
        else
            block_retire(spans, &old->block);
    }
    if (place == before_count)
        after->at[after->count++] = kept;
    spans->usage.dropped_items += given_up != UINT32_MAX;
    spans->usage.items += after->count;
    spans->usage.items -= before_count;
}

/* Empties the shelf for spans of another chain. */
static void shelf_clear(struct spans *spans, struct spans_zone *zone, enum spans_shelf at)
{
    struct shelf *before = atomic_load_explicit(&zone->shelf[at], memory_order_relaxed);
    atomic_store_explicit(&zone->shelf[at], NULL, memory_order_release);
    for (unsigned i = 0; i < before->count; i++)
        block_retire(spans, &before->at[i]->block);
    spans->usage.items -= before->count;
    block_retire(spans, &before->block);
}

static bool shelf_put(struct spans *spans, struct spans_zone *zone, const struct spans_entry *entry,
                      struct kept *kept, uint64_t now)
{
    _Atomic(struct shelf *) *place = &zone->shelf[entry->shelf];
    struct shelf *before = atomic_load_explicit(place, memory_order_relaxed);
    size_t room = MIN((before ? before->count : 0) + 1u, (unsigned)SPANS_SHELF_MAX);
    struct shelf *after =
        block_new(spans, sizeof(*after) + room * sizeof(after->at[0]) + entry->chain.len);
    if (!after)
        return false;
    uint8_t *chain = (uint8_t *)&after->at[room];
    after->chain = kept_append(&chain, entry->chain);
    shelf_fill(spans, after, before, kept, now);
    atomic_store_explicit(place, after, memory_order_release);
    if (before)
        block_retire(spans, &before->block);
    return true;
}

/* Drops zones until this many bytes are free or wait only for readers. False: they are not free
 * yet.
 */
static bool need_bytes(struct spans *spans, const struct spans_zone *zone, size_t bytes)
{
    while (spans->usage.bytes - spans->retired_bytes + bytes > spans->bytes_max)
        if (!spans_make_room(spans, zone->labels, zone))
            return false;
    spans_free_passed(spans);
    return spans->usage.bytes + bytes <= spans->bytes_max;
}

/* Returns the bytes that storing this RRset takes on a shelf with this many items. */
static size_t spans_bytes_for(const struct spans_entry *entry, size_t count)
{
    return sizeof(struct kept) + entry_bytes(entry) + sizeof(struct shelf) +
           (count + 1) * sizeof(struct kept *) + entry->chain.len + 2 * ALLOCATION_BYTES;
}

static bool store_in_zone(struct spans *spans, struct spans_zone *zone,
                          const struct spans_entry *entry, uint64_t now)
{
    const struct shelf *before = zone_shelf(zone, entry->shelf);
    if (before && !span_equal(before->chain, entry->chain)) {
        shelf_clear(spans, zone, entry->shelf);
        before = NULL;
    }
    if (!need_bytes(spans, zone, spans_bytes_for(entry, before ? before->count : 0)))
        return false;
    struct kept *kept = kept_new(spans, entry);
    if (!kept)
        return false;
    bool is_known = adds_nothing(before, kept, now);
    if (!is_known && shelf_put(spans, zone, entry, kept, now))
        return true;
    block_free(spans, &kept->block);
    return is_known;
}

static bool zone_is_empty(const struct spans_zone *zone)
{
    for (unsigned i = 0; i < SPANS_SHELVES; i++)
        if (zone_shelf(zone, i))
            return false;
    return true;
}

bool spans_store(struct spans *spans, const struct spans_entry *entry, uint64_t now)
{
    if (entry_bytes(entry) + entry->chain.len > SPANS_ITEM_BYTES_MAX || now >= entry->expires_at)
        return false;
    uint64_t hash = spans_hash(spans, entry->space, entry->zone);
    pthread_mutex_lock(&spans->lock);
    spans_free_passed(spans);
    struct spans_zone *zone = spans_find_hashed(spans, entry->space, entry->zone, hash);
    if (!zone)
        zone = zone_add(spans, entry->space, entry->zone, now);
    bool is_stored = zone && store_in_zone(spans, zone, entry, now);
    if (zone && zone_is_empty(zone))
        zone_drop(spans, zone);
    spans->usage.refused += !is_stored;
    pthread_mutex_unlock(&spans->lock);
    return is_stored;
}

void spans_forget(struct spans *spans, struct name name)
{
    pthread_mutex_lock(&spans->lock);
    for (unsigned i = atomic_load(&spans->zone_count); i-- > 0;) {
        struct spans_zone *zone = spans->all[i];
        if (name_is_below(zone->name, name) || name_is_below(name, zone->name))
            zone_drop(spans, zone);
    }
    spans_free_passed(spans);
    pthread_mutex_unlock(&spans->lock);
}

void spans_usage(struct spans *spans, struct spans_usage *out)
{
    pthread_mutex_lock(&spans->lock);
    spans_free_passed(spans);
    *out = spans->usage;
    out->zones = atomic_load(&spans->zone_count);
    pthread_mutex_unlock(&spans->lock);
}

/* ---- life ---- */

struct spans *spans_new(size_t bytes_max)
{
    MUST(bytes_max <= SPANS_BYTES_MAX);
    struct spans *spans = calloc(1, sizeof(*spans));
    if (!spans)
        return NULL;
    spans->grace = grace_new();
    if (!spans->grace) {
        free(spans);
        return NULL;
    }
    spans->seed = rand_u64();
    spans->bytes_max = bytes_max;
    spans->retired_end = &spans->retired;
    pthread_mutex_init(&spans->lock, NULL);
    return spans;
}

void spans_free(struct spans *spans)
{
    if (!spans)
        return;
    while (atomic_load(&spans->zone_count))
        zone_drop(spans, spans->all[0]);
    grace_free(spans->grace);
    while (spans->retired)
        spans_free_first(spans);
    pthread_mutex_destroy(&spans->lock);
    free(spans);
}
