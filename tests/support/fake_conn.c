/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * The far end of the fake network's TCP connections (fake_net.h). fake_tcp.c has the end of the
 * code under test.
 *
 * Invariant: packets of one direction arrive in the order of their sending.
 */

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "support/fake_tls_inside.h"

enum {
    PACKET_MAX = 64 * 1024,
    DARK_WINDOW = 256 * 1024, /* the size of a socket's send buffer */
    RECEIVED_MAX = 1 << 30,
};

/* ---------------------------------------------------------------- life */

struct fake_conn *fake_conn_new(struct fake_net *net, struct fake_server *server)
{
    struct fake_conn *conn = calloc(1, sizeof(*conn));

    MUST(conn);
    conn->net = net;
    conn->server = server;
    conn->dialed_at = loop_now(net->loop);
    conn->write_max = net->write_max;
    list_append(&net->conns, &conn->node);
    list_init(&conn->waiting);
    list_init(&conn->arrived);
    list_init(&conn->unread);
    framing_init(&conn->framing, UINT16_MAX);
    buf_init(&conn->received, RECEIVED_MAX);
    fake_tcp_init_events(conn);
    if (!server)
        return conn;
    if (server->conn_count == server->conn_cap) {
        server->conn_cap = MAX(16, server->conn_cap * 2);
        server->conns = realloc(server->conns, server->conn_cap * sizeof(struct fake_conn *));
        MUST(server->conns);
    }
    conn->number = server->conn_count;
    server->conns[server->conn_count++] = conn;
    return conn;
}

void fake_conn_set_ends(struct fake_conn *conn, const struct addr *ours, const struct addr *theirs)
{
    conn->ours = *ours;
    conn->theirs = *theirs;
}

void fake_conn_set_client(struct fake_conn *conn, size_t number)
{
    conn->is_client = true;
    conn->number = number;
}

struct list *fake_conn_backlog_node(struct fake_conn *conn)
{
    return &conn->waiting;
}

struct fake_conn *fake_conn_of_backlog_node(struct list *node)
{
    return LIST_ITEM(node, struct fake_conn, waiting);
}

void fake_tcp_free_all(struct fake_net *net)
{
    for (struct list *node; (node = list_take_first(&net->conns)) != NULL;) {
        struct fake_conn *conn = LIST_ITEM(node, struct fake_conn, node);
        packet_free_all(&conn->arrived);
        packet_free_all(&conn->unread);
        framing_deinit(&conn->framing);
        buf_deinit(&conn->received);
        fake_tls_free(conn->tls);
        free(conn->tcp);
        free(conn);
    }
}

void fake_conn_end(struct fake_conn *conn, enum fake_conn_state state)
{
    if (conn->state == FAKE_CONN_FAILED || conn->state == FAKE_CONN_CLOSED)
        return;
    conn->state = state;
    conn->ended_at = loop_now(conn->net->loop);
    list_remove(&conn->waiting);
}

void fake_conn_refuse(struct fake_conn *conn)
{
    fake_conn_end(conn, FAKE_CONN_FAILED);
}

size_t fake_conn_read_max(const struct fake_conn *conn)
{
    return conn->is_client ? LISTEN_SOCKET_RECEIVE_BYTES : NET_READ_MAX;
}

uint64_t fake_conn_latency(const struct fake_conn *conn)
{
    return conn->is_client ? conn->net->client_latency_us : fake_latency(conn->server);
}

/* ---------------------------------------------------------------- receiving */

static bool is_consumed(const struct fake_conn *conn)
{
    const struct fake_server_handler *handler = conn->server ? conn->server->handler : NULL;
    return handler && (handler->on_bytes || handler->on_message);
}

static void cut_messages(struct fake_conn *conn, struct span bytes)
{
    const struct fake_server *server = conn->server;
    struct span message;
    enum err err;

    while (conn->state != FAKE_CONN_FAILED &&
           framing_next(&conn->framing, &bytes, &message, &err)) {
        size_t index = conn->messages++;
        if (server && server->handler && server->handler->on_message)
            server->handler->on_message(server->owner, conn, index, message);
    }
}

