/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_GENERATION_H
#define NAILUP_DAEMON_GENERATION_H

/*
 * What is in effect at one time: a configuration, the routes and the names answered here that it
 * and the forwards set at run time make together, a certificate, the bounds of clients. Immutable,
 * made by main, shared by all workers. It is freed on main when nobody refers to it any more.
 *
 * Generations of one file share its configuration. The main thread's, but for generation_ref() and
 * generation_unref().
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/list.h"
#include "resolve/route_options.h"

struct certificate;
struct config;
struct forwards;
struct generation;
struct local_names;
struct loop;
struct outgoing_ports;
struct server_quota;

enum {
    GENERATIONS_MAX = 16,       /* alive at once */
    GENERATION_CONFIGS_MAX = 4, /* alive at once: each may have millions of names */
};

/* All that are alive. */
struct generations {
    struct loop *loop; /* main's */
    struct list list;
    size_t count, configs;
    void (*on_freed)(void *context); /* on the loop; NULL: nobody wants to know */
    void *context;
};

void generations_init(struct generations *all, struct loop *loop, void (*on_freed)(void *context),
                      void *context);

/* Frees all, whoever refers to them: no worker is left. */
void generations_deinit(struct generations *all);

/* Whether there may be one more of the same configuration, or of another one. */
bool generations_have_room(const struct generations *all, bool for_config);

/* The first of a configuration, which is taken: *config becomes NULL, on error too. It follows
 * before, NULL for none. forwards are read here only; certificate may be NULL and gets a reference.
 * One reference. NULL: out of memory. */
struct generation *generation_new(struct generations *all, struct config **config,
                                  const struct generation *before, struct certificate *certificate,
                                  const struct forwards *forwards);

/* One more of the same configuration and certificate. */
struct generation *generation_new_forwards(struct generation *of, const struct forwards *forwards);

/* Any thread. */
struct generation *generation_ref(struct generation *generation);
void generation_unref(struct generation *generation);

/* As long as the generation is referred to. */
const struct config *generation_config(const struct generation *generation);
const struct route_options *generation_route(const struct generation *generation);
const struct local_names *generation_local(const struct generation *generation); /* NULL: none */
const struct outgoing_ports *generation_ports(const struct generation *generation);
struct server_quota *generation_quota(const struct generation *generation);
struct certificate *generation_certificate(const struct generation *generation); /* NULL: none */

#endif
