/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * TCP connections (tcp.h) on our own non-blocking sockets. The owner handles deadlines, framing
 * and the time of writes.
 *
 * Invariant: the loop watches a socket from the dial or tcp_start() until it fails or closes. Each
 * event makes at most one callback, which is the last use of the object. Watching is
 * level-triggered: work that one event leaves undone comes again in the next turn, so one busy peer
 * delays the others by one read at most.
 */

#include "net/tcp.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <linux/sockios.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.h"
#include "loop/loop.h"
#include "loop/watch.h"
#include "net/file_count.h"
#include "net/stock.h"
#include "net/socket.h"
#include "net/tcp_accept.h"
#include "net/tcp_holes.h"
#include "net/udp_query.h"

enum tcp_state {
    TCP_ACCEPTED, /* waits for tcp_start() */
    TCP_DIALING,
    TCP_OPEN,
    TCP_HALF_CLOSED, /* the peer sent a FIN */
    TCP_FAILED,      /* the socket is no longer watched, and tcp_close() must follow */
};

struct tcp {
    struct watch watch;
    struct stock *stock;
    enum tcp_state state;
    bool paused;
    bool is_finished; /* we sent a FIN */
    bool is_dialed;   /* the descriptor counts as outgoing */
    bool is_foreign;  /* this machine need not have the local address */
    bool wants_room;  /* a write was partial */
    const struct tcp_handler *handler;
    void *owner;
    struct addr peer;
    struct addr local;            /* family 0: not looked up yet */
    struct turn_end start_failed; /* reports why at the end of the turn */
    enum err why;
};

enum {
    /* A close() with unread bytes would send a RST, which may destroy our last answers at the
     * peer. tcp_close() discards up to this many bytes first. */
    DISCARD_MAX = 1024 * 1024,
};

static void tcp_on_ready(struct watch *watch, uint32_t events);
static void tcp_on_start_failed(struct turn_end *end);

static struct tcp *tcp_new(struct stock *stock, const struct addr *peer, enum tcp_state state)
{
    struct tcp *tcp = stock_take(stock, STOCK_TCP, sizeof(*tcp));

    if (!tcp)
        return NULL;
    *tcp = (struct tcp){.stock = stock, .state = state, .peer = *peer};
    tcp->watch.fd = -1;
    tcp->watch.on_ready = tcp_on_ready;
    turn_end_init(&tcp->start_failed, tcp_on_start_failed);
    return tcp;
}

/* Watches for the events that the state needs. */
static void watch_state(struct tcp *tcp)
{
    uint32_t events = 0;

    if (tcp->state == TCP_DIALING || tcp->wants_room)
        events |= EPOLLOUT;
    if (tcp->state == TCP_OPEN && !tcp->paused)
        events |= EPOLLIN;
    watch_set(stock_loop(tcp->stock), &tcp->watch, events);
}

/* Stops watching: a failed socket stays readable for ever. */
static void stop_failed(struct tcp *tcp)
{
    tcp->state = TCP_FAILED;
    watch_stop(stock_loop(tcp->stock), &tcp->watch);
}

/* Stops watching after both FINs. Only the last acknowledgement is missing; epoll does not report
 * it, but would report a hang-up for ever. */
static void stop_finished(struct tcp *tcp)
{
    watch_stop(stock_loop(tcp->stock), &tcp->watch);
}

static void tcp_fail(struct tcp *tcp, enum err why)
{
    stop_failed(tcp);
    tcp->handler->on_failed(tcp->owner, why);
}

static void tcp_on_dialed(struct tcp *tcp)
{
    enum err err = socket_error(tcp->watch.fd);

    if (err) {
        tcp_fail(tcp, err);
        return;
    }
    tcp->state = TCP_OPEN;
    watch_state(tcp);
    tcp->handler->on_connected(tcp->owner);
}

