/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TLS_TLS_CONTEXTS_H
#define NAILUP_TLS_TLS_CONTEXTS_H

/* A worker's contexts for dialling, one for each combination of authorities, own certificate,
 * ciphers and groups: thousands of upstreams share a few. One thread. */

#include "tls/tls_context.h"

enum { TLS_CONTEXTS_MAX = 256 };

struct tls_contexts;

/* Returns NULL when out of memory. */
struct tls_contexts *tls_contexts_new(void);

/* contexts may be NULL. */
void tls_contexts_free(struct tls_contexts *contexts);

/* Finds or makes the context for these options. It lives until each tls_contexts_get() is matched
 * by a tls_contexts_give(), but no longer than contexts. Returns NULL with a sentence in why, as
 * tls_context_client() does and also for TLS_CONTEXTS_MAX. The next call tries again. */
struct tls_context *tls_contexts_get(struct tls_contexts *contexts,
                                     const struct tls_peer_options *options, char why[TLS_WHY_MAX]);

/* The caller makes no more connections from this context, which may be NULL. */
void tls_contexts_give(struct tls_contexts *contexts, struct tls_context *context);

/* Reads the files of all contexts again, except the system's authorities. If one has changed,
 * tls_contexts_get() returns a new context from now on, and users of the former one keep it. On
 * error why is a sentence about the last bad file, and the former context stays. */
MUST_USE enum err tls_contexts_renew(struct tls_contexts *contexts, char why[TLS_WHY_MAX]);

#endif
