/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BASE_HASH_H
#define NAILUP_BASE_HASH_H

/*
 * XXH3 with the caller's seed. Tables that hold what strangers choose (names) must use a seed
 * from rand_u64(), so that collisions cannot be prepared.
 */

#include <stddef.h>
#include <stdint.h>

uint64_t hash_bytes(const void *data, size_t len, uint64_t seed);

#endif