/* Ranks clients, so that one that pipelines hundreds of queries does not delay the others. */
static void rank_client(struct tcp *tcp, size_t read_bytes)
{
    if (read_bytes >= NET_READ_PATIENT_MAX)
        watch_set_rank(stock_loop(tcp->stock), &tcp->watch, WATCH_GREEDY);
    else if (read_bytes <= NET_READ_POLITE_BYTES)
        watch_set_rank(stock_loop(tcp->stock), &tcp->watch, WATCH_PATIENT);
}

static size_t read_max(const struct tcp *tcp)
{
    return tcp->watch.rank == WATCH_PATIENT ? NET_READ_PATIENT_MAX : NET_READ_MAX;
}

static void tcp_on_readable(struct tcp *tcp)
{
    if (tcp->handler->may_read && !tcp->handler->may_read(tcp->owner))
        return;
    uint8_t *buffer = stock_read_buffer(tcp->stock);
    ssize_t len = recv(tcp->watch.fd, buffer, read_max(tcp), 0);

    if (len > 0) {
        if (!tcp->is_dialed)
            rank_client(tcp, (size_t)len);
        tcp->handler->on_bytes(tcp->owner, span_of(buffer, (size_t)len));
    } else if (len == 0) {
        tcp->state = TCP_HALF_CLOSED;
        if (tcp->is_finished)
            stop_finished(tcp);
        else
            watch_state(tcp);
        tcp->handler->on_peer_closed(tcp->owner);
    } else if (errno != EAGAIN && errno != EINTR) {
        tcp_fail(tcp, err_from_errno(errno));
    }
}

static void tcp_on_room(struct tcp *tcp)
{
    tcp->wants_room = false;
    watch_state(tcp);
    tcp->handler->on_writable(tcp->owner);
}

/* An error or a hang-up while the connection is paused or half closed. */
static void tcp_on_hang_up(struct tcp *tcp)
{
    enum err err = socket_error(tcp->watch.fd);
    tcp_fail(tcp, err ? err : ERR_RESET);
}

static void tcp_on_ready(struct watch *watch, uint32_t events)
{
    struct tcp *tcp = CONTAINER_OF(watch, struct tcp, watch);
    bool reads = tcp->state == TCP_OPEN && !tcp->paused;

    if (!events)
        tcp->handler->on_turn(tcp->owner);
    else if (tcp->state == TCP_DIALING)
        tcp_on_dialed(tcp);
    else if (tcp->wants_room && (events & EPOLLOUT) && !(events & (EPOLLERR | EPOLLHUP)))
        tcp_on_room(tcp);
    else if (reads)
        tcp_on_readable(tcp);
    else if (events & (EPOLLERR | EPOLLHUP))
        tcp_on_hang_up(tcp);
}

static void tcp_set_options(int fd, const struct tcp_options *options)
{
    socket_set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    if (options->keepalive_idle_s) {
        socket_set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
        socket_set(fd, IPPROTO_TCP, TCP_KEEPIDLE, (int)options->keepalive_idle_s);
        socket_set(fd, IPPROTO_TCP, TCP_KEEPINTVL, (int)options->keepalive_interval_s);
        socket_set(fd, IPPROTO_TCP, TCP_KEEPCNT, (int)options->keepalive_count);
    }
    if (options->user_timeout_ms)
        socket_set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, (int)options->user_timeout_ms);
    if (options->segment_bytes)
        socket_set(fd, IPPROTO_TCP, TCP_MAXSEG, (int)options->segment_bytes);
    if (options->fast_open)
        socket_set(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 1);
}

static enum err tcp_connect_socket(struct tcp *tcp, int fd, const struct tcp_options *options)
{
    tcp_set_options(fd, options);
    bool is_bound = addr_family(&options->source) != 0;
    enum err err =
        is_bound ? socket_bind_source(fd, &options->source, options->is_foreign) : ERR_OK;
    if (!err)
        err = socket_connect(fd, &tcp->peer, is_bound);
    if (err)
        return err;
    /* An event also reports a connect() that is complete: no callback before the return. */
    return watch_start(stock_loop(tcp->stock), &tcp->watch, fd, EPOLLOUT);
}

/* Takes the descriptor of an idle UDP socket if none is free: a connection serves many queries. */
static enum err open_to_dial(struct stock *stock, int family, int *fd)
{
    struct file_count *files = stock_files(stock);
    enum err err = ERR_NO_FILES;

