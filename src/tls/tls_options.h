/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TLS_TLS_OPTIONS_H
#define NAILUP_TLS_TLS_OPTIONS_H

/*
 * How TLS is spoken: plain values, filled by config. Strings and pins are borrowed and live as long
 * as the configuration, unless tls_peer_options_copy() made them; a string that was not given is ""
 * or NULL, which mean the same.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Usage profiles of RFC 8310 section 5. Strict: nothing is said before the peer has proved who it
 * is. Opportunistic: TLS where it can be had, whoever it is. */
enum tls_profile { TLS_STRICT, TLS_OPPORTUNISTIC };

enum { TLS_FILES_ID_BYTES = 32 }; /* of tls_context_files_id() */
enum { TLS_PIN_BYTES = 32, TLS_PINS_MAX = 16, TLS_NAME_MAX = 253 };

/* SHA-256 of SubjectPublicKeyInfo (RFC 7858 section 4.2), several for the time of a rollover. */
struct tls_pins {
    size_t count;
    uint8_t sha256[][TLS_PIN_BYTES];
};

/* How an upstream is spoken to and how it proves who it is. With a name the certificate must be
 * valid and for that name; with pins the key must be one of them; with both, both; with neither
 * the certificate must be valid and for the address. With pins alone they decide: the certificate
 * may be self-signed or expired. Details: tls/tls_verify.h. */
struct tls_peer_options {
    enum tls_profile profile;
    bool early_data;       /* TLS 1.3: queries in the first flight of a resumed dial */
    char *auth_name;       /* host name, without a dot at the end */
    struct tls_pins *pins; /* NULL: none */
    char *ca_bundle;       /* PEM file of authorities; "": the system's */
    char *certificate;     /* PEM files of ours, for peers that ask who we are; "": none */
    char *key;
    char *ciphers; /* OpenSSL's words, of TLS 1.2 and 1.3 mixed, with ':' between; "": defaults */
    char *groups;  /* for the key exchange, with ':' between; "": OpenSSL's, but for ffdhe */
};

/* Every value the same, strings by what they say. */
bool tls_peer_options_equal(const struct tls_peer_options *a, const struct tls_peer_options *b);

/* A copy that needs nothing of from; what it points to lies in *memory, the caller's, for free().
 * False: out of memory. */
MUST_USE bool tls_peer_options_copy(struct tls_peer_options *out,
                                    const struct tls_peer_options *from, void **memory);

/* The same authorities, certificate of ours, ciphers and groups: may share a context. */
bool tls_peer_options_same_context(const struct tls_peer_options *a,
                                   const struct tls_peer_options *b);

#endif
