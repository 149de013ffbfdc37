/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * The rules of choice: what the zone, the entry of tcp-upstream-keepalive and the section upstream
 * mean together for one address; and the routes, which are made of that. Loading is left to load.c.
 */
#include "config/loader.h"

#include <string.h>

enum { DNS_PORT = 53 };

#define ROW(field)                                                                                 \
    options_find_field(OWNER_upstream_options, offsetof(struct upstream_options, field))

static bool is_written(const struct config *config, const struct option *option)
{
    return config->written[option_index(option)].line != 0;
}

static void apply_entry(const struct config *config, const struct config_entry *entry,
                        struct upstream_options *out)
{
    const struct option *max_requests =
        options_find_field(OWNER_config, offsetof(struct config, keepalive_max_requests));
    out->transport = UPSTREAM_TCP;
    if (is_written(config, max_requests))
        out->max_requests = config->keepalive_max_requests;
    options_overlay(&entry->layer, out);
}

/* Who demands TCP for a zone wants no query of it over UDP, unless some place says otherwise. */
static void apply_fallback_rule(const struct config *config, const struct config_zone *zone,
                                const struct config_entry *entry, struct upstream_options *out)
{
    const struct option *fallback = ROW(fallback);
    if (!zone || !option_in_layer(ROW(transport), &zone->layer) || out->transport != UPSTREAM_TCP)
        return;
    bool is_said = is_written(config, fallback) || option_in_layer(fallback, &zone->layer) ||
                   (entry && option_in_layer(fallback, &entry->layer));
    if (!is_said)
        out->fallback = UPSTREAM_FALLBACK_NONE;
}

void config_upstream_options(const struct config *config, const struct config_zone *zone,
                             const struct addr *addr, struct upstream_options *out)
{
    int index = prefix_set_find(config->entry_set, addr);
    const struct config_entry *entry = index < 0 ? NULL : &config->entries[index];
    *out = config->upstream;
    if (entry)
        apply_entry(config, entry, out);
    if (zone)
        options_overlay(&zone->layer, out);
    apply_fallback_rule(config, zone, entry, out);
    out->nailed = entry && out->transport == UPSTREAM_TCP;
    out->source = addr_family(addr) == AF_INET6 ? config->outgoing.v6 : config->outgoing.v4;
}

/* ---- routes ---- */

static bool route_zone(struct loader *loader, const struct config_zone *zone,
                       struct route_zone *out)
{
    memcpy(out->wire, zone->wire, sizeof(out->wire));
    out->name_len = zone->name_len;
    out->trust_ad = zone->trust_ad;
    out->cache = zone->cache;
    out->upstreams = loader_take(loader, zone->upstream_count, sizeof(*out->upstreams));
    if (!out->upstreams)
        return false;
    out->upstream_count = zone->upstream_count;
    for (size_t i = 0; i < zone->upstream_count; i++) {
        out->upstreams[i].addr = zone->upstreams[i];
        config_upstream_options(loader->config, zone, &zone->upstreams[i],
                                &out->upstreams[i].options);
    }
    return true;
}

/* The addresses of all zone upstreams, whatever their ports. NULL: memory is out. */
static struct prefix_set *zone_addresses(const struct config *config)
{
    struct prefix_set *set = prefix_set_new();
    for (size_t i = 0; set && i < config->zone_count; i++) {
        for (size_t j = 0; j < config->zones[i].upstream_count; j++) {
            struct prefix prefix = {.addr = config->zones[i].upstreams[j]};
            prefix.length = addr_family(&prefix.addr) == AF_INET6 ? 128 : 32;
            if (prefix_set_add(set, &prefix, 0) == ERR_NO_MEMORY) {
                prefix_set_free(set);
                return NULL;
            }
        }
    }
    if (set && prefix_set_freeze(set)) {
        prefix_set_free(set);
        return NULL;
    }
    return set;
}

/* Single addresses that no zone names: those a zone names are dialled as it wants them. */
static void route_prewarmed(struct config *config, const struct prefix_set *named)
{
    for (size_t i = 0; i < config->entry_count; i++) {
        const struct prefix *prefix = &config->entries[i].prefix;
        struct route_upstream *out = &config->route.prewarmed[config->route.prewarmed_count];
        if (!prefix_is_single(prefix) || prefix_set_find(named, &prefix->addr) >= 0)
            continue;
        out->addr = prefix->addr;
        addr_set_port(&out->addr, DNS_PORT);
        config_upstream_options(config, NULL, &out->addr, &out->options);
        if (out->options.nailed && out->options.prewarm)
            config->route.prewarmed_count++;
    }
}

bool config_route(struct loader *loader)
{
    struct config *config = loader->config;
    struct route_options *route = &config->route;
    route->zones = loader_take(loader, config->zone_count, sizeof(*route->zones));
    for (; route->zones && route->zone_count < config->zone_count; route->zone_count++)
        if (!route_zone(loader, &config->zones[route->zone_count],
                        &route->zones[route->zone_count]))
            return false;
    route->prewarmed = loader_take(loader, config->entry_count, sizeof(*route->prewarmed));
    struct prefix_set *named = zone_addresses(config);
    if (!named)
        problems_no_memory(loader->problems);
    if (named && route->zones && route->prewarmed)
        route_prewarmed(config, named);
    prefix_set_free(named);
    return !loader->problems->no_memory;
}
