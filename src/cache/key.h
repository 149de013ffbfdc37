/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CACHE_KEY_H
#define NAILUP_CACHE_KEY_H

/*
 * The key of an answer. It also joins equal questions. cache_key_init() of cache/cache.h makes
 * keys, because it knows the cache's secret seed.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/hash.h"
#include "dns/question.h"

/* Flags of a key: answers differ by them. At most four bits, as an entry has no room for more. */
enum { CACHE_KEY_DO = 1, CACHE_KEY_CD = 2 };

/* Views: kinds of knowledge that do not displace each other (RFC 2181 section 5.4.1). */
enum cache_view {
    CACHE_VIEW_ANSWERS,  /* answers for clients */
    CACHE_VIEW_CUTS,     /* zone cuts that recursion found (recurse/delegation.h), as (zone, NS) */
    CACHE_VIEW_STAND_IN, /* zone cuts that replace those of a zone whose servers failed */
    CACHE_VIEW_TRUST,    /* validated answers to (zone, DNSKEY) and (zone, DS), with CACHE_KEY_DO;
                            unchecked ones for the task that will validate them */
};

/* The space of everything that no view of the configuration keeps apart. */
enum { CACHE_SPACE_SHARED = 0 };

/* The fields from type to name have no padding between them: they are hashed and compared as one
 * run of bytes. */
struct cache_key {
    uint64_t hash; /* a function of the other fields and the seed */
    uint16_t type, cls;
    uint32_t space; /* knowledge of one space is never found in another */
    uint8_t flags, view;
    uint8_t name_len;
    uint8_t name[NAME_WIRE_MAX]; /* wire form, lower case; only name_len bytes are set */
};

enum {
    KEY_FIELDS_AT = offsetof(struct cache_key, type),
    KEY_FIXED_BYTES = offsetof(struct cache_key, name) - KEY_FIELDS_AT,
};

_Static_assert(KEY_FIXED_BYTES == 11, "the hashed fields of a key have padding between them");

/* Returns the hash of a key whose other fields are set. */
static inline uint64_t key_hash(const struct cache_key *key, uint64_t seed)
{
    return hash_bytes((const uint8_t *)key + KEY_FIELDS_AT, (size_t)KEY_FIXED_BYTES + key->name_len,
                      seed);
}

static inline bool cache_key_equal(const struct cache_key *a, const struct cache_key *b)
{
    /* name_len is among the bytes compared, so memcmp() stops before the shorter name ends. */
    return a->hash == b->hash && a->name_len == b->name_len &&
           memcmp((const uint8_t *)a + KEY_FIELDS_AT, (const uint8_t *)b + KEY_FIELDS_AT,
                  (size_t)KEY_FIXED_BYTES + a->name_len) == 0;
}

#endif
