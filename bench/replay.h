/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_REPLAY_H
#define NAILUP_BENCH_REPLAY_H

/*
 * Plays a capture again: each client of it has its own socket or connection, and each query leaves
 * at its time. The parts:
 *   replay_options.c  the command line
 *   replay.c          the schedule
 *   replay_client.c   clients: their sockets, queries in flight, answers, UDP
 *   replay_stream.c   the bytes of connections: TCP and TLS
 *   replay_report.c   progress and the final report
 *
 * One thread. The load is open: a query is due at its instant whatever the server does, and its
 * latency counts from then, with the time that a new connection takes.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/list.h"
#include "base/prefix.h"
#include "capture.h"
#include "latency.h"
#include "poller.h"
#include "report.h"
#include "tls_client.h"

enum {
    REPLAY_IN_FLIGHT_MAX = 32768, /* queries of one client; ids stay distinct */
    /* the most bytes that wait for a connection; further queries are not sent */
    REPLAY_OUT_MAX = 1 << 20,
    REPLAY_IN_MAX = 2 + 65535,
};

struct replay_options {
    struct addr server;
    bool is_stream, is_tls; /* is_stream: also for TLS */
    bool resume;            /* a client that reconnects uses a ticket */
    bool proxy;             /* a PROXY header gives the server the client's address */
    bool has_sources;
    struct prefix sources; /* client number n has the address number n + 1 of this prefix */
    struct tls_client_options tls;
    double speed;      /* 2 is twice as fast as the capture */
    double duration_s; /* later queries are left out; 0: no limit */
    uint64_t timeout_ms, idle_ms;
    int pid; /* the process of the server, whose CPU time is read; 0: none */
    bool progress, json;
};

struct replay_counters {
    uint64_t sent, answered, lost; /* lost: without an answer within the timeout */
    uint64_t lost_by_close;        /* in flight when a connection failed or was closed */
    uint64_t unsent;               /* due, but the client had no socket or no room */
    uint64_t truncated, unexpected;
    uint64_t opened, failed;   /* sockets or connections */
    uint64_t closed_by_server; /* connections that the server closed while they were open */
    uint64_t closed_idle;      /* closed by their client */
    uint64_t rcodes[REPORT_RCODES];
};

enum replay_state {
    REPLAY_CLOSED,
    REPLAY_OPENING, /* a connection that may not send yet */
    REPLAY_OPEN,
};

/* A query in flight. */
struct replay_query {
    struct list of_client, of_all; /* both in the order of due_ns */
    struct replay_client *client;
    uint64_t due_ns;
    bool is_cold; /* the client had no open connection when the query was due */
    uint16_t id;
};

struct replay_stream; /* see replay_stream.c */

struct replay_client {
    struct watch watch; /* fd -1: in the state REPLAY_CLOSED */
    struct replay *replay;
    enum replay_state state;
    bool has_connected; /* an earlier connection may have brought a ticket */
    uint16_t next_id;
    uint32_t in_flight;
    uint64_t since_ns;            /* since when the client is in replay.opening or replay.idle */
    struct list node;             /* in that list */
    struct list queries;          /* queries in flight, the oldest first */
    struct replay_stream *stream; /* NULL over UDP, and while closed */
};

struct replay {
    struct replay_options options;
    struct capture capture;
    int poller;
    struct replay_client *clients; /* one client for each of the capture's */
    uint64_t start_ns;
    size_t next, end;      /* indexes of events: the next one, and the first one that is left out */
    struct list in_flight; /* all queries, the oldest first */
    struct list opening;   /* clients that connect, the oldest dial first */
    struct list idle;      /* open clients without queries, those idle for longest first */
    struct list dirty;     /* streams with bytes to send at the end of the turn */
    uint64_t in_flight_count, open_count, open_most;
    uint64_t now_us;        /* the time of the poller's turn */
    struct tls_client *tls; /* NULL without TLS */
    char why[TLS_TEXT_MAX]; /* why the newest socket or connection failed; "": none */
    struct replay_counters counters;
    struct latency latency; /* ns from a query's due time to its answer */
    struct latency warm;    /* the same, only for queries with an open connection */
    struct latency lag;     /* ns from a query's due time to its sending */
    struct latency shakes;  /* ns from a dial to the open connection */
};

/* replay_options.c: reads the command line and loads the capture. Wrong use ends the process. */
void replay_options_parse(struct replay *replay, int argc, char **argv);

/* replay_client.c */
MUST_USE enum err replay_clients_make(struct replay *replay);
void replay_clients_free(struct replay *replay);
/* Sends the capture's query with this number, or queues it until the connection is open. */
void replay_client_ask(struct replay_client *client, uint32_t number, uint64_t due_ns);
/* Takes the first bytes of an answer, at least its header. */
void replay_client_on_answer(struct replay_client *client, const uint8_t *header, uint64_t now_ns);
void replay_client_on_open(struct replay_client *client);
/* Returns the address for the PROXY header: the capture's, with a port. */
struct addr replay_client_named(const struct replay_client *client);
/* Closes the socket. Its queries in flight are lost. */
void replay_client_close(struct replay_client *client);
/* Closes a connection that failed, or that the server closed. */
void replay_client_fail(struct replay_client *client, const char *why);
/* Gives up late queries and dials, and closes idle sockets. */
void replay_clients_sweep(struct replay *replay, uint64_t now_ns);

/* replay_stream.c: replay_streams_flush() sends the queries at the end of a turn. */
MUST_USE enum err replay_stream_open(struct replay_client *client);
/* sends close_notify over TLS, and frees the stream */
void replay_stream_close(struct replay_client *client);
MUST_USE enum err replay_stream_add(struct replay_client *client, struct span query, uint16_t id);
void replay_stream_on_ready(struct watch *watch, uint32_t events);
void replay_streams_flush(struct replay *replay);

/* replay_report.c */
struct replay_figures {
    double seconds, server_cpu_us, own_cpu_us; /* server_cpu_us: negative if unknown */
};
void replay_report_progress(const struct replay *replay, double at_s);
void replay_report(const struct replay *replay, const struct replay_figures *figures);

#endif
