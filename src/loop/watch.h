/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_LOOP_WATCH_H
#define NAILUP_LOOP_WATCH_H

/*
 * The sockets of a loop and the epoll sets that watch them. For src/net only. The loop's thread.
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
 * Clients open as many streams as they like and keep them readable. So each socket has a rank, and
 * each rank has its own time in every turn, in which its sockets take turns:
 *
 *   prompt datagrams, upstream servers, listeners: served in every turn, whatever the others need
 *   patient  streams of clients: all of them together get half a millisecond of each turn
 *   greedy   streams that bring a hundred queries at a time: as much time, so that however many
 *            they are, a patient stream does not wait for them
 */
enum watch_rank { WATCH_PROMPT, WATCH_PATIENT, WATCH_GREEDY };

/* Embedded by the owner of a socket, and zero except for on_ready and rank. on_ready gets the
 * EPOLL* bits. Watching is level-triggered, so on_ready may leave work for the next turn. It may
 * close this and any other watch. */
struct watch {
    int fd;
    uint32_t events; /* wanted: EPOLLIN, EPOLLOUT, or 0: only errors and hang-ups */
    void (*on_ready)(struct watch *watch, uint32_t events);
    enum watch_rank rank; /* set before watch_start(); watch_set_rank() changes it */
    bool is_busy;     /* watch_set_busy(): called each turn, in no epoll set; prompt watches only */
    bool is_due;      /* watch_call() */
    struct list node; /* in the list of busy watches, or of due ones of its rank */
};

/* Starts watching with on_ready set; one epoll_ctl. */
MUST_USE enum err watch_start(struct loop *loop, struct watch *watch, int fd, uint32_t events);

/* Changes the wanted events. Does nothing when they are the same. */
void watch_set(struct loop *loop, struct watch *watch, uint32_t events);

/* Changes the rank of a watch that is not busy, from the next turn on. The watch keeps its rank
 * when the kernel has no memory for the change. */
void watch_set_rank(struct loop *loop, struct watch *watch, enum watch_rank rank);

/* Stops watching and closes the socket; fd becomes -1. No further event of the current turn reaches
 * the watch. */
void watch_close(struct loop *loop, struct watch *watch);

/* Stops watching; the socket stays open. */
void watch_stop(struct loop *loop, struct watch *watch);

/*
 * Makes a watch busy, or ends that. on_ready(EPOLLIN) of a busy watch is called each turn without
 * asking the kernel, and the loop does not wait. At most three turns in a row leave it out, because
 * they begin with leftover events. For a socket that gets more than it can read: each datagram that
 * comes or leaves would wake the epoll set, the latter to report room that the owner did not ask
 * for. Does nothing when it is so already. ERR_*: the watch could not be put back, and stays busy.
 */
void watch_set_busy(struct loop *loop, struct watch *watch);
MUST_USE enum err watch_set_calm(struct loop *loop, struct watch *watch);

/* Calls on_ready(0) once, when the watch has its turn among the sockets of its rank: for work that
 * needs no event. Nothing happens when a call is due already, or the watch is busy. */
void watch_call(struct loop *loop, struct watch *watch);

/* The number of the loop's looks at its prompt sockets. Events that came before one look have been
 * delivered when the next one is counted. */
uint64_t watch_turns(const struct loop *loop);

#endif