    while (err == ERR_NO_FILES) {
        bool is_counted = file_count_take(files, FILE_DIAL);
        if (is_counted)
            err = socket_open(fd, family, SOCK_STREAM);
        if (is_counted && err)
            file_count_give(files, FILE_DIAL);
        if (err == ERR_NO_FILES && !udp_query_drop_idle(stock))
            break;
    }
    return err;
}

static void close_dialed(struct stock *stock, int fd)
{
    close(fd);
    file_count_give(stock_files(stock), FILE_DIAL);
}

enum err tcp_dial(struct tcp **out, struct loop *loop, const struct addr *peer,
                  const struct tcp_options *options, const struct tcp_handler *handler, void *owner)
{
    struct stock *stock = stock_of(loop);
    struct tcp *tcp;
    enum err err;
    int fd;

    if (!stock)
        return ERR_NO_MEMORY;
    err = open_to_dial(stock, addr_family(peer), &fd);
    if (err)
        return err;
    tcp = tcp_new(stock, peer, TCP_DIALING);
    if (!tcp) {
        close_dialed(stock, fd);
        return ERR_NO_MEMORY;
    }
    tcp->is_dialed = true;
    tcp->is_foreign = options->is_foreign;
    tcp->handler = handler;
    tcp->owner = owner;
    err = tcp_connect_socket(tcp, fd, options);
    if (err) {
        close_dialed(stock, fd);
        stock_give(stock, STOCK_TCP, tcp);
        return err;
    }
    *out = tcp;
    return ERR_OK;
}

struct tcp *tcp_from_socket(struct stock *stock, int fd, const struct addr *peer)
{
    struct tcp *tcp = tcp_new(stock, peer, TCP_ACCEPTED);

    if (!tcp) {
        close(fd);
        return NULL;
    }
    tcp->watch.fd = fd;
    tcp->watch.rank = WATCH_PATIENT;
    return tcp;
}

static void tcp_on_start_failed(struct turn_end *end)
{
    struct tcp *tcp = CONTAINER_OF(end, struct tcp, start_failed);
    tcp->handler->on_failed(tcp->owner, tcp->why);
}

void tcp_start(struct tcp *tcp, const struct tcp_handler *handler, void *owner)
{
    MUST(tcp->state == TCP_ACCEPTED);
    tcp->handler = handler;
    tcp->owner = owner;
    tcp->why =
        watch_start(stock_loop(tcp->stock), &tcp->watch, tcp->watch.fd, tcp->paused ? 0 : EPOLLIN);
    tcp->state = tcp->why ? TCP_FAILED : TCP_OPEN;
    if (tcp->why)
        loop_at_turn_end(stock_loop(tcp->stock), &tcp->start_failed);
}

static void set_paused(struct tcp *tcp, bool paused)
{
    tcp->paused = paused;
    if (tcp->state == TCP_OPEN)
        watch_state(tcp);
}

void tcp_pause(struct tcp *tcp)
{
    set_paused(tcp, true);
}

void tcp_resume(struct tcp *tcp)
{
    set_paused(tcp, false);
}

void tcp_await_turn(struct tcp *tcp)
{
    if (tcp->state != TCP_FAILED)
        watch_call(stock_loop(tcp->stock), &tcp->watch);
}

bool tcp_has_unread(const struct tcp *tcp)
{
    int len = 0;

    return tcp->state == TCP_OPEN && ioctl(tcp->watch.fd, FIONREAD, &len) == 0 && len > 0;
}

bool tcp_peer_has_left(const struct tcp *tcp)
{
    struct pollfd asked = {.fd = tcp->watch.fd, .events = POLLRDHUP};

    return tcp->state != TCP_OPEN || poll(&asked, 1, 0) > 0;
}

size_t tcp_unacknowledged(const struct tcp *tcp)
{
    int len = 0;

    return ioctl(tcp->watch.fd, SIOCOUTQ, &len) == 0 && len > 0 ? (size_t)len : 0;
}

