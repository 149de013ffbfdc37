/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * The rules of choice: combines the zone, the entry of tcp-upstream-keepalive and the section
 * upstream for one address, and makes the routes and the policy of the results.
 */
#include "config/config_upstream.h"

#include <ifaddrs.h>
#include <stdio.h>
#include <string.h>

#define ROW(field)                                                                                 \
    options_find_field(OWNER_upstream_options, offsetof(struct upstream_options, field))

static bool is_written(const struct config *config, const struct option *option)
{
    return config->written[option_index(option)].line != 0;
}

/* An entry nails its addresses, over TCP unless something demands TLS. */
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

/* Applies the zone's own keys, and the name and pins given with the address. */
static void apply_zone(const struct config_zone *zone, const struct config_upstream *server,
                       struct upstream_options *out)
{
    if (zone)
        options_overlay(&zone->layer, out);
    if (server && *server->auth_name)
        out->tls.auth_name = server->auth_name;
    if (server && server->pins)
        out->tls.pins = server->pins;
}

/* Whether the zone demands TLS: it gives a means to prove the identity of its servers, or
 * transport: tls without the help of the entry. */
static bool demands_tls(const struct config_zone *zone, const struct config_upstream *server)
{
    return *server->auth_name || server->pins || option_in_layer(ROW(transport), &zone->layer) ||
           option_in_layer(ROW(tls.profile), &zone->layer) ||
           option_in_layer(ROW(tls.auth_name), &zone->layer) ||
           option_in_layer(ROW(tls.pins), &zone->layer) ||
           option_in_layer(ROW(tls.ca_bundle), &zone->layer);
}

/* An entry may replace the proofs of the section, but not remove them. */
static void keep_proofs(const struct tls_peer_options *alone, struct tls_peer_options *out)
{
    if (!loader_is_set(out->auth_name))
        out->auth_name = alone->auth_name;
    if (!loader_is_set(out->ca_bundle))
        out->ca_bundle = alone->ca_bundle;
    if (!out->pins)
        out->pins = alone->pins;
}

/* A zone that demands TLS keeps at least the protection that it has without the entry: its queries
 * must not leak because another place lists the address. */
static void keep_strict(const struct config *config, const struct config_zone *zone,
                        const struct config_upstream *server, struct upstream_options *out)
{
    struct upstream_options alone = config->upstream;
    apply_zone(zone, server, &alone);
    if (!zone || !demands_tls(zone, server) || alone.tls.profile != TLS_STRICT)
        return;
    out->tls.profile = TLS_STRICT;
    if (transport_is_secure(alone.transport))
        out->transport = alone.transport;
    keep_proofs(&alone.tls, &out->tls);
}

/* A zone that demands TCP sends no query over UDP, unless some place gives a fallback. */
static bool is_tcp_demanded(const struct config *config, const struct config_zone *zone,
                            const struct config_entry *entry, const struct upstream_options *out)
{
    if (!zone || out->transport != TRANSPORT_TCP || !option_in_layer(ROW(transport), &zone->layer))
        return false;
    const struct option *fallback = ROW(fallback);
    return !is_written(config, fallback) && !option_in_layer(fallback, &zone->layer) &&
           !(entry && option_in_layer(fallback, &entry->layer));
}

static struct sources *find_sources(const struct config *config, int family)
{
    return family == AF_INET6 ? config->outgoing.v6 : config->outgoing.v4;
}

/* zone and server: NULL for a server that belongs to no zone. entry: NULL for an address in no
 * prefix. */
static void choose_options(const struct config *config, const struct config_zone *zone,
                           const struct config_entry *entry, const struct config_upstream *server,
                           int family, struct upstream_options *out)
{
    *out = config->upstream;
    if (entry)
        apply_entry(config, entry, out);
    apply_zone(zone, server, out);
    if (entry)
        keep_strict(config, zone, server, out);
    if (upstream_options_are_strict(out) || is_tcp_demanded(config, zone, entry, out))
        out->fallback = UPSTREAM_FALLBACK_NONE;
    /* Without TLS its keys have no effect, so that a reload that changes them changes nothing. */
    if (!transport_is_secure(out->transport))
        out->tls = (struct tls_peer_options){.profile = TLS_STRICT};
    out->nailed = entry && transport_is_stream(out->transport);
    out->sources = find_sources(config, family);
}

