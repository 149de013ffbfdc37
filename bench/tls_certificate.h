/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_TLS_CERTIFICATE_H
#define NAILUP_BENCH_TLS_CERTIFICATE_H

/*
 * Certificates for tests and measurements: an authority of the responder's own and what it signs,
 * good ones and such as must not be accepted. Keys are on P-256. Nothing here is for real use.
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
    TLS_IDENTITY_OTHER_KEY, /* good but for its key, so that a pin fails */
    TLS_IDENTITY_SELF_SIGNED,
    TLS_IDENTITY_COUNT,
};

enum { TLS_PIN_MAX = 45 }; /* SHA-256 in base64 and the NUL */

struct tls_pair {
    struct evp_pkey_st *key;
    struct x509_st *certificate;
};

/* Owned by the caller; false without memory or randomness. */
bool tls_authority_make(struct tls_pair *out);

/* A certificate for name and the addresses, signed by the authority (SELF_SIGNED: by itself). The
 * key is that of shared where that is given and OTHER_KEY is not asked for. */
bool tls_leaf_make(struct tls_pair *out, const struct tls_pair *authority,
                   const struct tls_pair *shared, enum tls_identity identity, const char *name,
                   const struct addr *addrs, size_t count);

/* One that a client may show. */
bool tls_client_leaf_make(struct tls_pair *out, const struct tls_pair *authority);

/* From PEM files: the first certificate and its key. False: missing, broken, or not a pair. */
bool tls_pair_read(struct tls_pair *out, const char *certificate_path, const char *key_path);

void tls_pair_deinit(struct tls_pair *pair);

/* PEM; with the key a file of mode 0600 that has both. False with errno of the file. */
bool tls_pair_write(const struct tls_pair *pair, const char *path, bool with_key);

/* SHA-256 over the SubjectPublicKeyInfo, in base64 (RFC 7469 section 2.4). */
bool tls_pin(const struct x509_st *certificate, char out[TLS_PIN_MAX]);

#endif
