/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BASE_SIPHASH_H
#define NAILUP_BASE_SIPHASH_H

/*
 * SipHash-2-4 (Aumasson and Bernstein, 2012): a keyed hash of short messages, for tags that an
 * attacker without the key cannot forge. Tables use hash.h, which is faster. Any thread.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/span.h"

enum { SIPHASH_KEY_BYTES = 16 };

/* Returns the tag as a number; its bytes are in little-endian order. */
uint64_t siphash_2_4(const uint8_t key[SIPHASH_KEY_BYTES], const void *data, size_t len);

/*
 * A tag of 128 bits, made of several parts. Each part contributes its length in eight bytes and
 * then its bytes, padded with zeros to a multiple of eight. So bytes cannot move from one part to
 * another without a change of the tag. A copy of the struct serves other tags that begin with the
 * same parts.
 */
struct siphash {
    uint64_t v0, v1, v2, v3;
    uint64_t total; /* bytes so far */
};

void siphash_begin(struct siphash *hash, const uint8_t key[SIPHASH_KEY_BYTES]);
void siphash_add(struct siphash *hash, struct span part);
void siphash_end(struct siphash hash, uint64_t out[2]);

#endif
