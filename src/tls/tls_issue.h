/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TLS_TLS_ISSUE_H
#define NAILUP_TLS_TLS_ISSUE_H

/* Session tickets that a server gives out (RFC 5077, RFC 8446 section 4.6.1). */

#include <openssl/ssl.h>
#include <stdbool.h>

struct tls_ticket_keys;

/* Seals tickets with these keys, borrowed for as long as the context's connections live; with NULL
 * there are none, and nothing is resumed. False: out of memory. */
bool tls_issue_tickets(SSL_CTX *ctx, struct tls_ticket_keys *keys);

#endif
