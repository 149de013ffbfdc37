/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_NET_UDP_SOCKETS_H
#define NAILUP_NET_UDP_SOCKETS_H

/*
 * Private to src/net: the sockets that UDP queries are sent from. Each query has one of its own on
 * a random port (RFC 5452 section 9.2). A port outside the system's range takes a new socket, which
 * is bound to it. A port in the system's range takes none: making, watching and closing a socket
 * costs more than all else about a query. A socket whose query is over is disconnected, which gives
 * its port back; connecting it again draws a fresh one. The first reuses check that the kernel
 * does so.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/err.h"
#include "base/list.h"
#include "loop/watch.h"
#include "net/stock.h"

enum { UDP_SOCKETS_IDLE_MAX = 512 }; /* kept of each family, by each loop */

struct udp_socket {
    struct watch watch;
    struct stock *stock;
    struct list node; /* idle */
    uint64_t idle_turn;
    int family;
    bool reusable; /* its port is the kernel's choice alone */
    /* NULL: idle. One call for each event. */
    void (*on_ready)(struct udp_socket *socket, void *owner);
    void *owner;
};

/* Waits until a file may be free. on_turn tries again and says whether there was one: if not, the
 * waiter stays the first. It is not in the line when on_turn is called, and may be freed there. */
struct udp_waiter {
    struct list node;
    bool (*on_turn)(struct udp_waiter *waiter);
};

enum { UDP_WAITING_MAX = 10000 }; /* in the line of each loop */

/* ERR_LIMIT: too many wait. */
MUST_USE enum err udp_socket_wait(struct stock *stock, struct udp_waiter *waiter);
void udp_socket_leave(struct stock *stock, struct udp_waiter *waiter);

/* Closes an idle socket because a dial needs its file; false: there is none. */
bool udp_sockets_drop_idle(struct stock *stock);

/* Connected to peer on a fresh port and watched; source: family 0 lets the kernel choose. */
MUST_USE enum err udp_socket_take(struct udp_socket **out, struct stock *stock,
                                  const struct addr *peer, const struct addr *source,
                                  void (*on_ready)(struct udp_socket *socket, void *owner),
                                  void *owner);

/* The query is over. Kept for another when healthy (no error was met on it), else closed. *socket
 * becomes NULL. */
void udp_socket_give(struct udp_socket **socket, bool healthy);

#endif
