/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_LOOP_WATCHES_H
#define NAILUP_LOOP_WATCHES_H

/* Private to src/loop: the epoll sets of the watches of watch.h. One thread. */

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

#include "base/err.h"
#include "base/list.h"

struct loop;

enum { WATCHES_EVENTS_MAX = 128 }; /* events of a set that one call of the kernel reports */

/* An epoll set, and its events that the kernel has named. */
struct watch_set {
    int epoll_fd;
    bool is_ready;      /* the kernel has events of it; not used for the prompt set */
    int current, count; /* events[current, count) are not handed out yet */
    struct epoll_event events[WATCHES_EVENTS_MAX];
    struct list due;   /* struct watch: called after the events of the next look */
    struct list round; /* struct watch: called after the events of this look */
};

enum { WATCH_SETS = 3 }; /* one for each enum watch_rank */

struct watches {
    /* The loop waits on the first set, the prompt one. The others are members of it. */
    struct watch_set sets[WATCH_SETS];
    bool streams_wait; /* a set other than the prompt one has events, named or not */
    uint64_t turns;
    unsigned behind;  /* turns in a row that began with leftover events */
    struct list busy; /* struct watch */
};

MUST_USE enum err watches_init(struct watches *watches);
void watches_deinit(struct watches *watches);

/* Waits at most timeout_ms (-1: for ever) for sockets and calls their watches: prompt ones first,
 * then patient ones, then greedy ones. Does not wait while a watch is busy or due, or while events
 * of the last turn are left over. */
void watches_wait(struct watches *watches, int timeout_ms);

/* The watches of a loop. */
struct watches *loop_watches(struct loop *loop);

#endif
