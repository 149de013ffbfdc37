/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * The rules of choice: what the zone, the entry of tcp-upstream-keepalive and the section upstream
 * mean together for one address; and the routes, which are made of that. Loading is left to load.c.
 */
#include "config/loader.h"

#include <string.h>

#define ROW(field)                                                                                 \
    options_find_field(OWNER_upstream_options, offsetof(struct upstream_options, field))

static bool is_written(const struct config *config, const struct option *option)
{
    return config->written[option_index(option)].line != 0;
}

/* An entry wants its addresses nailed: over TCP when nothing says TLS. */
static void apply_entry(const struct config *config, const struct config_entry *entry,
                        struct upstream_options *out)
{
    const struct option *max_requests =
        options_find_field(OWNER_config, offsetof(struct config, keepalive_max_requests));
    if (!transport_is_stream(out->transport))
        out->transport = TRANSPORT_TCP;
    if (is_written(config, max_requests))
        out->max_requests = config->keepalive_max_requests;
    options_overlay(&entry->layer, out);
}

/* The zone's own keys, and the name behind the address. */
static void apply_zone(const struct config_zone *zone, char *name, struct upstream_options *out)
{
    if (zone)
        options_overlay(&zone->layer, out);
    if (*name)
        out->tls.auth_name = name;
}

/* Who says how the servers of a zone prove who they are takes TLS for granted, as does who writes
 * transport: tls, if there is TLS without the entry. */
static bool demands_tls(const struct config_zone *zone, const char *name)
{
    return *name || option_in_layer(ROW(transport), &zone->layer) ||
           option_in_layer(ROW(tls.profile), &zone->layer) ||
           option_in_layer(ROW(tls.auth_name), &zone->layer) ||
           option_in_layer(ROW(tls.pins), &zone->layer) ||
           option_in_layer(ROW(tls.ca_bundle), &zone->layer);
}

static bool is_empty(const char *text)
{
    return !text || !*text;
}

/* An entry may ask for other proofs than the section, but not for none. */
static void keep_proofs(const struct tls_peer_options *alone, struct tls_peer_options *out)
{
    if (is_empty(out->auth_name))
        out->auth_name = alone->auth_name;
    if (is_empty(out->ca_bundle))
        out->ca_bundle = alone->ca_bundle;
    if (!out->pins)
        out->pins = alone->pins;
}

/* A zone that demands TLS has no less than what it would have without the entry: its queries may
 * not leak because someone lists the address elsewhere. */
static void keep_strict(const struct config *config, const struct config_zone *zone, char *name,
                        struct upstream_options *out)
{
    struct upstream_options alone = config->upstream;
    apply_zone(zone, name, &alone);
    if (!zone || !demands_tls(zone, name) || alone.tls.profile != TLS_STRICT)
        return;
    out->tls.profile = TLS_STRICT;
    if (transport_is_secure(alone.transport))
        out->transport = alone.transport;
    keep_proofs(&alone.tls, &out->tls);
}

/* Who demands TCP for a zone wants no query of it over UDP, unless some place says otherwise. */
static bool is_tcp_demanded(const struct config *config, const struct config_zone *zone,
                            const struct config_entry *entry, const struct upstream_options *out)
{
    if (!zone || out->transport != TRANSPORT_TCP || !option_in_layer(ROW(transport), &zone->layer))
        return false;
    const struct option *fallback = ROW(fallback);
    return !is_written(config, fallback) && !option_in_layer(fallback, &zone->layer) &&
           !(entry && option_in_layer(fallback, &entry->layer));
}

static void config_upstream_choose(const struct config *config, const struct config_zone *zone,
                                   char *name, const struct addr *addr,
                                   struct upstream_options *out)
{
    int index = prefix_set_find(config->entry_set, addr);
    const struct config_entry *entry = index < 0 ? NULL : &config->entries[index];
    *out = config->upstream;
    if (entry)
        apply_entry(config, entry, out);
    apply_zone(zone, name, out);
    if (entry)
        keep_strict(config, zone, name, out);
    if (upstream_options_are_strict(out) || is_tcp_demanded(config, zone, entry, out))
        out->fallback = UPSTREAM_FALLBACK_NONE;
    /* So that keys of TLS make no difference, not even to a reload, where it is not spoken. */
    if (!transport_is_secure(out->transport))
        out->tls = (struct tls_peer_options){.profile = TLS_STRICT};
    out->nailed = entry && transport_is_stream(out->transport);
    out->source = addr_family(addr) == AF_INET6 ? config->outgoing.v6 : config->outgoing.v4;
}

void config_upstream_options(const struct config *config, const struct config_zone *zone,
                             const struct addr *addr, struct upstream_options *out)
{
    char none[] = "";
    config_upstream_choose(config, zone, none, addr, out);
}

/* Of a server that is no recursive one. */
static uint16_t authoritative_port(const struct config *config, enum transport transport)
{
    return transport_is_secure(transport) ? transport_port(transport)
                                          : config->route.recursion.port;
}

