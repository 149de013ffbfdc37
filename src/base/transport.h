/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BASE_TRANSPORT_H
#define NAILUP_BASE_TRANSPORT_H

/*
 * The transports of DNS: one row for each. Code asks what a transport can do instead of comparing
 * it with a row, so that a new transport is a row here and a filter in net/link.
 */

#include <stdbool.h>
#include <stdint.h>

/* RFC 1035 section 4.2, RFC 7858 section 3.1, RFC 8484 section 8.2. */
enum { DNS_PORT = 53, DNS_TLS_PORT = 853, DNS_HTTPS_PORT = 443 };

/* The protocol name inside TLS, after its length (RFC 7301 section 3.1). */
#define TRANSPORT_ALPN_DOT "\3dot"
#define TRANSPORT_ALPN_H2 "\2h2"

/*
 * TRANSPORT(name, word, port, ALPN, is_stream, is_secure, can_fall_back)
 * The word is the one of the configuration, the metrics and the logs. can_fall_back: a query may go
 * over UDP instead, if the configuration allows it. Clients may use all transports. Upstreams
 * are asked over UPSTREAM_TRANSPORTS, which come first.
 */
#define UPSTREAM_TRANSPORTS(TRANSPORT)                                                             \
    TRANSPORT(UDP, "udp", DNS_PORT, "", false, false, true)                                        \
    TRANSPORT(TCP, "tcp", DNS_PORT, "", true, false, true)                                         \
    TRANSPORT(TLS, "tls", DNS_TLS_PORT, TRANSPORT_ALPN_DOT, true, true, false)
#define TRANSPORTS(TRANSPORT)                                                                      \
    UPSTREAM_TRANSPORTS(TRANSPORT)                                                                 \
    TRANSPORT(HTTPS, "https", DNS_HTTPS_PORT, TRANSPORT_ALPN_H2, true, true, false)

enum transport {
#define TRANSPORT(name, word, port, alpn, is_stream, is_secure, can_fall_back) TRANSPORT_##name,
    TRANSPORTS(TRANSPORT)
#undef TRANSPORT
};

/* The words of the transports to upstreams in the order of the enum, NUL after each. */
#define TRANSPORT_WORD(name, word, port, alpn, is_stream, is_secure, can_fall_back) word "\0"
#define UPSTREAM_TRANSPORT_WORDS UPSTREAM_TRANSPORTS(TRANSPORT_WORD)

struct transport_row {
    const char *word;
    const char *alpn; /* preceded by its length; "": none */
    uint16_t port;    /* the registered one */
    bool is_stream;
    bool is_secure;
    bool can_fall_back;
};

extern const struct transport_row transport_rows[];

static inline const char *transport_word(enum transport transport)
{
    return transport_rows[transport].word;
}

static inline const char *transport_alpn(enum transport transport)
{
    return transport_rows[transport].alpn;
}

static inline uint16_t transport_port(enum transport transport)
{
    return transport_rows[transport].port;
}

static inline bool transport_is_stream(enum transport transport)
{
    return transport_rows[transport].is_stream;
}

static inline bool transport_is_secure(enum transport transport)
{
    return transport_rows[transport].is_secure;
}

static inline bool transport_can_fall_back(enum transport transport)
{
    return transport_rows[transport].can_fall_back;
}

#endif
