/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_LOOP_WATCH_H
#define NAILUP_LOOP_WATCH_H

/*
 * The sockets of a loop, in the epoll set that the loop waits with. For src/net alone. The loop's
 * thread.
 *
 * Why not a uv_poll_t per socket: it costs five system calls to add and remove a socket (libuv
 * tries the descriptor, sets it non-blocking again and removes it explicitly) where epoll needs
 * one, and its memory must outlive the socket by a turn. It also goes deaf at the first ICMP error
 * of a connected UDP socket.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

#include "base/err.h"
#include "base/list.h"

struct loop;

/*
 * Clients open as many streams as they like and keep them readable. So a socket has a rank, and
 * each rank has a time of its own in every turn, in which its sockets take turns:
 *
 *   prompt   datagrams, upstream servers, listeners: served in every turn, whatever the others want
 *   patient  streams of clients: all of them together get half a millisecond of each turn
 *   greedy   streams that bring a hundred queries at a time: as much time, so that however many
 *            they are, a patient stream does not wait for them
 */
enum watch_rank { WATCH_PROMPT, WATCH_PATIENT, WATCH_GREEDY };

/* Embedded by whoever owns a socket, filled with zeros but for on_ready and rank. on_ready gets the
 * EPOLL* bits; level-triggered, so it may leave work for the next turn. It may close this and any
 * other watch. */
struct watch {
    int fd;
    uint32_t events; /* what is asked for: EPOLLIN, EPOLLOUT, or 0: only errors and hang-ups */
    void (*on_ready)(struct watch *watch, uint32_t events);
    enum watch_rank rank; /* set before watch_start(); watch_set_rank() changes it */
    bool is_busy;         /* called without being ready, in no epoll set; prompt ones alone */
    bool is_due;          /* watch_call() */
    struct list node;     /* of the busy ones, or of the due ones of its rank */
};

/* Starts watching with on_ready set; one epoll_ctl. */
MUST_USE enum err watch_start(struct loop *loop, struct watch *watch, int fd, uint32_t events);

/* Changes what is asked for; nothing happens when it is the same. */
void watch_set(struct loop *loop, struct watch *watch, uint32_t events);

/* The rank of a watch that is not busy, from the next turn on. It keeps its rank when the kernel
 * has no memory for the change. */
void watch_set_rank(struct loop *loop, struct watch *watch, enum watch_rank rank);

/* Stops watching and closes the socket (which removes it from the set); fd becomes -1. No event of
 * the running turn reaches the watch any more. */
void watch_close(struct loop *loop, struct watch *watch);

/* Stops watching; the socket stays open. */
void watch_stop(struct loop *loop, struct watch *watch);

/*
 * From now on, or no more, on_ready(EPOLLIN) is called each turn without asking the kernel, and the
 * loop does not wait. At most three turns in a row leave it out, because they begin with events
 * that are left over. For a socket that gets more than it can read: one that is in an epoll set
 * pays for it with each datagram that comes and with each that leaves, since either wakes the set
 * (the latter to say that there is room, which nobody asked for). Nothing happens when it is so
 * already. ERR_*: it could not be put back, and stays busy.
 */
void watch_set_busy(struct loop *loop, struct watch *watch);
MUST_USE enum err watch_set_calm(struct loop *loop, struct watch *watch);

/* Calls on_ready(0) once, when the watch has its turn among the sockets of its rank: for work that
 * needs no event. Nothing happens when a call is due already, or the watch is busy. */
void watch_call(struct loop *loop, struct watch *watch);

/* Counts the loop's looks at its prompt sockets: what had arrived before one has been handed out
 * when the next one is counted. */
uint64_t watch_turns(const struct loop *loop);

#endif
