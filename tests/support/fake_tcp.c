/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * TCP connections of the fake network for the code under test: every symbol of src/net/tcp.c.
 * fake_conn.c has the far end for tests.
 *
 * Invariant: conn->tcp is the end of the code under test while the code holds one; conn itself
 * lives as long as the network. Each event makes at most one callback and does not touch the tcp
 * afterwards.
 */

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "support/fake_tls_inside.h"

/* ---------------------------------------------------------------- events */

static void schedule_read(struct fake_conn *conn)
{
    const struct tcp *tcp = conn->tcp;

    if (tcp && tcp->state == FAKE_TCP_OPEN && !tcp->paused && !list_is_empty(&conn->arrived) &&
        !list_is_linked(&conn->readable.node))
        fake_event_schedule(conn->net->loop, &conn->readable, conn->read_delay_us);
}

void fake_tcp_fail(struct fake_conn *conn, enum err why)
{
    struct tcp *tcp = conn->tcp;

    fake_conn_end(conn, FAKE_CONN_FAILED);
    packet_free_all(&conn->arrived);
    fake_event_cancel(&conn->readable);
    fake_event_cancel(&conn->turn);
    fake_event_cancel(&conn->writable);
    fake_event_cancel(&conn->timed_out);
    if (!tcp || tcp->state == FAKE_TCP_FAILED)
        return;
    tcp->state = FAKE_TCP_FAILED;
    if (tcp->handler)
        tcp->handler->on_failed(tcp->owner, why);
}

/* Counts the packets of the next read: all that have arrived, up to one that must be its own read.
 */
static size_t readable_bytes(struct fake_conn *conn, unsigned *count)
{
    size_t len = 0;

    *count = 0;
    LIST_EACH(node, &conn->arrived)
    {
        struct packet *packet = LIST_ITEM(node, struct packet, node);
        if (packet->kind != PACKET_BYTES || len + packet->len > fake_conn_read_max(conn))
            break;
        if (packet->separate && *count > 0)
            break;
        len += packet->len;
        ++*count;
        if (packet->separate)
            break;
    }
    return len;
}

static void read_bytes(struct fake_conn *conn, struct tcp *tcp)
{
    unsigned count;
    size_t len = readable_bytes(conn, &count), done = 0;
    uint8_t *bytes = malloc(len); /* a copy, so that ASan detects a use after the callback */

    MUST(bytes && count > 0);
    while (count-- > 0) {
        struct packet *packet = LIST_ITEM(list_first(&conn->arrived), struct packet, node);
        memcpy(bytes + done, packet->data, packet->len);
        done += packet->len;
        packet_free(packet);
    }
    conn->reads++;
    conn->net->counts.tcp_reads++;
    tcp->handler->on_bytes(tcp->owner, span_of(bytes, len));
    free(bytes);
}

static void on_readable(struct fake_event *event)
{
    struct fake_conn *conn = CONTAINER_OF(event, struct fake_conn, readable);
    struct tcp *tcp = conn->tcp;
    struct list *first = list_first(&conn->arrived);
    struct packet *packet;

    if (!tcp || !first || tcp->paused || tcp->state != FAKE_TCP_OPEN)
        return;
    if (tcp->handler->may_read && !tcp->handler->may_read(tcp->owner))
        return;
    packet = LIST_ITEM(first, struct packet, node);
    if (packet->kind == PACKET_BYTES) {
        read_bytes(conn, tcp);
    } else if (packet->kind == PACKET_FIN) {
        packet_free(packet);
        tcp->state = FAKE_TCP_HALF_CLOSED;
        tcp->handler->on_peer_closed(tcp->owner);
    } else {
        fake_tcp_fail(conn, ERR_RESET);
    }
    schedule_read(conn);
}

