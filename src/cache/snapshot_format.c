/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Writes and reads the pieces of a snapshot. snapshot.c puts them in order. */
#include "cache/snapshot_format.h"

#include <string.h>

#include "base/hash.h"
#include "cache/answer.h"

static const uint8_t magic[12] = "nailup-ans\n";

enum {
    CHECKED = SNAPSHOT_HEAD - 8,
    MARKED = 0x80,
    SECURITY_SHIFT = 4,
    KIND_MASK = 15,
    VERSION_WITH_RULES = 4
};

#define EXPIRED (UINT32_C(1) << 31)

static void put_u64(uint8_t *out, uint64_t value)
{
    put_u32(out, (uint32_t)(value >> 32));
    put_u32(out + 4, (uint32_t)value);
}

static uint64_t get_u64(const uint8_t *from)
{
    return (uint64_t)get_u32(from) << 32 | get_u32(from + 4);
}

struct span snapshot_magic(void)
{
    return span_of(magic, sizeof(magic));
}

void snapshot_put_head(uint8_t out[SNAPSHOT_HEAD], uint64_t written_s, uint64_t *chain)
{
    memcpy(out, magic, sizeof(magic));
    put_u32(out + 12, SNAPSHOT_VERSION);
    put_u64(out + 16, written_s);
    *chain = hash_bytes(out, CHECKED, 0);
    put_u64(out + CHECKED, *chain);
}

bool snapshot_take_head(const uint8_t head[SNAPSHOT_HEAD], uint32_t *version, uint64_t *written_s,
                        uint64_t *chain)
{
    *version = get_u32(head + 12);
    *written_s = get_u64(head + 16);
    *chain = hash_bytes(head, CHECKED, 0);
    return memcmp(head, magic, sizeof(magic)) == 0 && *version >= SNAPSHOT_VERSION_OLDEST &&
           *version <= SNAPSHOT_VERSION && get_u64(head + CHECKED) == *chain;
}

void snapshot_put_block_head(uint8_t out[SNAPSHOT_BLOCK_HEAD], struct span block, uint64_t *chain)
{
    *chain = hash_bytes(block.data, block.len, *chain);
    put_u32(out, (uint32_t)block.len);
    put_u64(out + 4, *chain);
}

bool snapshot_check_block(const uint8_t head[SNAPSHOT_BLOCK_HEAD], struct span block,
                          uint64_t *chain)
{
    *chain = hash_bytes(block.data, block.len, *chain);
    return get_u64(head + 4) == *chain;
}

size_t snapshot_end_len(uint32_t version)
{
    return version >= VERSION_WITH_RULES ? SNAPSHOT_END_MAX : SNAPSHOT_END_MAX / 2;
}

void snapshot_put_end(uint8_t out[SNAPSHOT_END_MAX], const struct snapshot_end *end)
{
    put_u64(out, end->count);
    put_u64(out + 8, end->rules);
}

void snapshot_take_end(struct span bytes, struct snapshot_end *end)
{
    *end = (struct snapshot_end){.count = get_u64(bytes.data)};
    end->has_rules = bytes.len == SNAPSHOT_END_MAX;
    if (end->has_rules)
        end->rules = get_u64(bytes.data + 8);
}

void snapshot_put_item(uint8_t out[SNAPSHOT_ITEM_FIXED], const struct snapshot_item *item)
{
    put_u16(out, (uint16_t)item->message.len);
    put_u32(out + 2, item->left_s ? item->left_s : EXPIRED | item->past_s);
    out[6] = (uint8_t)(item->kind | item->security << SECURITY_SHIFT);
    out[7] = item->flags;
    out[8] = item->view;
    out[9] = (uint8_t)(item->ede_count | (item->is_marked ? MARKED : 0));
    put_u16(out + 10, item->ede[0]);
    put_u16(out + 12, item->ede[1]);
}

bool snapshot_take_item(struct span *block, struct snapshot_item *item)
{
    struct span fixed;
    if (!span_take(block, SNAPSHOT_ITEM_FIXED, &fixed))
        return false;
    const uint8_t *at = fixed.data;
    uint32_t end = get_u32(at + 2);
    *item = (struct snapshot_item){
        .left_s = end & EXPIRED ? 0 : end,
        .past_s = end & EXPIRED ? end & ~EXPIRED : 0,
        .kind = at[6] & KIND_MASK,
        .security = at[6] >> SECURITY_SHIFT,
        .flags = at[7],
        .view = at[8],
        .ede_count = (uint8_t)(at[9] & ~MARKED),
        .ede = {get_u16(at + 10), get_u16(at + 12)},
        .is_marked = at[9] & MARKED,
    };
    return item->ede_count <= 2 && item->security <= SECURITY_BOGUS &&
           span_take(block, get_u16(at), &item->message);
}
