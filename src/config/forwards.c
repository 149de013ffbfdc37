/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* A list, small enough to be walked over, and the routes it makes with a configuration. */
#include "config/forwards.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"

/* count: there is none. */
static size_t forwards_place_of(const struct forwards *forwards, struct name name)
{
    size_t i = 0;
    while (i < forwards->count && !name_equal_exact(forward_name(forwards->list[i]), name))
        i++;
    return i;
}

void forwards_deinit(struct forwards *forwards)
{
    for (size_t i = 0; i < forwards->count; i++)
        free(forwards->list[i]);
    forwards->count = 0;
}

const struct forward *forwards_find(const struct forwards *forwards, struct name name)
{
    size_t place = forwards_place_of(forwards, name);
    return place < forwards->count ? forwards->list[place] : NULL;
}

enum err forwards_put(struct forwards *forwards, const struct forward *forward)
{
    size_t place = forwards_place_of(forwards, forward_name(forward));
    if (place == FORWARDS_MAX)
        return ERR_LIMIT;
    if (place == forwards->count) {
        forwards->list[place] = malloc(sizeof(*forward));
        if (!forwards->list[place])
            return ERR_NO_MEMORY;
        forwards->count++;
    }
    *forwards->list[place] = *forward;
    return ERR_OK;
}

bool forwards_remove(struct forwards *forwards, struct name name)
{
    size_t place = forwards_place_of(forwards, name);
    if (place == forwards->count)
        return false;
    free(forwards->list[place]);
    forwards->count--;
    memmove(&forwards->list[place], &forwards->list[place + 1],
            (forwards->count - place) * sizeof(forwards->list[0]));
    return true;
}

/* ---- over the file ---- */

static char *forwards_copy_name(struct arena *arena, const char *name)
{
    return arena_copy(arena, name, strlen(name) + 1);
}

static enum err lay_zone(const struct config *config, size_t place, const struct forward *forward,
                         struct arena *arena, struct route_zone *out)
{
    struct config_zone zone;
    size_t count = forward->upstream_count;
    forward_zone(config, place, forward, &zone);
    memcpy(out->wire, zone.wire, sizeof(out->wire));
    out->name_len = zone.name_len;
    out->kind = ROUTE_FORWARD;
    out->first = zone.first;
    out->trust_ad = zone.trust_ad;
    out->cache = zone.cache;
    out->upstream_count = count;
    out->upstreams = arena_take(arena, count * sizeof(*out->upstreams));
    for (size_t i = 0; i < count; i++) {
        char *name = forwards_copy_name(arena, forward->upstreams[i].auth_name);
        if (!out->upstreams || !name)
            return ERR_NO_MEMORY;
        forward_route(config, &zone, &forward->upstreams[i], name, &out->upstreams[i]);
    }
    return ERR_OK;
}

enum err forwards_lay_over(const struct forwards *forwards, const struct config *config,
                           struct arena *arena, struct route_options *out)
{
    *out = config->route;
    if (forwards->count == 0)
        return ERR_OK;
    size_t room = config->route.zone_count + forwards->count;
    out->zones = arena_take(arena, room * sizeof(*out->zones));
    if (!out->zones)
        return ERR_NO_MEMORY;
    memcpy(out->zones, config->route.zones, config->route.zone_count * sizeof(*out->zones));
    for (size_t i = 0; i < forwards->count; i++) {
        size_t of_file = forward_place(config, forwards->list[i]);
        size_t place = of_file < config->route.zone_count ? of_file : out->zone_count++;
        enum err err = lay_zone(config, of_file, forwards->list[i], arena, &out->zones[place]);
        if (err)
            return err;
    }
    return ERR_OK;
}

enum err forwards_spare(const struct forwards *forwards, const struct config *config,
                        struct local_names **out)
{
    enum err err = ERR_OK;
    *out = NULL;
    if (forwards->count == 0 || !config->local)
        return ERR_OK;
    struct local_names *names = local_names_new_over(config->local);
    if (!names)
        return ERR_NO_MEMORY;
    for (size_t i = 0; i < forwards->count && !err; i++)
        err = local_names_exempt(names, forward_name(forwards->list[i]));
    if (err)
        local_names_free(names);
    else
        *out = names;
    return err;
}