/* A RST reaches code that is not reading, too, and discards unread bytes. */
void fake_tcp_arrived(struct fake_conn *conn, struct packet *packet)
{
    const struct tcp *tcp = conn->tcp;
    bool reads = tcp && tcp->state == FAKE_TCP_OPEN && !tcp->paused;

    list_remove(&packet->node);
    list_append(&conn->arrived, &packet->node);
    if (packet->kind == PACKET_RST && tcp && !reads && tcp->state != FAKE_TCP_ACCEPTED)
        fake_tcp_fail(conn, ERR_RESET);
    else
        schedule_read(conn);
}

static void on_connected(struct fake_event *event)
{
    struct fake_conn *conn = CONTAINER_OF(event, struct fake_conn, connected);
    struct fake_server *server = conn->server;
    struct tcp *tcp = conn->tcp;

    if (conn->connect_error) {
        fake_tcp_fail(conn, conn->connect_error);
        return;
    }
    conn->state = FAKE_CONN_OPEN;
    tcp->state = FAKE_TCP_OPEN;
    fake_tls_accept(conn);
    if (server->handler && server->handler->on_accept)
        server->handler->on_accept(server->owner, conn);
    tcp->handler->on_connected(tcp->owner);
}

static void on_turn(struct fake_event *event)
{
    struct fake_conn *conn = CONTAINER_OF(event, struct fake_conn, turn);
    if (conn->tcp)
        conn->tcp->handler->on_turn(conn->tcp->owner);
}

static void on_writable(struct fake_event *event)
{
    struct fake_conn *conn = CONTAINER_OF(event, struct fake_conn, writable);
    struct tcp *tcp = conn->tcp;

    if (!tcp || !tcp->wants_room || tcp->state == FAKE_TCP_FAILED)
        return;
    tcp->wants_room = false;
    tcp->handler->on_writable(tcp->owner);
}

void fake_tcp_has_room(struct fake_conn *conn, uint64_t delay_us)
{
    if (conn->tcp && conn->tcp->wants_room)
        fake_event_schedule(conn->net->loop, &conn->writable, delay_us);
}

static void on_timed_out(struct fake_event *event)
{
    fake_tcp_fail(CONTAINER_OF(event, struct fake_conn, timed_out), ERR_TIMED_OUT);
}

void fake_tcp_init_events(struct fake_conn *conn)
{
    fake_event_init(&conn->connected, on_connected);
    fake_event_init(&conn->readable, on_readable);
    fake_event_init(&conn->turn, on_turn);
    fake_event_init(&conn->writable, on_writable);
    fake_event_init(&conn->timed_out, on_timed_out);
}

/* ---------------------------------------------------------------- net/tcp.h */

static struct tcp *tcp_new(struct fake_conn *conn, enum fake_tcp_state state)
{
    struct tcp *tcp = calloc(1, sizeof(*tcp));

    MUST(tcp);
    tcp->conn = conn;
    tcp->state = state;
    conn->tcp = tcp;
    conn->net->counts.open_conns++;
    fake_net_note_open(conn->net);
    return tcp;
}

struct tcp *fake_conn_accept(struct fake_conn *conn)
{
    conn->state = FAKE_CONN_OPEN;
    return tcp_new(conn, FAKE_TCP_ACCEPTED);
}

/* Schedules the result of a dial. */
static void schedule_outcome(struct fake_conn *conn)
{
    const struct fake_server *server = conn->server;
    uint64_t delay_us = 2 * fake_latency(server);

    if (server && server->dial == FAKE_DIAL_BLACKHOLE)
        return;
    if (!server || server->dial == FAKE_DIAL_REFUSE)
        conn->connect_error = ERR_REFUSED;
    else if (server->dial == FAKE_DIAL_UNREACHABLE)
        conn->connect_error = ERR_UNREACHABLE;
    else
        delay_us += server->accept_delay_us;
    fake_event_schedule(conn->net->loop, &conn->connected, delay_us);
}

