/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BASE_RAND_H
#define NAILUP_BASE_RAND_H

/*
 * Unpredictable numbers for ids, ports, case and jitter: a ChaCha20 stream per thread, keyed by
 * getrandom() and rekeyed from its own output (fast key erasure), so that what was drawn cannot
 * be computed from a later state. A few nanoseconds a draw. Any thread, each its own stream.
 */

#include <stddef.h>
#include <stdint.h>

uint64_t rand_u64(void);
uint32_t rand_u32(void);
uint16_t rand_u16(void);

/* Uniform in [0, bound); bound 0 gives 0. */
uint64_t rand_below(uint64_t bound);

void rand_bytes(void *out, size_t len);

/* Tests only: this thread's stream becomes a function of the seed. */
void rand_seed_for_tests(uint64_t seed);

#endif
