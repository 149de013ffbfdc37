/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CACHE_TEXT_H
#define NAILUP_CACHE_TEXT_H

/*
 * Answers as lines that people read and edit, and programs that know zone files too:
 *
 *   ;answer www.example.com. A ttl 287 rcode NOERROR kind positive flags do,ad ede 3
 *   www.example.com.  287  IN  A  192.0.2.1
 *   ;authority
 *   ;additional
 *   ;end
 *
 * Behind the type stand pairs in any order: ttl (seconds left to live) must be there; rcode
 * NOERROR, kind positive, no flags (of do, cd: of the question; ad: of the answer) and no extended
 * errors are what is meant when nothing is said. Other lines that begin with a semicolon are
 * comments, between answers and in them; a line of a section that has no records may be left out.
 *
 * Slow and allocating, by way of dns/present: for operators.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/span.h"
#include "cache/visit.h"

struct cache;

enum {
    TEXT_LINE_MAX = 300 * 1024, /* of one record: 64 KiB of bytes that need four characters each */
    TEXT_WHY_MAX = 160,
};

/* Appends the lines of an answer, TTLs aged to now_us; false when out has no room or memory is out:
 * nothing is appended then. */
MUST_USE bool text_put(struct buf *out, const struct cache_item *item, uint64_t now_us);

/* Reads lines, whoever wrote them, and stores answers. */
struct text_reader;

/* For free(). NULL out of memory. cache is borrowed. Answers are stored as of now_us; those of
 * names that the filter does not take are passed over. */
struct text_reader *text_reader_new(struct cache *cache, struct cache_filter filter,
                                    uint64_t now_us);

/*
 * One line, without its newline. False with why (what is wrong, what to do) when it cannot be
 * used: what belongs to the same answer is passed over then. Not in a read section.
 */
MUST_USE bool text_read(struct text_reader *reader, struct span line, char why[TEXT_WHY_MAX]);

/* No line follows: false with why when an answer has no end. */
MUST_USE bool text_read_end(struct text_reader *reader, char why[TEXT_WHY_MAX]);

/* Answers stored so far. */
uint64_t text_reader_count(const struct text_reader *reader);

/* Sound answers that were not stored: ended, failures, not taken by the filter or by the cache. */
uint64_t text_reader_passed_over(const struct text_reader *reader);

#endif
