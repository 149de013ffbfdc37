/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_TLS_SERVER_H
#define NAILUP_BENCH_TLS_SERVER_H

/*
 * The server side of TLS for the responder: its certificates, its ticket keys, and the context that
 * its settings ask for. Settings may change at any time. New connections get the new settings, and
 * earlier tickets stay good until tls_server_forget().
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
    TLS_ALPN_DOT,    /* "dot" for clients that offer it, nothing for others */
    TLS_ALPN_NONE,   /* never one */
    TLS_ALPN_WRONG,  /* "http/1.1", whatever the client offers */
    TLS_ALPN_REFUSE, /* the alert no_application_protocol */
};

/* Members are int and not enumerations, because the table of settings writes them. */
struct tls_server_options {
    int versions, early, alpn, identity;
    uint32_t tickets; /* sent after each full or resumed handshake; 0: none is sent or accepted */
    bool late_alert;  /* asks for a client certificate: with TLS 1.3 the refusal comes late */
};

struct tls_server;

/* Makes an authority and the certificates for name and the addresses, which are copied. With
 * certificate_path and key_path it reads the good certificate from there. NULL leaves a sentence
 * in why. */
struct tls_server *tls_server_new(const char *name, const struct addr *addrs, size_t count,
                                  const char *certificate_path, const char *key_path,
                                  char why[TLS_TEXT_MAX]);
void tls_server_free(struct tls_server *server);

/* Writes the authority's certificate as PEM. False: errno says why. */
bool tls_server_write_authority(const struct tls_server *server, const char *path);

/* Writes a certificate that late_alert accepts, and its key. False: errno says why. */
bool tls_server_write_client(const struct tls_server *server, const char *path);

/* The pin of the good certificate. */
const char *tls_server_pin(const struct tls_server *server);

/* Returns the server end of a new connection, or NULL without memory. */
struct tls_stream *tls_server_accept(struct tls_server *server,
                                     const struct tls_server_options *options);

/* Makes new ticket keys: no earlier ticket resumes a session. */
void tls_server_forget(struct tls_server *server);

/* Tickets that arrived a second time. Clients should use each once (RFC 8446 appendix C.4). */
uint64_t tls_server_reused_tickets(const struct tls_server *server);

#endif
