/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Listening TCP sockets (acceptor.h). Limits per client and in all are left to the owner.
 *
 * Invariant: the listening socket is watched but while accepting pauses for want of files; the
 * pause's timer is armed exactly then.
 */

#include "net/acceptor.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.h"
#include "base/log.h"
#include "loop/loop.h"
#include "loop/timer.h"
#include "loop/watch.h"
#include "net/stock.h"
#include "net/socket.h"
#include "net/tcp.h"
#include "net/tcp_accept.h"

enum {
    BACKLOG = 4096,
    ACCEPTS_PER_TURN = 32, /* then other sockets get their turn */
    PAUSE_MS = 100,
};

struct acceptor {
    struct watch watch;
    struct stock *stock;
    acceptor_fn on_accept;
    void *owner;
    struct addr local;
    struct timer pause;
    bool accepting; /* on_ready() is on the stack */
    bool closed;    /* inside of that: freed when it returns */
};

static void on_pause_over(struct timer *pause)
{
    struct acceptor *acceptor = CONTAINER_OF(pause, struct acceptor, pause);
    watch_set(stock_loop(acceptor->stock), &acceptor->watch, EPOLLIN);
}

/* Without files accept() fails at once and for ever: asking in each turn would burn the CPU. */
static void pause_accepting(struct acceptor *acceptor)
{
    struct loop *loop = stock_loop(acceptor->stock);

    LOG_LIMITED(LOG_WARNING, "net", "accepting pauses: %s", err_str(err_from_errno(errno)));
    watch_set(stock_loop(acceptor->stock), &acceptor->watch, 0);
    timer_start(loop, &acceptor->pause, loop_now(loop) + PAUSE_MS * US_PER_MS);
}

/* Returns false when there is nothing more to accept now. */
static bool accept_one(struct acceptor *acceptor)
{
    struct addr peer = {0};
    socklen_t len = sizeof(peer);
    struct tcp *tcp;
    int fd = accept4(acceptor->watch.fd, &peer.sa, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);

    if (fd < 0) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
            pause_accepting(acceptor);
        /* All other errors are of the one connection, which is gone. */
        return errno == ECONNABORTED || errno == EINTR;
    }
    tcp = tcp_from_socket(acceptor->stock, fd, &peer);
    if (tcp)
        acceptor->on_accept(acceptor->owner, tcp);
    return true;
}

static void on_ready(struct watch *watch, uint32_t events)
{
    struct acceptor *acceptor = CONTAINER_OF(watch, struct acceptor, watch);

    (void)events;
    acceptor->accepting = true;
    for (int i = 0; i < ACCEPTS_PER_TURN && !acceptor->closed; i++) {
        if (!accept_one(acceptor))
            break;
    }
    acceptor->accepting = false;
    if (acceptor->closed)
        free(acceptor);
}

static enum err start(struct acceptor *acceptor, int fd, const struct addr *listen_at)
{
    enum err err = socket_bind_listen(fd, SOCK_STREAM, listen_at, true);

    if (err)
        return err;
    socket_set(fd, IPPROTO_TCP, TCP_NODELAY, 1); /* accepted sockets inherit it */
    if (listen(fd, BACKLOG) != 0)
        return err_from_errno(errno);
    err = socket_local(fd, &acceptor->local);
    if (err)
        return err;
    return watch_start(stock_loop(acceptor->stock), &acceptor->watch, fd, EPOLLIN);
}

enum err acceptor_open(struct acceptor **out, struct loop *loop, const struct addr *listen_at,
                       acceptor_fn on_accept, void *owner)
{
    struct stock *stock = stock_of(loop);
    struct acceptor *acceptor;
    enum err err;
    int fd;

    if (!stock)
        return ERR_NO_MEMORY;
    err = socket_open(&fd, addr_family(listen_at), SOCK_STREAM);
    if (err)
        return err;
    acceptor = calloc(1, sizeof(*acceptor));
    if (!acceptor) {
        close(fd);
        return ERR_NO_MEMORY;
    }
    acceptor->stock = stock;
    acceptor->on_accept = on_accept;
    acceptor->owner = owner;
    acceptor->watch.on_ready = on_ready;
    timer_init(&acceptor->pause, on_pause_over);
    err = start(acceptor, fd, listen_at);
    if (err) {
        close(fd);
        free(acceptor);
        return err;
    }
    *out = acceptor;
    return ERR_OK;
}

void acceptor_close(struct acceptor **acceptor)
{
    struct acceptor *closing = *acceptor;

    *acceptor = NULL;
    timer_stop(&closing->pause);
    watch_close(stock_loop(closing->stock), &closing->watch);
    closing->closed = true;
    if (!closing->accepting)
        free(closing);
}

const struct addr *acceptor_local(const struct acceptor *acceptor)
{
    return &acceptor->local;
}

static enum err probe(const struct addr *listen_at, int type)
{
    int fd;
    enum err err = socket_open(&fd, addr_family(listen_at), type);

    if (err)
        return err;
    err = socket_bind_listen(fd, type, listen_at, false);
    close(fd);
    return err;
}

enum err acceptor_probe(const struct addr *listen_at, bool with_udp)
{
    enum err err = with_udp ? probe(listen_at, SOCK_DGRAM) : ERR_OK;
    return err ? err : probe(listen_at, SOCK_STREAM);
}
