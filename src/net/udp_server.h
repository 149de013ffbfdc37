/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_NET_UDP_SERVER_H
#define NAILUP_NET_UDP_SERVER_H

/*
 * A UDP socket that clients ask: batches of datagrams in (recvmmsg) and out (sendmmsg), answers
 * leave from the address that was asked (RFC 2181 section 4), also on wildcard sockets. Replaced
 * by tests/support/fake_net.c in tests of behaviour.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/err.h"
#include "base/span.h"

struct listen_socket;
struct loop;
struct udp_server;

/* Where a datagram came from and where it was sent to: what its answer needs. A plain value. */
struct udp_path {
    struct addr peer;
    struct addr local;        /* family 0 when the socket is bound to one address */
    uint32_t interface_index; /* 0: the kernel chooses */
};

enum {
    UDP_QUERY_MAX = 4096, /* a longer datagram is cut, and on_datagram sees this many bytes */
    UDP_REPLY_MAX = 4096,
};

typedef void (*udp_server_fn)(void *owner, struct span datagram, const struct udp_path *path);

/* on_batch_begin and on_batch_end bracket the datagrams of one read (one read section of the cache
 * a batch), whose bytes and paths are valid until on_batch_end returns; the answers leave after it.
 * Both may be NULL. A server that is closed inside on_datagram gets no more datagrams, but still
 * the on_batch_end that belongs to its begin. */
struct udp_server_handler {
    void (*on_batch_begin)(void *owner);
    udp_server_fn on_datagram;
    void (*on_batch_end)(void *owner);
};

/* Takes the socket, of which there is none afterwards; on error it is still the caller's. */
MUST_USE enum err udp_server_open(struct udp_server **out, struct loop *loop,
                                  struct listen_socket *socket,
                                  const struct udp_server_handler *handler, void *owner);

/* Closes the socket: what has come and is not read gets no answer. */
void udp_server_close(struct udp_server **server);

enum { UDP_SERVER_END_US = 20 * 1000, UDP_SERVER_END_MAX_US = 1000 * 1000 };

/*
 * Nothing new shall come: clients are told that nobody is there (ICMP), or another socket of the
 * address gets what they send. What has come already is handed out as ever; once there is nothing
 * more on_quiet is called, after UDP_SERVER_END_US at the earliest and not inside of a batch, and
 * may close the server. Until that is closed answers may be sent. Once.
 *
 * A socket that others share goes on hearing, so it is read until a turn brings nothing, or for
 * UDP_SERVER_END_MAX_US; the others get the rest.
 */
void udp_server_end(struct udp_server *server, void (*on_quiet)(void *owner));

/* Stops reading a socket that others share: datagrams in the kernel and new ones wait for them.
 * Answers may still be sent. Not inside a batch. */
void udp_server_leave(struct udp_server *server);

const struct addr *udp_server_local(const struct udp_server *server);

/* A slot for one answer of up to UDP_REPLY_MAX bytes; never NULL: a full batch is sent first.
 * Valid until the next call. Answers leave when the batch of datagrams ends or at the end of the
 * turn; one that the kernel does not take is dropped and counted. */
uint8_t *udp_server_reserve(struct udp_server *server);
void udp_server_commit(struct udp_server *server, size_t len, const struct udp_path *path);

uint64_t udp_server_dropped(const struct udp_server *server);

/*
 * How long the oldest datagram of this batch waited in the kernel before it was read. Call it
 * inside a batch. 0 means unknown: a stamp costs a little for each datagram of the machine, so the
 * kernel makes stamps only for UDP_SERVER_STAMPED_US after several turns in a row that left
 * datagrams unread.
 */
uint64_t udp_server_age_us(const struct udp_server *server);

enum { UDP_SERVER_STAMPED_US = 60 * 1000 * 1000 };

#endif
