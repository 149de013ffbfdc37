/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Puts the layers together as a worker does, and takes them apart again. clients.c sends queries,
 * and servers.c answers.
 */
#include "scenario/held.h"
#include "scenario/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/rand.h"
#include "cache/cache.h"
#include "config/runtime_ntas.h"
#include "config/runtime_zones.h"
#include "config/zone_hosts.h"
#include "daemon/forget.h"
#include "recurse/delegation.h"
#include "resolve/resolver.h"
#include "scenario/clients.h"
#include "scenario/hints.h"
#include "scenario/servers.h"
#include "scenario/temp_files.h"
#include "scenario/tls.h"
#include "serve/server.h"
#include "tls/tls_tickets.h"
#include "upstream/upstreams.h"
#include "zone/zone_set.h"

/* The world is settled after this many quiet slices of time. */
enum { SLICE_US = 200, QUIET_SLICES = 2, SLICES_MAX = 500, WAIT_SLICE_US = 5000 };

/* In most scripts the servers have no signatures. Such scripts say nothing about DNSSEC, and run
 * without validation. */
static char *with_dnssec(const char *yaml)
{
    static const char none[] = "\ndnssec: {validate: no}\n";
    bool has_own = strncmp(yaml, "dnssec:", 7) == 0 || strstr(yaml, "\ndnssec:");
    size_t size = strlen(yaml) + sizeof(none);
    char *text = malloc(size);
    MUST(text);
    snprintf(text, size, "%s%s", yaml, has_own ? "" : none);
    return text;
}

/* Returns NULL if the text has an error. held: gets the zones held here, whose files exist only
 * during this call; NULL: the caller does not want them. */
static struct config *load_config(const struct script *script, const char *yaml,
                                  struct zone_set **held, char *why)
{
    struct config *config = NULL;
    struct buf errors;
    buf_init(&errors, CONFIG_ERRORS_BYTES);
    struct temp_files files;
    char *hints = NULL, *with_hints = hints_config(yaml, script->hints, &hints);
    char *with_certs = tls_config(with_hints), *with_anchor = zone_sign_config(with_certs);
    char *with_all = with_dnssec(with_anchor);
    char *whole = temp_files_write(&files, with_all);
    enum err err = config_parse_with_files(script->path, whole, strlen(whole), &config, &errors);
    *why = '\0';
    if (!err && held)
        *held = held_open(config, script->wall_s, why, WORLD_WHY_MAX);
    temp_files_remove(&files);
    free(with_certs);
    free(with_anchor);
    free(with_all);
    free(whole);
    free(with_hints);
    hints_remove(hints);
    struct span text = buf_span(&errors);
    if (err)
        snprintf(why, WORLD_WHY_MAX, "configuration: %.*s", (int)MIN(text.len, (size_t)400),
                 (const char *)text.data);
    else
        config->route.validation.clock_min_s = script->ignores_dates ? INT64_MAX : script->wall_s;
    buf_deinit(&errors);
    if (!*why)
        return config;
    config_free(config);
    return NULL;
}

/* Makes a configuration the present one, with the numbers of its spaces. */
static bool set_config(struct world *world, struct config **config)
{
    static const struct runtime_zones no_forwards;
    static const struct runtime_ntas no_ntas;
    static const struct zone_hosts no_hosts;
    static const struct generation_settings settings = {
        .forwards = &no_forwards, .ntas = &no_ntas, .hosts = &no_hosts};
    world->generation =
        generation_new(&world->generations, config, world->generation, NULL, &settings);
    MUST(world->generation);
    world->config = generation_config(world->generation);
    world->route = generation_route(world->generation);
    return true;
}

static bool open_config(struct world *world, const char *yaml, char *why)
{
    struct config *config = load_config(world->script, yaml, &world->held, why);
    if (!config)
        return false;
    return set_config(world, &config);
}

