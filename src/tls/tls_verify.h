/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TLS_TLS_VERIFY_H
#define NAILUP_TLS_TLS_VERIFY_H

/*
 * Decides whether a client's peer has the expected identity (RFC 7858 section 4.2, RFC 8310
 * section 8).
 *
 * With pins and no name, the key alone decides: the certificate may be self-signed, expired and for
 * any name. Otherwise the chain must end at an authority and be valid now, and the certificate must
 * name the configured name or, without one, the address. Only subjectAltName counts (RFC 6125), and
 * a wildcard replaces a whole label. A pin is the hash of the peer's own key, not of a key that
 * signed it.
 */

#include <openssl/ssl.h>

#include "base/err.h"
#include "tls/tls_options.h"

/* Gives OpenSSL the expected name or address, and the server the name (SNI). Returns false when out
 * of memory. */
bool tls_verify_prepare(SSL *ssl, const struct tls_peer *peer);

/* Checks the certificate that a handshake shows, and leaves a result in store from which OpenSSL
 * makes its alert. *detail is OpenSSL's reason, if it has one (static storage). */
enum err tls_verify_shown(const struct tls_peer_options *options, X509_STORE_CTX *store,
                          const char **detail);

/* A resumed handshake shows no certificate: checks whether the one of the session still proves the
 * peer's identity. ssl holds the session. now_s is on the wall clock. */
enum err tls_verify_session(SSL *ssl, const struct tls_peer *peer, int64_t now_s);

#endif
