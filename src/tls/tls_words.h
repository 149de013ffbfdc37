/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TLS_TLS_WORDS_H
#define NAILUP_TLS_TLS_WORDS_H

/* Lists of ciphers and groups as people write them, into a context of OpenSSL. One thread. */

#include <openssl/ssl.h>

#include "base/err.h"
#include "tls/tls_why.h"

/* Words with ':' between: names, classes and rules of TLS 1.2 ("ECDHE+AESGCM", "!AES256"), and
 * suites of TLS 1.3 ("TLS_AES_128_GCM_SHA256"). A version without words keeps our defaults.
 * ERR_INVALID: why names the word. "" or NULL: our defaults, which are forward secret and AEAD. */
MUST_USE enum err tls_words_ciphers(SSL_CTX *ctx, const char *words, char why[TLS_WHY_MAX]);

/* "x25519:secp256r1"; "" or NULL: OpenSSL's defaults without those of finite fields (RFC 7919),
 * which are slow enough to be a weapon. To be called once for a context. */
MUST_USE enum err tls_words_groups(SSL_CTX *ctx, const char *words, char why[TLS_WHY_MAX]);

#endif
