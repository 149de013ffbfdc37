/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_LOAD_H
#define NAILUP_BENCH_LOAD_H

/*
 * The load generator's parts:
 *   load_options.c  the command line
 *   load.c          the schedule: due queries, warm-up, end
 *   load_socket.c   sockets, their queries in flight, answers, UDP
 *   load_stream.c   connections: TCP and TLS
 *   load_idle.c     idle connections
 *   load_report.c   progress and the final report
 *
 * One thread. With a rate the load is open: query number i is due at start + i / rate whatever
 * the server does, and its latency counts from then, also when it could be sent only later
 * (no coordinated omission). Without one each socket keeps a number of queries in flight.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/err.h"
#include "base/list.h"
#include "latency.h"
#include "poller.h"
#include "query_source.h"
#include "report.h"
#include "tls_client.h"

enum {
    LOAD_SOCKETS_MAX = 20000,
    LOAD_IN_FLIGHT_MAX = 32768,
    LOAD_BATCH = 64,
    LOAD_RETRY_NS = 100000000, /* how long a closed connection waits until it is opened again */
    LOAD_IDLE_MAX = 60000,
    LOAD_SOURCES_MAX = 64,
};

struct load_options {
    struct addr server;
    struct addr sources[LOAD_SOURCES_MAX]; /* the sources of sockets, in turn; port 0 */
    size_t source_count;                   /* 0: the kernel chooses */
    bool is_stream, is_tls;                /* is_stream: also for TLS */
    bool is_closed_loop;                   /* the option --max */
    bool is_hold;                          /* idle connections without queries */
    bool resume;                           /* dials use tickets */
    struct tls_client_options tls;
    uint64_t idle;
    double rate, duration_s, warmup_s;
    uint64_t connections, in_flight, timeout_ms;
    int pid;         /* the process of the server, whose CPU time is read; 0: none */
    int watched_cpu; /* the CPU whose stops are measured; negative: none */
    bool progress, json, csv, csv_header;
};

/* Counts only queries that were due after the warm-up. */
struct load_counters {
    uint64_t sent, answered, lost;  /* lost: without an answer within the timeout */
    uint64_t lost_by_close;         /* in flight when the server closed the connection */
    uint64_t unsent;                /* due before the end, but without a socket that had room */
    uint64_t truncated, unexpected; /* answers with TC; answers to no query in flight */
    uint64_t reconnects;
    uint64_t reads, writes; /* over all connections: reads with answers, writes with queries */
    uint64_t shakes_failed;
    uint64_t rcodes[REPORT_RCODES];
};

/* A query in flight. */
struct load_slot {
    uint64_t due_ns; /* 0: the slot is free */
    uint16_t id;
};

struct load_socket {
    struct watch watch; /* fd -1: closed until retry_at_ns */
    struct load *load;
    bool is_connected;
    uint64_t retry_at_ns;
    struct load_slot *slots;
    uint16_t *free; /* a stack of free slots */
    uint32_t free_count;
    uint16_t generation; /* the upper bits of the next id, which show that an answer is late */
    struct load_stream *stream; /* NULL over UDP */
};

struct load {
    struct load_options options;
    struct query_source source;
    int poller;
    struct load_socket *sockets;
    size_t next_socket;
    uint32_t slot_count; /* slots of each socket: in_flight, rounded up to a power of two */
    uint64_t now_us;     /* the time of the poller's turn */
    uint64_t start_ns, count_from_ns, stop_ns;
    uint64_t issued;      /* queries that have left the schedule */
    uint64_t sent_in_all; /* including the warm-up; the number of the next query */
    uint64_t in_flight;
    uint64_t answered_in_all; /* including the warm-up; for rates between two instants */
    bool is_sending;
    struct list dirty;          /* connections with bytes to send at the end of the turn */
    struct tls_client *tls;     /* NULL without TLS */
    char tls_why[TLS_TEXT_MAX]; /* why the newest failed handshake failed; "": none has failed */
    struct load_idle *idle;     /* NULL without idle connections */
    struct load_counters counters;
    struct latency latency;  /* ns from a query's due time to its answer */
    struct latency lag;      /* ns from a query's due time to its sending */
    struct latency shakes;   /* ns from a dial over TLS to the end of the handshake */
    struct latency interval; /* the latencies of the last progress interval */
};

/* load_options.c: reads the command line and fills load->source. Wrong use ends the process. */
void load_options_parse(struct load *load, int argc, char **argv);

/* load_socket.c */
/* Binds the socket with this number to one of options.sources if there are sources. */
MUST_USE enum err load_bind_source(const struct load *load, int fd, size_t number);
MUST_USE enum err load_sockets_open(struct load *load);
void load_sockets_close(struct load *load);
/* Sends at most count queries. Query i is due at due_ns + i * gap_ns. Returns how many left. */
uint32_t load_socket_send(struct load_socket *socket, uint32_t count, uint64_t due_ns,
                          double gap_ns);
bool load_is_counted(const struct load *load, uint64_t due_ns);
/* Takes a slot and returns the id to send. The caller must know that a slot is free. */
uint16_t load_slot_take(struct load_socket *socket, uint64_t due_ns);
void load_slot_give(struct load_socket *socket, uint16_t slot);
void load_socket_on_answer(struct load_socket *socket, const uint8_t *header, uint64_t now_ns);
/* In a closed loop: sends as many queries as were answered. */
void load_socket_refill(struct load_socket *socket);

/* load_stream.c: load_streams_flush() sends the queries at the end of a turn. */
struct load_stream *load_stream_new(struct load_socket *socket);
void load_stream_free(struct load_stream *stream);
MUST_USE enum err load_stream_connect(struct load_socket *socket);
uint32_t load_stream_send(struct load_socket *socket, uint32_t count, uint64_t due_ns,
                          double gap_ns);
void load_stream_on_ready(struct watch *watch, uint32_t events);
void load_streams_flush(struct load *load);
void load_stream_sweep(struct load_socket *socket,
                       uint64_t now_ns); /* also ends dials that take too long */

/* load_idle.c: opens options.idle connections, asks once on each, and returns when all are open or
 * have failed. A connection is never opened again. */
struct idle_counters {
    uint64_t standing, failed, closed; /* closed: the server closed it after it was open */
};
MUST_USE enum err load_idle_open(struct load *load);
void load_idle_close(struct load *load);
struct idle_counters load_idle_count(const struct load *load);
void load_idle_hold(struct load *load); /* for options.duration_s */

/* Frees queries that have waited longer than the timeout, and reopens closed connections. */
void load_sockets_sweep(struct load *load, uint64_t now_ns);

/* The figures between two instants of a run. */
struct load_figures {
    double seconds;
    uint64_t answered;
    double server_cpu_us, own_cpu_us; /* server_cpu_us: negative if unknown */
    double cpu_stopped_us;            /* the longest stop of watched_cpu; negative: unknown */
};

/* load_report.c */
void load_report_progress(struct load *load, double at_s, double seconds, uint64_t answered);
void load_report_end_progress(const struct load *load);
void load_report_idle(const struct load *load, double at_s); /* prints a line of progress */
void load_report(const struct load *load, const struct load_figures *figures);

#endif