/* With TLS, another server listens at the port for plain text, unless a step says otherwise. */
static void open_upstream(struct world *world, const struct route_upstream *upstream)
{
    struct addr addr = upstream->addr;
    servers_add(world, &addr);
    if (!transport_is_secure(upstream->options.transport))
        return;
    tls_speak(servers_at(world, &addr), 0);
    addr_set_port(&addr, upstream->options.fallback_port);
    servers_add(world, &addr);
}

/* Opens the servers with which recursion begins, or which it may discover. */
static void open_met(struct world *world)
{
    const struct recursion_options *recursion = &world->route->recursion;
    for (unsigned i = 0; recursion->hints && i < recursion->hints->addr_count; i++) {
        struct addr addr;
        delegation_addr(recursion->hints, i, recursion->port, &addr);
        servers_add(world, &addr);
    }
    for (size_t i = 0; i < world->script->addr_count; i++) {
        struct addr addr = world->script->addrs[i];
        servers_add(world, &addr);
        addr_set_port(&addr, recursion->port);
        servers_add(world, &addr);
    }
}

static void open_zones(struct world *world, const struct route_zone *zones, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < zones[i].upstream_count; j++)
            open_upstream(world, &zones[i].upstreams[j]);
}

static void open_servers(struct world *world)
{
    const struct route_options *route = world->route;
    open_met(world);
    open_zones(world, route->zones, route->zone_count);
    for (size_t i = 0; route->views && i < route->views->space_count; i++)
        open_zones(world, route->views->spaces[i].zones, route->views->spaces[i].zone_count);
    for (size_t i = 0; i < route->prewarmed_count; i++)
        open_upstream(world, &route->prewarmed[i]);
}

static bool open_layers(struct world *world, char *why)
{
    const struct config *config = world->config;
    size_t which;

    world->nail_quota.max = config->max_nailed;
    world->cache = cache_new(&config->cache);
    world->upstreams = upstreams_new(world->loop, &world->stats, &world->nail_quota);
    world->tickets = tls_tickets_new();
    MUST(world->cache && world->upstreams && world->tickets);
    upstreams_use_tickets(world->upstreams, world->tickets);
    world->resolver = resolver_new(world->loop, world->cache, world->upstreams, world->route,
                                   config->server.max_waiting, &world->stats);
    MUST(world->resolver);
    resolver_set_local(world->resolver, generation_local(world->generation));
    resolver_set_zones(world->resolver, world->held);
    world->sockets = listen_sockets_new(1);
    MUST(world->sockets);
    if (listen_sockets_prepare(world->sockets, &config->server, &which)) {
        snprintf(why, WORLD_WHY_MAX, "cannot listen at address %zu", which);
        return false;
    }
    struct listen_share *share = listen_sockets_take(world->sockets, 0);
    listen_sockets_commit(world->sockets);
    MUST(server_open(&world->server, world->loop, &config->server, &share, world->resolver,
                     generation_quota(world->generation), &world->stats) == ERR_OK);
    server_set_policy(world->server, config->rpz.policy);
    return true;
}

bool world_open(struct world *world, const struct script *script, const char *yaml, uint64_t seed,
                char why[WORLD_WHY_MAX])
{
    memset(world, 0, sizeof(*world));
    world->script = script;
    world->last_port = 20000;
    list_init(&world->outs);
    list_init(&world->gots);
    rand_seed_for_tests(seed);
    world->loop = loop_new();
    world->net = fake_net_of(world->loop);
    fake_loop_set_wall(world->loop, script->wall_s);
    generations_init(&world->generations, world->loop, NULL, NULL);
    if (!open_config(world, yaml, why))
        return false;
    rand_seed_for_tests(seed);
    world->now = script->steps ? script->steps->number : 0;
    open_servers(world);
    cache_thread_begin();
    world->is_cache_thread = true;
    if (!open_layers(world, why))
        return false;
    world_settle(world);
    return true;
}

