/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_NET_TLS_CONTEXTS_H
#define NAILUP_NET_TLS_CONTEXTS_H

/* A worker's contexts for dialling, one for each different set of authorities, certificate of ours,
 * ciphers and groups: thousands of upstreams share a few. One thread. */

#include "net/tls_context.h"

enum { TLS_CONTEXTS_MAX = 256 };

struct tls_contexts;

/* NULL out of memory. */
struct tls_contexts *tls_contexts_new(void);

/* NULL is fine. */
void tls_contexts_free(struct tls_contexts *contexts);

/* The context for these options, found or made; borrowed, lives as long as contexts. NULL: why says
 * so, as with tls_context_client(); ERR_LIMIT is a sentence too. A failure is not remembered. */
struct tls_context *tls_contexts_get(struct tls_contexts *contexts,
                                     const struct tls_peer_options *options, char why[TLS_WHY_MAX]);

#endif
