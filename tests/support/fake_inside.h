/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_FAKE_INSIDE_H
#define NAILUP_TESTS_FAKE_INSIDE_H

/*
 * Shared by the files of the fake network: fake_net.c (network and servers), fake_tcp.c
 * (connections), fake_udp.c (queries), fake_listen.c (listeners and clients). Tests do not include
 * it.
 */

#include <stddef.h>

#include "base/buf.h"
#include "base/framing.h"
#include "base/list.h"
#include "net/udp_server.h"
#include "support/fake_loop.h"
#include "support/fake_net.h"

enum { QUERY_BUCKETS = 1024 };

struct fake_server {
    struct fake_net *net;
    struct list node;
    struct addr addr;
    const struct fake_server_handler *handler;
    void *owner;
    struct prefix prefix; /* valid if has_prefix: the further addresses of the server */
    bool has_prefix;
    uint64_t latency_us;
    uint64_t accept_delay_us;
    enum fake_dial dial;
    enum fake_udp udp;
    unsigned lose;
    uint64_t datagrams, spoofed;
    struct fake_conn **conns;
    size_t conn_count, conn_cap;
    struct fake_tls_server *tls; /* NULL: connections are plain */
    uint8_t ticket_keys[80];     /* in OpenSSL's format */
    bool has_ticket_keys;
};

struct fake_net {
    struct loop *loop;
    struct fake_net_counts counts;
    struct list servers;
    struct list memory;                 /* what fake_net_take() returned */
    struct list conns;                  /* all of them, including closed ones */
    struct list packets;                /* in flight, of all kinds */
    struct list queries[QUERY_BUCKETS]; /* open, by number */
    uint64_t last_query;
    uint16_t last_port;
    unsigned fail_opens;
    enum err fail_why;
    size_t file_limit;
    unsigned drop_replies;
    struct addr broken_sources[FAKE_NET_SOURCES_MAX];
    enum err broken_why[FAKE_NET_SOURCES_MAX];
    unsigned broken_count;
    unsigned queued_queries; /* the next ones wait in line */
    uint64_t queued_us;
    uint64_t address_lost_at; /* connections dialled by then are stranded */
    size_t write_max;
    uint64_t client_latency_us;
    uint64_t datagram_age_us;
    uint32_t datagrams_lost;
    struct udp_thinned thinned[UDP_THINNED_MAX];
    unsigned thinned_count;
    size_t client_conns;
    struct list udp_servers, acceptors;
    struct list replies;       /* replies that have arrived at clients, oldest first */
    struct packet *last_reply; /* borrowed by the test until it takes the next one */
    struct fake_tls_net *tls;  /* NULL: no end has spoken TLS yet */
};

/* Bytes in flight from one end to the other: an event with its bytes. */
struct packet {
    struct fake_event event;
    struct list node; /* in net->packets, or in a list of arrived packets */
    struct fake_net *net;
    void *target;    /* the struct fake_conn or fake_server that run() expects */
    int kind;        /* fake_tcp.c: an enum packet_kind */
    bool separate;   /* arrives in its own read */
    uint64_t number; /* of a query */
    enum err why;
    struct addr from, to;
    uint64_t sent_at, turn;
    void (*after)(void *copy); /* the call of fake_net_after() */
    size_t len;
    _Alignas(max_align_t) uint8_t data[];
};

struct packet *packet_new(struct fake_net *net, struct span data,
                          void (*run)(struct fake_event *event));
void packet_free(struct packet *packet);
void packet_free_all(struct list *packets);

struct span packet_bytes(const struct packet *packet);

/* Returns the error that the next open must report, and counts it down. */
enum err fake_net_open_fault(struct fake_net *net);

/* Whether the file limit leaves room for another socket. */
bool fake_net_has_file(const struct fake_net *net);

/* Returns a source address of the family: the given one if there is one. Draws its port if that is
 * 0. */
struct addr fake_net_source(struct fake_net *net, const struct addr *source, int family);

/* Why a socket from this address fails at once. ERR_OK: it does not. */
enum err fake_net_source_fault(const struct fake_net *net, const struct addr *source);

void fake_net_note_open(struct fake_net *net); /* updates the high-water marks */

uint64_t fake_latency(const struct fake_server *server); /* NULL: the default latency */

/* loop_free() frees the network; net may be NULL. */
void fake_net_free(struct fake_net *net);
void fake_tcp_free_all(struct fake_net *net);
void fake_udp_free_all(struct fake_net *net);
void fake_listen_free_all(struct fake_net *net);
void fake_tls_free_net(struct fake_net *net); /* must run after the connections are freed */

/* The fake loop's pointer to its network. */
struct fake_net **fake_loop_net(struct loop *loop);

/* For fake_listen.c: makes the connection of a client, and its struct tcp once it is accepted. */
struct fake_conn *fake_conn_new(struct fake_net *net, struct fake_server *server);
void fake_conn_set_ends(struct fake_conn *conn, const struct addr *ours, const struct addr *theirs);
void fake_conn_refuse(struct fake_conn *conn);
struct tcp *fake_conn_accept(struct fake_conn *conn);
struct list *fake_conn_backlog_node(struct fake_conn *conn);
struct fake_conn *fake_conn_of_backlog_node(struct list *node);
void fake_conn_set_client(struct fake_conn *conn, size_t number);

#endif
