/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_TLS_SERVER_H
#define NAILUP_BENCH_TLS_SERVER_H

/*
 * What the responder is over TLS: its certificates, its ticket keys, and the context that its
 * settings ask for. Settings may change at any time; connections made from then on have them, and
 * tickets given before stay good unless tls_server_forget() is called.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "tls_certificate.h"
#include "tls_stream.h"

enum tls_versions { TLS_VERSIONS_BOTH, TLS_VERSIONS_12, TLS_VERSIONS_13 };

enum tls_early { TLS_EARLY_OFF, TLS_EARLY_ON, TLS_EARLY_REJECT /* promised, then refused */ };

enum tls_alpn_choice {
    TLS_ALPN_DOT,    /* "dot" to who offers it, none to others */
    TLS_ALPN_NONE,   /* never one */
    TLS_ALPN_WRONG,  /* "http/1.1", whatever was offered */
    TLS_ALPN_REFUSE, /* the alert no_application_protocol */
};

/* int and not the enumerations: the table of settings writes them. */
struct tls_server_options {
    int versions, early, alpn, identity;
    uint32_t tickets; /* given after each full or resumed handshake; 0: none is given or taken */
    bool late_alert;  /* a client certificate is wanted: with TLS 1.3 the refusal comes late */
};

struct tls_server;

/* Makes an authority and the certificates, for name and the addresses, which are copied. With
 * certificate_path and key_path the good certificate is read from there. NULL with a sentence in
 * why. */
struct tls_server *tls_server_new(const char *name, const struct addr *addrs, size_t count,
                                  const char *certificate_path, const char *key_path,
                                  char why[TLS_TEXT_MAX]);
void tls_server_free(struct tls_server *server);

/* The authority's certificate as PEM; false with errno. */
bool tls_server_write_authority(const struct tls_server *server, const char *path);

/* A certificate that late_alert accepts, and its key; false with errno. */
bool tls_server_write_client(const struct tls_server *server, const char *path);

/* Of the good certificate. */
const char *tls_server_pin(const struct tls_server *server);

/* A new connection's end; NULL when there is no memory. */
struct tls_stream *tls_server_accept(struct tls_server *server,
                                     const struct tls_server_options *options);

/* New ticket keys: no ticket given so far resumes anything. */
void tls_server_forget(struct tls_server *server);

/* Tickets that came a second time; each should be used once (RFC 8446 appendix C.4). */
uint64_t tls_server_reused_tickets(const struct tls_server *server);

#endif
