/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_FUZZ_WORKER_SCHEDULE_H
#define NAILUP_TESTS_FUZZ_WORKER_SCHEDULE_H

/*
 * Turns bytes into a schedule: the first bytes choose the configuration and whether the play is
 * live; each later byte chooses the next step. Any bytes are a schedule. After the last byte the
 * worker comes to rest and is taken apart.
 */

#include <stddef.h>
#include <stdint.h>

struct schedule_result {
    uint64_t queries, answers, good, secure; /* good: NOERROR or NXDOMAIN; secure: with AD */
    uint64_t allocations_failed;
};

/* Makes steps with many queries this many times longer; 1 at first. */
void schedule_lengthen(unsigned times);

/* One of so many allocations of the worker fails until it comes to rest; 0 at first: none does. No
 * play is live then, and none has true keys. Only in a program with scarce memory
 * (support/scarce.h). */
void schedule_starve(unsigned one_in);

struct schedule_result schedule_play(const uint8_t *data, size_t size);

#endif