void fake_conn_plain_in(struct fake_conn *conn, struct span bytes)
{
    struct fake_server *server = conn->server;

    if (!is_consumed(conn))
        MUST(buf_append(&conn->received, bytes.data, bytes.len) == ERR_OK);
    if (server && server->handler && server->handler->on_bytes)
        server->handler->on_bytes(server->owner, conn, bytes);
    cut_messages(conn, bytes);
}

/* Delivers the bytes of the packet, and frees it. */
static void take_bytes(struct fake_conn *conn, struct packet *packet)
{
    if (conn->tls)
        fake_tls_arrived(conn->tls, packet_bytes(packet));
    else
        fake_conn_plain_in(conn, packet_bytes(packet));
    packet_free(packet);
}

static void take_fin(struct fake_conn *conn)
{
    struct fake_server *server = conn->server;

    conn->was_closed = true;
    fake_conn_end(conn, FAKE_CONN_CLOSED);
    if (server && server->handler && server->handler->on_fin)
        server->handler->on_fin(server->owner, conn);
}

static void on_arrived_here(struct fake_event *event)
{
    struct packet *packet = CONTAINER_OF(event, struct packet, event);
    struct fake_conn *conn = packet->target;

    if (conn->dark || conn->state != FAKE_CONN_OPEN) {
        packet_free(packet);
    } else if (packet->kind == PACKET_FIN) {
        packet_free(packet);
        take_fin(conn);
    } else if (packet->kind == PACKET_RST) {
        packet_free(packet);
        packet_free_all(&conn->unread);
        conn->was_closed = true;
        fake_conn_end(conn, FAKE_CONN_FAILED);
    } else if (conn->stopped) {
        list_remove(&packet->node);
        list_append(&conn->unread, &packet->node);
    } else {
        take_bytes(conn, packet);
    }
}

static void schedule_in_order(struct fake_conn *conn, struct packet *packet, uint64_t delay_us,
                              uint64_t *last_at)
{
    uint64_t now = loop_now(conn->net->loop);
    uint64_t at = MAX(now + delay_us, *last_at);

    *last_at = at;
    fake_event_schedule(conn->net->loop, &packet->event, at - now);
}

void fake_conn_carry(struct fake_conn *conn, struct span bytes, enum packet_kind kind)
{
    struct packet *packet;

    if (conn->dark || conn->state != FAKE_CONN_OPEN)
        return;
    packet = packet_new(conn->net, bytes, on_arrived_here);
    packet->target = conn;
    packet->kind = kind;
    schedule_in_order(conn, packet, fake_conn_latency(conn), &conn->far_arrives_at);
}

/* ---------------------------------------------------------------- sending */

static void on_arrived_there(struct fake_event *event)
{
    struct packet *packet = CONTAINER_OF(event, struct packet, event);
    struct fake_conn *conn = packet->target;
    bool waits_for_accept = conn->is_client && !conn->tcp && !conn->was_closed &&
                            (conn->state == FAKE_CONN_DIALING || list_is_linked(&conn->waiting));

    if (conn->dark || (!conn->tcp && !waits_for_accept))
        packet_free(packet);
    else
        fake_tcp_arrived(conn, packet);
}

static void send_packet(struct fake_conn *conn, struct span bytes, enum packet_kind kind,
                        bool separate, uint64_t delay_us)
{
    struct packet *packet = packet_new(conn->net, bytes, on_arrived_there);

    packet->target = conn;
    packet->kind = kind;
    packet->separate = separate;
    schedule_in_order(conn, packet, fake_conn_latency(conn) + delay_us, &conn->arrives_at);
}

