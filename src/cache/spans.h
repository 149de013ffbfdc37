/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CACHE_SPANS_H
#define NAILUP_CACHE_SPANS_H

/*
 * RRsets that answer for other names than their own, sorted by owner: records that deny a span of
 * names, and the records that go with them. All workers share the spans. The store knows zones and
 * the canonical order of names. It knows nothing about proofs: the callers decide about entry and
 * use.
 *
 * Readers search without a lock in a read section (cache_read_begin()). Each shelf of a zone is an
 * immutable sorted array: a writer publishes a copy with one more RRset.
 *
 * Time is an argument: microseconds of the loop's clock.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/span.h"
#include "dns/name.h"

enum {
    SPANS_ZONES_MAX = 4096,
    SPANS_SHELF_MAX = 2048,             /* RRsets of one shelf; the root zone has 1,440 names */
    SPANS_ITEM_BYTES_MAX = 4096,        /* one RRset with its owner and signature */
    SPANS_BYTES_MAX = 16 * 1024 * 1024, /* for all zones, with memory that readers still use */
};

enum spans_shelf {
    SPANS_NAMES,   /* spans of names */
    SPANS_HASHES,  /* spans of hashes, whose owners sort like the hashes */
    SPANS_RECORDS, /* other records, found by owner and type */
    SPANS_SHELVES,
};

/* One RRset with one signature. Immutable; valid in the read section that found it. */
struct spans_item {
    uint64_t expires_at;
    struct name owner;
    uint16_t type;
    uint16_t count;        /* records */
    struct span records;   /* spans_next() reads them */
    struct span signature; /* RDATA */
};

/* An RRset to store. All is copied. */
struct spans_entry {
    uint32_t space; /* the space of keys (cache/key.h) */
    struct name zone;
    enum spans_shelf shelf;
    struct span chain; /* the spans of one shelf belong to one chain: another one displaces it */
    struct name owner;
    uint16_t type;
    uint64_t expires_at;
    const struct span *record;
    unsigned count;
    struct span signature;
};

struct spans;
struct spans_zone;

/* Returns NULL when out of memory. bytes_max is at most SPANS_BYTES_MAX. */
struct spans *spans_new(size_t bytes_max);

/* No reader may come afterwards. NULL is fine. */
void spans_free(struct spans *spans);

/* ---- readers, in a read section ---- */

/* Whether there is any zone. It costs one load. */
bool spans_any(const struct spans *spans);

/* Returns the zone with RRsets of this space that is closest at or above the name, or NULL. */
const struct spans_zone *spans_zone_above(const struct spans *spans, uint32_t space,
                                          struct name name);

struct name spans_zone_name(const struct spans_zone *zone);

/* Whether the shelf has any RRset, fresh or expired. */
bool spans_has(const struct spans_zone *zone, enum spans_shelf shelf);

/* Returns the chain of the shelf; empty without spans. */
struct span spans_chain(const struct spans_zone *zone, enum spans_shelf shelf);

/* Returns the last RRset of the shelf whose owner does not sort after the name. The order is a
 * ring: the last RRset precedes the first. NULL: the shelf is empty, or that RRset has expired. */
const struct spans_item *spans_before(const struct spans_zone *zone, enum spans_shelf shelf,
                                      struct name name, uint64_t now);

/* Returns the RRset of SPANS_RECORDS with this owner and type, or NULL. */
const struct spans_item *spans_records(const struct spans_zone *zone, struct name owner,
                                       uint16_t type, uint64_t now);

/* Takes the next record from *records, a copy of item->records. False at the end. */
bool spans_next(struct span *records, struct span *rdata);

/* Notes that the zone answered a query. Zones that answer queries stay longer. */
void spans_touch(const struct spans_zone *zone, uint64_t now);

/* ---- writers ---- */

/*
 * Stores the RRset in place of the one with this owner and type on the shelf. Never waits for
 * readers. A full shelf loses expired RRsets, or else a random one. When the number of zones or
 * bytes is at its bound, the store drops another zone that has at least as many labels. So an
 * attacker with many zones cannot displace top-level domains. Returns false when it is not stored.
 */
bool spans_store(struct spans *spans, const struct spans_entry *entry, uint64_t now);

/* Drops the zones of all spaces at, below and above the name, because each of them may have spans
 * about it. */
void spans_forget(struct spans *spans, struct name name);

struct spans_usage {
    uint64_t zones, items, bytes;
    uint64_t dropped_items; /* dropped because their shelf was full */
    uint64_t dropped_zones; /* dropped to make room */
    uint64_t refused;       /* RRsets without room */
};
void spans_usage(struct spans *spans, struct spans_usage *out);

#endif
