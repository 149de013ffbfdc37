/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Accepts the responder's connections. responder_tcp.c handles them from then on.
 */

#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "responder.h"

enum { BACKLOG = 4096, ACCEPTS_PER_TURN = 64 };

static struct conn *conn_new(struct listener *listener, int fd, const struct addr *peer)
{
    int on = 1;
    struct conn *conn = malloc(sizeof(*conn));
    if (!conn)
        return NULL;
    /* leaves the buffer untouched, which costs no memory until it is used */
    memset(conn, 0, offsetof(struct conn, in));
    conn->watch = (struct watch){.fd = fd, .on_ready = responder_tcp_on_ready};
    conn->listener = listener;
    conn->peer = *peer;
    conn->accepted_at = conn->last_at = listener->responder->now_us;
    conn->events = EPOLLIN;
    buf_init(&conn->out, STREAM_OUT_MAX);
    list_init(&conn->dirty);
    list_init(&conn->grave);
    list_init(&conn->node);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    return conn;
}

static void accept_one(struct listener *listener, int fd, const struct addr *peer)
{
    struct conn *conn = conn_new(listener, fd, peer);
    if (!conn || (listener->is_tls && !responder_tls_begin(conn)) ||
        poller_add(listener->responder->poller, &conn->watch, EPOLLIN)) {
        if (conn)
            responder_conn_free(conn);
        close(fd);
        return;
    }
    list_append(&listener->conns, &conn->node);
    listener->open++;
    listener->stats.opened++;
    listener->stats.max_open = MAX(listener->stats.max_open, listener->open);
}

static void on_acceptable(struct watch *watch, uint32_t events)
{
    struct listener *listener = CONTAINER_OF(watch, struct listener, tcp);
    (void)events;
    for (int i = 0; i < ACCEPTS_PER_TURN && watch->fd >= 0; i++) {
        struct addr peer;
        memset(&peer, 0, sizeof(peer));
        socklen_t len = sizeof(peer);
        int fd = accept4(watch->fd, &peer.sa, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0)
            return;
        accept_one(listener, fd, &peer);
    }
}

enum err responder_tcp_listen(struct listener *listener)
{
    int on = 1;
    if (listener->tcp.fd >= 0)
        return ERR_OK;
    int fd = socket(addr_family(&listener->addr), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return err_from_errno(errno);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(fd, &listener->addr.sa, addr_len(&listener->addr)) || listen(fd, BACKLOG)) {
        enum err err = err_from_errno(errno);
        close(fd);
        return err;
    }
    if (addr_port(&listener->addr) == 0) {
        socklen_t len = sizeof(listener->addr);
        getsockname(fd, &listener->addr.sa, &len);
    }
    listener->tcp = (struct watch){.fd = fd, .on_ready = on_acceptable};
    return poller_add(listener->responder->poller, &listener->tcp, EPOLLIN);
}

void responder_tcp_hole_listener(struct listener *listener, bool is_hole)
{
    if (listener->tcp.fd >= 0)
        socket_drops_all(listener->tcp.fd, is_hole);
}

void responder_tcp_unlisten(struct listener *listener)
{
    if (listener->tcp.fd >= 0)
        close(listener->tcp.fd);
    listener->tcp.fd = -1;
}