/* The far end may still send after the FIN of the code under test (half closed). */
static bool may_send(const struct fake_conn *conn)
{
    bool is_half_closed = conn->is_client && conn->state == FAKE_CONN_CLOSED && conn->tcp;
    return !conn->dark && (conn->state == FAKE_CONN_OPEN || is_half_closed ||
                           (conn->is_client && conn->state == FAKE_CONN_DIALING));
}

void fake_conn_raw_out(struct fake_conn *conn, struct span bytes, size_t piece_bytes,
                       uint64_t gap_us, uint64_t delay_us)
{
    size_t packet_max = MIN((size_t)PACKET_MAX, fake_conn_read_max(conn));
    size_t most = piece_bytes ? MIN(piece_bytes, packet_max) : packet_max;
    struct span piece;

    for (; may_send(conn) && bytes.len > 0; delay_us += gap_us) {
        MUST(span_take(&bytes, MIN(most, bytes.len), &piece));
        send_packet(conn, piece, PACKET_BYTES, piece_bytes > 0, delay_us);
    }
}

static void send_cut(struct fake_conn *conn, struct span bytes, size_t piece_bytes, uint64_t gap_us)
{
    if (!may_send(conn))
        return;
    if (conn->tls)
        fake_tls_send(conn->tls, bytes, piece_bytes, gap_us);
    else
        fake_conn_raw_out(conn, bytes, piece_bytes, gap_us, 0);
}

void fake_conn_send(struct fake_conn *conn, struct span bytes)
{
    send_cut(conn, bytes, 0, 0);
}

void fake_conn_send_pieces(struct fake_conn *conn, struct span bytes, size_t piece_bytes,
                           uint64_t gap_us)
{
    MUST(piece_bytes > 0);
    send_cut(conn, bytes, piece_bytes, gap_us);
}

/* The peer's delay is over. */
static void on_thought(struct fake_event *event)
{
    struct packet *packet = CONTAINER_OF(event, struct packet, event);

    fake_conn_send(packet->target, packet_bytes(packet));
    packet_free(packet);
}

void fake_conn_send_later(struct fake_conn *conn, struct span bytes, uint64_t delay_us)
{
    struct packet *packet = packet_new(conn->net, bytes, on_thought);

    packet->target = conn;
    fake_event_schedule(conn->net->loop, &packet->event, delay_us);
}

void fake_conn_send_message_later(struct fake_conn *conn, struct span message, uint64_t delay_us)
{
    uint8_t *framed = malloc(2 + message.len);

    MUST(framed && message.len <= UINT16_MAX);
    put_u16(framed, (uint16_t)message.len);
    if (message.len)
        memcpy(framed + 2, message.data, message.len);
    if (delay_us)
        fake_conn_send_later(conn, span_of(framed, 2 + message.len), delay_us);
    else
        fake_conn_send(conn, span_of(framed, 2 + message.len));
    free(framed);
}

void fake_conn_send_message(struct fake_conn *conn, struct span message)
{
    fake_conn_send_message_later(conn, message, 0);
}

void fake_conn_raw_fin(struct fake_conn *conn)
{
    if (may_send(conn))
        send_packet(conn, span_of(NULL, 0), PACKET_FIN, true, 0);
}

void fake_conn_close(struct fake_conn *conn)
{
    if (!may_send(conn))
        return;
    if (!conn->tls || fake_tls_end(conn->tls))
        fake_conn_raw_fin(conn);
}

void fake_conn_reset(struct fake_conn *conn)
{
    if (!may_send(conn))
        return;
    send_packet(conn, span_of(NULL, 0), PACKET_RST, true, 0);
    if (conn->tcp)
        fake_conn_end(conn, FAKE_CONN_FAILED);
}

static void on_failing(struct fake_event *event)
{
    struct packet *packet = CONTAINER_OF(event, struct packet, event);
    struct fake_conn *conn = packet->target;
    enum err why = packet->why;

    packet_free(packet);
    fake_tcp_fail(conn, why);
}

