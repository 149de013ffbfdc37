/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_CACHE_MADE_ANSWERS_H
#define NAILUP_TESTS_CACHE_MADE_ANSWERS_H

/* Questions and answers made from numbers, for tests of the cache. */

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cache/cache.h"
#include "cache/pattern.h"

enum { SECOND = 1000000, MADE_TTL = 300, MADE_STALE = 86400, MADE_RECORDS_MAX = 4 };

struct made {
    uint8_t name[64];
    uint8_t message[CACHE_ANSWER_MAX + 1];
    uint16_t offsets[MADE_RECORDS_MAX];
    struct question question;
    struct answer answer;
};

/* Makes the question n<number>.example. */
static inline void make_question(struct made *made, uint64_t number)
{
    uint8_t *at = made->name;
    int len = snprintf((char *)at + 1, 32, "n%llu", (unsigned long long)number);
    *at = (uint8_t)len;
    at += 1 + len;
    memcpy(at, "\7example", 9);
    made->question = (struct question){
        .name = {.wire = made->name, .len = (uint8_t)(at + 9 - made->name)}, .type = 1, .cls = 1};
}

/* Makes an answer to that question: `records` A records, then bytes up to `size` that depend on
 * mark. */
static inline void make_answer(struct made *made, unsigned records, size_t size, uint32_t mark,
                               uint64_t now_us)
{
    uint8_t *at = made->message;
    memset(at, 0, 12);
    put_u16(at + 4, 1);
    put_u16(at + 6, (uint16_t)records);
    at += 12;
    memcpy(at, made->question.name.wire, made->question.name.len);
    at += made->question.name.len;
    put_u16(at, made->question.type);
    put_u16(at + 2, made->question.cls);
    at += 4;
    for (unsigned i = 0; i < records; i++) {
        memcpy(at, "\xc0\x0c\0\1\0\1\0\0\1\54\0\4", 12);
        made->offsets[i] = (uint16_t)(at + 6 - made->message);
        put_u32(at + 12, mark);
        at += 16;
    }
    while (at < made->message + size) {
        *at = (uint8_t)(mark + (uint32_t)(at - made->message));
        at++;
    }
    made->answer = (struct answer){
        .message = span_of(made->message, (size_t)(at - made->message)),
        .ttl_offsets = made->offsets,
        .ttl_count = (uint16_t)records,
        .ttl_s = MADE_TTL,
        .stored_at = now_us,
    };
}

static inline bool store_made(struct cache *cache, struct made *made, uint8_t flags)
{
    struct cache_key key;
    cache_key_init(&key, cache, &made->question, flags, 0, CACHE_SPACE_SHARED);
    return cache_store(cache, &key, &made->answer);
}

/* Stores a one-record answer for the number. */
static inline bool store_number(struct cache *cache, uint64_t number, uint64_t now_us)
{
    static _Thread_local struct made made;
    make_question(&made, number);
    make_answer(&made, 1, 0, (uint32_t)number, now_us);
    return store_made(cache, &made, 0);
}

static inline bool find_number(struct cache *cache, uint64_t number, uint64_t now_us)
{
    static _Thread_local struct made made;
    struct cache_key key;
    struct answer answer;
    make_question(&made, number);
    cache_key_init(&key, cache, &made.question, 0, 0, CACHE_SPACE_SHARED);
    cache_read_begin();
    bool found = cache_find(cache, &key, now_us, &answer);
    cache_read_end();
    return found;
}

struct flushing {
    struct pattern pattern;
    size_t count;
};

static inline enum cache_verdict flush_item(void *context, const struct cache_item *item)
{
    struct flushing *flushing = context;
    if (!pattern_matches(&flushing->pattern, &item->answer))
        return CACHE_KEEP;
    flushing->count++;
    return CACHE_DROP;
}

/* Drops all answers for the name and returns their number. */
static inline size_t flush_name(struct cache *cache, struct name name)
{
    struct flushing flushing = {.pattern = {.name = name}};
    for (uint64_t place = 0; cache_walk(cache, &place, 64, flush_item, &flushing);)
        continue;
    return flushing.count;
}

static inline struct cache *made_cache(uint64_t size_bytes)
{
    struct cache_options options = {.size_bytes = size_bytes,
                                    .max_ttl_s = 86400,
                                    .max_negative_ttl_s = 900,
                                    .failure_ttl_s = 5,
                                    .serve_stale_s = MADE_STALE};
    return cache_new(&options);
}

#endif
