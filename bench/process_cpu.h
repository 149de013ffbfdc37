/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_PROCESS_CPU_H
#define NAILUP_BENCH_PROCESS_CPU_H

/* CPU time that a process has used: all its threads, user and system. */

/* In microseconds. Negative if there is no such process or no right to look at it. pid 0: our
 * own. */
double process_cpu_us(int pid);

#endif
