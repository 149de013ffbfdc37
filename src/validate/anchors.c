/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * A hash table by zone name with open addressing. A bit for each number of labels that occurs keeps
 * other suffixes from being hashed, and the root has a separate place, so that a table with the
 * root alone hashes nothing. The operator chooses the zones, but not the names that are looked up,
 * so the seed is random.
 *
 * Invariants: the slots are at most half full, so every probe ends. Names are in lower case. The
 * arena holds names, records and RDATA; nothing in it changes after it was written.
 */
#include "validate/anchors.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/hash.h"
#include "base/rand.h"
#include "dns/rrtype.h"
#include "validate/algorithm.h"
#include "validate/dnskey.h"

enum {
    LABEL_COUNTS = NAME_LABELS_MAX + 1,
    ANCHORS_BYTES_MAX = 64 * 1024 * 1024, /* names and records */
    FIRST_ROOM = 4,
    DIGEST_GOST = 3, /* only its length is known: it never counts */
};

struct anchors {
    uint64_t seed;
    uint64_t label_counts[(LABEL_COUNTS + 63) / 64]; /* a bit for each number below the root */
    struct anchor *list;
    size_t count, room;
    uint32_t *slots; /* index into list plus one; 0 is free */
    uint32_t slot_mask;
    uint32_t root;  /* the same for the root */
    bool has_named; /* an anchor below the root */
    const char *source;
    struct arena arena;
};

struct anchors *anchors_new(void)
{
    struct anchors *anchors = calloc(1, sizeof(*anchors));
    if (!anchors)
        return NULL;
    anchors->seed = rand_u64();
    anchors->source = "";
    arena_init(&anchors->arena, ANCHORS_BYTES_MAX);
    return anchors;
}

void anchors_free(struct anchors *anchors)
{
    if (!anchors)
        return;
    arena_deinit(&anchors->arena);
    free(anchors->list);
    free(anchors->slots);
    free(anchors);
}

void anchors_set_source(struct anchors *anchors, const char *source)
{
    anchors->source = source;
}

/* ---- finding ---- */

/* Returns the slot of this zone, or the free one where it would be. */
static uint32_t *anchors_find_slot(const struct anchors *anchors, struct name zone)
{
    uint32_t at = (uint32_t)name_hash(zone, anchors->seed);
    for (;; at++) {
        uint32_t *slot = &anchors->slots[at & anchors->slot_mask];
        if (!*slot || name_equal(anchors->list[*slot - 1].zone, zone))
            return slot;
    }
}

static const struct anchor *find_below_root(const struct anchors *anchors, struct name name)
{
    unsigned labels = name_label_count(name);
    for (; labels > 0; labels--, name = name_parent(name)) {
        if (!(anchors->label_counts[labels / 64] >> labels % 64 & 1))
            continue;
        uint32_t slot = *anchors_find_slot(anchors, name);
        if (slot)
            return &anchors->list[slot - 1];
    }
    return NULL;
}

const struct anchor *anchors_find(const struct anchors *anchors, struct name name)
{
    const struct anchor *anchor = anchors->has_named ? find_below_root(anchors, name) : NULL;
    if (!anchor && anchors->root)
        anchor = &anchors->list[anchors->root - 1];
    return anchor;
}

size_t anchors_count(const struct anchors *anchors)
{
    return anchors->count;
}

const struct anchor *anchors_at(const struct anchors *anchors, size_t at)
{
    MUST(at < anchors->count);
    return &anchors->list[at];
}

/* ---- adding ---- */

/* Doubles the places of the list, and keeps four slots for each. */
static bool anchors_grow(struct anchors *anchors)
{
    size_t room = anchors->room ? 2 * anchors->room : FIRST_ROOM;
    struct anchor *list = realloc(anchors->list, room * sizeof(*list));
    if (!list)
        return false;
    anchors->list = list;
    uint32_t *slots = calloc(4 * room, sizeof(*slots));
    if (!slots)
        return false;
    free(anchors->slots);
    anchors->slots = slots;
    anchors->slot_mask = (uint32_t)(4 * room - 1);
    anchors->room = room;
    for (size_t i = 0; i < anchors->count; i++)
        if (!name_is_root(list[i].zone))
            *anchors_find_slot(anchors, list[i].zone) = (uint32_t)i + 1;
    return true;
}

static struct anchor *anchors_find_exact(struct anchors *anchors, struct name zone)
{
    uint32_t place = name_is_root(zone)   ? anchors->root
                     : anchors->has_named ? *anchors_find_slot(anchors, zone)
                                          : 0;
    return place ? &anchors->list[place - 1] : NULL;
}

