/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_NET_UDP_QUERY_H
#define NAILUP_NET_UDP_QUERY_H

/*
 * One UDP query on a connected socket with a random port (RFC 5452; outgoing_ports.h). The queries
 * of a burst to one server may share a port. tests/support/fake_net.c replaces it in tests of
 * behaviour.
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
    UDP_PORT_QUERIES_MAX = 16,
    UDP_JOIN_US = 2000, /* how long after its first query others may join a port */
};

struct udp_query_handler {
    /* A datagram from the peer's address, with unchecked content: the query's answer, or a datagram
     * whose first two bytes, the id, belong to no query of the port. May come several times. */
    void (*on_datagram)(void *owner, struct span datagram);
    /* ICMP reported an unreachable peer (ERR_REFUSED, ERR_UNREACHABLE), or a query that waited in
     * line met an immediate error. May come several times. */
    void (*on_failed)(void *owner, enum err why);
};

/* Where a query goes; borrowed. */
struct udp_query_path {
    const struct addr *peer;
    const struct addr *source; /* family 0: the kernel chooses */
    unsigned queries_per_port; /* of a burst to the peer, at most UDP_PORT_QUERIES_MAX; 1: its own
                                  port */
    bool is_foreign;           /* this machine need not have the source (IP_FREEBIND) */
};

/* Sends the datagram to the peer. If no descriptor is free, the query waits in line for one, at
 * most UDP_WAITING_MAX queries per loop (ERR_LIMIT), and is sent then, from its own port. Returns
 * immediate errors; no callback comes before the return. */
MUST_USE enum err udp_query_open(struct udp_query **out, struct loop *loop,
                                 const struct udp_query_path *path, struct span datagram,
                                 const struct udp_query_handler *handler, void *owner);

/* Whether the query still waits in line for a descriptor: its source and route are untested. */
bool udp_query_is_waiting(const struct udp_query *query);

/* The source address of the query; family 0 if it is unknown or the query still waits. A system
 * call.
 */
void udp_query_local(const struct udp_query *query, struct addr *out);

/* The owner found that a datagram does not answer the query. Returns how many such datagrams the
 * port got, whichever of its queries they came to. Only inside on_datagram. */
unsigned udp_query_note_stray(struct udp_query *query);

/* Allowed inside the callbacks; none comes afterwards. *query becomes NULL. */
void udp_query_close(struct udp_query **query);

/* For tcp.c: closes an idle socket because a dial needs its descriptor. Returns false if no socket
 * is idle. */
bool udp_query_drop_idle(struct stock *stock);

#endif
