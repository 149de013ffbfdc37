/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Names in wire form: reading, comparing, splitting, folding. name_text.c has the text form.
 * Invariant: reading ends, because each pointer leads to strictly before the labels that it ends.
 * It stays inside the message, because every label is checked before it is read.
 */
#include "dns/name.h"

#include <string.h>

#include "base/hash.h"
#include "dns/header.h"
#include "dns/word.h"

static const uint8_t root_wire[1];

struct name name_root(void)
{
    return (struct name){.wire = root_wire, .len = 1};
}

/* ---- names inside a message ---- */

/* Returns the target of the pointer at offset at, or 0 when it is truncated or not backwards. */
static inline size_t pointer_target(struct span message, size_t at, size_t sequence)
{
    if (message.len - at < 2 || message.data[at] < 0xc0)
        return 0;
    size_t target = get_u16(message.data + at) & 0x3fff;
    return target >= HEADER_LEN && target < sequence ? target : 0;
}

/* Returns where a run of labels from this offset must have ended, after the labels before it. */
static inline size_t run_limit(struct span message, size_t from, size_t len_before)
{
    size_t longest = from + NAME_WIRE_MAX - len_before;
    return message.len < longest ? message.len : longest;
}

/* The walk of name_read() and name_skip(). name_skip() passes NULL for out, and inlining removes
 * the copying. A run of labels ends with the root or with a pointer. */
static inline __attribute__((always_inline)) size_t walk(struct span message, size_t offset,
                                                         uint8_t *out, size_t *total)
{
    size_t at = offset, run = offset, after = 0, len = 0;
    size_t limit = run_limit(message, run, len);
    unsigned hops = 0;
    for (;;) {
        if (at >= limit)
            return 0;
        size_t size = (size_t)message.data[at] + 1;
        if (size > NAME_LABEL_MAX + 1) {
            size_t target = pointer_target(message, at, run);
            if (!target || ++hops > NAME_HOPS_MAX)
                return 0;
            if (out)
                word_copy(out + len, message.data + run, at - run);
            len += at - run;
            after = after ? after : at + 2;
            at = run = target;
            limit = run_limit(message, run, len);
            continue;
        }
        if (size > limit - at)
            return 0;
        at += size;
        if (size == 1)
            break;
    }
    if (out)
        word_copy(out + len, message.data + run, at - run);
    *total = len + (at - run);
    return after ? after : at;
}

size_t name_read(struct span message, size_t offset, uint8_t out[NAME_WIRE_MAX], struct name *name)
{
    size_t len;
    size_t after = walk(message, offset, out, &len);
    if (after)
        *name = (struct name){.wire = out, .len = (uint8_t)len};
    return after;
}

size_t name_skip(struct span message, size_t offset)
{
    size_t len;
    return walk(message, offset, NULL, &len);
}

size_t name_view(struct span bytes, size_t offset, struct name *name)
{
    size_t at = offset;
    for (;;) {
        if (at >= bytes.len)
            return 0;
        size_t size = (size_t)bytes.data[at] + 1;
        if (size > NAME_LABEL_MAX + 1 || size > bytes.len - at)
            return 0;
        at += size;
        if (at - offset > NAME_WIRE_MAX)
            return 0;
        if (size == 1)
            break;
    }
    *name = (struct name){.wire = bytes.data + offset, .len = (uint8_t)(at - offset)};
    return at;
}

/* ---- comparing ---- */

/* The words may differ only in case bits, and only at bytes that are letters. Most equal words have
 * the same case. */
static inline bool folded_words_equal(uint64_t a, uint64_t b)
{
    static const uint64_t case_bits = UINT64_C(0x2020202020202020);
    uint64_t differ = a ^ b;
    if (!differ)
        return true;
    return !(differ & ~case_bits) && (name_fold_word(a & ~differ) & differ) == differ;
}

/* Sixteen bytes, for which compilers have instructions. */
typedef uint8_t block __attribute__((vector_size(16)));

static inline block block_load(const uint8_t *at)
{
    block bytes;
    memcpy(&bytes, at, sizeof(bytes));
    return bytes;
}

/* Does the same for sixteen bytes. */
static inline bool folded_blocks_equal(const uint8_t *a, const uint8_t *b)
{
    block one = block_load(a), other = block_load(b);
    uint64_t halves[2];
    block letters = (block)((one | 0x20) - 'a' < 26);
    block differ = (one ^ other) & ~(letters & 0x20);
    memcpy(halves, &differ, sizeof(halves));
    return !(halves[0] | halves[1]);
}

/* Compares in any case. The last block or word overlaps the one before it. */
static bool folded_equal(const uint8_t *a, const uint8_t *b, size_t len)
{
    if (len < 8)
        return folded_words_equal(word_load_part(a, len), word_load_part(b, len));
    if (len < sizeof(block))
        return folded_words_equal(word_load(a), word_load(b)) &&
               folded_words_equal(word_load(a + len - 8), word_load(b + len - 8));
    for (size_t i = 0; i + sizeof(block) < len; i += sizeof(block))
        if (!folded_blocks_equal(a + i, b + i))
            return false;
    return folded_blocks_equal(a + len - sizeof(block), b + len - sizeof(block));
}

/* Returns whether the rest of the name is at this offset without a pointer. A sound name contains
 * its end, so equal bytes are an equal name. */
static inline bool has_rest_at(struct span message, size_t at, struct name name, size_t done)
{
    size_t left = name.len - done;
    return at < message.len && left <= message.len - at &&
           folded_equal(message.data + at, name.wire + done, left);
}

