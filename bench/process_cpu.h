/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_PROCESS_CPU_H
#define NAILUP_BENCH_PROCESS_CPU_H

/* The CPU time that all threads of a process have used, user and system. */

/* Returns microseconds, or a negative number if the process does not exist or may not be read. pid
 * 0: our own process. */
double process_cpu_us(int pid);

#endif
