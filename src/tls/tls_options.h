/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TLS_TLS_OPTIONS_H
#define NAILUP_TLS_TLS_OPTIONS_H

/*
 * The TLS options of an upstream: plain values that config fills. Strings and pins are borrowed and
 * live as long as the configuration, unless tls_peer_options_copy() made them. An option that is
 * not given is "" or NULL, which mean the same.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/err.h"

struct tls_rack;

/* Usage profiles of RFC 8310 section 5. Strict: the peer must prove its identity before the first
 * query. Opportunistic: TLS where it is available, with any peer. */
enum tls_profile { TLS_STRICT, TLS_OPPORTUNISTIC };

enum { TLS_FILES_ID_BYTES = 32 }; /* length of tls_context_files_id() */
enum { TLS_PIN_BYTES = 32, TLS_PINS_MAX = 16, TLS_NAME_MAX = 253 };

/* SHA-256 of SubjectPublicKeyInfo (RFC 7858 section 4.2), several during a rollover. */
struct tls_pins {
    size_t count;
    uint8_t sha256[][TLS_PIN_BYTES];
};

/* How an upstream proves its identity, and the settings of its connections. With a name, the
 * certificate must be valid and issued for that name. With pins, its key must match one of them.
 * With a name and pins, both rules apply. Without name and pins, the certificate must be valid and
 * issued for the address. Without a name, pins alone decide: the certificate may be self-signed or
 * expired. Details: tls/tls_verify.h. */
struct tls_peer_options {
    enum tls_profile profile;
    bool early_data;       /* TLS 1.3: queries in the first flight of a resumed dial */
    char *auth_name;       /* host name, without a trailing dot */
    struct tls_pins *pins; /* NULL: none */
    char *ca_bundle;       /* PEM file of authorities; "": the system's */
    char *certificate;     /* our PEM files, for servers that ask for a certificate; "": none */
    char *key;
    char *ciphers; /* OpenSSL's words for TLS 1.2 and 1.3, joined by ':'; "": our defaults */
    char *groups;  /* of the key exchange, joined by ':'; "": OpenSSL's without ffdhe (RFC 7919) */
};

/* The peer that a client expects. Everything is borrowed until tls_free(). */
struct tls_peer {
    const struct addr *addr; /* the certificate must name it if the options give no name */
    const struct tls_peer_options *options;
    struct tls_rack *tickets; /* the tickets of this very identity; NULL: no resumption */
};

/* Whether every value is the same; strings compare by content. */
bool tls_peer_options_equal(const struct tls_peer_options *a, const struct tls_peer_options *b);

/* Equal options have equal hashes. */
uint64_t tls_peer_options_hash(const struct tls_peer_options *options, uint64_t seed);

/* Makes an independent copy. Its strings and pins are in *memory, which the caller frees with
 * free(). Returns false when out of memory. */
MUST_USE bool tls_peer_options_copy(struct tls_peer_options *out,
                                    const struct tls_peer_options *from, void **memory);

/* Whether both have the same authorities, own certificate, ciphers and groups, and so may share a
 * context. */
bool tls_peer_options_same_context(const struct tls_peer_options *a,
                                   const struct tls_peer_options *b);

#endif
