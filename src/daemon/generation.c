/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Reference counts. reload.c decides which generation is in effect.
 *
 * Invariant: the count may fall to zero on any thread, but only main frees. The thread that drops
 * the last reference mails the generation to main.
 */

#include "daemon/generation.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/check.h"
#include "config/config.h"
#include "config/runtime_ntas.h"
#include "config/runtime_zones.h"
#include "config/zone_hosts.h"
#include "daemon/certificate.h"
#include "daemon/query_ports.h"
#include "local/local_names.h"
#include "loop/loop.h"
#include "rpz/rpz_policy.h"
#include "serve/server_quota.h"
#include "validate/anchors.h"

enum {
    ROUTES_BYTES_MAX = 64 * 1024 * 1024
}; /* for the zones of forwards; more than they can need */

/* A configuration and everything derived from it alone, with the number of its generations. */
struct shared {
    struct config *config;
    struct server_quota *quota;
    struct outgoing_ports ports;
    size_t generations;
};

struct generation {
    struct list node;
    struct generations *all;
    struct mail unused; /* posted once, when refs is zero */
    atomic_size_t refs;
    struct shared *shared;
    struct certificate *certificate;
    struct arena arena; /* for the route */
    struct route_options route;
    struct local_names *local; /* NULL: that of the configuration */
    struct anchors *anchors;   /* of the route; NULL: those of the configuration */
};

void generations_init(struct generations *all, struct loop *loop, void (*on_freed)(void *context),
                      void *context)
{
    *all = (struct generations){.loop = loop, .on_freed = on_freed, .context = context};
    list_init(&all->list);
}

bool generations_have_room(const struct generations *all, bool for_config)
{
    return all->count < GENERATIONS_MAX && (!for_config || all->configs < GENERATION_CONFIGS_MAX);
}

/* ---- ending ---- */

static void shared_free(struct shared *shared)
{
    server_quota_free(shared->quota);
    config_free(shared->config);
    free(shared);
}

static void shared_leave(struct shared *shared, struct generations *all)
{
    if (--shared->generations > 0)
        return;
    shared_free(shared);
    all->configs--;
}

static void generation_free(struct generation *generation)
{
    struct generations *all = generation->all;

    list_remove(&generation->node);
    all->count--;
    certificate_unref(generation->certificate);
    arena_deinit(&generation->arena);
    local_names_free(generation->local);
    anchors_free(generation->anchors);
    shared_leave(generation->shared, all);
    free(generation);
}

static void generation_on_unused(struct mail *mail)
{
    struct generation *generation = CONTAINER_OF(mail, struct generation, unused);
    struct generations *all = generation->all;

    generation_free(generation);
    if (all->on_freed)
        all->on_freed(all->context);
}

void generations_deinit(struct generations *all)
{
    while (!list_is_empty(&all->list))
        generation_free(LIST_ITEM(list_first(&all->list), struct generation, node));
}

/* ---- making ---- */

/* Makes what the settings of run time change. */
static enum err generation_apply(struct generation *generation, const struct config *config,
                                 const struct generation_settings *settings)
{
    struct route_options with_hosts;
    enum err err = zone_hosts_routes(settings->hosts, config, &generation->arena, &with_hosts);

    if (!err)
        err = runtime_zones_routes(settings->forwards, config, &with_hosts, &generation->arena,
                                   &generation->route);
    if (!err)
        err = runtime_zones_local_names(settings->forwards, config, &generation->local);
    if (!err)
        err = runtime_ntas_anchors(settings->ntas, config, settings->point, &generation->anchors);
    if (generation->anchors)
        generation->route.validation.anchors = generation->anchors;
    return err;
}

static struct generation *generation_make(struct generations *all, struct shared *shared,
                                          struct certificate *certificate,
                                          const struct generation_settings *settings)
{
    struct generation *generation = calloc(1, sizeof(*generation));

    if (!generation)
        return NULL;
    arena_init(&generation->arena, ROUTES_BYTES_MAX);
    if (generation_apply(generation, shared->config, settings)) {
        arena_deinit(&generation->arena);
        local_names_free(generation->local);
        free(generation);
        return NULL;
    }
    generation->all = all;
    generation->unused.run = generation_on_unused;
    atomic_init(&generation->refs, 1);
    generation->shared = shared;
    shared->generations++;
    generation->certificate = certificate ? certificate_ref(certificate) : NULL;
    list_append(&all->list, &generation->node);
    all->count++;
    return generation;
}

static void take_counters(struct rpz_policy *policy, const struct rpz_policy *before)
{
    if (policy && before)
        rpz_policy_take_counters(policy, before);
}

/* Takes the configuration. */
static struct shared *shared_new(struct config **config, const struct generation *before)
{
    struct shared *shared = calloc(1, sizeof(*shared));

    if (shared) {
        shared->config = *config;
        query_ports_read(&shared->ports, *config);
        shared->quota = server_quota_new(&(*config)->server, before ? before->shared->quota : NULL);
        if (before)
            take_counters((*config)->rpz.policy, before->shared->config->rpz.policy);
    } else {
        config_free(*config);
    }
    *config = NULL;
    if (!shared || shared->quota)
        return shared;
    shared_free(shared);
    return NULL;
}

struct generation *generation_new(struct generations *all, struct config **config,
                                  const struct generation *before, struct certificate *certificate,
                                  const struct generation_settings *settings)
{
    struct shared *shared = shared_new(config, before);
    struct generation *generation =
        shared ? generation_make(all, shared, certificate, settings) : NULL;

    if (generation)
        all->configs++;
    else if (shared)
        shared_free(shared);
    return generation;
}

struct generation *generation_new_settings(struct generation *of,
                                           const struct generation_settings *settings)
{
    return generation_make(of->all, of->shared, of->certificate, settings);
}

/* ---- references ---- */

struct generation *generation_ref(struct generation *generation)
{
    atomic_fetch_add_explicit(&generation->refs, 1, memory_order_relaxed);
    return generation;
}

void generation_unref(struct generation *generation)
{
    if (generation && atomic_fetch_sub(&generation->refs, 1) == 1)
        loop_post(generation->all->loop, &generation->unused);
}

const struct config *generation_config(const struct generation *generation)
{
    return generation->shared->config;
}

const struct route_options *generation_route(const struct generation *generation)
{
    return &generation->route;
}

const struct local_names *generation_local(const struct generation *generation)
{
    return generation->local ? generation->local : generation->shared->config->local;
}

struct server_quota *generation_quota(const struct generation *generation)
{
    return generation->shared->quota;
}

struct certificate *generation_certificate(const struct generation *generation)
{
    return generation->certificate;
}

const struct outgoing_ports *generation_ports(const struct generation *generation)
{
    return &generation->shared->ports;
}
