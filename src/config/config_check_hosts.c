/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Rejects loops: the name of a server may not depend on servers that have names only.
 */
#include "config/config_check_hosts.h"

#include <string.h>

#include "config/place.h"
#include "dns/name.h"
#include "upstream/policy.h"

static const struct config_zone *longer_zone(const struct config_zone *zones, size_t count,
                                             struct name host, const struct config_zone *best)
{
    for (size_t i = 0; i < count; i++) {
        struct name zone = {zones[i].wire, zones[i].name_len};
        if (name_is_below(host, zone) && (!best || zone.len > best->name_len))
            best = &zones[i];
    }
    return best;
}

/* The zone that takes the name; NULL: none does. */
static const struct config_zone *zone_of_host(const struct config *config, struct name host)
{
    const struct config_zone *best = longer_zone(config->zones, config->zone_count, host, NULL);
    return longer_zone(config->stub_zones, config->stub_count, host, best);
}

static void check_host(struct loader *loader, const struct place *place,
                       const struct config_upstream *server, size_t index)
{
    const struct config *config = loader->config;
    uint8_t wire[NAME_WIRE_MAX];
    char text[NAME_TEXT_MAX];
    struct name host;
    if (name_parse(&host, wire, server->host, strlen(server->host))) {
        place_upstream_error(loader, place, server->position, index, "%.60s is not a domain name",
                             server->host);
        return;
    }
    const struct config_zone *zone = zone_of_host(config, host);
    if (config->bootstrap.count || (zone && zone->upstream_count > 0))
        return;
    if (zone)
        place_upstream_error(loader, place, server->position, index,
                             "the name %.60s belongs to the zone %.60s, which has no server with "
                             "an address; add one, or upstream.bootstrap: [9.9.9.9]",
                             server->host,
                             name_format((struct name){zone->wire, zone->name_len}, text));
    else if (!config->route.recursion.enabled)
        place_upstream_error(loader, place, server->position, index,
                             "no zone has the name %.60s, and recursion.enabled is no; add "
                             "upstream.bootstrap: [9.9.9.9]",
                             server->host);
}

static void check_zones_with_hosts(struct loader *loader, const struct config_zone *zones,
                                   size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct config_zone *zone = &zones[i];
        struct place place = {zone->is_stub ? "stub-zones" : "forward-zones", true, zone->position,
                              i};
        for (size_t j = 0; j < zone->host_count; j++)
            check_host(loader, &place, &zone->hosts[j], zone->upstream_count + j);
    }
}

static void check_bootstrap(struct loader *loader)
{
    const struct config_servers *servers = &loader->config->bootstrap;
    for (size_t i = 0; i < servers->count; i++) {
        struct route_upstream server = {.addr = servers->list[i],
                                        .options = upstream_options_default};
        struct addr listener;
        char text[ADDR_TEXT_MAX];
        const char *key = policy_find_loop(&loader->config->policy, &server, &listener);
        if (key)
            problems_add(loader->problems, loader_position(loader, "upstream.bootstrap"),
                         "upstream.bootstrap", "%s is an address of server.%s: queries would loop",
                         addr_format(&listener, text), key);
    }
}

void config_check_hosts(struct loader *loader)
{
    const struct config *config = loader->config;
    check_bootstrap(loader);
    check_zones_with_hosts(loader, config->zones, config->zone_count);
    check_zones_with_hosts(loader, config->stub_zones, config->stub_count);
}
