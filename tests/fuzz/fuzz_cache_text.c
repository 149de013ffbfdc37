/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Reads the input as text, line by line. Every stored answer must be sound. The text of the cache
 * must give the same number of answers when it is read again.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "cache/cache.h"
#include "cache/text.h"
#include "dns/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct cache *cache;

static void read_all(struct span text)
{
    struct text_reader *reader = text_reader_new(cache, (struct cache_filter){0}, 0);
    char why[TEXT_WHY_MAX];
    MUST(reader);
    while (text.len > 0) {
        const uint8_t *newline = memchr(text.data, '\n', text.len);
        size_t len = newline ? (size_t)(newline - text.data) : text.len;
        struct span line;
        if (!text_read(reader, span_of(text.data, len), why))
            MUST(strlen(why) > 0);
        (void)!span_take(&text, len + (newline != NULL), &line);
    }
    (void)!text_read_end(reader, why);
    free(reader);
}

struct written {
    struct buf out;
    uint64_t count;
};

/* ldns cannot read some of the records that it writes, so an answer with such a record is left out.
 */
static enum cache_verdict write_item(void *context, const struct cache_item *item)
{
    struct written *written = context;
    struct message message;
    MUST(message_parse(&message, item->answer.message) == MESSAGE_OK);
    MUST(message.has_question && !message.has_trailing && message_check_rdata(&message));
    written->count += text_put(&written->out, item, 0);
    return CACHE_DROP;
}

static uint64_t write_all(struct written *written)
{
    written->count = 0;
    for (uint64_t place = 0; cache_walk(cache, &place, 1024, write_item, written);)
        continue;
    return written->count;
}

/* Frees the cache, because the leak checker does not search its mapping for pointers. */
static void end_cache(void)
{
    cache_free(cache);
    cache_thread_end();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct cache_options options = {
        .size_bytes = CACHE_SIZE_MIN, .max_ttl_s = 86400, .max_negative_ttl_s = 900};
    struct written first, second;
    if (!cache) {
        cache_thread_begin();
        cache = cache_new(&options);
        MUST(cache && atexit(end_cache) == 0);
    }
    buf_init(&first.out, 16 << 20);
    buf_init(&second.out, 16 << 20);
    read_all(span_of(data, size));
    write_all(&first);
    read_all(buf_span(&first.out));
    MUST(write_all(&second) <= first.count);
    buf_deinit(&first.out);
    buf_deinit(&second.out);
    return 0;
}
