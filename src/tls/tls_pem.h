/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TLS_TLS_PEM_H
#define NAILUP_TLS_TLS_PEM_H

/* Certificates and keys as text into a context of OpenSSL. name is for the sentence in why: the
 * file, or what it is. One thread. */

#include <openssl/ssl.h>

#include "base/err.h"
#include "base/span.h"
#include "tls/tls_why.h"

struct tls_pem {
    struct span text;
    const char *name;
};

/* Our certificate, the chain that leads from it to an authority, and its key. */
MUST_USE enum err tls_pem_own(SSL_CTX *ctx, struct tls_pem certificate, struct tls_pem key,
                              char why[TLS_WHY_MAX]);

/* Every certificate of the text is trusted, also one that is no authority
 * (X509_V_FLAG_PARTIAL_CHAIN): who puts a server's own certificate there means it. */
MUST_USE enum err tls_pem_trust(SSL_CTX *ctx, struct tls_pem authorities, char why[TLS_WHY_MAX]);

#endif
