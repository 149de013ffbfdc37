/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Listening TCP sockets (acceptor.h). The owner limits the connections of a client and of all.
 *
 * Invariant: the listening socket is watched, except while the acceptor pauses for lack of
 * descriptors; the pause's timer is armed exactly then.
 */

#include "net/acceptor.h"

#include <errno.h>
#include <linux/filter.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.h"
#include "base/log.h"
#include "loop/loop.h"
#include "loop/timer.h"
#include "loop/watch.h"
#include "net/listen_socket.h"
#include "net/stock.h"
#include "net/tcp.h"
#include "net/tcp_accept.h"

enum {
    ACCEPTS_PER_TURN = 32, /* other sockets come next */
    PAUSE_MS = 100,
};

struct acceptor {
    struct watch watch;
    struct stock *stock;
    acceptor_fn on_accept;
    void *owner;
    struct addr local;
    struct timer pause;
    bool is_accepting; /* accept_some() is on the stack */
    bool is_closed;    /* within accept_some(), which frees it */
    bool is_shared;
    void (*on_ended)(void *owner); /* set by acceptor_end() */
    struct timer end;
};

static void acceptor_on_pause_over(struct timer *pause)
{
    struct acceptor *acceptor = CONTAINER_OF(pause, struct acceptor, pause);
    watch_set(stock_loop(acceptor->stock), &acceptor->watch, EPOLLIN);
}

/* Without a free descriptor accept() fails at once, each time: a try in each turn would waste the
 * CPU. */
static void pause_accepting(struct acceptor *acceptor)
{
    struct loop *loop = stock_loop(acceptor->stock);

    LOG_SHARED(LOG_WARNING, "net", "accepting pauses: %s", err_str(err_from_errno(errno)));
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
        /* All other errors concern the one connection, which is gone. */
        return errno == ECONNABORTED || errno == EINTR;
    }
    tcp = tcp_from_socket(acceptor->stock, fd, &peer);
    if (tcp)
        acceptor->on_accept(acceptor->owner, tcp);
    return true;
}

enum accepted { ACCEPTED_ALL, ACCEPTED_SOME, ACCEPTED_AND_CLOSED };

static enum accepted accept_some(struct acceptor *acceptor)
{
    bool may_be_more = true;

    acceptor->is_accepting = true;
    for (int i = 0; i < ACCEPTS_PER_TURN && may_be_more && !acceptor->is_closed; i++)
        may_be_more = accept_one(acceptor);
    acceptor->is_accepting = false;
    if (!acceptor->is_closed)
        return may_be_more ? ACCEPTED_SOME : ACCEPTED_ALL;
    free(acceptor);
    return ACCEPTED_AND_CLOSED;
}

static void acceptor_on_ready(struct watch *watch, uint32_t events)
{
    (void)events;
    accept_some(CONTAINER_OF(watch, struct acceptor, watch));
}

static void acceptor_on_end_due(struct timer *timer);

enum err acceptor_open(struct acceptor **out, struct loop *loop, struct listen_socket *socket,
                       acceptor_fn on_accept, void *owner)
{
    struct stock *stock = stock_of(loop);
    struct acceptor *acceptor = stock ? calloc(1, sizeof(*acceptor)) : NULL;

    if (!acceptor)
        return ERR_NO_MEMORY;
    acceptor->stock = stock;
    acceptor->on_accept = on_accept;
    acceptor->owner = owner;
    acceptor->local = socket->local;
    acceptor->is_shared = socket->is_shared;
    acceptor->watch.on_ready = acceptor_on_ready;
    timer_init(&acceptor->pause, acceptor_on_pause_over);
    timer_init(&acceptor->end, acceptor_on_end_due);
    enum err err = watch_start(loop, &acceptor->watch, socket->fd, EPOLLIN);
    if (err) {
        free(acceptor);
        return err;
    }
    *socket = LISTEN_SOCKET_NONE;
    *out = acceptor;
    return ERR_OK;
}

/* ---------------------------------------------------------------- ending */

/* Drops new connections (SYN without ACK) and passes all other packets, so that handshakes under
 * way complete. A close would reset them and the connections in the backlog. */
static void refuse_new(int fd)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 13), /* the flags, counted from the TCP header */
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0x12),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x02, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, 0),
        BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
    };
    struct sock_fprog program = {.len = ARRAY_LEN(code), .filter = code};

    if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) != 0)
        LOG_LIMITED(LOG_WARNING, "net", "connections that begin right now may be reset: %s",
                    err_str(err_from_errno(errno)));
}

/* The time for handshakes has passed: accepts the waiting connections as long as descriptors are
 * free. */
static void acceptor_on_end_due(struct timer *timer)
{
    struct acceptor *acceptor = CONTAINER_OF(timer, struct acceptor, end);
    struct loop *loop = stock_loop(acceptor->stock);
    enum accepted accepted = acceptor->is_shared ? ACCEPTED_ALL : accept_some(acceptor);

    if (accepted == ACCEPTED_AND_CLOSED)
        return;
    if (timer_is_armed(&acceptor->pause))
        timer_start(loop, timer, loop_now(loop) + PAUSE_MS * US_PER_MS);
    else if (accepted == ACCEPTED_SOME)
        timer_start(loop, timer, loop_now(loop));
    else
        acceptor->on_ended(acceptor->owner);
}

void acceptor_end(struct acceptor *acceptor, void (*on_ended)(void *owner))
{
    struct loop *loop = stock_loop(acceptor->stock);
    uint64_t now = loop_now(loop);

    MUST(!acceptor->on_ended);
    acceptor->on_ended = on_ended;
    if (acceptor->is_shared) {
        timer_stop(&acceptor->pause);
        watch_set(loop, &acceptor->watch, 0);
    } else {
        refuse_new(acceptor->watch.fd);
    }
    timer_start(loop, &acceptor->end, acceptor->is_shared ? now : now + ACCEPTOR_END_US);
}

void acceptor_close(struct acceptor **acceptor)
{
    struct acceptor *closing = *acceptor;

    *acceptor = NULL;
    timer_stop(&closing->pause);
    timer_stop(&closing->end);
    if (closing->is_shared) /* a close leaves it in the set while others have it open */
        watch_stop(stock_loop(closing->stock), &closing->watch);
    watch_close(stock_loop(closing->stock), &closing->watch);
    closing->is_closed = true;
    if (!closing->is_accepting)
        free(closing);
}

/* refuse_new() and the backlog bound the loop. */
void acceptor_finish(struct acceptor **acceptor)
{
    struct acceptor *finishing = *acceptor;

    MUST(!finishing->is_accepting && !finishing->is_shared);
    refuse_new(finishing->watch.fd);
    while (accept_some(finishing) == ACCEPTED_SOME)
        continue;
    acceptor_close(acceptor);
}

const struct addr *acceptor_local(const struct acceptor *acceptor)
{
    return &acceptor->local;
}
