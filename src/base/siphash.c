/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * SipHash-2-4 as its paper defines it: two rounds for each eight bytes, four at the end. The
 * 128-bit tag follows the reference code. Numbers are little-endian on every machine.
 */
#include "base/siphash.h"

#include <endian.h>
#include <string.h>

struct state {
    uint64_t v0, v1, v2, v3;
};

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

static inline __attribute__((always_inline)) void do_round(struct state *s)
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

static inline void absorb(struct state *s, uint64_t word)
{
    s->v3 ^= word;
    do_round(s);
    do_round(s);
    s->v0 ^= word;
}

static uint64_t siphash_finish(struct state *s)
{
    for (int i = 0; i < 4; i++)
        do_round(s);
    return s->v0 ^ s->v1 ^ s->v2 ^ s->v3;
}

static struct state siphash_begin(const uint8_t key[SIPHASH_KEY_BYTES])
{
    uint64_t k0 = read_eight(key), k1 = read_eight(key + 8);
    return (struct state){k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261,
                          k1 ^ 0x7465646279746573};
}

/* Absorbs the whole words. Returns the rest, with zeros above. */
static inline uint64_t absorb_words(struct state *s, const uint8_t *bytes, size_t len)
{
    size_t whole = len / 8 * 8;
    for (size_t at = 0; at < whole; at += 8)
        absorb(s, read_eight(bytes + at));
    return read_some(bytes + whole, len - whole);
}

uint64_t siphash_2_4(const uint8_t key[SIPHASH_KEY_BYTES], const void *data, size_t len)
{
    struct state s = siphash_begin(key);
    uint64_t rest = absorb_words(&s, data, len);
    absorb(&s, rest | (uint64_t)(len & 0xff) << 56);
    s.v2 ^= 0xff;
    return siphash_finish(&s);
}

void siphash_2_4_parts(uint64_t out[2], const uint8_t key[SIPHASH_KEY_BYTES],
                       const struct span *parts, size_t count)
{
    struct state s = siphash_begin(key);
    uint64_t total = 0;
    s.v1 ^= 0xee;
    for (size_t i = 0; i < count; i++) {
        absorb(&s, parts[i].len);
        uint64_t rest = absorb_words(&s, parts[i].data, parts[i].len);
        if (parts[i].len % 8)
            absorb(&s, rest);
        total += 8 + (parts[i].len + 7) / 8 * 8;
    }
    absorb(&s, (total & 0xff) << 56);
    s.v2 ^= 0xee;
    out[0] = siphash_finish(&s);
    s.v1 ^= 0xdd;
    out[1] = siphash_finish(&s);
}
