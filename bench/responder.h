/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_RESPONDER_H
#define NAILUP_BENCH_RESPONDER_H

/*
 * The responder's parts share this header:
 *   responder.c          the turn of the loop, start and end
 *   responder_answer.c   answers and their delays
 *   responder_conn.c     the list and the memory of connections
 *   responder_arguments.c  its command line
 *   responder_options.c  settings, for the command line and for run time
 *   responder_udp.c      datagrams
 *   responder_tcp.c      connections    responder_accept.c  their start and end
 *   responder_tls.c      what TLS adds to a connection (the library is behind tls_stream.h)
 *   responder_stats.c    counters as JSON
 *   responder_control.c  commands while it runs
 *
 * One thread, one poller. A listener is one address with its UDP socket, its TCP listener (absent
 * while tcp is off) and its connections, or an address where TLS is spoken and nothing else;
 * listeners live as long as the responder.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "answer.h"
#include "base/addr.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/list.h"
#include "delay_line.h"
#include "poller.h"
#include "tls_server.h"
#include "tree.h"

enum {
    LISTENERS_MAX = 256,
    HISTOGRAM_POWERS = 24, /* classes of queries per connection, by powers of two */
    RECENT_MAX = 256,      /* the exact counts of this many closed connections are kept */
    STREAM_IN_BYTES = 32768,
    STREAM_OUT_MAX = 4 << 20, /* a client that leaves more answers unread is reset */
    UDP_BATCH = 64,
    UDP_TURNS_MAX = 4, /* how many batches of one socket a turn takes */
};

/* How the responder reacts to a client's first bytes over TLS. */
enum tls_reply {
    TLS_REPLY_SHAKE,   /* continues the handshake normally */
    TLS_REPLY_SILENT,  /* sends nothing */
    TLS_REPLY_HALF,    /* sends half of the first flight, then nothing */
    TLS_REPLY_GARBAGE, /* sends the greeting of a mail server */
    TLS_REPLY_ALERT,   /* sends the alert handshake_failure */
    TLS_REPLY_CLOSE,
    TLS_REPLY_RESET,
};

struct responder_options {
    double delay_ms, jitter_ms, loss_percent;
    uint64_t tcp_reset_after, tcp_close_after, tcp_stall_after; /* 0: never */
    uint64_t tcp_idle_ms;                                       /* 0: never */
    uint64_t max_in_flight;                                     /* 0: no limit */
    bool one_shot;
    bool tcp_silent;    /* accepts and reads connections, but never answers */
    bool handshake;     /* a new connection waits one delay more, as over a real distance */
    bool dribble;       /* each write on a connection is one byte */
    bool tcp, udp, tls; /* which of them are served */
    int tls_reply;      /* an enum tls_reply */
    bool tls_notify;    /* sends close_notify before the FIN */
    struct tls_server_options tls_server;
    struct answer_style style;
};

struct stream_stats {
    uint64_t queries, answers, silent, reads, segments, writes;
};

struct tls_stats {
    uint64_t full, resumed, failed; /* counts handshakes */
    uint64_t version_12, version_13, alpn_dot, with_sni;
    uint64_t early_connections, early_queries;
    uint64_t padded; /* counts queries whose length is a multiple of 128 bytes (RFC 8467) */
    uint64_t notified, closed_bare; /* counts FINs with and without a close_notify before them */
    uint64_t alerts;                /* alerts received, except close_notify */
};

struct responder_stats {
    uint64_t udp_queries, udp_answers, udp_lost, udp_silent, udp_reads;
    struct stream_stats tcp, over_tls; /* each connection counts in one of the two */
    struct tls_stats tls;
    uint64_t opened, closed, max_open, resets_sent, fins_sent;
    uint64_t closed_unanswered; /* answers that were due after their connection had ended */
    uint64_t used_at_once;      /* connections whose first query came within 1 ms */
    uint64_t max_queries;       /* the most queries on one connection */
    uint64_t closed_by_queries[HISTOGRAM_POWERS]; /* [i]: 2^(i-1) to 2^i - 1 queries; [0]: none */
    uint64_t recent[RECENT_MAX]; /* of closed connections; the next entry is closed % RECENT_MAX */
};

