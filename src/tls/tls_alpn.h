/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TLS_TLS_ALPN_H
#define NAILUP_TLS_TLS_ALPN_H

/* The protocol within TLS is "dot" (RFC 7858 section 3.1, RFC 7301), or was not talked about. */

#include <openssl/ssl.h>
#include <stdbool.h>

/* A client offers it. False: out of memory. */
bool tls_alpn_offer(SSL_CTX *ctx);

/* A client notes in its struct tls when the server chooses another. */
void tls_alpn_watch(SSL *ssl);

/* A server chooses it, and refuses who offers only others. */
void tls_alpn_demand(SSL_CTX *ctx);

/* Nothing was negotiated, or our protocol was. */
bool tls_alpn_is_ours(const SSL *ssl);

#endif
