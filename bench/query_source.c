/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Copies a finished query and changes the digits of its name, in about ten nanoseconds.
 */

#include "query_source.h"

#include <string.h>

#include "base/check.h"
#include "base/rand.h"

enum { LABEL_BYTES = 17 }; /* a letter and 16 hexadecimal digits */

void query_source_init_file(struct query_source *source, const struct query_file *file)
{
    *source = (struct query_source){.kind = QUERIES_FILE, .file = *file};
}

void query_source_init_unique(struct query_source *source, const uint8_t *suffix, size_t suffix_len,
                              uint16_t type, const struct wire_style *style)
{
    uint8_t name[WIRE_NAME_MAX] = {LABEL_BYTES, 'u'};
    MUST(suffix_len <= WIRE_NAME_MAX - 1 - LABEL_BYTES);
    memcpy(name + 1 + LABEL_BYTES, suffix, suffix_len);
    *source = (struct query_source){.kind = QUERIES_UNIQUE, .random = rand_u64() | 1};
    source->counter = (uint64_t)rand_u32() << 32;
    source->template_len =
        wire_build_query(source->template, name, 1 + LABEL_BYTES + suffix_len, type, style);
}

enum err query_source_init_zipf(struct query_source *source, uint32_t names, double s,
                                double unique_percent)
{
    source->kind = QUERIES_ZIPF;
    source->unique_share = (uint32_t)(unique_percent / 100 * UINT32_MAX);
    return zipf_init(&source->zipf, names, s);
}

void query_source_deinit(struct query_source *source)
{
    query_file_deinit(&source->file);
    zipf_deinit(&source->zipf);
}

/* xorshift64* of Vigna. */
static uint64_t draw(struct query_source *source)
{
    uint64_t x = source->random;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    source->random = x;
    return x * 0x2545F4914F6CDD1DULL;
}

static size_t fill_name(const struct query_source *source, char letter, uint64_t number,
                        uint8_t *out)
{
    memcpy(out, source->template, source->template_len);
    uint8_t *label = out + WIRE_HEADER_BYTES + 1;
    label[0] = (uint8_t)letter;
    for (int i = 0; i < 16; i++)
        label[1 + i] = (uint8_t) "0123456789abcdef"[number >> (60 - 4 * i) & 15];
    return source->template_len;
}

size_t query_source_next(struct query_source *source, uint8_t *out)
{
    if (source->kind == QUERIES_FILE) {
        struct span query = query_file_at(&source->file, source->next);
        if (++source->next == source->file.count)
            source->next = 0;
        memcpy(out, query.data, query.len);
        return query.len;
    }
    bool is_new = source->kind == QUERIES_UNIQUE ||
                  (source->unique_share && (uint32_t)draw(source) < source->unique_share);
    if (is_new)
        return fill_name(source, 'u', source->counter++, out);
    return fill_name(source, 'n', zipf_draw(&source->zipf, draw(source)), out);
}
