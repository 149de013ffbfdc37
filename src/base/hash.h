/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BASE_HASH_H
#define NAILUP_BASE_HASH_H

/*
 * XXH3 with the caller's seed. Tables whose keys others choose (names) must use a seed from
 * rand_u64(), so that an attacker cannot prepare collisions.
 */

#include <stddef.h>
#include <stdint.h>

uint64_t hash_bytes(const void *data, size_t len, uint64_t seed);

/* Hashes one word in fewer instructions than a call: both halves of a product of seed and word. */
static inline uint64_t hash_word(uint64_t word, uint64_t seed)
{
    unsigned __int128 product = (unsigned __int128)(word ^ seed) * (~seed | 1);
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

#endif
