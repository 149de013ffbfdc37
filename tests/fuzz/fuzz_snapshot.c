/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Loads the input as a snapshot, and again as the items of one block with valid checksums, because
 * random bytes never have those. Every stored answer must keep the promises of cache/answer.h.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "cache/cache.h"
#include "cache/snapshot.h"
#include "cache/snapshot_format.h"
#include "dns/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WALL_S = 1800000000, NOW_US = 77000000 };

static struct cache *cache;

static uint64_t load(const void *data, size_t size)
{
    static const bool never = false;
    struct snapshot_now now = {NOW_US, WALL_S};
    uint64_t count = 0;
    FILE *file = fmemopen((void *)(uintptr_t)data, size, "r");
    MUST(file);
    (void)!snapshot_load_from(cache, file, now, (struct cache_filter){0}, &never, &count);
    fclose(file);
    return count;
}

/* Checks that the answer is sound, and drops it, so that the next input finds an empty cache. */
static enum cache_verdict check(void *context, const struct cache_item *item)
{
    const struct answer *answer = &item->answer;
    struct message message;
    uint8_t out[CACHE_ANSWER_MAX];
    MUST(message_parse(&message, answer->message) == MESSAGE_OK);
    MUST(message.has_question && !message.has_trailing && !message.edns.present);
    MUST(message_check_rdata(&message));
    MUST(answer->kind != ANSWER_FAILURE && answer->ede_count <= 2 && item->flags < 4 &&
         answer->security <= SECURITY_BOGUS);
    answer_copy(answer, answer->message.len, NOW_US + 1000000, out);
    ++*(uint64_t *)context;
    return CACHE_DROP;
}

static void check_kept(uint64_t loaded)
{
    uint64_t place = 0, count = 0;
    while (cache_walk(cache, &place, 1024, check, &count))
        continue;
    MUST(count <= loaded);
}

/* Returns the number of items in the bytes, or 0 if one is malformed. */
static uint64_t count_items(struct span bytes)
{
    struct snapshot_item item;
    uint64_t count = 0;
    for (; bytes.len > 0; count++)
        if (!snapshot_take_item(&bytes, &item))
            return 0;
    return count;
}

static void load_as_items(const uint8_t *data, size_t size)
{
    size_t whole = SNAPSHOT_HEAD + 2 * SNAPSHOT_BLOCK_HEAD + size + SNAPSHOT_END_MAX;
    uint64_t items = count_items(span_of(data, size)), chain;
    uint8_t *bytes = calloc(1, whole), *at = bytes + SNAPSHOT_HEAD, end[SNAPSHOT_END_MAX];
    MUST(bytes);
    snapshot_put_end(end, &(struct snapshot_end){.count = items});
    snapshot_put_head(bytes, WALL_S, &chain);
    snapshot_put_block_head(at, span_of(data, size), &chain);
    memcpy(at + SNAPSHOT_BLOCK_HEAD, data, size);
    at += SNAPSHOT_BLOCK_HEAD + size;
    snapshot_put_block_head(at, span_of(end, sizeof(end)), &chain);
    put_u32(at, 0);
    memcpy(at + SNAPSHOT_BLOCK_HEAD, end, sizeof(end));
    check_kept(load(bytes, whole));
    free(bytes);
}

/* The cache is a mapping, in which the leak checker looks for no pointers. */
static void end_cache(void)
{
    cache_free(cache);
    cache_thread_end();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct cache_options options = {
        .size_bytes = CACHE_SIZE_MIN, .max_ttl_s = 86400, .max_negative_ttl_s = 900};
    if (!cache) {
        cache_thread_begin();
        cache = cache_new(&options);
        MUST(cache && atexit(end_cache) == 0);
    }
    if (size == 0)
        return 0;
    check_kept(load(data, size));
    load_as_items(data, size);
    return 0;
}
