/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_SECURE_H
#define NAILUP_UPSTREAM_SECURE_H

/*
 * The TLS of one upstream: its context and the tickets of its identity. The tickets' key contains
 * the address, port, name, pins, trust, profile, client certificate and source addresses, so
 * tickets never cross identities. It contains the contents of files instead of their names, because
 * a saved ticket must not outlive a removed authority.
 */

#include <stdbool.h>

#include "base/addr.h"
#include "base/err.h"
#include "tls/tls_context.h"
#include "upstream/env.h"
#include "upstream/upstream_options.h"

struct tls;

struct secure {
    const struct addr *addr;
    const struct upstream_options *options;
    struct tls_context *context; /* NULL: the log says why */
    struct tls_rack *tickets;    /* NULL: no resumption */
};

/* Borrows all three. If the context cannot be made (a file vanished), logs it and tries again with
 * each dial. */
void secure_init(struct secure *secure, struct upstream_env *env, const struct addr *addr,
                 const struct upstream_options *options);

/* tls_contexts_renew() read the files again: later dials use them. Returns true if they changed. */
bool secure_renew(struct secure *secure, struct upstream_env *env);

/* Call it after the last connection has ended. */
void secure_deinit(struct secure *secure, struct upstream_env *env);

/* Makes the TLS of one dial for link_dial(). NULL: no context or no memory. */
struct tls *secure_new_tls(struct secure *secure, struct upstream_env *env);

/* Advice for the operator after this dial failure, as the end of a log line; "" if the error
 * says it all. Static storage. */
const char *secure_advice(enum err why);

#endif
