/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* A timer for the far future, which the kernel cancels when the system clock jumps. */

#include "daemon/sleep_watch.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "loop/fd_watch.h"

/* The year 2242. From then on the timer would always be due. */
#define FAR_AWAY_S ((time_t)1 << 33)

struct sleep_watch {
    int fd;
    struct fd_watch *watch;
    uint64_t slept_us; /* total since the machine started */
    void (*on_woke)(void *context, uint64_t slept_us);
    void *context;
};

uint64_t sleep_watch_since(uint64_t *slept_us, uint64_t boottime_us, uint64_t monotonic_us)
{
    uint64_t before = *slept_us;
    uint64_t slept = boottime_us > monotonic_us ? boottime_us - monotonic_us : 0;

    if (slept < before + SLEEP_MIN_US)
        return 0;
    *slept_us = slept;
    return slept - before;
}

static uint64_t sleep_watch_read_clock(clockid_t clock)
{
    struct timespec now;

    MUST(clock_gettime(clock, &now) == 0);
    return (uint64_t)now.tv_sec * US_PER_S + (uint64_t)now.tv_nsec / 1000;
}

static bool sleep_watch_arm(int fd)
{
    const struct itimerspec never = {.it_value.tv_sec = FAR_AWAY_S};

    return timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, NULL) == 0;
}

/* The clock may also have been set by hand or by NTP. Then the two clocks agree. */
static void sleep_watch_on_readable(void *owner, struct fd_events events)
{
    struct sleep_watch *watch = owner;
    uint64_t count;

    (void)events;
    if (read(watch->fd, &count, sizeof(count)) < 0 && errno == EAGAIN)
        return;
    if (!sleep_watch_arm(watch->fd)) {
        fd_watch_stop(&watch->watch);
        return;
    }
    uint64_t monotonic_us = sleep_watch_read_clock(
        CLOCK_MONOTONIC); /* first, so that the time between the reads is not sleep */
    uint64_t slept =
        sleep_watch_since(&watch->slept_us, sleep_watch_read_clock(CLOCK_BOOTTIME), monotonic_us);
    if (slept)
        watch->on_woke(watch->context, slept);
}

enum err sleep_watch_open(struct sleep_watch **out, struct loop *loop,
                          void (*on_woke)(void *context, uint64_t slept_us), void *context)
{
    struct sleep_watch *watch = calloc(1, sizeof(*watch));

    if (!watch)
        return ERR_NO_MEMORY;
    watch->on_woke = on_woke;
    watch->context = context;
    uint64_t monotonic_us = sleep_watch_read_clock(CLOCK_MONOTONIC);
    watch->slept_us = sleep_watch_read_clock(CLOCK_BOOTTIME) - monotonic_us;
    watch->fd = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);
    enum err err = watch->fd < 0 ? ERR_NO_FILES : sleep_watch_arm(watch->fd) ? ERR_OK : ERR_IO;
    if (!err)
        err = fd_watch_start(&watch->watch, loop, watch->fd, (struct fd_events){.readable = true},
                             sleep_watch_on_readable, watch);
    *out = watch;
    if (err)
        sleep_watch_close(out);
    return err;
}

void sleep_watch_close(struct sleep_watch **watch)
{
    if (!*watch)
        return;
    fd_watch_stop(&(*watch)->watch);
    if ((*watch)->fd >= 0)
        close((*watch)->fd);
    free(*watch);
    *watch = NULL;
}
