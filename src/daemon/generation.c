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
#include <string.h>

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
#include "resolve/space.h"
#include "serve/server_quota.h"
#include "validate/anchors.h"

enum {
    ROUTES_BYTES_MAX = 64 * 1024 * 1024
}; /* for the zones of forwards; more than they can need */

/* A configuration and everything derived only from it, with the number of its generations. */
struct shared {
    struct config *config;
    struct server_quota *quota;
    struct outgoing_ports ports;
    uint32_t *spaces; /* the numbers of the configuration's spaces */
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
    struct local_names *local;   /* NULL: the configuration's local data applies */
    struct anchors *anchors;     /* the route's anchors; NULL: the configuration's apply */
    struct local_names **tables; /* the configuration's tables, layered over local; in the arena */
    size_t table_count;
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
    free(shared->spaces);
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

static void generation_free_tables(struct generation *generation)
{
    for (size_t i = 0; i < generation->table_count; i++)
        local_names_free(generation->tables[i]);
    generation->table_count = 0;
}

static void generation_free(struct generation *generation)
{
    struct generations *all = generation->all;

    list_remove(&generation->node);
    all->count--;
    certificate_unref(generation->certificate);
    generation_free_tables(generation);
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

/* Returns the table on top of the local data of this generation. Forwards set at run time exempt
 * special-use names for all views. */
static const struct local_names *over_local(struct generation *generation,
                                            const struct local_names *table, bool *fine)
{
    if (!table || !generation->local || !local_names_is_over(table))
        return table;
    struct local_names *copy = local_names_new_over(table);
    *fine = *fine && copy;
    if (!copy)
        return NULL;
    local_names_set_under(copy, generation->local);
    generation->tables[generation->table_count++] = copy;
    return copy;
}

/* Gives the spaces of a portal their numbers. ERR_LIMIT: all were given. */
static enum err generation_number_portal(struct generations *all, struct route_options *route,
                                         struct view_set *views)
{
    size_t count = 1 + (views ? views->space_count : 0);
    if (count > SPACE_NUMBERS - SPACE_PORTALS - all->portals)
        return ERR_LIMIT;
    route->space = SPACE_PORTALS + all->portals;
    for (size_t i = 1; i < count; i++)
        views->spaces[i - 1].number = route->space + (uint32_t)i;
    all->portals += (uint32_t)count;
    return ERR_OK;
}

/* Makes the views with the numbers of their spaces. */
static enum err generation_make_views(struct generation *generation, const struct shared *shared,
                                      struct view_set **out)
{
    const struct view_set *from = shared->config->route.views;
    struct arena *arena = &generation->arena;
    bool fine = true;
    *out = NULL;
    if (!from)
        return ERR_OK;
    struct view_set *set = arena_copy(arena, from, sizeof(*from));
    if (set) {
        set->spaces = arena_copy(arena, from->spaces, from->space_count * sizeof(*from->spaces));
        set->views = arena_copy(arena, from->views, from->view_count * sizeof(*from->views));
    }
    size_t tables = from->space_count + from->view_count;
    generation->tables = arena_take(arena, tables * sizeof(struct local_names *));
    if (!set || !set->spaces || !set->views || !generation->tables)
        return ERR_NO_MEMORY;
    for (size_t i = 0; i < set->space_count; i++) {
        set->spaces[i].number = shared->spaces[i];
        set->spaces[i].local = over_local(generation, set->spaces[i].local, &fine);
    }
    for (size_t i = 0; i < set->view_count; i++)
        set->views[i].local = over_local(generation, set->views[i].local, &fine);
    generation->route.views = *out = set;
    return fine ? ERR_OK : ERR_NO_MEMORY;
}

/* Makes the parts that run-time settings change. */
static enum err generation_apply(struct generations *all, struct generation *generation,
                                 const struct shared *shared,
                                 const struct generation_settings *settings)
{
    const struct config *config = shared->config;
    struct route_options with_hosts;
    struct view_set *views;
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
    if (!err)
        err = generation_make_views(generation, shared, &views);
    if (!err && settings->forwards->portal)
        err = generation_number_portal(all, &generation->route, views);
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
    if (generation_apply(all, generation, shared, settings)) {
        generation_free_tables(generation);
        arena_deinit(&generation->arena);
        local_names_free(generation->local);
        anchors_free(generation->anchors);
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

/* Returns the number that the space with this text had in the generation before; 0: it had none. */
static uint32_t number_before(const struct generation *before, const char *text)
{
    const struct config *config = before ? before->shared->config : NULL;
    for (size_t i = 0; config && i < config->view_set.space_count; i++)
        if (strcmp(config->space_texts[i], text) == 0)
            return before->shared->spaces[i];
    return 0;
}

/* A space with the same settings as a former space keeps its number, whatever its views are called.
 * All other spaces get new numbers, so the cache has no answers of theirs yet. False: out of
 * memory, or out of numbers, which takes billions of changed views. */
static bool number_spaces(struct shared *shared, struct generations *all,
                          const struct generation *before)
{
    const struct view_set *set = &shared->config->view_set;
    shared->spaces = calloc(set->space_count + 1, sizeof(*shared->spaces));
    for (size_t i = 0; shared->spaces && i < set->space_count; i++) {
        uint32_t number = number_before(before, shared->config->space_texts[i]);
        if (!number && all->spaces + 1 >= SPACE_PORTALS)
            return false;
        shared->spaces[i] = number ? number : ++all->spaces;
    }
    return shared->spaces;
}

/* Takes the configuration. */
static struct shared *shared_new(struct generations *all, struct config **config,
                                 const struct generation *before)
{
    struct shared *shared = calloc(1, sizeof(*shared));

    if (shared) {
        shared->config = *config;
        query_ports_read(&shared->ports, *config);
        shared->quota = server_quota_new(&(*config)->server, before ? before->shared->quota : NULL);
    } else {
        config_free(*config);
    }
    *config = NULL;
    if (!shared || (shared->quota && number_spaces(shared, all, before)))
        return shared;
    shared_free(shared);
    return NULL;
}

struct generation *generation_new(struct generations *all, struct config **config,
                                  const struct generation *before, struct certificate *certificate,
                                  const struct generation_settings *settings)
{
    struct shared *shared = shared_new(all, config, before);
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

bool generation_has_portal(const struct generation *generation)
{
    return generation->route.space >= SPACE_PORTALS;
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
