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

/* Makes a tag of 128 bits in one pass. Each part contributes its length in eight bytes and then its
 * bytes, padded with zeros to a multiple of eight. So bytes cannot move from one part to another
 * without a change of the tag. */
void siphash_2_4_parts(uint64_t out[2], const uint8_t key[SIPHASH_KEY_BYTES],
                       const struct span *parts, size_t count);

#endif
