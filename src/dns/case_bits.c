/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Gives QNAMEs random case, eight or sixteen bytes at a time. The caller supplies the random bits.
 * Invariant: only the case of letters changes, so the name stays the same name.
 */
#include "dns/case_bits.h"

#include <endian.h>
#include <stdbool.h>
#include <string.h>

#include "dns/word.h"

static const uint64_t ones = 0x0101010101010101u;

/* Returns 0x80 in each byte that is a letter. The word is in lower case. */
static inline uint64_t letters_of(uint64_t folded)
{
    uint64_t low = folded & (0x7f * ones);
    uint64_t from_a = low + (0x80 - 'a') * ones;
    uint64_t past_z = low + (0x7f - 'z') * ones;
    return (from_a ^ past_z) & ~folded & (0x80 * ones);
}

/* Returns 0x80 in each byte whose bit is set: bit 0 for the lowest byte. */
static inline uint64_t spread(uint8_t bits)
{
    uint64_t picked = (bits * ones) & 0x8040201008040201u;
    return (picked + 0x7f * ones) & (0x80 * ones);
}

static inline uint64_t randomise_word(uint64_t word, uint8_t bits)
{
    uint64_t folded = name_fold_word(word);
    return folded ^ (letters_of(folded) & spread(bits)) >> 2;
}

static inline void randomise_eight(uint8_t *at, unsigned bits)
{
    uint64_t word = htole64(randomise_word(le64toh(word_load(at)), (uint8_t)bits));
    memcpy(at, &word, sizeof(word));
}

static void randomise_short(uint8_t *wire, uint8_t len, uint8_t bits)
{
    for (unsigned at = 0; at < len; at++) {
        uint8_t folded = name_fold_byte(wire[at]);
        bool is_letter = (uint8_t)(folded - 'a') < 26;
        wire[at] = (uint8_t)(folded ^ (is_letter && bits >> at & 1 ? 0x20 : 0));
    }
}

typedef uint8_t block __attribute__((vector_size(16)));

/* Sets the case of sixteen bytes by sixteen bits. */
static inline void randomise_block(uint8_t *at, unsigned bits)
{
    static const block each = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    const uint64_t halves[2] = {(bits & 0xff) * ones, (bits >> 8 & 0xff) * ones};
    block bytes, spread;
    memcpy(&bytes, at, sizeof(bytes));
    memcpy(&spread, halves, sizeof(spread));
    block letters = (block)((bytes | 0x20) - 'a' < 26) & 0x20;
    bytes = (bytes | letters) ^ (letters & (block)((spread & each) == each));
    memcpy(at, &bytes, sizeof(bytes));
}

static void randomise_blocks(uint8_t *wire, uint8_t len, const uint8_t *bits)
{
    unsigned last = len - 16u;
    for (unsigned at = 0; at <= last; at += 16)
        randomise_block(wire + at, bits[at / 8] | (unsigned)bits[at / 8 + 1] << 8);
    unsigned last_bits = bits[last / 8] | (unsigned)bits[last / 8 + 1] << 8;
    if (last % 8 != 0)
        last_bits = (last_bits | (unsigned)bits[last / 8 + 2] << 16) >> last % 8;
    if (last % 16 != 0)
        randomise_block(wire + last, last_bits);
}

/* The last block or word overlaps the one before it. Repeating a byte gives the same result. */
void case_randomise(uint8_t *wire, uint8_t len, const uint8_t *bits)
{
    if (len < 8) {
        randomise_short(wire, len, *bits);
        return;
    }
    if (len >= 16) {
        randomise_blocks(wire, len, bits);
        return;
    }
    unsigned last = len - 8u, whole = len / 8u;
    for (unsigned i = 0; i < whole; i++)
        randomise_eight(wire + 8 * i, bits[i]);
    if (len % 8 != 0)
        randomise_eight(wire + last, (bits[whole - 1] | (unsigned)bits[whole] << 8) >> last % 8);
}

unsigned case_letters(struct name name)
{
    unsigned count = 0;
    for (size_t at = 0; at < name.len; at++)
        count += (uint8_t)(name_fold_byte(name.wire[at]) - 'a') < 26;
    return count;
}