enum err tcp_dial(struct tcp **out, struct loop *loop, const struct addr *peer,
                  const struct tcp_options *options, const struct tcp_handler *handler, void *owner)
{
    struct fake_net *net = fake_net_of(loop);
    struct fake_server *server = fake_server_at(net, peer);
    struct fake_conn *conn;
    struct addr ours;
    enum err err = fake_net_open_fault(net);

    if (!err && server && server->dial == FAKE_DIAL_FAIL_NOW)
        err = ERR_UNREACHABLE;
    if (!err)
        err = fake_net_source_fault(net, &options->source);
    if (err) {
        net->counts.dial_errors++;
        return err;
    }
    net->counts.dials++;
    conn = fake_conn_new(net, server);
    ours = fake_net_source(net, &options->source, addr_family(peer));
    fake_conn_set_ends(conn, &ours, peer);
    conn->options = *options;
    *out = tcp_new(conn, FAKE_TCP_DIALING);
    (*out)->dial_number = net->counts.dials;
    (*out)->handler = handler;
    (*out)->owner = owner;
    schedule_outcome(conn);
    return ERR_OK;
}

void tcp_start(struct tcp *tcp, const struct tcp_handler *handler, void *owner)
{
    MUST(tcp->state == FAKE_TCP_ACCEPTED);
    tcp->state = FAKE_TCP_OPEN;
    tcp->handler = handler;
    tcp->owner = owner;
    schedule_read(tcp->conn);
}

void tcp_pause(struct tcp *tcp)
{
    tcp->paused = true;
    fake_event_cancel(&tcp->conn->readable);
}

void tcp_resume(struct tcp *tcp)
{
    tcp->paused = false;
    schedule_read(tcp->conn);
}

void tcp_await_turn(struct tcp *tcp)
{
    if (tcp->state != FAKE_TCP_FAILED && !list_is_linked(&tcp->conn->turn.node))
        fake_event_schedule(tcp->conn->net->loop, &tcp->conn->turn, 0);
}

bool tcp_has_unread(const struct tcp *tcp)
{
    return tcp->state == FAKE_TCP_OPEN && !list_is_empty(&tcp->conn->arrived) &&
           LIST_ITEM(list_first(&tcp->conn->arrived), struct packet, node)->kind == PACKET_BYTES;
}

bool tcp_peer_has_left(const struct tcp *tcp)
{
    const struct list *last = tcp->conn->arrived.prev;

    return tcp->state != FAKE_TCP_OPEN ||
           (last != &tcp->conn->arrived &&
            LIST_ITEM(last, struct packet, node)->kind != PACKET_BYTES);
}

/* The acknowledgement comes one latency after the bytes arrive, or later if the peer delays it.
 * Only the last write can lack an acknowledgement, unless the connection is dark. */
size_t tcp_unacknowledged(const struct tcp *tcp)
{
    const struct fake_conn *conn = tcp->conn;
    uint64_t acked_at = conn->far_arrives_at + fake_conn_latency(conn) + conn->ack_delay_us;

    if (conn->dark)
        return conn->bytes - conn->light_bytes;
    return acked_at > loop_now(conn->net->loop) ? conn->last_write_bytes : 0;
}

uint32_t tcp_holes(const struct tcp *tcp)
{
    return tcp->conn->retransmits;
}

uint32_t tcp_retransmits(const struct tcp *tcp)
{
    return tcp->conn->retransmits;
}

void tcp_acknowledge(struct tcp *tcp)
{
    tcp->conn->net->counts.tcp_acknowledgements++;
}

static void count_write(struct fake_conn *conn, size_t len)
{
    uint64_t turn = fake_loop_turns(conn->net->loop);

    conn->bytes += len;
    conn->last_write_bytes = len;
    conn->writes++;
    conn->net->counts.tcp_writes++;
    if (turn != conn->last_write_turn)
        conn->writes_this_turn = 0;
    conn->last_write_turn = turn;
    conn->writes_this_turn++;
    conn->most_writes_a_turn = MAX(conn->most_writes_a_turn, conn->writes_this_turn);
}

