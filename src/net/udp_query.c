/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * One UDP query on a port of its own (udp_query.h). Checking answers, retransmission and deadlines
 * are left to the owner.
 *
 * This runs for each query that leaves by UDP, so it makes no system call but connect, send, recv
 * and the disconnecting connect, once there are sockets to use again.
 */

#include "net/udp_query.h"

#include <errno.h>
#include <sys/socket.h>

#include "base/check.h"
#include "net/stock.h"
#include "net/read_max.h"
#include "net/socket.h"
#include "net/udp_sockets.h"

struct udp_query {
    struct udp_socket *socket;
    struct stock *stock;
    const struct udp_query_handler *handler;
    void *owner;
    bool failed; /* an error was met: the socket is not used again */
};

/* One datagram or error an event: the callback may close the query, and what is left comes in the
 * next turn. Reading an ICMP error clears it, and the socket goes on. */
static void on_ready(struct udp_socket *socket, void *owner)
{
    struct udp_query *query = owner;
    uint8_t *buffer = stock_read_buffer(query->stock);
    ssize_t len = recv(socket->watch.fd, buffer, NET_READ_MAX, 0);

    if (len >= 0) {
        query->handler->on_datagram(query->owner, span_of(buffer, (size_t)len));
    } else if (errno != EAGAIN && errno != EINTR) {
        query->failed = true;
        query->handler->on_failed(query->owner, err_from_errno(errno));
    }
}

static enum err send_once(struct udp_query *query, const struct addr *peer,
                          const struct addr *source, struct span datagram)
{
    enum err err = udp_socket_take(&query->socket, query->stock, peer, source, on_ready, query);
    if (err)
        return err;
    if (send(query->socket->watch.fd, datagram.data, datagram.len, MSG_NOSIGNAL) >= 0)
        return ERR_OK;
    err = err_from_errno(errno);
    udp_socket_give(&query->socket, false);
    return err;
}

/* Nobody can have refused a query that was never sent: the error is left of the socket's last one,
 * and the socket is gone with it. */
static enum err start(struct udp_query *query, const struct addr *peer, const struct addr *source,
                      struct span datagram)
{
    enum err err = send_once(query, peer, source, datagram);
    return err == ERR_REFUSED ? send_once(query, peer, source, datagram) : err;
}

enum err udp_query_open(struct udp_query **out, struct loop *loop, const struct addr *peer,
                        const struct addr *source, struct span datagram,
                        const struct udp_query_handler *handler, void *owner)
{
    struct stock *stock = stock_of(loop);
    struct udp_query *query = stock ? stock_take(stock, STOCK_UDP_QUERY, sizeof(*query)) : NULL;

    if (!query)
        return ERR_NO_MEMORY;
    *query = (struct udp_query){.stock = stock, .handler = handler, .owner = owner};
    enum err err = start(query, peer, source, datagram);
    if (err) {
        stock_give(stock, STOCK_UDP_QUERY, query);
        return err;
    }
    *out = query;
    return ERR_OK;
}

void udp_query_local(const struct udp_query *query, struct addr *out)
{
    if (socket_local(query->socket->watch.fd, out))
        *out = (struct addr){0};
}

void udp_query_close(struct udp_query **query)
{
    struct udp_query *closing = *query;

    *query = NULL;
    udp_socket_give(&closing->socket, !closing->failed);
    stock_give(closing->stock, STOCK_UDP_QUERY, closing);
}
