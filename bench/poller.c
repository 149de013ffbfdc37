/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * epoll with timeouts in microseconds. It does not depend on sockets or DNS.
 */

#include "poller.h"

#include <errno.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <time.h>

#include "clock.h"

enum { EVENTS_MAX = 256 };

enum err poller_open(int *out)
{
    /* Without this, the default slack of 50 us would show in every latency. */
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    *out = epoll_create1(EPOLL_CLOEXEC);
    return *out < 0 ? err_from_errno(errno) : ERR_OK;
}

enum err poller_add(int poller, struct watch *watch, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = watch};
    return epoll_ctl(poller, EPOLL_CTL_ADD, watch->fd, &event) ? err_from_errno(errno) : ERR_OK;
}

void poller_change(int poller, struct watch *watch, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = watch};
    epoll_ctl(poller, EPOLL_CTL_MOD, watch->fd, &event);
}

void poller_turn(int poller, int64_t wait_us, uint64_t *now_us)
{
    struct epoll_event events[EVENTS_MAX];
    int count;
    if (wait_us <= 0) { /* without a timer, the older call is cheaper */
        count = epoll_wait(poller, events, EVENTS_MAX, (int)wait_us);
    } else {
        struct timespec wait = {.tv_sec = wait_us / 1000000, .tv_nsec = wait_us % 1000000 * 1000};
        count = epoll_pwait2(poller, events, EVENTS_MAX, &wait, NULL);
    }
    *now_us = clock_now_us();
    for (int i = 0; i < count; i++) {
        struct watch *watch = events[i].data.ptr;
        watch->on_ready(watch, events[i].events);
    }
}
