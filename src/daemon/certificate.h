/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_CERTIFICATE_H
#define NAILUP_DAEMON_CERTIFICATE_H

/*
 * The certificate and key that TLS clients are served with, as their files were at one moment: read
 * once by main, shared by all workers, immutable. A reload makes a new one. Any thread.
 */

#include <stdint.h>

#include "base/err.h"
#include "serve/server_options.h"
#include "tls/tls_context.h"

struct certificate;

/* Reads both files and tries them out, so that a context can be made of what is returned. On error
 * (ERR_INVALID, ERR_NO_MEMORY) why is a sentence that names what is at fault. One reference. */
MUST_USE enum err certificate_load(struct certificate **out, const struct server_options *options,
                                   char why[TLS_WHY_MAX]);

struct certificate *certificate_ref(struct certificate *certificate);
/* The last one wipes the key. NULL is fine. */
void certificate_unref(struct certificate *certificate);

/* Logs a warning with its last day if it is over at now_s (of time()): clients that look at it turn
 * away, and nothing else tells the operator. */
void certificate_warn_over(const struct certificate *certificate,
                           const struct server_options *options, int64_t now_s);

/* A context of one's own for the calling thread; ciphers and groups are the options'. Errors as
 * with tls_context_server(). */
MUST_USE enum err certificate_context(struct tls_context **out,
                                      const struct certificate *certificate,
                                      const struct server_options *options,
                                      struct tls_ticket_keys *ticket_keys, char why[TLS_WHY_MAX]);

#endif
