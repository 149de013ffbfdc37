/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_CPU_WATCH_H
#define NAILUP_BENCH_CPU_WATCH_H

/*
 * How long did a CPU stop? A hypervisor may stop one CPU of a virtual machine for tens of
 * milliseconds and leave the others running. The server on that CPU then looks slow, and no clock
 * of the server shows the reason. A thread on that CPU sleeps for a millisecond at a time and
 * measures how much later it wakes. It costs 0.3 % of the CPU. In a real-time process (SCHED_FIFO)
 * the thread runs before the server, and never waits for it. Otherwise it may have to wait.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "base/err.h"

struct cpu_watch {
    pthread_t thread;
    atomic_bool is_ending;
    uint64_t started_ns; /* set by the thread, which may have to wait before it begins */
    uint64_t longest_ns; /* written by the thread */
};

/* Returns ERR_INVALID if this process may not use that CPU. */
MUST_USE enum err cpu_watch_start(struct cpu_watch *watch, int cpu);

/* Ends the thread and returns the longest stop in nanoseconds. */
uint64_t cpu_watch_end(struct cpu_watch *watch);

#endif
