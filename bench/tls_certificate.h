/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_TLS_CERTIFICATE_H
#define NAILUP_BENCH_TLS_CERTIFICATE_H

/*
 * Certificates for tests and measurements: the responder's authority, and the good and bad
 * certificates that it signs. The keys are on P-256. Do not use any of them in production.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/addr.h"

struct evp_pkey_st; /* OpenSSL's EVP_PKEY and X509 */
struct x509_st;

enum tls_identity {
    TLS_IDENTITY_GOOD,
    TLS_IDENTITY_EXPIRED,
    TLS_IDENTITY_FUTURE,
    TLS_IDENTITY_OTHER_NAME,
    TLS_IDENTITY_OTHER_KEY, /* good, but with another key, so that a pin fails */
    TLS_IDENTITY_SELF_SIGNED,
    TLS_IDENTITY_COUNT,
};

enum { TLS_PIN_MAX = 45 }; /* a SHA-256 in base64, and the NUL */

struct tls_pair {
    struct evp_pkey_st *key;
    struct x509_st *certificate;
};

/* Makes an authority. The caller owns the pair. Returns false without memory or randomness. */
bool tls_authority_make(struct tls_pair *out);

/* Makes a certificate for the name and the addresses. The authority signs it, or its own key for
 * SELF_SIGNED. It has the key of `shared` if that is given, except for OTHER_KEY. */
bool tls_leaf_make(struct tls_pair *out, const struct tls_pair *authority,
                   const struct tls_pair *shared, enum tls_identity identity, const char *name,
                   const struct addr *addrs, size_t count);

/* Makes a certificate that a client may present. */
bool tls_client_leaf_make(struct tls_pair *out, const struct tls_pair *authority);

/* Reads the first certificate and its key from PEM files. Returns false if one is missing or
 * broken, or if they are not a pair. */
bool tls_pair_read(struct tls_pair *out, const char *certificate_path, const char *key_path);

void tls_pair_deinit(struct tls_pair *pair);

/* Writes PEM. With the key, the file contains both and has mode 0600. Returns false and sets errno.
 */
bool tls_pair_write(const struct tls_pair *pair, const char *path, bool with_key);

/* Writes the SHA-256 of the SubjectPublicKeyInfo in base64 (RFC 7469 section 2.4). */
bool tls_pin(const struct x509_st *certificate, char out[TLS_PIN_MAX]);

#endif
