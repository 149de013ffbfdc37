/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_NET_UDP_QUERY_H
#define NAILUP_NET_UDP_QUERY_H

/*
 * One UDP query on a connected socket with a fresh random port (RFC 5452; outgoing_ports.h).
 * tests/support/fake_net.c replaces it in tests of behaviour.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/err.h"
#include "base/span.h"

struct loop;
struct stock;
struct udp_query;

enum {
    UDP_WAITING_MAX = 10000,
    UDP_IDLE_MAX = 512, /* idle sockets that a loop keeps for each family */
};

struct udp_query_handler {
    /* A datagram from the peer's address, with unchecked content. May come several times. */
    void (*on_datagram)(void *owner, struct span datagram);
    /* ICMP reported an unreachable peer (ERR_REFUSED, ERR_UNREACHABLE). May come several times. */
    void (*on_failed)(void *owner, enum err why);
};

/* Sends the datagram to peer. source: family 0 lets the kernel choose. If no file is free, the
 * query waits in line for one, at most UDP_WAITING_MAX queries per loop (ERR_LIMIT), and is sent
 * then. Returns immediate errors; no callback comes before the return. */
MUST_USE enum err udp_query_open(struct udp_query **out, struct loop *loop, const struct addr *peer,
                                 const struct addr *source, struct span datagram,
                                 const struct udp_query_handler *handler, void *owner);

/* The source address of the query; family 0 if it is unknown or the query still waits. A system
 * call.
 */
void udp_query_local(const struct udp_query *query, struct addr *out);

/* Allowed inside the callbacks; none comes afterwards. *query becomes NULL. */
void udp_query_close(struct udp_query **query);

/* For tcp.c: closes an idle socket because a dial needs its file. Returns false without one.
 */
bool udp_query_drop_idle(struct stock *stock);

#endif
