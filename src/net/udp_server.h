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

/* Opens with SO_REUSEPORT: each worker has its own. ERR_ADDRESS_UNKNOWN, ERR_PERMISSION,
 * ERR_ADDRESS_IN_USE, ERR_NO_FILES. listen may have port 0: udp_server_local() tells. */
MUST_USE enum err udp_server_open(struct udp_server **out, struct loop *loop,
                                  const struct addr *listen,
                                  const struct udp_server_handler *handler, void *owner);
void udp_server_close(struct udp_server **server);

const struct addr *udp_server_local(const struct udp_server *server);

/* A slot for one answer of up to UDP_REPLY_MAX bytes; never NULL: a full batch is sent first.
 * Valid until the next call. Answers leave when the batch of datagrams ends or at the end of the
 * turn; one that the kernel does not take is dropped and counted. */
uint8_t *udp_server_reserve(struct udp_server *server);
void udp_server_commit(struct udp_server *server, size_t len, const struct udp_path *path);

uint64_t udp_server_dropped(const struct udp_server *server);

#endif
