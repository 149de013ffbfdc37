/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_GENERATION_H
#define NAILUP_DAEMON_GENERATION_H

/*
 * Everything that is in effect at one time: a configuration, a certificate, the bounds of clients,
 * and the routes, local data and trust anchors that the configuration and the run-time facts
 * (forwards, negative trust anchors, addresses of hosts) make together. Immutable; main makes it
 * and all workers share it. Main frees it after the last reference is gone.
 *
 * Generations of one file share its configuration. Main thread only, except for generation_ref()
 * and generation_unref().
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/list.h"
#include "resolve/route_options.h"

struct anchor_point;
struct certificate;
struct config;
struct runtime_ntas;
struct runtime_zones;
struct zone_hosts;
struct generation;
struct local_names;
struct loop;
struct outgoing_ports;
struct server_quota;

enum {
    GENERATIONS_MAX = 16,       /* alive at once */
    GENERATION_CONFIGS_MAX = 4, /* alive at once: each may hold millions of names */
};

/* All generations that are alive. */
struct generations {
    struct loop *loop; /* main's */
    uint32_t spaces;   /* the last number given to a space, from 1; no number is given twice */
    uint32_t portals;  /* the count of spaces given to captive portals so far */
    struct list list;
    size_t count, configs;
    void (*on_freed)(void *context); /* on the loop; may be NULL */
    void *context;
};

void generations_init(struct generations *all, struct loop *loop, void (*on_freed)(void *context),
                      void *context);

/* Frees all, even those with references: no worker is left. */
void generations_deinit(struct generations *all);

/* Whether there is room for one more, of the same configuration or of another one. */
bool generations_have_room(const struct generations *all, bool for_config);

/* The run-time facts; read only during the call that takes them. */
struct generation_settings {
    const struct runtime_zones *forwards;
    const struct runtime_ntas *ntas;
    const struct anchor_point *point; /* NULL: no anchors are kept up to date */
    const struct zone_hosts *hosts;   /* the addresses of upstreams by name */
};

/* Makes the first generation of a configuration and takes it: *config becomes NULL, on error too.
 * It succeeds the generation `before`, which may be NULL. Takes a reference to certificate, which
 * may be NULL. Returns one reference. NULL: out of memory. */
struct generation *generation_new(struct generations *all, struct config **config,
                                  const struct generation *before, struct certificate *certificate,
                                  const struct generation_settings *settings);

/* Makes one more generation of the same configuration and certificate, with the same spaces. While
 * a captive portal is set, each generation has new spaces (SPACE_PORTALS), so nothing that is
 * learned during the portal is found after it. NULL: out of memory, or out of such spaces. */
struct generation *generation_new_settings(struct generation *of,
                                           const struct generation_settings *settings);

/* Any thread. */
struct generation *generation_ref(struct generation *generation);
void generation_unref(struct generation *generation);

/* Valid while the caller holds a reference. */
const struct config *generation_config(const struct generation *generation);
const struct route_options *generation_route(const struct generation *generation);
bool generation_has_portal(const struct generation *generation);
const struct local_names *generation_local(const struct generation *generation); /* NULL: none */
const struct outgoing_ports *generation_ports(const struct generation *generation);
struct server_quota *generation_quota(const struct generation *generation);
struct certificate *generation_certificate(const struct generation *generation); /* NULL: none */

#endif
