/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TLS_TLS_CONTEXTS_H
#define NAILUP_TLS_TLS_CONTEXTS_H

/* A worker's contexts for dialling, one for each different set of authorities, certificate of ours,
 * ciphers and groups: thousands of upstreams share a few. One thread. */

#include "tls/tls_context.h"

enum { TLS_CONTEXTS_MAX = 256 };

struct tls_contexts;

/* NULL out of memory. */
struct tls_contexts *tls_contexts_new(void);

/* NULL is fine. */
void tls_contexts_free(struct tls_contexts *contexts);

/* The context for these options, found or made; lives until as many tls_contexts_give() as gets, or
 * as long as contexts. NULL: why says so, as with tls_context_client(); ERR_LIMIT is a sentence
 * too. A failure is not remembered. */
struct tls_context *tls_contexts_get(struct tls_contexts *contexts,
                                     const struct tls_peer_options *options, char why[TLS_WHY_MAX]);

/* The caller makes no more connections of it; NULL is fine. */
void tls_contexts_give(struct tls_contexts *contexts, struct tls_context *context);

/* Reads the files of all again (not the system's authorities). Where one says something else now,
 * tls_contexts_get() gives a new context from now on, while those who have the former keep it. On
 * error why is a sentence about the last file that is of no use, and the former context stays. */
MUST_USE enum err tls_contexts_renew(struct tls_contexts *contexts, char why[TLS_WHY_MAX]);

#endif
