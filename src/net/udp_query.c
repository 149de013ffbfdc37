/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * One UDP query on a port of its own (udp_query.h). Checking answers, retransmission and deadlines
 * are left to the owner.
 *
 * This runs for each query that leaves by UDP. On a port in the system's range it makes no system
 * call but connect, send, recv and the disconnecting connect, once there are sockets to use again.
 * On any other port it opens, binds, watches and closes a socket.
 */

#include "net/udp_query.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/check.h"
#include "net/stock.h"
#include "net/read_max.h"
#include "net/socket.h"
#include "net/udp_sockets.h"

struct udp_query {
    struct udp_socket *socket; /* NULL: it waits for a file, and letter is what it sends then */
    struct udp_waiter waiter;
    struct letter *letter;
    struct stock *stock;
    const struct udp_query_handler *handler;
    void *owner;
    bool failed; /* an error was met: the socket is not used again */
};

/* A query that waits for a file. */
struct letter {
    struct addr peer, source;
    size_t len;
    uint8_t datagram[];
};

/* One datagram or error an event: the callback may close the query, and what is left comes in the
 * next turn. Reading an ICMP error clears it, and the socket goes on. */
static void udp_query_on_ready(struct udp_socket *socket, void *owner)
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
    enum err err =
        udp_socket_take(&query->socket, query->stock, peer, source, udp_query_on_ready, query);
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
static enum err udp_query_start(struct udp_query *query, const struct addr *peer,
                                const struct addr *source, struct span datagram)
{
    enum err err = send_once(query, peer, source, datagram);
    return err == ERR_REFUSED ? send_once(query, peer, source, datagram) : err;
}

static bool udp_query_on_turn(struct udp_waiter *waiter)
{
    struct udp_query *query = CONTAINER_OF(waiter, struct udp_query, waiter);
    const struct letter *letter = query->letter;
    enum err err = udp_query_start(query, &letter->peer, &letter->source,
                                   span_of(letter->datagram, letter->len));
    if (err == ERR_NO_FILES)
        return false;
    free(query->letter);
    query->letter = NULL;
    if (err)
        query->handler->on_failed(query->owner, err);
    return true;
}

/* Without free files, many queries share few sockets, one after the other. */
static enum err udp_query_wait(struct udp_query *query, const struct addr *peer,
                               const struct addr *source, struct span datagram)
{
    struct letter *letter = malloc(sizeof(*letter) + datagram.len);
    if (!letter)
        return ERR_NO_MEMORY;
    *letter = (struct letter){.peer = *peer, .source = *source, .len = datagram.len};
    memcpy(letter->datagram, datagram.data, datagram.len);
    query->waiter.on_turn = udp_query_on_turn;
    enum err err = udp_socket_wait(query->stock, &query->waiter);
    if (err)
        free(letter);
    else
        query->letter = letter;
    return err;
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
    list_init(&query->waiter.node);
    enum err err = udp_query_start(query, peer, source, datagram);
    if (err == ERR_NO_FILES)
        err = udp_query_wait(query, peer, source, datagram);
    if (err) {
        stock_give(stock, STOCK_UDP_QUERY, query);
        return err;
    }
    *out = query;
    return ERR_OK;
}

void udp_query_local(const struct udp_query *query, struct addr *out)
{
    if (!query->socket || socket_local(query->socket->watch.fd, out))
        *out = (struct addr){0};
}

void udp_query_close(struct udp_query **query)
{
    struct udp_query *closing = *query;

    *query = NULL;
    if (closing->socket)
        udp_socket_give(&closing->socket, !closing->failed);
    if (list_is_linked(&closing->waiter.node))
        udp_socket_leave(closing->stock, &closing->waiter);
    free(closing->letter);
    stock_give(closing->stock, STOCK_UDP_QUERY, closing);
}