static void anchors_index(struct anchors *anchors, struct name zone, uint32_t place)
{
    unsigned labels = name_label_count(zone);
    if (labels == 0) {
        anchors->root = place;
        return;
    }
    *anchors_find_slot(anchors, zone) = place;
    anchors->label_counts[labels / 64] |= UINT64_C(1) << labels % 64;
    anchors->has_named = true;
}

/* Appends an anchor without records. */
static enum err anchors_append(struct anchors *anchors, struct name zone, struct anchor **out)
{
    uint8_t folded[NAME_WIRE_MAX];
    zone = name_fold(zone, folded);
    if (anchors->count == ANCHORS_MAX)
        return ERR_LIMIT;
    const uint8_t *wire = arena_copy(&anchors->arena, zone.wire, zone.len);
    if (!wire || (anchors->count == anchors->room && !anchors_grow(anchors)))
        return ERR_NO_MEMORY;
    struct anchor *anchor = &anchors->list[anchors->count++];
    *anchor = (struct anchor){
        .kind = ANCHOR_TRUSTED, .zone = {wire, zone.len}, .source = anchors->source};
    anchors_index(anchors, anchor->zone, (uint32_t)anchors->count);
    *out = anchor;
    return ERR_OK;
}

static bool has_record(const struct anchor *anchor, uint16_t type, struct span rdata)
{
    for (size_t i = 0; i < anchor->count; i++)
        if (anchor->record[i].type == type && span_equal(anchor->record[i].rdata, rdata))
            return true;
    return false;
}

/* Appends a record. Their array moves when its length is a power of two. */
static enum err anchors_append_record(struct anchors *anchors, struct anchor *anchor, uint16_t type,
                                      struct span rdata)
{
    size_t count = anchor->count;
    if (count == ANCHOR_RECORDS_MAX)
        return ERR_LIMIT;
    /* The cast is safe: only this function writes to the array. */
    struct anchor_record *list = (struct anchor_record *)(uintptr_t)anchor->record;
    const uint8_t *bytes = arena_copy(&anchors->arena, rdata.data, rdata.len);
    if ((count & (count - 1)) == 0) {
        list = arena_take(&anchors->arena, (count ? 2 * count : 1) * sizeof(*list));
        if (list && count)
            memcpy(list, anchor->record, count * sizeof(*list));
    }
    if (!list || !bytes)
        return ERR_NO_MEMORY;
    list[count] = (struct anchor_record){
        .type = type, .rdata = span_of(bytes, rdata.len), .source = anchors->source};
    anchor->record = list;
    anchor->count++;
    return ERR_OK;
}

static bool is_whole_ds(struct span rdata)
{
    struct ds ds;
    if (!ds_read(&ds, rdata))
        return false;
    switch (ds.digest_type) {
    case DIGEST_SHA1:
        return ds.digest.len == 20;
    case DIGEST_SHA256:
    case DIGEST_GOST:
        return ds.digest.len == 32;
    case DIGEST_SHA384:
        return ds.digest.len == 48;
    default:
        return ds.digest.len > 0;
    }
}

/* A key of an unknown algorithm may be of any form. */
static bool is_signing_key(struct span rdata)
{
    struct dnskey key;
    if (!dnskey_read(&key, rdata) || key.key.len == 0 || !dnskey_may_sign(&key))
        return false;
    return !algorithm_is_supported(key.algorithm, true) ||
           algorithm_key_is_sound(key.algorithm, key.key.data, key.key.len);
}

static bool may_anchor(uint16_t type, struct span rdata)
{
    return type == RRTYPE_DS ? is_whole_ds(rdata) : type == RRTYPE_DNSKEY && is_signing_key(rdata);
}

enum err anchors_add(struct anchors *anchors, struct name zone, uint16_t type, struct span rdata)
{
    if (!may_anchor(type, rdata))
        return ERR_INVALID;
    struct anchor *anchor = anchors_find_exact(anchors, zone);
    if (anchor && (anchor->kind == ANCHOR_NEGATIVE || has_record(anchor, type, rdata)))
        return ERR_OK;
    enum err err = anchor ? ERR_OK : anchors_append(anchors, zone, &anchor);
    return err ? err : anchors_append_record(anchors, anchor, type, rdata);
}

enum err anchors_add_negative(struct anchors *anchors, struct name zone)
{
    struct anchor *anchor = anchors_find_exact(anchors, zone);
    enum err err = anchor ? ERR_OK : anchors_append(anchors, zone, &anchor);
    if (err != ERR_OK)
        return err;
    anchor->kind = ANCHOR_NEGATIVE;
    anchor->count = 0;
    anchor->record = NULL;
    anchor->source = anchors->source;
    return ERR_OK;
}

