/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Connections that are opened, ask once and then stay idle: clients that a server must keep in
 * memory. Invariant: at most DIALS_MAX dial at a time, so that the server's backlog does not decide
 * how many succeed.
 */

#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/span.h"
#include "clock.h"
#include "load.h"

enum {
    DIALS_MAX = 64,
    TURN_US = 100000,
    WIRE_BYTES = 65536,
    PLAIN_BYTES = 4096,
    HOLD_US = 1000000
};

enum idle_state { IDLE_NEW, IDLE_DIALING, IDLE_ASKING, IDLE_STANDING, IDLE_OVER };

struct idle_conn {
    struct watch watch;
    struct load *load;
    struct tls_stream *tls;
    enum idle_state state;
    uint64_t dialed_at_us;
    size_t got; /* how many bytes of the answer have come */
    uint8_t head[2];
};

struct load_idle {
    struct idle_conn *conns;
    size_t next, dialing; /* the number of the next dial; how many dials are under way */
    struct idle_counters counters;
};

static void conn_over(struct idle_conn *conn)
{
    struct load_idle *idle = conn->load->idle;
    if (conn->state == IDLE_STANDING) {
        idle->counters.standing--;
        idle->counters.closed++;
    } else {
        idle->dialing--;
        idle->counters.failed++;
        if (conn->tls && conn->tls->why[0])
            snprintf(conn->load->tls_why, TLS_TEXT_MAX, "%s", conn->tls->why);
    }
    tls_stream_free(conn->tls);
    conn->tls = NULL;
    if (conn->watch.fd >= 0)
        close(conn->watch.fd);
    conn->watch.fd = -1;
    conn->state = IDLE_OVER;
}

static bool send_plain(struct idle_conn *conn, struct span bytes)
{
    return send(conn->watch.fd, bytes.data, bytes.len, MSG_NOSIGNAL | MSG_DONTWAIT) ==
           (ssize_t)bytes.len;
}

/* The socket's buffer always has room for a handshake's flight and a query. */
static bool load_idle_flush(struct idle_conn *conn)
{
    if (!conn->tls || buf_len(&conn->tls->wire) == 0)
        return true;
    bool ok = send_plain(conn, buf_span(&conn->tls->wire));
    buf_clear(&conn->tls->wire);
    return ok;
}

static bool ask(struct idle_conn *conn)
{
    uint8_t framed[2 + WIRE_QUERY_MAX];
    size_t len = query_source_next(&conn->load->source, framed + 2);
    put_u16(framed, (uint16_t)len);
    conn->state = IDLE_ASKING;
    struct span bytes = span_of(framed, len + 2);
    return conn->tls ? tls_stream_write(conn->tls, bytes) && load_idle_flush(conn)
                     : send_plain(conn, bytes);
}

/* Counts bytes until the answer is complete. Its content is irrelevant here. */
static void take_plain(struct idle_conn *conn, const uint8_t *bytes, size_t len)
{
    for (size_t i = 0; i < len && conn->got + i < 2; i++)
        conn->head[conn->got + i] = bytes[i];
    conn->got += len;
    if (conn->state == IDLE_ASKING && conn->got >= 2 && conn->got >= 2u + get_u16(conn->head)) {
        conn->state = IDLE_STANDING;
        conn->load->idle->counters.standing++;
        conn->load->idle->dialing--;
    }
}

static bool take_tls(struct idle_conn *conn, struct span bytes)
{
    uint8_t plain[PLAIN_BYTES];
    ssize_t n;
    tls_stream_feed(conn->tls, bytes);
    while ((n = tls_stream_read(conn->tls, plain, sizeof(plain))) > 0)
        take_plain(conn, plain, (size_t)n);
    bool ok = tls_stream_settle(conn->tls) && n == 0 && load_idle_flush(conn);
    if (!ok || conn->state != IDLE_DIALING || conn->tls->status != TLS_OPEN)
        return ok;
    tls_client_on_open(conn->load->tls, conn->tls);
    latency_record(&conn->load->shakes, (clock_now_us() - conn->dialed_at_us) * 1000);
    return ask(conn);
}

