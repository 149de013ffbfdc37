/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_FUZZ_WORKER_SCHEDULE_H
#define NAILUP_TESTS_FUZZ_WORKER_SCHEDULE_H

/*
 * Bytes as a schedule: the first ones choose the configuration and whether the play is live, each
 * of the others says what happens next. Any bytes are a schedule; when they end, the worker comes
 * to rest and is taken apart.
 */

#include <stddef.h>
#include <stdint.h>

struct schedule_result {
    uint64_t queries, answers, good; /* good: with NOERROR or NXDOMAIN */
};

/* Steps with many queries are so many times longer from now on; 1 at first. */
void schedule_lengthen(unsigned times);

struct schedule_result schedule_play(const uint8_t *data, size_t size);

#endif
