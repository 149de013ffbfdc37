/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CACHE_SNAPSHOT_FORMAT_H
#define NAILUP_CACHE_SNAPSHOT_FORMAT_H

/*
 * A snapshot of the cache as bytes. Pure: no file, and messages are not looked into. All numbers
 * are in network byte order:
 *
 *   12 bytes  "nailup-ans\n\0"
 *    4        version, SNAPSHOT_VERSION
 *    8        when it was written, seconds of the wall clock
 *    8        XXH3 of the above
 *             blocks, each:
 *    4          length of what follows behind the checksum, 1 to SNAPSHOT_BLOCK_MAX
 *    8          XXH3 of that, seeded with the checksum before
 *               answers, each SNAPSHOT_ITEM_FIXED bytes and a message; they begin with the
 * message's length and what the answer has left of its life, in seconds: the highest bit says that
 * its end was so long past instead, which version 1 had not 4        0 8        XXH3 of the number
 * of answers, seeded likewise 8        that number
 *
 * Checksums depend on all before them: blocks of two snapshots do not mix, and what was cut off is
 * missed at the end. They find what a disk or a crash did, no more.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/span.h"

enum {
    SNAPSHOT_VERSION = 2,
    SNAPSHOT_VERSION_OLDEST = 1, /* that is read */
    SNAPSHOT_HEAD = 32,
    SNAPSHOT_BLOCK_HEAD = 12,
    SNAPSHOT_BLOCK_MAX = 8 * 1024 * 1024,
    SNAPSHOT_ITEM_FIXED = 14,
};

/* One answer. */
struct snapshot_item {
    uint32_t left_s; /* of its life, when the snapshot was written; 0: it was over */
    uint32_t past_s; /* since then; 0 for one that lives. Both have 31 bits */
    uint8_t kind, flags, view;
    uint8_t ede_count; /* at most 2 */
    uint16_t ede[2];
    bool marked; /* it was asked for again */
    struct span message;
};

/* What a snapshot of any version begins with. */
struct span snapshot_magic(void);

void snapshot_put_head(uint8_t out[SNAPSHOT_HEAD], uint64_t written_s, uint64_t *chain);

/* False: not a snapshot of a version that is read. */
bool snapshot_take_head(const uint8_t head[SNAPSHOT_HEAD], uint64_t *written_s, uint64_t *chain);

/* For a block, and for the end with its count as eight bytes. */
void snapshot_put_block_head(uint8_t out[SNAPSHOT_BLOCK_HEAD], struct span block, uint64_t *chain);

/* Whether block is what the head's checksum is of. */
bool snapshot_check_block(const uint8_t head[SNAPSHOT_BLOCK_HEAD], struct span block,
                          uint64_t *chain);

/* An item without its message, which follows it. */
void snapshot_put_item(uint8_t out[SNAPSHOT_ITEM_FIXED], const struct snapshot_item *item);

/* Takes the next item from the front; false when it is not one. Its message borrows. */
bool snapshot_take_item(struct span *block, struct snapshot_item *item);

#endif
