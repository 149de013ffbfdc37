/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_SECURE_H
#define NAILUP_UPSTREAM_SECURE_H

/*
 * What the TLS connections of one upstream have in common: the context they are made of and the
 * tickets of their identity. Nothing of it crosses identities: address, port, name, pins, trust,
 * profile, certificate of ours and source address all stand in the key of the tickets, and of files
 * what stands in them, as a saved ticket must not outlive an authority that was taken out.
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
    struct tls_context *context; /* NULL: it could not be made, see the log */
    struct tls_rack *tickets;    /* NULL: nothing is resumed */
};

/* Borrows all three. A context that cannot be made (a file that vanished) is logged, and tried
 * again with each dial. */
void secure_init(struct secure *secure, struct upstream_env *env, const struct addr *addr,
                 const struct upstream_options *options);

/* The files of contexts were read again (tls_contexts_renew()): dials from now on use what they
 * say. True: that is something else than before. */
bool secure_renew(struct secure *secure, struct upstream_env *env);

/* No connection of it is left. */
void secure_deinit(struct secure *secure, struct upstream_env *env);

/* The TLS of one dial, for link_dial(). NULL: no context or no memory. */
struct tls *secure_new_tls(struct secure *secure, struct upstream_env *env);

/* What an operator should look at when a dial failed with this, as the end of a log line; "" when
 * there is nothing better to say than the error itself. Static storage. */
const char *secure_advice(enum err why);

#endif