/* source NULL: of any source. */
static enum err copy_anchor(struct anchors *copy, const struct anchor *from, const char *source)
{
    enum err err = ERR_OK;
    copy->source = from->source;
    if (from->kind == ANCHOR_NEGATIVE)
        err = anchors_add_negative(copy, from->zone);
    for (size_t i = 0; i < from->count && err == ERR_OK; i++) {
        const struct anchor_record *record = &from->record[i];
        if (source && strcmp(record->source, source) != 0)
            continue;
        copy->source = record->source;
        err = anchors_add(copy, from->zone, record->type, record->rdata);
    }
    return err;
}

static struct anchors *copy_all(const struct anchors *anchors, const struct name *zone,
                                const char *source)
{
    struct anchors *copy = anchors_new();
    enum err err = copy ? ERR_OK : ERR_NO_MEMORY;
    for (size_t i = 0; i < anchors->count && err == ERR_OK; i++) {
        const struct anchor *from = &anchors->list[i];
        bool is_zone = zone && name_equal(from->zone, *zone);
        err = copy_anchor(copy, from, is_zone ? source : NULL);
    }
    if (err == ERR_OK)
        return copy;
    anchors_free(copy);
    return NULL;
}

struct anchors *anchors_copy(const struct anchors *anchors)
{
    return copy_all(anchors, NULL, NULL);
}

struct anchors *anchors_copy_keeping(const struct anchors *anchors, struct name zone,
                                     const char *source)
{
    return copy_all(anchors, &zone, source);
}

/* ---- differences ---- */

/* The sum makes the order of the records irrelevant. */
static uint64_t hash_anchor(const struct anchor *anchor)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < anchor->count; i++) {
        const struct anchor_record *record = &anchor->record[i];
        sum += hash_bytes(record->rdata.data, record->rdata.len, record->type);
    }
    return hash_bytes(anchor->zone.wire, anchor->zone.len, hash_word(anchor->kind, sum));
}

uint64_t anchors_hash(const struct anchors *anchors)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < anchors->count; i++)
        sum += hash_anchor(&anchors->list[i]);
    return sum;
}

static const struct anchor *find_same_zone(const struct anchors *anchors, struct name zone)
{
    const struct anchor *found = anchors_find(anchors, zone);
    return found && found->zone.len == zone.len ? found : NULL;
}

static bool anchors_are_same(const struct anchor *a, const struct anchor *b)
{
    if (a->kind != b->kind || a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (!has_record(b, a->record[i].type, a->record[i].rdata))
            return false;
    return true;
}

void anchors_compare(const struct anchors *before, const struct anchors *after,
                     void (*visit)(void *context, struct name zone), void *context)
{
    for (size_t i = 0; i < before->count; i++) {
        const struct anchor *other = find_same_zone(after, before->list[i].zone);
        if (!other || !anchors_are_same(&before->list[i], other))
            visit(context, before->list[i].zone);
    }
    for (size_t i = 0; i < after->count; i++)
        if (!find_same_zone(before, after->list[i].zone))
            visit(context, after->list[i].zone);
}

/* ---- the root ---- */

/* IANA publishes both as digests (https://data.iana.org/root-anchors/root-anchors.xml). */
static const uint8_t ksk_2017[] = {0x4f,          0x66, ALGORITHM_RSASHA256,
                                   DIGEST_SHA256, 0xe0, 0x6d,
                                   0x44,          0xb8, 0x0b,
                                   0x8f,          0x1d, 0x39,
                                   0xa9,          0x5c, 0x0b,
                                   0x0d,          0x7c, 0x65,
                                   0xd0,          0x84, 0x58,
                                   0xe8,          0x80, 0x40,
                                   0x9b,          0xbc, 0x68,
                                   0x34,          0x57, 0x10,
                                   0x42,          0x37, 0xc7,
                                   0xf8,          0xec, 0x8d};
static const uint8_t ksk_2024[] = {0x97,          0x28, ALGORITHM_RSASHA256,
                                   DIGEST_SHA256, 0x68, 0x3d,
                                   0x2d,          0x0a, 0xcb,
                                   0x8c,          0x9b, 0x71,
                                   0x2a,          0x19, 0x48,
                                   0xb2,          0x7f, 0x74,
                                   0x12,          0x19, 0x29,
                                   0x8d,          0x0a, 0x45,
                                   0x0d,          0x61, 0x2c,
                                   0x48,          0x3a, 0xf4,
                                   0x44,          0xa4, 0xc0,
                                   0xfb,          0x2b, 0x16};

enum err anchors_add_root(struct anchors *anchors)
{
    enum err err =
        anchors_add(anchors, name_root(), RRTYPE_DS, span_of(ksk_2017, sizeof(ksk_2017)));
    return err ? err
               : anchors_add(anchors, name_root(), RRTYPE_DS, span_of(ksk_2024, sizeof(ksk_2024)));
}