uint32_t tcp_retransmits(const struct tcp *tcp)
{
    struct tcp_info info = {0};
    socklen_t len = sizeof(info);

    return getsockopt(tcp->watch.fd, IPPROTO_TCP, TCP_INFO, &info, &len) ? 0
                                                                         : info.tcpi_total_retrans;
}

uint32_t tcp_holes(const struct tcp *tcp)
{
    return tcp_holes_of(tcp->watch.fd);
}

void tcp_acknowledge(struct tcp *tcp)
{
    socket_set(tcp->watch.fd, IPPROTO_TCP, TCP_QUICKACK, 1);
}

enum err tcp_write(struct tcp *tcp, struct span bytes, size_t *written)
{
    ssize_t len;

    *written = 0;
    if (tcp->state == TCP_FAILED)
        return ERR_RESET;
    MUST(tcp->state == TCP_OPEN || tcp->state == TCP_HALF_CLOSED);
    do
        len = send(tcp->watch.fd, bytes.data, bytes.len, MSG_NOSIGNAL);
    while (len < 0 && errno == EINTR);
    /* EINPROGRESS: Fast Open has no cookie yet, so the usual handshake runs first. */
    if (len < 0 && errno != EAGAIN && errno != EINPROGRESS) {
        enum err err = err_from_errno(errno);
        stop_failed(tcp);
        return err;
    }
    *written = len > 0 ? (size_t)len : 0;
    if (*written < bytes.len) {
        tcp->wants_room = true;
        watch_state(tcp);
    }
    return ERR_OK;
}

/* An event reports a connection that has broken meanwhile. */
void tcp_finish(struct tcp *tcp)
{
    if (tcp->is_finished || (tcp->state != TCP_OPEN && tcp->state != TCP_HALF_CLOSED))
        return;
    tcp->is_finished = true;
    shutdown(tcp->watch.fd, SHUT_WR);
    if (tcp->state == TCP_HALF_CLOSED)
        stop_finished(tcp);
}

/* After a reset by the peer the kernel still counts bytes that it has discarded. */
static bool is_gone(int fd)
{
    struct tcp_info info = {0};
    socklen_t len = sizeof(info);

    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) != 0 || info.tcpi_state == TCP_CLOSE;
}

bool tcp_is_delivered(const struct tcp *tcp)
{
    return tcp->state == TCP_FAILED || tcp_unacknowledged(tcp) == 0 || is_gone(tcp->watch.fd);
}

static void tcp_release(struct tcp *closing)
{
    turn_end_cancel(&closing->start_failed);
    watch_close(stock_loop(closing->stock), &closing->watch);
    if (closing->is_dialed)
        file_count_give(stock_files(closing->stock), FILE_DIAL);
    stock_give(closing->stock, STOCK_TCP, closing);
}

void tcp_reset(struct tcp **tcp)
{
    static const struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    struct tcp *closing = *tcp;

    *tcp = NULL;
    (void)!setsockopt(closing->watch.fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    tcp_release(closing);
}

void tcp_close(struct tcp **tcp)
{
    struct tcp *closing = *tcp;

    *tcp = NULL;
    if (closing->state == TCP_OPEN || closing->state == TCP_ACCEPTED)
        recv(closing->watch.fd, NULL, DISCARD_MAX, MSG_TRUNC | MSG_DONTWAIT);
    tcp_release(closing);
}

const struct addr *tcp_peer(const struct tcp *tcp)
{
    return &tcp->peer;
}

bool tcp_is_stranded(struct tcp *tcp)
{
    /* This machine never had the address. */
    if (tcp->is_foreign)
        return false;
    const struct addr *local = tcp_local(tcp);
    return addr_family(local) != 0 && socket_address_is_gone(local);
}

const struct addr *tcp_local(struct tcp *tcp)
{
    /* A socket that lost its connection may have no name: family 0. */
    if (addr_family(&tcp->local) == 0 && socket_local(tcp->watch.fd, &tcp->local) != ERR_OK)
        tcp->local = (struct addr){0};
    return &tcp->local;
}