static const struct config_entry *find_entry(const struct config *config, const struct addr *addr)
{
    int index = prefix_set_find(config->entry_set, addr);
    return index < 0 ? NULL : &config->entries[index];
}

/* The name of a server proves its identity where nothing else is given. */
static void use_host_name(const struct config_upstream *upstream, struct upstream_options *out)
{
    bool has_proof = loader_is_set(out->tls.auth_name) || out->tls.pins;
    if (upstream->host && transport_is_secure(out->transport) && !has_proof)
        out->tls.auth_name = upstream->host;
}

void config_zone_upstream(const struct config *config, const struct config_zone *zone,
                          const struct config_upstream *upstream, struct route_upstream *out)
{
    int family = addr_family(&upstream->addr);
    out->addr = upstream->addr;
    out->host = upstream->host;
    choose_options(config, zone, family ? find_entry(config, &upstream->addr) : NULL, upstream,
                   family, &out->options);
    use_host_name(upstream, &out->options);
    if (upstream->has_port || !family)
        return;
    enum transport transport = out->options.transport;
    bool is_plain_stub = zone->is_stub && !transport_is_secure(transport);
    addr_set_port(&out->addr,
                  is_plain_stub ? config->route.recursion.port : transport_port(transport));
}

const char *config_server_text(const struct route_upstream *server,
                               char out[CONFIG_SERVER_TEXT_MAX])
{
    if (addr_family(&server->addr))
        return addr_format(&server->addr, out);
    snprintf(out, CONFIG_SERVER_TEXT_MAX, "%s", server->host);
    return out;
}

/* ---- the policy for discovered servers ---- */

/* Opportunistic TLS falls back to the port of all other queries to authoritative servers. */
static void choose_discovered(const struct config *config, const struct config_entry *entry,
                              int family, struct upstream_options *out)
{
    choose_options(config, NULL, entry, NULL, family, out);
    if (transport_is_secure(out->transport) && !is_written(config, ROW(fallback_port)))
        out->fallback_port = config->route.recursion.port;
}

static bool add_own_address(struct prefix_set *set, const struct sockaddr *sa)
{
    struct prefix prefix;
    if (!sa || addr_from_sockaddr(&prefix.addr, sa) != ERR_OK)
        return true;
    addr_set_port(&prefix.addr, 0);
    prefix.length = addr_family(&prefix.addr) == AF_INET6 ? 128 : 32;
    return prefix_set_add(set, &prefix, 0) != ERR_NO_MEMORY; /* two interfaces may share one */
}

/* Without permission to list the interfaces, none of our addresses is known. */
static bool add_own_addresses(struct prefix_set *set)
{
    struct ifaddrs *first;
    if (getifaddrs(&first) != 0)
        return true;
    bool is_fine = true;
    for (const struct ifaddrs *at = first; at && is_fine; at = at->ifa_next)
        is_fine = add_own_address(set, at->ifa_addr);
    freeifaddrs(first);
    return is_fine;
}

/* The addresses of this machine at the time of loading: a reload notices new ones. */
static bool find_own_addresses(struct config *config)
{
    if (!policy_has_wildcard(&config->policy))
        return true;
    config->own_set = prefix_set_new();
    return config->own_set && add_own_addresses(config->own_set) &&
           prefix_set_freeze(config->own_set) == ERR_OK;
}

void config_note_listeners(struct config *config)
{
    const struct server_options *server = &config->server;
    config->policy.listeners[0] =
        (struct policy_listeners){"listen", server->listen, server->listen_count};
    config->policy.listeners[1] =
        (struct policy_listeners){"listen-tls", server->listen_tls, server->listen_tls_count};
    config->policy.listeners[2] =
        (struct policy_listeners){"listen-https", server->listen_https, server->listen_https_count};
}

