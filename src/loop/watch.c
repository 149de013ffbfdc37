/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * The epoll set of watch.h. What an event means is left to the watch's owner, when to wait to
 * loop.c.
 *
 * Invariant: a watch that is stopped or closed is in no list of pending events, so its memory may
 * be freed at once.
 */

#include "loop/watch.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "base/units.h"
#include "loop/watches.h"

/* A turn hands out events no longer than this: a handshake of TLS costs half a millisecond, and a
 * thousand that come at once must not keep the queries beside them waiting. The next turn goes on
 * with what is left before it asks the kernel, which would name the first ones again. */
#define TURN_MAX_US (4 * US_PER_MS)
enum { EVENTS_PER_LOOK = 4 }; /* between two looks at the clock */

enum err watches_init(struct watches *watches)
{
    watches->turns = 0;
    watches->current = watches->count = 0;
    list_init(&watches->busy);
    watches->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    return watches->epoll_fd >= 0 ? ERR_OK : err_from_errno(errno);
}

void watches_deinit(struct watches *watches)
{
    close(watches->epoll_fd);
}

static uint64_t clock_us(void)
{
    struct timespec now;
    MUST(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
    return (uint64_t)now.tv_sec * US_PER_S + (uint64_t)now.tv_nsec / 1000;
}

static void hand_out(struct watches *watches)
{
    struct epoll_event *event = &watches->events[watches->current++];
    struct watch *watch = event->data.ptr;
    uint32_t asked = watch ? watch->events | EPOLLERR | EPOLLHUP : 0;
    if (event->events & asked) /* it may ask for less since it was left over */
        watch->on_ready(watch, event->events & asked);
}

static void hand_out_events(struct watches *watches)
{
    uint64_t until_at = UINT64_MAX;
    bool looks = watches->count - watches->current > EVENTS_PER_LOOK;
    for (unsigned done = 0; watches->current < watches->count; done++) {
        if (looks && done % EVENTS_PER_LOOK == 0) {
            uint64_t now = clock_us();
            until_at = done == 0 ? now + TURN_MAX_US : until_at;
            if (now >= until_at)
                break;
        }
        hand_out(watches);
    }
}

/* One may become calm, or close another, meanwhile. */
static void call_busy(struct watches *watches)
{
    struct list turn;
    list_init(&turn);
    list_splice(&turn, &watches->busy);
    for (struct list *node; (node = list_take_first(&turn)) != NULL;) {
        struct watch *watch = LIST_ITEM(node, struct watch, busy);
        list_append(&watches->busy, node);
        watch->on_ready(watch, EPOLLIN);
    }
}

void watches_wait(struct watches *watches, int timeout_ms)
{
    if (!list_is_empty(&watches->busy))
        timeout_ms = 0;
    if (watches->current >= watches->count) { /* else what is left over comes first */
        watches->turns++;
        watches->current = 0;
        watches->count =
            epoll_wait(watches->epoll_fd, watches->events, WATCHES_EVENTS_MAX, timeout_ms);
    }
    call_busy(watches);
    hand_out_events(watches);
}

uint64_t watch_turns(const struct loop *loop)
{
    return loop_watches((struct loop *)loop)->turns;
}

/* ---- one watch ---- */

static int control(struct loop *loop, int operation, struct watch *watch)
{
    struct epoll_event event = {.events = watch->events, .data.ptr = watch};
    return epoll_ctl(loop_watches(loop)->epoll_fd, operation, watch->fd, &event);
}

enum err watch_start(struct loop *loop, struct watch *watch, int fd, uint32_t events)
{
    watch->fd = fd;
    watch->events = events;
    return control(loop, EPOLL_CTL_ADD, watch) == 0 ? ERR_OK : err_from_errno(errno);
}

void watch_set(struct loop *loop, struct watch *watch, uint32_t events)
{
    if (watch->events == events)
        return;
    watch->events = events;
    if (watch->is_busy)
        return;
    MUST(control(loop, EPOLL_CTL_MOD, watch) == 0);
}

void watch_set_busy(struct loop *loop, struct watch *watch)
{
    if (watch->is_busy)
        return;
    control(loop, EPOLL_CTL_DEL, watch);
    watch->is_busy = true;
    list_append(&loop_watches(loop)->busy, &watch->busy);
}

enum err watch_set_calm(struct loop *loop, struct watch *watch)
{
    if (!watch->is_busy)
        return ERR_OK;
    if (control(loop, EPOLL_CTL_ADD, watch) != 0)
        return err_from_errno(errno);
    watch->is_busy = false;
    list_remove(&watch->busy);
    return ERR_OK;
}

static void forget(struct watches *watches, struct watch *watch)
{
    if (watch->is_busy)
        list_remove(&watch->busy);
    watch->is_busy = false;
    for (int i = watches->current; i < watches->count; i++) {
        if (watches->events[i].data.ptr == watch)
            watches->events[i].data.ptr = NULL;
    }
}

void watch_stop(struct loop *loop, struct watch *watch)
{
    if (!watch->is_busy)
        control(loop, EPOLL_CTL_DEL, watch);
    forget(loop_watches(loop), watch);
}

void watch_close(struct loop *loop, struct watch *watch)
{
    forget(loop_watches(loop), watch);
    close(watch->fd);
    watch->fd = -1;
}
