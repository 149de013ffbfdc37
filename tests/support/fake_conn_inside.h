/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_FAKE_CONN_INSIDE_H
#define NAILUP_TESTS_FAKE_CONN_INSIDE_H

/* What fake_tcp.c (the code under test's end) and fake_conn.c (the far end) share. */

#include "support/fake_inside.h"

enum fake_tcp_state {
    FAKE_TCP_ACCEPTED,
    FAKE_TCP_DIALING,
    FAKE_TCP_OPEN,
    FAKE_TCP_HALF_CLOSED,
    FAKE_TCP_FAILED,
};

struct tcp {
    struct fake_conn *conn;
    enum fake_tcp_state state;
    bool paused;
    bool wants_room;
    bool is_finished; /* it sent a FIN */
    const struct tcp_handler *handler;
    void *owner;
    uint64_t dial_number; /* among those of the network; 0: accepted */
};

enum packet_kind { PACKET_BYTES, PACKET_FIN, PACKET_RST };

struct fake_conn {
    struct list node;    /* in net->conns */
    struct list waiting; /* clients: in an acceptor's backlog */
    struct fake_net *net;
    struct fake_server *server; /* NULL: of a client, or nobody's */
    bool is_client;
    enum fake_conn_state state;
    size_t number;
    struct addr ours, theirs; /* ours: the code under test's */
    struct tcp_options options;
    struct tcp *tcp;      /* NULL: not yet, or closed */
    struct fake_tls *tls; /* NULL: plain */
    uint64_t dialed_at, ended_at;
    bool dark;
    bool was_closed;

    /* towards the code under test */
    struct fake_event connected;
    enum err connect_error;
    struct fake_event readable;
    struct fake_event writable;
    struct fake_event timed_out;
    struct list arrived; /* packets that it has not read */
    uint64_t arrives_at; /* the last one sent: nothing overtakes it */
    uint64_t reads;
    uint64_t read_delay_us;

    /* towards the far end */
    bool stopped;
    size_t window; /* left while stopped or dark */
    size_t write_max;
    uint64_t far_arrives_at;
    struct list unread; /* arrived while stopped */
    struct framing framing;
    struct buf received;
    size_t taken; /* of received: the message that is borrowed */
    size_t messages;
    uint64_t bytes, writes;
    uint64_t light_bytes;    /* dark: written before */
    size_t last_write_bytes; /* of ours */
    uint64_t ack_delay_us;
    uint32_t retransmits;
    uint64_t last_write_turn, writes_this_turn, most_writes_a_turn;
};

/* Bytes that one read of the code under test takes. */
size_t fake_conn_read_max(const struct fake_conn *conn);

uint64_t fake_conn_latency(const struct fake_conn *conn);

/* The connection ends in this state, if it has not ended before. */
void fake_conn_end(struct fake_conn *conn, enum fake_conn_state state);

/* fake_tcp.c: the code's end. */
void fake_tcp_arrived(struct fake_conn *conn, struct packet *packet);
void fake_tcp_fail(struct fake_conn *conn, enum err why);
void fake_tcp_has_room(struct fake_conn *conn, uint64_t delay_us);
void fake_tcp_init_events(struct fake_conn *conn);

/* fake_conn.c: the far end takes what tcp_write() wrote, or the FIN of tcp_close(). */
void fake_conn_carry(struct fake_conn *conn, struct span bytes, enum packet_kind kind);

#endif
