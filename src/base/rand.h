/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BASE_RAND_H
#define NAILUP_BASE_RAND_H

/*
 * Unpredictable numbers for ids, ports, case bits and jitter: one ChaCha20 stream per thread, keyed
 * by getrandom() and rekeyed from its own output (fast key erasure), so that a later state does not
 * reveal earlier numbers. A draw takes a few nanoseconds. Any thread.
 */

#include <stddef.h>
#include <stdint.h>

uint64_t rand_u64(void);
uint32_t rand_u32(void);
uint16_t rand_u16(void);

/* Uniform in [0, bound); 0 for bound 0. */
uint64_t rand_below(uint64_t bound);

void rand_bytes(void *out, size_t len);

/* For tests: makes this thread's stream a function of the seed. */
void rand_seed_for_tests(uint64_t seed);

#endif