struct responder;

struct listener {
    struct responder *responder;
    bool is_tls;
    struct watch udp, tcp; /* fd -1: not served */
    struct addr addr;
    struct tree_place place; /* the place in the tree */
    struct list conns;       /* open connections; those silent for longest come first */
    uint64_t open;
    int last_alert;              /* the last alert of a client over TLS; -1: none */
    char last_sni[TLS_TEXT_MAX]; /* the name in the newest handshake */
    char last_failure[TLS_TEXT_MAX];
    struct responder_stats stats;
};

/* The states of a connection to the responder. */
enum conn_state {
    CONN_OPEN,
    CONN_STALLED,   /* not read and not answered; the peer gets no notice */
    CONN_FINISHING, /* after our FIN: reads and drops bytes until the peer closes */
    CONN_CLOSED,    /* descriptor closed; freed once no delayed answer refers to it */
};

struct conn {
    struct watch watch;
    struct list node;  /* in listener->conns while its descriptor is open */
    struct list dirty; /* in responder->dirty while answers wait until the end of the turn */
    struct list grave; /* in responder->graves when closed */
    struct listener *listener;
    struct addr peer;
    enum conn_state state;
    bool is_holed, is_lost;        /* valid in CONN_STALLED */
    uint64_t accepted_at, last_at; /* in us */
    uint64_t queries, answers;
    uint32_t delayed; /* how many entries of the delay line refer to it: answers and holds */
    uint32_t held;    /* holds: nothing is sent until they are due (the flights of a handshake) */
    uint32_t events;  /* the events that the poller watches */
    uint64_t segments_seen;
    struct tls_stream *tls;     /* NULL without TLS */
    bool has_begun, has_shaken; /* TLS: has received bytes; has counted its handshake */
    bool is_behind;             /* TLS: bytes remain unread because there was no room */
    bool is_answering;          /* TLS: the next bytes to send include answers */
    struct buf out;             /* answers; with TLS before encryption */
    size_t in_len;              /* bytes of queries; with TLS after decryption */
    uint8_t in[STREAM_IN_BYTES];
};

/* An answer in the delay line. Over UDP, conn is NULL. An entry without bytes ends a hold. */
struct delayed_answer {
    struct delayed delayed;
    struct listener *listener;
    struct conn *conn;
    struct addr peer;
    size_t len;
    uint8_t bytes[];
};

struct responder {
    struct responder_options options;
    struct listener *listeners[LISTENERS_MAX];
    size_t listener_count;
    struct tls_server *tls; /* NULL if no listener uses TLS */
    int poller;
    uint64_t now_us; /* the time of this turn */
    struct delay_line line;
    struct list dirty, graves;
    struct control *control; /* NULL if there are no commands */
    struct udp_batch *udp;
    struct tree tree; /* the tree of the listeners that have a place in one */
    bool stopping;
};

/* responder_options.c: sets an option in one of the two tables. Returns false and leaves a sentence
 * in why (256 bytes). */
bool responder_set(struct responder_options *options, const char *name, const char *value,
                   char *why);
void responder_options_init(struct responder_options *options);
void responder_options_json(const struct responder_options *options, FILE *out);

/* responder_arguments.c: also fills in listeners and settings. Ends the process on wrong use. */
/* The parts of the command line that are not settings. */
struct responder_arguments {
    const char *control;
    const char *tls_name, *tls_ca_file, *tls_client_file, *tls_certificate, *tls_key;
    bool use_stdin, json;
};
void responder_arguments_take(struct responder *responder, struct responder_arguments *arguments,
                              int argc, char **argv);

/* responder_answer.c: makes a listener's answer to a query. out has room for ANSWER_MAX. */
struct bench_answer responder_answer(const struct listener *listener, struct span query,
                                     bool is_stream, const struct addr *from, uint8_t *out);
/* Returns when an answer is due, for a query that arrived now on conn (NULL: UDP). */
uint64_t responder_due_us(const struct responder *responder, const struct bench_answer *answer,
                          const struct conn *conn);
