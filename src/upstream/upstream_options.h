/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_UPSTREAM_OPTIONS_H
#define NAILUP_UPSTREAM_UPSTREAM_OPTIONS_H

/*
 * The options of one upstream after all rules of choice (zone, then prefix entry, then the global
 * section). They are plain values that config fills; a reload compares them to find changed
 * upstreams.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/transport.h"
#include "tls/tls_options.h"
#include "upstream/sources.h"

enum upstream_fallback { UPSTREAM_FALLBACK_NONE, UPSTREAM_FALLBACK_UDP };

struct upstream_options {
    enum transport transport; /* a query's first attempt uses it; nailed upstreams have a stream */
    enum upstream_fallback
        fallback; /* while a stream is dialled, stalled, refused or full; none with strict TLS */
    bool nailed;  /* a tcp-upstream-keepalive prefix contains the address */
    bool prewarm; /* nailed: dial before the first query */
    bool hold;    /* nailed: keeps it open while idle (hold.h) */
    bool case_randomisation;  /* 0x20 */
    bool cookies;             /* RFC 7873 */
    uint32_t connections;     /* nailed: kept open, per worker */
    uint32_t max_connections; /* per worker, without spares and draining ones */
    uint32_t max_in_flight;   /* unanswered queries on one connection */
    uint32_t max_requests;    /* on one connection, 1 to 65535 */
    uint64_t max_age_us;      /* 0: never */
    uint64_t idle_timeout_us; /* for connections beyond the nailed ones; 0: never */
    uint64_t connect_timeout_us;
    uint64_t query_timeout_us; /* the longest time of one attempt */
    uint64_t stall_timeout_us;
    uint32_t keepalive_idle_s; /* TCP keepalive probes; 0: none */
    uint32_t keepalive_interval_s;
    uint32_t keepalive_count;
    bool tcp_fast_open;
    struct tls_peer_options tls; /* the options of a secure transport */
    uint32_t max_handshakes;     /* TLS handshakes a second to this address, per worker */
    uint16_t queries_per_port; /* in a burst over UDP; most queries to a discovered server have 1 */
    uint16_t fallback_port;    /* the port for plain text while opportunistic TLS is unavailable */
    struct sources *sources;   /* of the upstream's family, borrowed; NULL: the kernel chooses */
};

/* A server to ask: its address, its port, and the options of the transport. */
struct route_upstream {
    struct addr addr;
    struct upstream_options options;
    const char *host; /* the name that the configuration has for it; NULL: it has the address */
};

/* The defaults of the manual, for a plain UDP upstream. */
extern const struct upstream_options upstream_options_default;

/* The transport of its connections. A UDP upstream uses TCP for truncated answers. */
static inline enum transport upstream_options_stream(const struct upstream_options *options)
{
    return transport_is_stream(options->transport) ? options->transport : TRANSPORT_TCP;
}

/* TLS with a proven identity: no query leaves in plain text (RFC 8310). */
static inline bool upstream_options_are_strict(const struct upstream_options *options)
{
    return transport_is_secure(options->transport) && options->tls.profile == TLS_STRICT;
}

/* TLS where it is available, else plain text (RFC 8310). */
static inline bool upstream_options_are_opportunistic(const struct upstream_options *options)
{
    return transport_is_secure(options->transport) && options->tls.profile == TLS_OPPORTUNISTIC;
}

/* Compares every value, with everything that the options point to. */
bool upstream_options_equal(const struct upstream_options *a, const struct upstream_options *b);

/* Hashes the address with the options that decide whether a dial succeeds. */
uint64_t upstream_options_dial_hash(const struct addr *addr,
                                    const struct upstream_options *options);

#endif
