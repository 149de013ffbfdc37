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

enum tls_early {
    TLS_EARLY_OFF,
    TLS_EARLY_ON,
    TLS_EARLY_REJECT /* the tickets promise early data, and the server refuses it */
};

enum tls_alpn_choice {
    TLS_ALPN_DOT,    /* "dot" for clients that offer it, no protocol for others */
    TLS_ALPN_NONE,   /* no protocol, whatever the client offers */
    TLS_ALPN_WRONG,  /* "http/1.1", whatever the client offers */
    TLS_ALPN_REFUSE, /* the alert no_application_protocol */
};

/* The members are int, because the table of settings writes them. */
struct tls_server_options {
    int versions, early, alpn, identity;
    uint32_t tickets; /* sent after each handshake; 0: none is sent or accepted */
    bool late_alert;  /* requests a client certificate; the refusal is late in TLS 1.3 */
};

struct tls_server;

/* Makes an authority, and certificates for the name and the addresses, which are copied. If
 * certificate_path and key_path are given, the good certificate comes from there. Returns NULL and
 * leaves a sentence in why. */
struct tls_server *tls_server_new(const char *name, const struct addr *addrs, size_t count,
                                  const char *certificate_path, const char *key_path,
                                  char why[TLS_TEXT_MAX]);
void tls_server_free(struct tls_server *server);

/* Writes the authority's certificate as PEM. Returns false and sets errno. */
bool tls_server_write_authority(const struct tls_server *server, const char *path);

/* Writes a certificate that late_alert accepts, with its key. Returns false and sets errno. */
bool tls_server_write_client(const struct tls_server *server, const char *path);

/* Returns the pin of the good certificate. */
const char *tls_server_pin(const struct tls_server *server);

/* Returns the server's end of a new connection, or NULL without memory. */
struct tls_stream *tls_server_accept(struct tls_server *server,
                                     const struct tls_server_options *options);

/* Makes new ticket keys. No earlier ticket resumes a session then. */
void tls_server_forget(struct tls_server *server);

/* Returns how many tickets came a second time. Clients should use each ticket once (RFC 8446
 * appendix C.4). */
uint64_t tls_server_reused_tickets(const struct tls_server *server);

#endif
