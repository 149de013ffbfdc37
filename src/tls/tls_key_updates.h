/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TLS_TLS_KEY_UPDATES_H
#define NAILUP_TLS_TLS_KEY_UPDATES_H

/* A bound for changes of keys (RFC 8446 section 4.6.3): each costs OpenSSL 3.0 as much as several
 * queries, takes 27 bytes, and may be asked for as often as a peer likes. */

#include "tls/tls_inside.h"

/* A peer may change its keys so often, and once more for each so many bytes that it says. */
enum { TLS_KEY_UPDATES_MAX = 32, TLS_KEY_UPDATE_BYTES = 1024 };

/* Has them counted in each connection's struct tls. The one too many makes the rest of what came
 * from the wire disappear. */
void tls_key_updates_watch(SSL_CTX *ctx);

bool tls_key_updates_are_too_many(const struct tls *tls);

#endif
