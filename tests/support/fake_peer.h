/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_FAKE_PEER_H
#define NAILUP_TESTS_FAKE_PEER_H

/*
 * A DNS server in the simulated network. A function of the test gets every query, over UDP, TCP or
 * TLS (fake_tls.h), and returns the answer and how to send it. fake_peer_server() returns the
 * server of fake_net.h below it, which controls latency, refusals, resets and counters.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/span.h"
#include "support/fake_net.h"

struct fake_peer;

enum fake_transport { FAKE_UDP, FAKE_TCP, FAKE_TLS };

/* One query as the peer sees it. Borrowed until the function returns. */
struct fake_ask {
    struct fake_peer *peer;
    enum fake_transport transport;
    struct span query;                 /* the whole message */
    size_t count;                      /* earlier queries to this peer, over all transports */
    size_t conn;                       /* TCP, TLS: the connection's number, from 0 */
    size_t index;                      /* TCP, TLS: earlier queries on this connection */
    bool early;                        /* TLS: it came as early data */
    struct fake_conn *stream;          /* TCP, TLS, else NULL */
    const struct fake_query *datagram; /* UDP, else NULL */
};

enum fake_how {
    FAKE_ANSWER, /* send data */
    FAKE_SILENT, /* never answer */
    FAKE_CLOSE,  /* TCP, TLS: send data (may be empty), then close. UDP: send nothing */
    FAKE_RESET,  /* TCP, TLS: send a RST. UDP: send nothing */
    FAKE_REFUSE, /* UDP: send ICMP port unreachable. TCP, TLS: send a RST */
};

/* The answer. It is zeroed before the call: FAKE_ANSWER with len 0 sends nothing. */
struct fake_answer {
    enum fake_how how;
    uint64_t delay_us;     /* a later answer may overtake this one on a stream */
    unsigned extra_copies; /* further copies of the answer */
    size_t piece_bytes;    /* TCP, TLS: the size of pieces, each its own read; 0: one piece */
    uint64_t gap_us;       /* between pieces */
    size_t len;
    uint8_t data[65535];
};

typedef void (*fake_peer_fn)(void *owner, const struct fake_ask *ask, struct fake_answer *answer);

/* Makes a server at the address. If fn is NULL, it answers every A query with 192.0.2.1 and TTL
 * 300. */
struct fake_peer *fake_peer_new(struct fake_net *net, const struct addr *addr, fake_peer_fn fn,
                                void *owner);
struct fake_server *fake_peer_server(struct fake_peer *peer);

/* Replaces the function that answers. */
void fake_peer_set(struct fake_peer *peer, fake_peer_fn fn, void *owner);

size_t fake_peer_queries(const struct fake_peer *peer); /* all transports */
size_t fake_peer_udp_queries(const struct fake_peer *peer);
size_t fake_peer_tcp_queries(const struct fake_peer *peer); /* in plain text */
size_t fake_peer_tls_queries(const struct fake_peer *peer);

/* ------------------------------------------------------------------ answers
 * All copy the query's header and question (id, case) and set QR and RA. */

/* The question and an rcode, without records; rcode 0 makes NODATA. */
void fake_answer_rcode(struct fake_answer *answer, struct span query, unsigned rcode);

/* One A record for the QNAME. */
void fake_answer_a(struct fake_answer *answer, struct span query, const char *ipv4, uint32_t ttl);

/* One record of any type with this rdata for the QNAME. */
void fake_answer_record(struct fake_answer *answer, struct span query, uint16_t type, uint32_t ttl,
                        struct span rdata);

/* Adds an authority section with one SOA of the zone, in wire format, for negative answers. */
void fake_answer_add_soa(struct fake_answer *answer, struct span zone, uint32_t ttl,
                         uint32_t minimum);

/* A truncated answer: header and question with TC. */
void fake_answer_truncated(struct fake_answer *answer, struct span query);

/* ------------------------------------------------------------------ queries */

/* Builds a query with RD for "name." (dotted text, no escapes), class IN, in 300 bytes of out.
 * Returns its length. edns_size 0: no OPT record. */
size_t fake_query_build(uint8_t *out, uint16_t id, const char *name, uint16_t type,
                        uint16_t edns_size);

#endif
