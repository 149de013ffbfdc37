/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_NET_UDP_QUERY_H
#define NAILUP_NET_UDP_QUERY_H

/*
 * A connected UDP socket on a fresh random port (RFC 5452; outgoing_ports.h): one query, then the
 * port is given back. Replaced by tests/support/fake_net.c in tests of behaviour.
 */

#include <stdint.h>

#include "base/addr.h"
#include "base/err.h"
#include "base/span.h"

struct loop;
struct udp_query;

struct udp_query_handler {
    /* A datagram from the peer's address; what it says is not checked. May come several times. */
    void (*on_datagram)(void *owner, struct span datagram);
    /* ICMP said that nobody is there (ERR_REFUSED, ERR_UNREACHABLE). May come several times. */
    void (*on_failed)(void *owner, enum err why);
};

/* Opens a socket to peer and sends the datagram. source: family 0 lets the kernel choose. Where
 * there is no file for a socket it waits for one, in line with others, and is sent then. Errors
 * known at once are returned; no callback comes before the return. */
MUST_USE enum err udp_query_open(struct udp_query **out, struct loop *loop, const struct addr *peer,
                                 const struct addr *source, struct span datagram,
                                 const struct udp_query_handler *handler, void *owner);

/* Its source address; family 0 when it is unknown or nothing was sent yet. A system call. */
void udp_query_local(const struct udp_query *query, struct addr *out);

/* Allowed inside the callbacks; none comes afterwards. *query becomes NULL. */
void udp_query_close(struct udp_query **query);

#endif
