/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * SipHash-2-4 as its paper defines it: two rounds for each eight bytes, four at the end. The
 * 128-bit tag follows the reference code. Numbers are little-endian on every machine.
 */
#include "base/siphash.h"

#include <endian.h>
#include <string.h>

static inline uint64_t siphash_rotate(uint64_t value, unsigned bits)
{
    return value << bits | value >> (64 - bits);
}

/* Compiles to one load on little-endian machines. A long input spends most of its time here. */
static inline uint64_t read_eight(const uint8_t bytes[8])
{
    uint64_t value;
    memcpy(&value, bytes, sizeof(value));
    return le64toh(value);
}

/* Reads less than eight bytes, with zeros above. */
static uint64_t read_some(const uint8_t *bytes, size_t len)
{
    uint64_t value = 0;
    for (size_t i = 0; i < len; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

static inline __attribute__((always_inline)) void do_round(struct siphash *s)
{
    s->v0 += s->v1;
    s->v2 += s->v3;
    s->v1 = siphash_rotate(s->v1, 13) ^ s->v0;
    s->v3 = siphash_rotate(s->v3, 16) ^ s->v2;
    s->v0 = siphash_rotate(s->v0, 32) + s->v3;
    s->v2 += s->v1;
    s->v3 = siphash_rotate(s->v3, 21) ^ s->v0;
    s->v1 = siphash_rotate(s->v1, 17) ^ s->v2;
    s->v2 = siphash_rotate(s->v2, 32);
}

static inline void absorb(struct siphash *s, uint64_t word)
{
    s->v3 ^= word;
    do_round(s);
    do_round(s);
    s->v0 ^= word;
}

static uint64_t siphash_finish(struct siphash *s)
{
    for (int i = 0; i < 4; i++)
        do_round(s);
    return s->v0 ^ s->v1 ^ s->v2 ^ s->v3;
}

static struct siphash siphash_state(const uint8_t key[SIPHASH_KEY_BYTES])
{
    uint64_t k0 = read_eight(key), k1 = read_eight(key + 8);
    return (struct siphash){.v0 = k0 ^ 0x736f6d6570736575,
                            .v1 = k1 ^ 0x646f72616e646f6d,
                            .v2 = k0 ^ 0x6c7967656e657261,
                            .v3 = k1 ^ 0x7465646279746573};
}

/* Absorbs the whole words. Returns the rest, with zeros above. */
static inline uint64_t absorb_words(struct siphash *s, const uint8_t *bytes, size_t len)
{
    size_t whole = len / 8 * 8;
    for (size_t at = 0; at < whole; at += 8)
        absorb(s, read_eight(bytes + at));
    return read_some(bytes + whole, len - whole);
}

uint64_t siphash_2_4(const uint8_t key[SIPHASH_KEY_BYTES], const void *data, size_t len)
{
    struct siphash s = siphash_state(key);
    uint64_t rest = absorb_words(&s, data, len);
    absorb(&s, rest | (uint64_t)(len & 0xff) << 56);
    s.v2 ^= 0xff;
    return siphash_finish(&s);
}

void siphash_begin(struct siphash *hash, const uint8_t key[SIPHASH_KEY_BYTES])
{
    *hash = siphash_state(key);
    hash->v1 ^= 0xee;
}

void siphash_add(struct siphash *hash, struct span part)
{
    struct siphash s = *hash; /* in registers */
    absorb(&s, part.len);
    uint64_t rest = absorb_words(&s, part.data, part.len);
    if (part.len % 8)
        absorb(&s, rest);
    s.total += 8 + (part.len + 7) / 8 * 8;
    *hash = s;
}

void siphash_end(struct siphash hash, uint64_t out[2])
{
    absorb(&hash, (hash.total & 0xff) << 56);
    hash.v2 ^= 0xee;
    out[0] = siphash_finish(&hash);
    hash.v1 ^= 0xdd;
    out[1] = siphash_finish(&hash);
}
