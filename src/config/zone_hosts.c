/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * A server by name becomes servers by address, and config_upstream applies the rules of choice to
 * each. Invariant: the places of the zones in the routes stay as they are.
 */
#include "config/zone_hosts.h"

#include <string.h>

#include "base/check.h"
#include "config/config_upstream.h"
#include "upstream/exchange.h"
#include "upstream/policy.h"

const struct zone_host *zone_hosts_find(const struct zone_hosts *hosts, const char *name)
{
    for (size_t i = 0; i < hosts->count; i++)
        if (strcmp(hosts->list[i].name, name) == 0)
            return &hosts->list[i];
    return NULL;
}

static bool may_be_server(const struct addr *addr)
{
    size_t len;
    const uint8_t *bytes = addr_bytes(addr, &len);
    return !addr_is_any(addr) && !addr_lacks_zone(addr) &&
           (len == 4 ? bytes[0] < 224 : bytes[0] != 0xff);
}

static bool route_has(const struct route_zone *route, const struct addr *addr)
{
    for (size_t i = 0; i < route->upstream_count; i++)
        if (addr_equal(&route->upstreams[i].addr, addr))
            return true;
    return false;
}

static void zone_hosts_add_address(const struct config *config, const struct config_zone *zone,
                                   const struct config_upstream *server, const struct addr *addr,
                                   struct route_zone *route)
{
    struct config_upstream at = *server;
    struct route_upstream upstream;
    struct addr listener;
    at.addr = *addr;
    at.has_port = server->host_port > 0;
    addr_set_port(&at.addr, server->host_port);
    config_zone_upstream(config, zone, &at, &upstream);
    if (may_be_server(addr) && !route_has(route, &upstream.addr) &&
        !policy_find_loop(&config->policy, &upstream, &listener))
        route->upstreams[route->upstream_count++] = upstream;
}

static void zone_hosts_add(const struct zone_hosts *hosts, const struct config *config,
                           const struct config_zone *zone, struct route_zone *route)
{
    for (size_t i = 0; i < zone->host_count; i++) {
        const struct zone_host *host = zone_hosts_find(hosts, zone->hosts[i].host);
        for (size_t j = 0; host && j < host->addr_count; j++)
            if (route->upstream_count < EXCHANGE_GROUP_MAX)
                zone_hosts_add_address(config, zone, &zone->hosts[i], &host->addrs[j], route);
    }
    route->awaits_hosts = route->upstream_count == 0;
}

/* The most upstreams that the zone may get: its addresses, and those of its hosts. */
static size_t zone_hosts_count(const struct zone_hosts *hosts, const struct config_zone *zone)
{
    size_t count = zone->upstream_count;
    for (size_t i = 0; i < zone->host_count; i++) {
        const struct zone_host *host = zone_hosts_find(hosts, zone->hosts[i].host);
        count += host ? host->addr_count : 0;
    }
    return MIN(count, (size_t)EXCHANGE_GROUP_MAX);
}

static enum err zone_hosts_make_route(const struct zone_hosts *hosts, const struct config *config,
                                      const struct config_zone *zone, struct arena *arena,
                                      struct route_zone *route)
{
    struct route_upstream *of_file = route->upstreams;
    size_t count = zone_hosts_count(hosts, zone);
    route->upstreams = arena_take(arena, MAX(count, 1) * sizeof(*route->upstreams));
    if (!route->upstreams)
        return ERR_NO_MEMORY;
    MUST(route->upstream_count <= EXCHANGE_GROUP_MAX);
    if (route->upstream_count)
        memcpy(route->upstreams, of_file, route->upstream_count * sizeof(*of_file));
    zone_hosts_add(hosts, config, zone, route);
    return ERR_OK;
}

enum err zone_hosts_routes(const struct zone_hosts *hosts, const struct config *config,
                           struct arena *arena, struct route_options *out)
{
    size_t count = config->route.zone_count;
    *out = config->route;
    if (config->host_count == 0)
        return ERR_OK;
    out->zones = arena_copy(arena, config->route.zones, count * sizeof(*out->zones));
    if (!out->zones)
        return ERR_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        bool is_stub = i >= config->zone_count;
        const struct config_zone *zone =
            is_stub ? &config->stub_zones[i - config->zone_count] : &config->zones[i];
        if (zone->host_count > 0 &&
            zone_hosts_make_route(hosts, config, zone, arena, &out->zones[i]))
            return ERR_NO_MEMORY;
    }
    return ERR_OK;
}
