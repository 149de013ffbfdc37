/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * One UDP query on a socket of its own (udp_query.h). Checking answers, retransmission and
 * deadlines are left to the owner.
 *
 * This runs for each query that leaves by UDP, so it makes no system call but socket, connect,
 * send, epoll_ctl, recv and close.
 */

#include "net/udp_query.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.h"
#include "net/poller.h"
#include "net/read_max.h"
#include "net/socket.h"

struct udp_query {
    struct watch watch;
    struct poller *poller;
    const struct udp_query_handler *handler;
    void *owner;
};

/* One datagram or error an event: the callback may close the query, and what is left comes in the
 * next turn. Reading an ICMP error clears it, and the socket goes on. */
static void on_ready(struct watch *watch, uint32_t events)
{
    struct udp_query *query = CONTAINER_OF(watch, struct udp_query, watch);
    uint8_t *buffer = poller_read_buffer(query->poller);
    ssize_t len = recv(watch->fd, buffer, NET_READ_MAX, 0);

    (void)events;
    if (len >= 0)
        query->handler->on_datagram(query->owner, span_of(buffer, (size_t)len));
    else if (errno != EAGAIN && errno != EINTR)
        query->handler->on_failed(query->owner, err_from_errno(errno));
}

static enum err start(struct udp_query *query, int fd, const struct addr *peer,
                      const struct addr *source, struct span datagram)
{
    if (addr_family(source) != 0) {
        enum err err = socket_bind_source(fd, source);
        if (err)
            return err;
    }
    if (connect(fd, &peer->sa, addr_len(peer)) != 0)
        return err_from_errno(errno);
    if (send(fd, datagram.data, datagram.len, MSG_NOSIGNAL) < 0)
        return err_from_errno(errno);
    return watch_start(query->poller, &query->watch, fd, EPOLLIN);
}

enum err udp_query_open(struct udp_query **out, struct loop *loop, const struct addr *peer,
                        const struct addr *source, struct span datagram,
                        const struct udp_query_handler *handler, void *owner)
{
    struct poller *poller = poller_of(loop);
    struct udp_query *query;
    enum err err;
    int fd;

    if (!poller)
        return ERR_NO_MEMORY;
    err = socket_open(&fd, addr_family(peer), SOCK_DGRAM);
    if (err)
        return err;
    query = poller_take(poller, POLLER_UDP_QUERY, sizeof(*query));
    if (!query) {
        close(fd);
        return ERR_NO_MEMORY;
    }
    query->watch.on_ready = on_ready;
    query->poller = poller;
    query->handler = handler;
    query->owner = owner;
    err = start(query, fd, peer, source, datagram);
    if (err) {
        close(fd);
        poller_give(poller, POLLER_UDP_QUERY, query);
        return err;
    }
    *out = query;
    return ERR_OK;
}

void udp_query_close(struct udp_query **query)
{
    struct udp_query *closing = *query;

    *query = NULL;
    watch_close(closing->poller, &closing->watch);
    poller_give(closing->poller, POLLER_UDP_QUERY, closing);
}
