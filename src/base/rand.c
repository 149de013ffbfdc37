/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * ChaCha20 (RFC 8439 section 2.3) as a generator with fast key erasure: each refill yields a
 * kilobyte, whose first 32 bytes become the next key and are never returned. A draw wipes its bytes
 * in the pool. Invariant: the state reveals no earlier draw. A forked child starts a new stream.
 */
#include "base/rand.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/random.h>

#include "base/check.h"

enum {
    KEY_BYTES = 32,
    LANES = 4, /* blocks computed side by side, one in each lane of a vector */
    STRIDE_BYTES = 64 * LANES,
    POOL_BYTES = 4 * STRIDE_BYTES,
};

typedef uint32_t lanes __attribute__((vector_size(4 * LANES)));

struct stream {
    uint32_t generation; /* 0: never keyed */
    uint32_t left;       /* unused bytes at the end of the pool */
    uint8_t key[KEY_BYTES];
    uint8_t pool[POOL_BYTES];
};

static _Thread_local struct stream stream;
static uint32_t generation = 1; /* one more in each forked child */
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

#define ROTATE(x, n) ((x) << (n) | (x) >> (32 - (n)))

#define QUARTER(a, b, c, d)                                                                        \
    do {                                                                                           \
        a += b, d ^= a, d = ROTATE(d, 16);                                                         \
        c += d, b ^= c, b = ROTATE(b, 12);                                                         \
        a += b, d ^= a, d = ROTATE(d, 8);                                                          \
        c += d, b ^= c, b = ROTATE(b, 7);                                                          \
    } while (0)

static void load_state(lanes state[16], const uint8_t key[KEY_BYTES], uint32_t counter)
{
    static const uint32_t sigma[4] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
    uint32_t words[8];
    memcpy(words, key, KEY_BYTES);
    for (int i = 0; i < 4; i++)
        state[i] = (lanes){0} + sigma[i];
    for (int i = 0; i < 8; i++)
        state[4 + i] = (lanes){0} + words[i];
    state[12] = (lanes){0, 1, 2, 3} + counter;
    state[13] = state[14] = state[15] = (lanes){0};
}

/* Computes four blocks from the counter on. Word i of block b is word i * LANES + b of out: the
 * order does not matter, and the usual one would cost a transposition. */
static void chacha_blocks(uint8_t out[STRIDE_BYTES], const uint8_t key[KEY_BYTES], uint32_t counter)
{
    lanes start[16], x[16];
    load_state(start, key, counter);
    memcpy(x, start, sizeof(x));
    for (int round = 0; round < 20; round += 2) {
        QUARTER(x[0], x[4], x[8], x[12]);
        QUARTER(x[1], x[5], x[9], x[13]);
        QUARTER(x[2], x[6], x[10], x[14]);
        QUARTER(x[3], x[7], x[11], x[15]);
        QUARTER(x[0], x[5], x[10], x[15]);
        QUARTER(x[1], x[6], x[11], x[12]);
        QUARTER(x[2], x[7], x[8], x[13]);
        QUARTER(x[3], x[4], x[9], x[14]);
    }
    for (int i = 0; i < 16; i++)
        x[i] += start[i];
    memcpy(out, x, STRIDE_BYTES);
}

static void refill(struct stream *s)
{
    for (uint32_t i = 0; i < POOL_BYTES / STRIDE_BYTES; i++)
        chacha_blocks(s->pool + i * STRIDE_BYTES, s->key, i * LANES);
    memcpy(s->key, s->pool, KEY_BYTES);
    explicit_bzero(s->pool, KEY_BYTES);
    s->left = POOL_BYTES - KEY_BYTES;
}

static void rand_on_forked(void)
{
    __atomic_fetch_add(&generation, 1, __ATOMIC_RELAXED);
}

static void watch_forks(void)
{
    MUST(pthread_atfork(NULL, NULL, rand_on_forked) == 0);
}

static void key_from_kernel(struct stream *s)
{
    pthread_once(&fork_once, watch_forks);
    ssize_t got;
    do
        got = getrandom(s->key, KEY_BYTES, 0);
    while (got < 0 && errno == EINTR);
    MUST(got == KEY_BYTES); /* the kernel never cuts 256 bytes or less */
    s->left = 0;
    s->generation = __atomic_load_n(&generation, __ATOMIC_RELAXED);
}

static inline struct stream *ready_stream(void)
{
    struct stream *s = &stream;
    if (__builtin_expect(s->generation != __atomic_load_n(&generation, __ATOMIC_RELAXED), 0))
        key_from_kernel(s);
    return s;
}

/* len is at most POOL_BYTES - KEY_BYTES. */
static inline void rand_draw(struct stream *s, void *out, size_t len)
{
    if (__builtin_expect(s->left < len, 0))
        refill(s);
    uint8_t *from = s->pool + POOL_BYTES - s->left;
    memcpy(out, from, len);
    memset(from, 0, len);
    s->left -= (uint32_t)len;
}

uint64_t rand_u64(void)
{
    uint64_t out;
    rand_draw(ready_stream(), &out, sizeof(out));
    return out;
}

uint32_t rand_u32(void)
{
    uint32_t out;
    rand_draw(ready_stream(), &out, sizeof(out));
    return out;
}

uint16_t rand_u16(void)
{
    uint16_t out;
    rand_draw(ready_stream(), &out, sizeof(out));
    return out;
}

uint64_t rand_below(uint64_t bound)
{
    if (bound == 0)
        return 0;
    /* The high half of draw * bound is uniform if draws with a low half below 2^64 mod bound are
     * repeated (Lemire 2019). */
    unsigned __int128 product = (unsigned __int128)rand_u64() * bound;
    if ((uint64_t)product < bound) {
        uint64_t uneven = -bound % bound;
        while ((uint64_t)product < uneven)
            product = (unsigned __int128)rand_u64() * bound;
    }
    return (uint64_t)(product >> 64);
}

void rand_bytes(void *out, size_t len)
{
    struct stream *s = ready_stream();
    uint8_t *p = out;
    while (len > 0) {
        size_t part = MIN(len, (size_t)256);
        rand_draw(s, p, part);
        p += part;
        len -= part;
    }
}

void rand_seed_for_tests(uint64_t seed)
{
    struct stream *s = &stream;
    pthread_once(&fork_once, watch_forks);
    memset(s->key, 0, KEY_BYTES);
    memcpy(s->key, &seed, sizeof(seed));
    s->left = 0;
    s->generation = __atomic_load_n(&generation, __ATOMIC_RELAXED);
}
