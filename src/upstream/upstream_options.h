/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_UPSTREAM_OPTIONS_H
#define NAILUP_UPSTREAM_UPSTREAM_OPTIONS_H

/*
 * How one upstream is spoken to, after every rule of choice has been applied (zone, then prefix
 * entry, then the global section): plain values, filled by config, compared to decide whether a
 * reload changed an upstream.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/transport.h"
#include "tls/tls_options.h"

enum upstream_fallback { UPSTREAM_FALLBACK_NONE, UPSTREAM_FALLBACK_UDP };

struct upstream_options {
    enum transport transport;        /* of a query's first attempt; a stream if nailed */
    enum upstream_fallback fallback; /* while a stream is dialled, stalled, refused or full; strict
                                        TLS: none */
    bool nailed;                     /* the address lies in a tcp-upstream-keepalive prefix */
    bool prewarm;                    /* nailed: dial before the first query */
    bool hold;                       /* nailed: keep open while idle (hold.h) */
    bool case_randomisation;         /* 0x20 */
    bool cookies;                    /* RFC 7873 */
    uint32_t connections;            /* nailed: kept open, per worker */
    uint32_t max_connections;        /* per worker; spares and draining ones apart */
    uint32_t max_in_flight;          /* unanswered queries on one connection */
    uint32_t max_requests;           /* on one connection, 1 to 65535 */
    uint64_t max_age_us;             /* 0: never */
    uint64_t idle_timeout_us;        /* of connections beyond the nailed ones; 0: never */
    uint64_t connect_timeout_us;
    uint64_t query_timeout_us; /* ceiling of one attempt */
    uint64_t stall_timeout_us;
    uint32_t keepalive_idle_s; /* TCP keepalive probes; 0: none */
    uint32_t keepalive_interval_s;
    uint32_t keepalive_count;
    bool tcp_fast_open;
    struct tls_peer_options tls; /* of a secure transport */
    uint32_t max_handshakes;     /* of TLS, a second, towards this address, per worker */
    uint16_t fallback_port;      /* of plain text, where opportunistic TLS cannot be had */
    struct addr source;          /* of this upstream's family; family 0: the kernel chooses */
};

/* The defaults of the manual, for a plain UDP upstream. */
extern const struct upstream_options upstream_options_default;

/* The transport of its connections: an upstream asked over UDP gets truncated answers over TCP. */
static inline enum transport upstream_options_stream(const struct upstream_options *options)
{
    return transport_is_stream(options->transport) ? options->transport : TRANSPORT_TCP;
}

/* TLS that proves the server's identity: queries never leave in plain text (RFC 8310). */
static inline bool upstream_options_are_strict(const struct upstream_options *options)
{
    return transport_is_secure(options->transport) && options->tls.profile == TLS_STRICT;
}

/* TLS where it is available, else plain text (RFC 8310). */
static inline bool upstream_options_are_opportunistic(const struct upstream_options *options)
{
    return transport_is_secure(options->transport) && options->tls.profile == TLS_OPPORTUNISTIC;
}

/* Every value is the same, with all that is pointed to. */
bool upstream_options_equal(const struct upstream_options *a, const struct upstream_options *b);

#endif