bool name_equal_in_message(struct span message, size_t offset, struct name name)
{
    size_t at = offset, sequence = offset, done = 0;
    unsigned hops = 0;
    if (at >= message.len)
        return false;
    if (message.data[at] <= NAME_LABEL_MAX && has_rest_at(message, at, name, done))
        return true;
    while (at < message.len) {
        size_t size = (size_t)message.data[at] + 1;
        if (size > NAME_LABEL_MAX + 1) {
            at = sequence = pointer_target(message, at, sequence);
            if (!at || ++hops > NAME_HOPS_MAX)
                return false;
            if (has_rest_at(message, at, name, done))
                return true;
            continue;
        }
        if (size > message.len - at || size > name.len - done)
            return false;
        if (!folded_equal(message.data + at, name.wire + done, size))
            return false;
        done += size;
        at += size;
        if (size == 1)
            return true;
    }
    return false;
}

bool name_equal(struct name a, struct name b)
{
    return a.len == b.len && folded_equal(a.wire, b.wire, a.len);
}

bool name_equal_exact(struct name a, struct name b)
{
    return a.len == b.len && memcmp(a.wire, b.wire, a.len) == 0;
}

bool name_is_below(struct name name, struct name ancestor)
{
    if (name.len < ancestor.len)
        return false;
    if (ancestor.len == 1) /* the root */
        return true;
    size_t at = 0, start = (size_t)name.len - ancestor.len;
    while (at < start)
        at += (size_t)name.wire[at] + 1;
    return at == start && folded_equal(name.wire + start, ancestor.wire, ancestor.len);
}

/* Finds the start of each label, without the root. */
static unsigned label_starts(struct name name, uint8_t starts[NAME_LABELS_MAX])
{
    unsigned count = 0;
    for (size_t at = 0; name.wire[at]; at += (size_t)name.wire[at] + 1)
        starts[count++] = (uint8_t)at;
    return count;
}

/* Compares two labels; the pointers lead to their length bytes. */
static int label_compare(const uint8_t *a, const uint8_t *b)
{
    uint8_t shorter = *a < *b ? *a : *b;
    for (uint8_t i = 1; i <= shorter; i++) {
        int difference = name_fold_byte(a[i]) - name_fold_byte(b[i]);
        if (difference)
            return difference;
    }
    return *a - *b;
}

int name_compare(struct name a, struct name b)
{
    uint8_t a_starts[NAME_LABELS_MAX], b_starts[NAME_LABELS_MAX];
    unsigned a_count = label_starts(a, a_starts), b_count = label_starts(b, b_starts);
    while (a_count > 0 && b_count > 0) {
        int order = label_compare(a.wire + a_starts[--a_count], b.wire + b_starts[--b_count]);
        if (order)
            return order;
    }
    return (int)a_count - (int)b_count;
}

unsigned name_common_labels(struct name a, struct name b)
{
    uint8_t a_starts[NAME_LABELS_MAX], b_starts[NAME_LABELS_MAX];
    unsigned a_count = label_starts(a, a_starts), b_count = label_starts(b, b_starts);
    unsigned common = 0;
    while (common < a_count && common < b_count &&
           !label_compare(a.wire + a_starts[a_count - common - 1],
                          b.wire + b_starts[b_count - common - 1]))
        common++;
    return common;
}

/* ---- parts ---- */

unsigned name_label_count(struct name name)
{
    unsigned count = 0;
    for (size_t at = 0; name.wire[at]; at += (size_t)name.wire[at] + 1)
        count++;
    return count;
}

struct name name_strip(struct name name, unsigned count)
{
    size_t at = 0;
    for (; count > 0 && name.wire[at]; count--)
        at += (size_t)name.wire[at] + 1;
    return (struct name){.wire = name.wire + at, .len = (uint8_t)(name.len - at)};
}

struct name name_parent(struct name name)
{
    return name_strip(name, 1);
}

struct name name_suffix(struct name name, unsigned count)
{
    unsigned labels = name_label_count(name);
    return labels > count ? name_strip(name, labels - count) : name;
}

/* ---- copies, folding, hashing ---- */

struct name name_copy(struct name name, uint8_t out[NAME_WIRE_MAX])
{
    word_copy(out, name.wire, name.len);
    return (struct name){.wire = out, .len = name.len};
}

static inline void fold_word_to(uint8_t *to, const uint8_t *from)
{
    uint64_t word = name_fold_word(word_load(from));
    memcpy(to, &word, sizeof(word));
}

static inline void fold_block_to(uint8_t *to, const uint8_t *from)
{
    block bytes = block_load(from);
    bytes |= (block)(bytes - 'A' < 26) & 0x20;
    memcpy(to, &bytes, sizeof(bytes));
}

/* Folds block by block: label borders do not matter, see name_fold_word(). Folding twice changes
 * nothing, so the last block or word may overlap the one before it, also in place. */
struct name name_fold(struct name name, uint8_t out[NAME_WIRE_MAX])
{
    size_t len = name.len;
    if (len >= sizeof(block)) {
        for (size_t at = 0; at + sizeof(block) < len; at += sizeof(block))
            fold_block_to(out + at, name.wire + at);
        fold_block_to(out + len - sizeof(block), name.wire + len - sizeof(block));
    } else if (len >= 8) {
        fold_word_to(out, name.wire);
        fold_word_to(out + len - 8, name.wire + len - 8);
    } else {
        for (size_t at = 0; at < len; at++)
            out[at] = name_fold_byte(name.wire[at]);
    }
    return (struct name){.wire = out, .len = name.len};
}

uint64_t name_hash(struct name name, uint64_t seed)
{
    uint8_t folded[NAME_WIRE_MAX];
    name_fold(name, folded);
    return hash_bytes(folded, name.len, seed);
}