void fake_conn_fail(struct fake_conn *conn, enum err why)
{
    struct packet *packet = packet_new(conn->net, span_of(NULL, 0), on_failing);

    packet->target = conn;
    packet->why = why;
    fake_event_schedule(conn->net->loop, &packet->event, 0);
}

/* ---------------------------------------------------------------- faults */

void fake_conn_go_dark(struct fake_conn *conn)
{
    conn->light_bytes = conn->dark ? conn->light_bytes : conn->bytes;
    conn->dark = true;
    conn->window = DARK_WINDOW;
}

void fake_conn_delay_reads(struct fake_conn *conn, uint64_t us)
{
    conn->read_delay_us = us;
}

void fake_conn_delay_acks(struct fake_conn *conn, uint64_t us)
{
    conn->ack_delay_us = us;
}

uint32_t fake_conn_segment_bytes(const struct fake_conn *conn)
{
    return conn->options.segment_bytes;
}

void fake_conn_retransmit(struct fake_conn *conn)
{
    conn->retransmits++;
}

void fake_conn_stop_reading(struct fake_conn *conn, size_t window_bytes)
{
    conn->stopped = true;
    conn->window = window_bytes;
}

void fake_conn_start_reading(struct fake_conn *conn)
{
    conn->stopped = false;
    for (struct list *node; (node = list_first(&conn->unread)) != NULL;)
        take_bytes(conn, LIST_ITEM(node, struct packet, node));
    fake_tcp_has_room(conn, fake_conn_latency(conn));
}

void fake_conn_set_write_max(struct fake_conn *conn, size_t bytes)
{
    conn->write_max = bytes;
}

/* ---------------------------------------------------------------- facts */

enum fake_conn_state fake_conn_state(const struct fake_conn *conn)
{
    return conn->state;
}

struct span fake_conn_received(const struct fake_conn *conn)
{
    struct span all = buf_span(&conn->received);
    return span_of(all.data + conn->taken, all.len - conn->taken);
}

void fake_conn_take(struct fake_conn *conn, size_t bytes)
{
    buf_consume(&conn->received, conn->taken + bytes);
    conn->taken = 0;
}

bool fake_conn_next_message(struct fake_conn *conn, struct span *message)
{
    struct span bytes;
    uint16_t len;

    fake_conn_take(conn, 0);
    bytes = buf_span(&conn->received);
    if (!span_take_u16(&bytes, &len) || !span_take(&bytes, len, message))
        return false;
    conn->taken = 2 + (size_t)len;
    return true;
}

size_t fake_conn_number(const struct fake_conn *conn)
{
    return conn->number;
}

size_t fake_conn_messages(const struct fake_conn *conn)
{
    return conn->messages;
}

uint64_t fake_conn_bytes(const struct fake_conn *conn)
{
    return conn->bytes;
}

uint64_t fake_conn_writes(const struct fake_conn *conn)
{
    return conn->writes;
}

uint64_t fake_conn_most_writes_a_turn(const struct fake_conn *conn)
{
    return conn->most_writes_a_turn;
}

uint64_t fake_conn_reads(const struct fake_conn *conn)
{
    return conn->reads;
}

uint64_t fake_conn_dialed_at(const struct fake_conn *conn)
{
    return conn->dialed_at;
}

uint64_t fake_conn_ended_at(const struct fake_conn *conn)
{
    return conn->ended_at;
}

bool fake_conn_was_closed(const struct fake_conn *conn)
{
    return conn->was_closed;
}

bool fake_conn_is_held(const struct fake_conn *conn)
{
    return conn->tcp != NULL;
}

const struct addr *fake_conn_source(const struct fake_conn *conn)
{
    return &conn->ours;
}

const struct tcp_options *fake_conn_options(const struct fake_conn *conn)
{
    return &conn->options;
}

struct fake_net *fake_conn_net(const struct fake_conn *conn)
{
    return conn->net;
}