/* Copies the answer into the delay line. Returns false if the line is full; the answer is then
 * lost. */
bool responder_delay(struct responder *responder, const struct delayed_answer *like,
                     const uint8_t *bytes, uint64_t due_us);

/* responder_conn.c */
/* Calls act for each open connection of the listener. act may close the connection. */
void responder_conn_each(struct listener *listener, void (*act)(struct conn *conn));
void responder_conn_free(struct conn *conn); /* call it when nothing refers to the connection */
/* Makes the kernel drop all packets for a socket, as if the path were gone, or ends that. Returns
 * false if the kernel cannot do that. */
bool socket_drops_all(int fd, bool drops);

/* responder_udp.c */
MUST_USE enum err responder_udp_new(struct responder *responder);
void responder_udp_free(struct responder *responder);
MUST_USE enum err responder_udp_listen(struct listener *listener);
void responder_udp_send(struct responder *responder, const struct delayed_answer *answer);
void responder_udp_flush(struct responder *responder); /* called at the end of a turn */

/* responder_accept.c */
MUST_USE enum err responder_tcp_listen(struct listener *listener);
void responder_tcp_unlisten(struct listener *listener);
/* Drops new connections silently, or ends that. */
void responder_tcp_hole_listener(struct listener *listener, bool is_hole);

/* responder_tcp.c */
void responder_tcp_on_ready(struct watch *watch, uint32_t events);
void responder_tcp_reset(struct conn *conn);
void responder_tcp_finish(struct conn *conn); /* sends a FIN */
void responder_tcp_stall(struct conn *conn);
/* A black hole: the kernel drops all packets of the peer without acknowledgement, until the
 * connection resumes. */
void responder_tcp_hole(struct conn *conn);
/* Half open: a black hole without end. Resuming resets the connection. */
void responder_tcp_lose(struct conn *conn);
void responder_tcp_resume(struct conn *conn);
void responder_tcp_answer(struct conn *conn, const uint8_t *bytes, size_t len);
void responder_tcp_release(struct conn *conn);         /* one hold of the connection has ended */
void responder_tcp_flush(struct responder *responder); /* called at the end of a turn */
void responder_tcp_closed(struct conn *conn);          /* the peer has closed, or TLS has failed */
void responder_tcp_wake(struct conn *conn);            /* the connection has something to send */
void responder_tcp_take_queries(
    struct conn *conn); /* answers the queries in conn->in, as many as are allowed */
bool responder_tcp_is_full(const struct conn *conn);
void responder_tcp_sweep(struct listener *listener); /* closes idle connections */

/* responder_tls.c */
bool responder_tls_begin(struct conn *conn); /* returns false if out of memory */
void responder_tls_receive(struct conn *conn, struct span bytes); /* takes bytes from the wire */
void responder_tls_take(struct conn *conn); /* takes received bytes that had no room before */
void responder_tls_forget(struct conn *conn, struct span bytes); /* drops bytes after our FIN */
/* encrypts conn->out; returns false if it cannot be sent */
bool responder_tls_encrypt(struct conn *conn);
void responder_tls_renew(struct conn *conn);
void responder_tls_end(struct conn *conn);       /* prepares the end; a FIN follows */
void responder_tls_on_closed(struct conn *conn); /* counts how the connection ended */

/* responder_stats.c: writes one line without a newline. */
void responder_stats_json(const struct responder *responder, FILE *out);
void responder_connections_json(const struct responder *responder, FILE *out);
void responder_stats_reset(struct responder *responder);
struct stream_stats *responder_stats_of(const struct conn *conn);
void responder_stats_on_closed(struct conn *conn);
/* Reads the kernel's count of data segments. Must run before the descriptor closes. */
void responder_stats_take_segments(struct conn *conn);
/* Excludes the segments up to now, which belong to the handshake. */
void responder_stats_skip_segments(struct conn *conn);

/* responder_control.c: path may be NULL, and use_stdin false. */
MUST_USE enum err responder_control_open(struct responder *responder, const char *path,
                                         bool use_stdin);
void responder_control_close(struct responder *responder);

#endif
