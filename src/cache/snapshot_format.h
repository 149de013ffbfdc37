/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CACHE_SNAPSHOT_FORMAT_H
#define NAILUP_CACHE_SNAPSHOT_FORMAT_H

/*
 * A snapshot of the cache as bytes. Pure: it opens no file and reads no message. All numbers are in
 * network byte order.
 *
 *   12 bytes  "nailup-ans\n\0"
 *    4        version, SNAPSHOT_VERSION
 *    8        time of writing, seconds of the wall clock
 *    8        XXH3 of the above
 *             blocks, each:
 *    4          length of the items, 1 to SNAPSHOT_BLOCK_MAX
 *    8          XXH3 of the items, seeded with the checksum before
 *               items, each:
 *    2            length of the message
 *    4            seconds of life that are left; with the highest bit set, seconds since expiry
 *                 (version 1 had no expired answers)
 *    1            bits 0-3: enum answer_kind; bits 4-7: enum security (0 before version 3)
 *    3            key flags; view; number of EDE codes, and the mark in the highest bit
 *    4            two EDE codes
 *                 the message
 *    4        0
 *    8        XXH3 of the rest, seeded with the checksum before
 *    8        the number of items
 *    8        the rules of the verdicts (cache_rules(); not before version 4)
 *
 * Each checksum depends on everything before it, so blocks of two snapshots do not mix, and a
 * truncated file has no valid end. Checksums find damage by a disk or a crash, not by an attacker.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/span.h"

enum {
    SNAPSHOT_VERSION = 4,
    SNAPSHOT_VERSION_OLDEST = 1, /* the oldest version that can be read */
    SNAPSHOT_HEAD = 32,
    SNAPSHOT_BLOCK_HEAD = 12,
    SNAPSHOT_END_MAX = 16,
    SNAPSHOT_BLOCK_MAX = 8 * 1024 * 1024,
    SNAPSHOT_ITEM_FIXED = 14,
};

/* One answer. */
struct snapshot_item {
    uint32_t left_s;  /* life left at the time of writing; 0: expired. 31 bits */
    uint32_t past_s;  /* time since expiry; 0: not expired. 31 bits */
    uint8_t kind;     /* enum answer_kind, at most 15 */
    uint8_t security; /* enum security */
    uint8_t flags, view;
    uint8_t ede_count; /* at most 2 */
    uint16_t ede[2];
    bool is_marked; /* a client had asked for it again */
    struct span message;
};

/* The end of the file. */
struct snapshot_end {
    uint64_t count; /* of items */
    uint64_t rules;
    bool has_rules; /* false in files of older versions */
};

/* Returns the first bytes of a snapshot of any version. */
struct span snapshot_magic(void);

void snapshot_put_head(uint8_t out[SNAPSHOT_HEAD], uint64_t written_s, uint64_t *chain);

/* Returns false when the head is not that of a snapshot of a readable version. */
bool snapshot_take_head(const uint8_t head[SNAPSHOT_HEAD], uint32_t *version, uint64_t *written_s,
                        uint64_t *chain);

/* Writes the head of a block. The end of the file is a block too, but its length is written as 0.
 */
void snapshot_put_block_head(uint8_t out[SNAPSHOT_BLOCK_HEAD], struct span block, uint64_t *chain);

/* Returns whether the block has the checksum in its head. */
bool snapshot_check_block(const uint8_t head[SNAPSHOT_BLOCK_HEAD], struct span block,
                          uint64_t *chain);

/* Returns the length of the end in this version. */
size_t snapshot_end_len(uint32_t version);

/* Writes the end, which has rules. */
void snapshot_put_end(uint8_t out[SNAPSHOT_END_MAX], const struct snapshot_end *end);

/* Reads an end of snapshot_end_len() bytes. */
void snapshot_take_end(struct span bytes, struct snapshot_end *end);

/* Writes an item without its message, which follows it. */
void snapshot_put_item(uint8_t out[SNAPSHOT_ITEM_FIXED], const struct snapshot_item *item);

/* Takes the next item from the front of the block; its message borrows from the block. Returns
 * false when it is malformed. */
bool snapshot_take_item(struct span *block, struct snapshot_item *item);

#endif