bool world_close(struct world *world, char why[WORLD_WHY_MAX])
{
    size_t left = 0;
    if (world->loop) {
        server_free(world->server);
        listen_sockets_free(world->sockets);
        resolver_free(world->resolver);
        if (world->upstreams)
            upstreams_free(world->upstreams);
        fake_loop_settle(world->loop);
        left = fake_net_open_sockets(world->net);
        generations_deinit(&world->generations);
        loop_free(world->loop);
        if (world->is_cache_thread)
            cache_thread_end();
        if (world->cache)
            cache_free(world->cache);
    }
    tls_tickets_free(world->tickets);
    zone_set_unref(world->held);
    if (left)
        snprintf(why, WORLD_WHY_MAX, "%zu sockets were left open at the end", left);
    return !left;
}

/* ---- reloading ---- */

static void world_on_forgotten(void *context)
{
    bool *is_done = context;
    *is_done = true;
}

/* Drops what the daemon drops after a reload (daemon/reload.c): names of local data, and the
 * answers of spaces that have ended. */
static void world_forget(struct world *world)
{
    bool is_done = false;
    struct forget forget;
    forget_init(&forget, world->loop, world->cache, world_on_forgotten, &is_done);
    forget_clear(&forget);
    forget_local(&forget, generation_local(world->generation));
    forget_spaces(&forget, world->route->views);
    forget_begin(&forget);
    while (!is_done)
        fake_loop_settle(world->loop);
}

static void world_on_addresses_ended(void *context)
{
    (void)context;
}

bool world_reload(struct world *world, const char *yaml, bool forgets, char why[WORLD_WHY_MAX])
{
    size_t which;
    struct generation *before = world->generation;
    struct config *config = load_config(world->script, yaml, NULL, why);
    if (!config)
        return false;
    set_config(world, &config);
    open_servers(world);
    MUST(listen_sockets_prepare(world->sockets, &world->config->server, &which) == ERR_OK);
    struct listen_share *share = listen_sockets_take(world->sockets, 0);
    listen_sockets_commit(world->sockets);
    MUST(resolver_reload(world->resolver, world->route, generation_local(world->generation),
                         world->config->server.max_waiting) == ERR_OK);
    server_reload(world->server, &world->config->server, &share,
                  generation_quota(world->generation), world_on_addresses_ended, NULL);
    listen_sockets_settle(world->sockets);
    server_set_policy(world->server, world->config->rpz.policy);
    if (forgets)
        world_forget(world);
    generation_unref(before);
    return true;
}

bool world_renew_zones(struct world *world, const char *yaml, char why[WORLD_WHY_MAX])
{
    struct zone_set *before = world->held;
    struct config *config = load_config(world->script, yaml, &world->held, why);
    if (!config)
        return false;
    config_free(config);
    resolver_set_zones(world->resolver, world->held);
    zone_set_unref(before);
    return true;
}

/* ---- time ---- */

void world_advance(struct world *world, uint64_t us)
{
    fake_loop_settle(world->loop);
    fake_loop_advance(world->loop, us);
    clients_collect(world);
}

static uint64_t activity(const struct world *world)
{
    struct fake_net_counts counts = fake_net_counts(world->net);
    return world->out_count + world->got_count + counts.tcp_writes + counts.tcp_reads +
           counts.dials + counts.udp_queries + counts.udp_batches;
}

void world_settle(struct world *world)
{
    unsigned quiet = 0;
    for (unsigned i = 0; i < SLICES_MAX && quiet < QUIET_SLICES; i++) {
        uint64_t before = activity(world);
        world_advance(world, SLICE_US);
        quiet = activity(world) == before ? quiet + 1 : 0;
    }
}

bool world_wait(struct world *world, bool (*done)(void *context), void *context)
{
    uint64_t ends_at = loop_now(world->loop) + WORLD_PATIENCE_US;
    while (!done(context)) {
        if (loop_now(world->loop) >= ends_at)
            return false;
        world_advance(world, WAIT_SLICE_US);
    }
    return true;
}