void config_zone_upstream(const struct config *config, const struct config_zone *zone,
                          const struct config_upstream *upstream, struct route_upstream *out)
{
    out->addr = upstream->addr;
    config_upstream_choose(config, zone, upstream->auth_name, &upstream->addr, &out->options);
    if (upstream->has_port)
        return;
    enum transport transport = out->options.transport;
    addr_set_port(&out->addr, zone && zone->is_stub ? authoritative_port(config, transport)
                                                    : transport_port(transport));
}

/* ---- servers that recursion meets ---- */

/* Addresses that no single server of the world can have: ours, everybody's, or, with 0 in front and
 * from 240 on, nobody's. A link-local one has no interface there, and an IPv4 address as IPv6 would
 * go past what is said of that address here. */
static bool is_of_no_server(const struct addr *ip)
{
    size_t len;
    const uint8_t *bytes = addr_bytes(ip, &len);
    if (addr_is_any(ip) || addr_lacks_zone(ip))
        return true;
    if (len == 4)
        return bytes[0] == 0 || bytes[0] >= 224;
    const struct in6_addr *v6 = &ip->in6.sin6_addr;
    return bytes[0] == 0xff || IN6_IS_ADDR_V4MAPPED(v6) || IN6_IS_ADDR_V4COMPAT(v6);
}

bool config_meet(const void *context, const struct addr *ip, struct route_upstream *out)
{
    const struct config *config = context;
    struct addr own;
    char none[] = "";
    if (is_of_no_server(ip) || prefix_set_find(config->do_not_query.set, ip) >= 0)
        return false;
    out->addr = *ip;
    config_upstream_choose(config, NULL, none, ip, &out->options);
    addr_set_port(&out->addr, authoritative_port(config, out->options.transport));
    /* Plain text of opportunistic TLS goes where all other queries go. Rows are looked for there
     * alone: this is done for each address of each cut that is asked. */
    if (transport_is_secure(out->options.transport) && !is_written(config, ROW(fallback_port)))
        out->options.fallback_port = config->route.recursion.port;
    return !config_circle(config, out, &own) && !config_is_own(config, &out->addr);
}

/* ---- routes ---- */

static bool route_zone(struct loader *loader, const struct config_zone *zone,
                       struct route_zone *out)
{
    memcpy(out->wire, zone->wire, sizeof(out->wire));
    out->name_len = zone->name_len;
    out->kind = zone->is_stub ? ROUTE_STUB : ROUTE_FORWARD;
    out->first = zone->first;
    out->trust_ad = zone->trust_ad;
    out->cache = zone->cache;
    out->upstreams = loader_take(loader, zone->upstream_count, sizeof(*out->upstreams));
    if (!out->upstreams)
        return false;
    out->upstream_count = zone->upstream_count;
    for (size_t i = 0; i < zone->upstream_count; i++)
        config_zone_upstream(loader->config, zone, &zone->upstreams[i], &out->upstreams[i]);
    return true;
}

/* Behind those that are there. */
static bool route_zones(struct loader *loader, const struct config_zone *zones, size_t count)
{
    struct route_options *route = &loader->config->route;
    for (size_t i = 0; route->zones && i < count; i++, route->zone_count++)
        if (!route_zone(loader, &zones[i], &route->zones[route->zone_count]))
            return false;
    return route->zones != NULL;
}

/* The addresses of all zone upstreams, whatever their ports. NULL: memory is out. */
static struct prefix_set *zone_addresses(const struct route_options *route)
{
    struct prefix_set *set = prefix_set_new();
    for (size_t i = 0; set && i < route->zone_count; i++) {
        for (size_t j = 0; j < route->zones[i].upstream_count; j++) {
            struct prefix prefix = {.addr = route->zones[i].upstreams[j].addr};
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
        if (!prefix_is_single(prefix) || addr_lacks_zone(&prefix->addr) ||
            prefix_set_find(named, &prefix->addr) >= 0)
            continue;
        out->addr = prefix->addr;
        config_upstream_options(config, NULL, &out->addr, &out->options);
        addr_set_port(&out->addr, transport_port(out->options.transport));
        if (out->options.nailed && out->options.prewarm)
            config->route.prewarmed_count++;
    }
}

bool config_route(struct loader *loader)
{
    struct config *config = loader->config;
    struct route_options *route = &config->route;
    route->zones =
        loader_take(loader, config->zone_count + config->stub_count, sizeof(*route->zones));
    if (!route_zones(loader, config->zones, config->zone_count) ||
        !route_zones(loader, config->stub_zones, config->stub_count))
        return false;
    if (config->private_addresses.count)
        route->recursion.private = (struct private_addrs){.prefixes = config->private_addresses.set,
                                                          .names = config->private_domains.map};
    route->recursion.meet = config_meet;
    route->recursion.meet_context = config;
    route->prewarmed = loader_take(loader, config->entry_count, sizeof(*route->prewarmed));
    struct prefix_set *named = zone_addresses(route);
    if (!named || !config_find_own(config))
        problems_no_memory(loader->problems);
    if (named && route->zones && route->prewarmed)
        route_prewarmed(config, named);
    prefix_set_free(named);
    return !loader->problems->no_memory;
}
