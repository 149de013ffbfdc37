/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CACHE_TEXT_H
#define NAILUP_CACHE_TEXT_H

/*
 * Answers as lines for people, and for programs that can read zone files:
 *
 *   ;answer www.example.com. A ttl 287 rcode NOERROR kind positive flags do,ad ede 3
 *   www.example.com.  287  IN  A  192.0.2.1
 *   ;authority
 *   ;additional
 *   ;end
 *
 * Pairs follow the type in any order. ttl (seconds left to live) is required. The defaults are
 * rcode NOERROR, kind positive, no flags (do and cd of the question, ad of the answer) and no
 * extended errors. Other lines that begin with a semicolon are comments, between answers and inside
 * them. The line of an empty section may be missing.
 *
 * Slow, with allocations in dns/present: for operators.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/span.h"
#include "cache/visit.h"

struct cache;

enum {
    TEXT_LINE_MAX = 300 * 1024, /* holds one record: 64 KiB, four characters per byte */
    TEXT_WHY_MAX = 160,
};

/* Appends the lines of an answer with TTLs aged to now_us. Returns false and appends nothing when
 * out has no room, or when out of memory. */
MUST_USE bool text_put(struct buf *out, const struct cache_item *item, uint64_t now_us);

/* Reads lines and stores answers. It trusts no line. */
struct text_reader;

/* The caller passes the reader to free(). Returns NULL when out of memory. Borrows cache. Answers
 * count as stored at now_us; the filter decides which of them are stored. */
struct text_reader *text_reader_new(struct cache *cache, struct cache_filter filter,
                                    uint64_t now_us);

/*
 * Reads one line, without its newline. Returns false with why (the fault and its remedy) when the
 * line is unusable; the reader then skips the rest of that answer. Not in a read section.
 */
MUST_USE bool text_read(struct text_reader *reader, struct span line, char why[TEXT_WHY_MAX]);

/* Ends the text. Returns false with why when the last answer has no end. */
MUST_USE bool text_read_end(struct text_reader *reader, char why[TEXT_WHY_MAX]);

/* Returns the number of answers stored so far. */
uint64_t text_reader_count(const struct text_reader *reader);

/* Returns the number of sound answers that were not stored: expired ones, failures, and answers
 * that the filter or the cache refused. */
uint64_t text_reader_skipped(const struct text_reader *reader);

#endif
