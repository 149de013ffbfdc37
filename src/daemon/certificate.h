/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_CERTIFICATE_H
#define NAILUP_DAEMON_CERTIFICATE_H

/*
 * The certificate and key for TLS clients, with the contents that their files had at one moment.
 * Main reads them once; all workers share them; they never change. A reload makes a new one. Any
 * thread.
 */

#include <stdint.h>

#include "base/err.h"
#include "serve/server_options.h"
#include "tls/tls_context.h"

struct certificate;

/* Reads both files and makes a context from them once, so that later contexts cannot fail on their
 * contents. On error (ERR_INVALID, ERR_NO_MEMORY) why is a sentence that names the fault. Returns
 * one reference. */
MUST_USE enum err certificate_load(struct certificate **out, const struct server_options *options,
                                   char why[TLS_WHY_MAX]);

struct certificate *certificate_ref(struct certificate *certificate);
/* The last reference wipes the key. NULL is fine. */
void certificate_unref(struct certificate *certificate);

/* When it expires, in seconds since 1970; 0: that is not known. NULL is fine: 0. */
uint64_t certificate_ends_at_s(const struct certificate *certificate);

/* Logs a warning if the certificate has expired at now_s (of time()): clients that check it refuse
 * to connect, and nothing else tells the operator. */
void certificate_warn_expired(const struct certificate *certificate,
                              const struct server_options *options, int64_t now_s);

/* Makes a context for the calling thread; the options give ciphers and groups. Errors are those of
 * tls_context_server(). */
MUST_USE enum err certificate_context(struct tls_context **out,
                                      const struct certificate *certificate,
                                      const struct server_options *options,
                                      struct tls_ticket_keys *ticket_keys, char why[TLS_WHY_MAX]);

#endif
