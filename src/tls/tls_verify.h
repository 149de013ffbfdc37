/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TLS_TLS_VERIFY_H
#define NAILUP_TLS_TLS_VERIFY_H

/*
 * Is the peer of a client who it should be (RFC 7858 section 4.2, RFC 8310 section 8)?
 *
 * With pins alone the key decides, and nothing else of the certificate is looked at: it may be
 * self-signed, for any name, and expired. Otherwise the chain must end at an authority and be valid
 * now, and the certificate must be for the name or else for the address; names are looked for in
 * subjectAltName only (RFC 6125), wildcards stand for a whole label. Pins are of the peer's own
 * key, not of those that signed it.
 */

#include "tls/tls_inside.h"

/* Tells OpenSSL the name or the address, and the name to the server (SNI). False: out of memory. */
bool tls_verify_prepare(struct tls *tls);

/* A resumed handshake shows no certificate: does the one of the session still prove who the peer
 * is? The session must be set in tls->ssl. now_s is of the wall clock. */
enum err tls_verify_session(const struct tls *tls, int64_t now_s);

#endif
