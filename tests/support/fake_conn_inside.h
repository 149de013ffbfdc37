/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_FAKE_CONN_INSIDE_H
#define NAILUP_TESTS_FAKE_CONN_INSIDE_H

/* Shared by fake_tcp.c (the end of the code under test) and fake_conn.c (the far end). */

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
    uint64_t dial_number; /* its number among the network's dials; 0: accepted */
};

enum packet_kind { PACKET_BYTES, PACKET_FIN, PACKET_RST };

struct fake_conn {
    struct list node;    /* in net->conns */
    struct list waiting; /* a client's connection waits in the backlog of an acceptor */
    struct fake_net *net;
    struct fake_server *server; /* NULL: a client's connection, or no server */
    bool is_client;
    enum fake_conn_state state;
    size_t number;
    struct addr ours, theirs; /* ours: the end of the code under test */
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
    struct fake_event turn; /* tcp_await_turn() */
    struct fake_event writable;
    struct fake_event timed_out;
    struct list arrived; /* packets that the code has not read */
    uint64_t arrives_at; /* arrival of the last packet: later ones do not overtake it */
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
    size_t taken; /* how many bytes of received the test borrows as a message */
    size_t messages;
    uint64_t bytes, writes;
    uint64_t light_bytes;    /* the written bytes when the connection went dark */
    size_t last_write_bytes; /* by the code under test */
    uint64_t ack_delay_us;
    uint32_t retransmits;
    uint64_t last_write_turn, writes_this_turn, most_writes_a_turn;
};

/* Returns how many bytes one read of the code under test takes at most. */
size_t fake_conn_read_max(const struct fake_conn *conn);

uint64_t fake_conn_latency(const struct fake_conn *conn);

/* Ends the connection in this state unless it has already ended. */
void fake_conn_end(struct fake_conn *conn, enum fake_conn_state state);

/* fake_tcp.c: the code's end. */
void fake_tcp_arrived(struct fake_conn *conn, struct packet *packet);
void fake_tcp_fail(struct fake_conn *conn, enum err why);
void fake_tcp_has_room(struct fake_conn *conn, uint64_t delay_us);
void fake_tcp_init_events(struct fake_conn *conn);

/* fake_conn.c: the far end takes the bytes of tcp_write(), or the FIN of tcp_close(). */
void fake_conn_carry(struct fake_conn *conn, struct span bytes, enum packet_kind kind);

#endif
