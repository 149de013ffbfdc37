/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * A thread that measures how long its CPU stops (cpu_watch.h).
 */

#include "cpu_watch.h"

#include <sched.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/check.h"
#include "clock.h"

enum { NAP_NS = 1000000 };

/* Runs this thread before every thread of a real-time process. Without the right to do so, nothing
 * changes. */
static void go_before_the_process(void)
{
    struct sched_param param;
    int policy;

    if (pthread_getschedparam(pthread_self(), &policy, &param) != 0 || policy != SCHED_FIFO)
        return;
    param.sched_priority = MIN(param.sched_priority + 1, sched_get_priority_max(SCHED_FIFO));
    (void)!pthread_setschedparam(pthread_self(), SCHED_FIFO, &param);
}

static void *cpu_watch_run(void *argument)
{
    struct cpu_watch *watch = argument;
    const struct timespec nap = {.tv_nsec = NAP_NS};

    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    go_before_the_process();
    uint64_t before = watch->started_ns, now;
    do {
        clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
        now = clock_now_ns();
        if (now - before > NAP_NS + watch->longest_ns)
            watch->longest_ns = now - before - NAP_NS;
        before = now;
    } while (!atomic_load(&watch->is_ending));
    return NULL;
}

enum err cpu_watch_start(struct cpu_watch *watch, int cpu)
{
    pthread_attr_t attributes;
    cpu_set_t only;

    if (cpu < 0 || cpu >= CPU_SETSIZE || pthread_attr_init(&attributes) != 0)
        return ERR_INVALID;
    CPU_ZERO(&only);
    CPU_SET((size_t)cpu, &only);
    *watch = (struct cpu_watch){.started_ns = clock_now_ns()};
    bool runs = pthread_attr_setaffinity_np(&attributes, sizeof(only), &only) == 0 &&
                pthread_create(&watch->thread, &attributes, cpu_watch_run, watch) == 0;
    pthread_attr_destroy(&attributes);
    return runs ? ERR_OK : ERR_INVALID;
}

uint64_t cpu_watch_end(struct cpu_watch *watch)
{
    atomic_store(&watch->is_ending, true);
    pthread_join(watch->thread, NULL);
    return watch->longest_ns;
}
