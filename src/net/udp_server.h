/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_NET_UDP_SERVER_H
#define NAILUP_NET_UDP_SERVER_H

/*
 * A UDP socket for clients: batches of datagrams in (recvmmsg) and out (sendmmsg). Answers leave
 * from the address that the query was sent to (RFC 2181 section 4), also on wildcard sockets.
 * tests/support/fake_net.c replaces it in tests of behaviour.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/err.h"
#include "base/span.h"
#include "net/udp_thinned.h"

struct listen_socket;
struct loop;
struct udp_server;

/* A proxy brought the datagram for its peer, and gets the answer. */
struct udp_detour {
    struct addr proxy;
    struct addr frontend; /* the proxy's address that the peer asked */
};

/* The addresses of a datagram, for its answer. A plain value. */
struct udp_path {
    struct addr peer;
    struct addr local;        /* family 0: the socket is bound to one address */
    uint32_t interface_index; /* 0: the kernel chooses */
    /* NULL: none. net leaves it NULL, and the owner may set it in a copy of the path. */
    const struct udp_detour *detour;
};

/* The address that the answer is sent to. */
static inline const struct addr *udp_path_receiver(const struct udp_path *path)
{
    return path->detour ? &path->detour->proxy : &path->peer;
}

enum {
    UDP_QUERY_MAX = 4096, /* a longer datagram is cut */
    UDP_REPLY_MAX = 4096,
};

typedef void (*udp_server_fn)(void *owner, struct span datagram, const struct udp_path *path);

/* on_batch_begin and on_batch_end bracket the datagrams of one read, so that a batch is one read
 * section of the cache. Bytes and paths are valid until on_batch_end returns; the answers leave
 * after it. Both may be NULL. A server that is closed inside on_datagram gets no more datagrams,
 * but still the on_batch_end. */
struct udp_server_handler {
    void (*on_batch_begin)(void *owner);
    udp_server_fn on_datagram;
    void (*on_batch_end)(void *owner);
};

/* Takes the socket and leaves LISTEN_SOCKET_NONE; on error the caller keeps it. */
MUST_USE enum err udp_server_open(struct udp_server **out, struct loop *loop,
                                  struct listen_socket *socket,
                                  const struct udp_server_handler *handler, void *owner);

/* Closes the socket. Unread datagrams get no answer. */
void udp_server_close(struct udp_server **server);

enum { UDP_SERVER_END_US = 20 * 1000, UDP_SERVER_END_MAX_US = 1000 * 1000 };

/*
 * Stops receiving, once. New datagrams get an ICMP error or go to another socket of the address.
 * Earlier ones are still delivered. When none is left, on_quiet comes, after UDP_SERVER_END_US at
 * the earliest and not inside a batch, and may close the server. Until then answers may be sent.
 *
 * A shared socket cannot stop receiving: the server reads it until a turn brings nothing, or for
 * UDP_SERVER_END_MAX_US. Its other owners get the rest.
 */
void udp_server_end(struct udp_server *server, void (*on_quiet)(void *owner));

/* Stops reading a shared socket: all unread datagrams wait for its other owners. Answers may still
 * be sent. Not inside a batch. */
void udp_server_leave(struct udp_server *server);

const struct addr *udp_server_local(const struct udp_server *server);

/* Returns a slot for one answer of up to UDP_REPLY_MAX bytes, valid until the next call; never
 * NULL, because a full batch is sent first. Answers leave when the batch of datagrams ends or at
 * the end of the turn. An answer that the kernel does not take is dropped and counted. */
uint8_t *udp_server_reserve(struct udp_server *server);
void udp_server_commit(struct udp_server *server, size_t len, const struct udp_path *path);

uint64_t udp_server_dropped(const struct udp_server *server);

/*
 * How long the oldest datagram of this batch waited in the kernel. Only inside a batch. 0 means
 * unknown: stamps cost a little for each datagram of the machine, so the kernel stamps only for
 * UDP_SERVER_STAMPED_US after several turns in a row that left datagrams unread.
 */
uint64_t udp_server_age_us(const struct udp_server *server);

enum { UDP_SERVER_STAMPED_US = 60 * 1000 * 1000 };

/* The kernel's queue of unread datagrams. */
struct udp_server_queue {
    uint32_t lost; /* datagrams that the kernel has dropped since the socket exists; wraps around */
    bool is_half_full;
};

/* One system call. All zero if the kernel does not say. */
struct udp_server_queue udp_server_look(const struct udp_server *server);

/* Has the kernel drop the other datagrams of these prefixes, which costs this thread nothing. Each
 * call replaces the prefixes; a count of 0 ends it. Returns whether the kernel does so. It is false
 * for a shared socket, whose other owners would lose datagrams too. */
bool udp_server_thin(struct udp_server *server, const struct udp_thinned *thinned, unsigned count);

#endif