static bool load_idle_on_input(struct idle_conn *conn)
{
    static uint8_t wire[WIRE_BYTES];
    ssize_t n = recv(conn->watch.fd, wire, WIRE_BYTES, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
    if (n <= 0)
        return false;
    if (conn->tls)
        return take_tls(conn, span_of(wire, (size_t)n));
    take_plain(conn, wire, (size_t)n);
    return true;
}

static bool on_connected(struct idle_conn *conn)
{
    poller_change(conn->load->poller, &conn->watch, EPOLLIN);
    if (!conn->tls)
        return ask(conn);
    return tls_stream_shake(conn->tls) == 0 && load_idle_flush(conn);
}

static void on_ready(struct watch *watch, uint32_t events)
{
    struct idle_conn *conn = CONTAINER_OF(watch, struct idle_conn, watch);
    bool ok = true;
    if (watch->fd < 0)
        return;
    if (events & EPOLLOUT)
        ok = !(events & (EPOLLERR | EPOLLHUP)) && on_connected(conn);
    if (ok && events & (EPOLLIN | EPOLLERR | EPOLLHUP))
        ok = load_idle_on_input(conn);
    if (!ok)
        conn_over(conn);
}

static bool start_dial(struct idle_conn *conn)
{
    struct load *load = conn->load;
    const struct addr *server = &load->options.server;
    int on = 1, fd = conn->watch.fd;
    if (fd < 0 || load_bind_source(load, fd, (size_t)(conn - load->idle->conns)))
        return false;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (load->tls && !(conn->tls = tls_client_open(load->tls, server, load->options.resume)))
        return false;
    if (connect(fd, &server->sa, addr_len(server)) && errno != EINPROGRESS)
        return false;
    return poller_add(load->poller, &conn->watch, EPOLLIN | EPOLLOUT) == ERR_OK;
}

static void conn_dial(struct load *load, struct idle_conn *conn)
{
    int kind = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
    load->idle->dialing++;
    conn->load = load;
    conn->state = IDLE_DIALING;
    conn->dialed_at_us = clock_now_us();
    conn->watch = (struct watch){.fd = socket(addr_family(&load->options.server), kind, 0),
                                 .on_ready = on_ready};
    if (!start_dial(conn))
        conn_over(conn);
}

/* Gives up each connection that the server has not answered within the timeout. */
static void give_up_late(struct load *load)
{
    uint64_t now_us = clock_now_us();
    for (size_t i = 0; i < load->idle->next; i++) {
        struct idle_conn *conn = &load->idle->conns[i];
        bool is_underway = conn->state == IDLE_DIALING || conn->state == IDLE_ASKING;
        if (!is_underway || now_us - conn->dialed_at_us <= load->options.timeout_ms * 1000)
            continue;
        snprintf(load->tls_why, TLS_TEXT_MAX, "not done in time");
        conn_over(conn);
    }
}

enum err load_idle_open(struct load *load)
{
    struct load_idle *idle = load->idle = calloc(1, sizeof(*idle));
    if (idle)
        idle->conns = calloc(load->options.idle, sizeof(*idle->conns));
    if (!idle || !idle->conns)
        return ERR_NO_MEMORY;
    uint64_t sweep_at_us = clock_now_us() + TURN_US;
    while (idle->next < load->options.idle || idle->dialing) {
        while (idle->next < load->options.idle && idle->dialing < DIALS_MAX)
            conn_dial(load, &idle->conns[idle->next++]);
        poller_turn(load->poller, TURN_US, &load->now_us);
        if (load->now_us < sweep_at_us)
            continue;
        sweep_at_us = load->now_us + TURN_US;
        give_up_late(load);
    }
    return ERR_OK;
}

void load_idle_hold(struct load *load)
{
    uint64_t begin_us = clock_now_us(), next_us = begin_us + HOLD_US, now_us;
    uint64_t end_us = begin_us + (uint64_t)(load->options.duration_s * 1e6);
    while ((now_us = clock_now_us()) < end_us) {
        uint64_t until_us = MIN(next_us, end_us);
        poller_turn(load->poller, until_us > now_us ? (int64_t)(until_us - now_us) : 0,
                    &load->now_us);
        if (load->now_us < next_us)
            continue;
        next_us += HOLD_US;
        if (load->options.progress)
            load_report_idle(load, (double)(load->now_us - begin_us) / 1e6);
    }
}

struct idle_counters load_idle_count(const struct load *load)
{
    return load->idle ? load->idle->counters : (struct idle_counters){0};
}

void load_idle_close(struct load *load)
{
    struct load_idle *idle = load->idle;
    for (size_t i = 0; idle && idle->conns && i < idle->next; i++) {
        tls_stream_free(idle->conns[i].tls);
        if (idle->conns[i].watch.fd >= 0)
            close(idle->conns[i].watch.fd);
    }
    if (idle)
        free(idle->conns);
    free(idle);
    load->idle = NULL;
}
