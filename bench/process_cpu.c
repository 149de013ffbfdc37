/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * The kernel's CPU clock of another process has nanoseconds, whereas /proc/PID/stat has ticks of
 * ten milliseconds.
 */

#include "process_cpu.h"

#include <time.h>

double process_cpu_us(int pid)
{
    clockid_t clock;
    struct timespec used;
    if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &used))
        return -1;
    return (double)used.tv_sec * 1e6 + (double)used.tv_nsec / 1e3;
}
