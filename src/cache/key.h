/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CACHE_KEY_H
#define NAILUP_CACHE_KEY_H

/*
 * What an answer is found by, also for joining equal questions. Users make keys with
 * cache_key_init() of cache/cache.h, which knows the cache's secret seed.
 */

#include <stdbool.h>
#include <stdint.h>

#include "dns/question.h"

/* Flags of a key: answers differ by them. */
enum { CACHE_KEY_DO = 1, CACHE_KEY_CD = 2 };

/* Views: kinds of knowledge that do not displace each other (RFC 2181 section 5.4.1). */
enum cache_view {
    CACHE_VIEW_ANSWERS,  /* what clients are told */
    CACHE_VIEW_CUTS,     /* zone cuts met in recursion (recurse/delegation.h), under (zone, NS) */
    CACHE_VIEW_STAND_IN, /* those that were found in place of a zone whose servers failed */
};

/* Name (case folded), type, class, DO, CD, view. The fields from type on lie side by side without
 * padding: they are hashed and compared as one run of bytes. */
struct cache_key {
    uint64_t hash;
    uint16_t type, cls;
    uint8_t flags, view;
    uint8_t name_len;
    uint8_t name[NAME_WIRE_MAX]; /* wire form, lower case; only name_len bytes are set */
};

bool cache_key_equal(const struct cache_key *a, const struct cache_key *b);

/* Fills the key; the hash is of everything under the seed. */
void key_init(struct cache_key *key, uint64_t seed, const struct question *question, uint8_t flags,
              uint8_t view);

/* The hash of a key whose other fields are set. */
uint64_t key_hash(const struct cache_key *key, uint64_t seed);

#endif