static bool fill_policy(struct loader *loader)
{
    struct config *config = loader->config;
    struct policy *policy = &config->policy;
    struct upstream_options *by_prefix =
        loader_take(loader, config->entry_count, sizeof(*by_prefix));
    if (!by_prefix)
        return false;
    for (size_t i = 0; i < config->entry_count; i++) {
        const struct config_entry *entry = &config->entries[i];
        choose_discovered(config, entry, addr_family(&entry->prefix.addr), &by_prefix[i]);
    }
    choose_discovered(config, NULL, AF_INET, &policy->ipv4);
    choose_discovered(config, NULL, AF_INET6, &policy->ipv6);
    policy->prefixes = config->entry_set;
    policy->by_prefix = by_prefix;
    policy->port = config->route.recursion.port;
    policy->no_ipv4 = config->route.recursion.no_ipv4 = !config->recursion_ipv4;
    policy->no_ipv6 = config->route.recursion.no_ipv6 = !config->recursion_ipv6;
    policy->do_not_query = config->do_not_query.set;
    if (!find_own_addresses(config))
        return false;
    policy->own = config->own_set;
    return true;
}

/* ---- routes ---- */

void config_route_settings(const struct config_zone *zone, struct route_zone *out)
{
    *out = (struct route_zone){.name_len = zone->name_len,
                               .first = zone->first,
                               .trust_ad = zone->trust_ad,
                               .cache = zone->cache,
                               .validate = zone->validate,
                               .aggressive = zone->aggressive};
    memcpy(out->wire, zone->wire, sizeof(out->wire));
}

static bool route_zone(struct loader *loader, const struct config_zone *zone,
                       struct route_zone *out)
{
    config_route_settings(zone, out);
    out->kind = zone->is_stub ? ROUTE_STUB : ROUTE_FORWARD;
    out->upstreams = loader_take(loader, zone->upstream_count, sizeof(*out->upstreams));
    if (!out->upstreams)
        return false;
    out->upstream_count = zone->upstream_count;
    out->awaits_hosts = zone->upstream_count == 0;
    for (size_t i = 0; i < zone->upstream_count; i++)
        config_zone_upstream(loader->config, zone, &zone->upstreams[i], &out->upstreams[i]);
    return true;
}

/* Appends routes for the zones. */
static bool route_zones(struct loader *loader, const struct config_zone *zones, size_t count)
{
    struct route_options *route = &loader->config->route;
    for (size_t i = 0; route->zones && i < count; i++, route->zone_count++)
        if (!route_zone(loader, &zones[i], &route->zones[route->zone_count]))
            return false;
    return route->zones != NULL;
}

/* The addresses of all zone upstreams, whatever their ports. NULL: out of memory. */
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

/* Adds the single addresses that no zone names. A zone dials its own addresses. */
static void route_prewarmed(struct config *config, const struct prefix_set *named)
{
    for (size_t i = 0; i < config->entry_count; i++) {
        const struct prefix *prefix = &config->entries[i].prefix;
        struct route_upstream *out = &config->route.prewarmed[config->route.prewarmed_count];
        if (!prefix_is_single(prefix) || addr_lacks_zone(&prefix->addr) ||
            prefix_set_find(named, &prefix->addr) >= 0)
            continue;
        out->addr = prefix->addr;
        choose_options(config, NULL, find_entry(config, &out->addr), NULL, addr_family(&out->addr),
                       &out->options);
        addr_set_port(&out->addr, transport_port(out->options.transport));
        if (out->options.nailed && out->options.prewarm)
            config->route.prewarmed_count++;
    }
}

bool config_route_zones(struct loader *loader, struct config *part)
{
    struct config *whole = loader->config;
    loader->config = part;
    part->route.zone_count = 0;
    part->route.zones =
        loader_take(loader, part->zone_count + part->stub_count, sizeof(*part->route.zones));
    bool fine = route_zones(loader, part->zones, part->zone_count) &&
                route_zones(loader, part->stub_zones, part->stub_count);
    loader->config = whole;
    return fine;
}

bool config_route(struct loader *loader)
{
    struct config *config = loader->config;
    struct route_options *route = &config->route;
    if (!config_route_zones(loader, config))
        return false;
    if (config->private_addresses.count)
        route->recursion.private = (struct private_addrs){.prefixes = config->private_addresses.set,
                                                          .names = config->private_domains.map};
    route->recursion.server_options = policy_choose;
    route->recursion.server_context = &config->policy;
    route->prewarmed = loader_take(loader, config->entry_count, sizeof(*route->prewarmed));
    struct prefix_set *named = zone_addresses(route);
    if (!named || !fill_policy(loader))
        problems_no_memory(loader->problems);
    if (named && route->zones && route->prewarmed)
        route_prewarmed(config, named);
    prefix_set_free(named);
    return !loader->problems->no_memory;
}