/* Starts TCP_USER_TIMEOUT: a dark connection gets no acknowledgement. */
static void start_user_timeout(struct fake_conn *conn)
{
    if (conn->options.user_timeout_ms && !list_is_linked(&conn->timed_out.node))
        fake_event_schedule(conn->net->loop, &conn->timed_out,
                            conn->options.user_timeout_ms * US_PER_MS);
}

enum err tcp_write(struct tcp *tcp, struct span bytes, size_t *written)
{
    struct fake_conn *conn = tcp->conn;
    bool limited = conn->stopped || conn->dark;
    size_t len = limited ? MIN(bytes.len, conn->window) : bytes.len;

    *written = 0;
    if (tcp->state == FAKE_TCP_FAILED)
        return ERR_RESET;
    MUST(tcp->state == FAKE_TCP_OPEN || tcp->state == FAKE_TCP_HALF_CLOSED);
    MUST(!tcp->is_finished);
    if (conn->write_max)
        len = MIN(len, conn->write_max);
    if (limited)
        conn->window -= len;
    if (len < bytes.len) {
        tcp->wants_room = true;
        if (!limited || conn->window > 0)
            fake_tcp_has_room(conn, 0);
    }
    *written = len;
    if (len == 0)
        return ERR_OK;
    count_write(conn, len);
    if (conn->dark)
        start_user_timeout(conn);
    fake_conn_carry(conn, span_of(bytes.data, len), PACKET_BYTES);
    return ERR_OK;
}

void tcp_finish(struct tcp *tcp)
{
    if (tcp->is_finished || tcp->state == FAKE_TCP_FAILED)
        return;
    MUST(tcp->state == FAKE_TCP_OPEN || tcp->state == FAKE_TCP_HALF_CLOSED);
    tcp->is_finished = true;
    fake_conn_carry(tcp->conn, span_of(NULL, 0), PACKET_FIN);
}

bool tcp_is_delivered(const struct tcp *tcp)
{
    return tcp->state == FAKE_TCP_FAILED || tcp_unacknowledged(tcp) == 0;
}

/* A reset loses the bytes that are not acknowledged. */
void tcp_reset(struct tcp **tcp)
{
    struct tcp *closing = *tcp;
    struct fake_conn *conn = closing->conn;

    if (closing->state != FAKE_TCP_FAILED && closing->state != FAKE_TCP_DIALING) {
        fake_conn_carry(conn, span_of(NULL, 0), PACKET_RST);
        closing->state = FAKE_TCP_FAILED;
    }
    tcp_close(tcp);
}

void tcp_close(struct tcp **tcp)
{
    struct tcp *closing = *tcp;
    struct fake_conn *conn = closing->conn;

    *tcp = NULL;
    conn->tcp = NULL;
    conn->net->counts.open_conns--;
    fake_event_cancel(&conn->connected);
    fake_event_cancel(&conn->turn);
    fake_event_cancel(&conn->readable);
    fake_event_cancel(&conn->writable);
    fake_event_cancel(&conn->timed_out);
    packet_free_all(&conn->arrived);
    if (closing->state == FAKE_TCP_DIALING)
        fake_conn_end(conn, FAKE_CONN_CLOSED);
    else if (closing->state != FAKE_TCP_FAILED && !closing->is_finished)
        fake_conn_carry(conn, span_of(NULL, 0), PACKET_FIN);
    free(closing);
}

const struct addr *tcp_peer(const struct tcp *tcp)
{
    return &tcp->conn->theirs;
}

bool tcp_is_stranded(struct tcp *tcp)
{
    return tcp->dial_number > 0 && tcp->dial_number <= tcp->conn->net->address_lost_at;
}

const struct addr *tcp_local(struct tcp *tcp)
{
    return &tcp->conn->ours;
}
