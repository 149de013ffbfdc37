/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_NET_POLLER_H
#define NAILUP_NET_POLLER_H

/*
 * Private to src/net: the sockets of a loop in one epoll set of ours, which libuv watches as one
 * handle, and the memory that they share.
 *
 * Why not a uv_poll_t per socket: it costs five system calls to add and remove a socket (libuv
 * tries the descriptor, sets it non-blocking again and removes it explicitly) where epoll needs
 * one, and its memory must outlive the socket by a turn. A UDP query lives for one answer, so that
 * is most of its price. It also goes deaf at the first ICMP error of a connected UDP socket.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>

#include "base/err.h"

struct loop;
struct poller;

/* Embedded by whoever owns a socket. on_ready gets the EPOLL* bits; level-triggered, so it may
 * leave work for the next turn. It may close this and any other watch. */
struct watch {
    int fd;
    uint32_t events; /* what is asked for: EPOLLIN, EPOLLOUT, or 0: only errors and hang-ups */
    void (*on_ready)(struct watch *watch, uint32_t events);
};

/* The loop's poller, made at the first call; NULL when out of memory or files. It lives until
 * loop_free(). */
struct poller *poller_of(struct loop *loop);
struct loop *poller_loop(struct poller *poller);

/* Starts watching; one epoll_ctl. */
MUST_USE enum err watch_start(struct poller *poller, struct watch *watch, int fd, uint32_t events);

/* Changes what is asked for; nothing happens when it is the same. */
void watch_set(struct poller *poller, struct watch *watch, uint32_t events);

/* Stops watching and closes the socket (which removes it from the set); fd becomes -1. No event of
 * the running turn reaches the watch any more. */
void watch_close(struct poller *poller, struct watch *watch);

/* Stops watching; the socket stays open. */
void watch_stop(struct poller *poller, struct watch *watch);

/* NET_READ_MAX bytes for the read that is under way; valid until the callback returns. */
uint8_t *poller_read_buffer(struct poller *poller);

/* Counts the epoll_wait() of this poller. */
uint64_t poller_turns(const struct poller *poller);

/* One module that keeps sockets between uses: closes them when the loop closes. */
struct poller_tenant {
    void (*close)(struct poller_tenant *tenant);
};
struct poller_tenant *poller_tenant(const struct poller *poller); /* NULL: none yet */
void poller_set_tenant(struct poller *poller, struct poller_tenant *tenant);

/* Small objects of the same few sizes come and go with every query: a bounded list of free ones. */
enum poller_object { POLLER_TCP, POLLER_UDP_QUERY, POLLER_OBJECTS };

void *poller_take(struct poller *poller, enum poller_object which,
                  size_t size); /* NULL: no memory */
void poller_give(struct poller *poller, enum poller_object which, void *object);

#endif
