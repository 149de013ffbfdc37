/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONFIG_CONFIG_UPSTREAM_H
#define NAILUP_CONFIG_CONFIG_UPSTREAM_H

#include "config/loader.h"

/*
 * The upstream of a zone: its address with the default port of its transport, and how it is asked,
 * with every rule of choice applied. A server by name has no address, and no entry applies to it;
 * its name is what its certificate must match unless something else is given. Each setting comes
 * from the zone, else from the entry of tcp-upstream-keepalive with the longest matching prefix,
 * else from the section upstream. An entry never weakens a strict TLS zone. Pointers in out live as
 * long as the configuration.
 */
void config_zone_upstream(const struct config *config, const struct config_zone *zone,
                          const struct config_upstream *upstream, struct route_upstream *out);

/* The servers of a zone: those by address, then those by name. */
static inline size_t config_zone_server_count(const struct config_zone *zone)
{
    return zone->upstream_count + zone->host_count;
}

static inline const struct config_upstream *config_zone_server(const struct config_zone *zone,
                                                               size_t n)
{
    return n < zone->upstream_count ? &zone->upstreams[n] : &zone->hosts[n - zone->upstream_count];
}

/* Formats a server for a sentence: its address, or its name. Returns out. */
enum { CONFIG_SERVER_TEXT_MAX = ADDR_TEXT_MAX + ADDR_NAME_MAX };
const char *config_server_text(const struct route_upstream *server,
                               char out[CONFIG_SERVER_TEXT_MAX]);

/* Sets the name of the route and all that the zone says about its answers. The kind and the servers
 * are left to the caller, and all other members are zero. */
void config_route_settings(const struct config_zone *zone, struct route_zone *out);

/* Passes the addresses of the listeners to the policy; the checks of zones need them. */
void config_note_listeners(struct config *config);

/* Fills part->route.zones from the zones of part, which is loader->config or a view of it. False:
 * out of memory. */
bool config_route_zones(struct loader *loader, struct config *part);

/* Fills config->route and config->policy when everything is loaded. False: out of memory. */
bool config_route(struct loader *loader);

#endif
