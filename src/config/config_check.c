/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Finds values that contradict each other when everything is loaded: in sections, entries and
 * zones, with every rule of choice applied. Each value alone was checked when it was read.
 * config_check_tls.c checks TLS.
 */
#include "config/config_check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "config/config_check_hosts.h"
#include "config/config_check_tls.h"
#include "config/config_upstream.h"
#include "config/load_zones.h"
#include "config/place.h"
#include "tap/dnstap.h"

#define ROW(field)                                                                                 \
    options_find_field(OWNER_upstream_options, offsetof(struct upstream_options, field))

/* ---- sections ---- */

/* Chooses between two conflicting keys: the one that the file gives. */
static const char *written_one(const struct config *config, const char *path, const char *other)
{
    return config_is_given(config, path) ? path : other;
}

static void check_ip_versions(struct loader *loader)
{
    const struct config *config = loader->config;
    if (config->recursion_ipv4 || config->recursion_ipv6 || !config_has_recursion(config))
        return;
    problems_add(loader->problems, loader_position(loader, "recursion.ipv6"), "recursion.ipv6",
                 "and recursion.ipv4 are no, so recursion could ask no server; write one yes, or "
                 "recursion.enabled: no");
}

static void check_has_zone(struct loader *loader)
{
    const struct yaml_tree_node *zones =
        loader->root ? yaml_tree_find(loader->root, "forward-zones") : NULL;
    const struct config *config = loader->config;
    if (config->route.recursion.enabled || config->stub_count)
        return;
    if (zones && (zones->count || zones->broken || !yaml_tree_is_empty(zones)) &&
        (zones->kind != TREE_LIST || zones->count))
        return;
    problems_add(loader->problems, loader_position(loader, "recursion.enabled"),
                 "recursion.enabled",
                 "is no, and no zone has servers, so nothing could be answered; write yes, or add "
                 "the servers to ask, for example forward-zones: [{name: ., upstreams: "
                 "[192.0.2.53]}]");
}

/* This is a warning, not an error: all servers of a private hierarchy may support TLS. */
static void warn_of_tls_everywhere(struct loader *loader)
{
    const struct config *config = loader->config;
    if (transport_is_secure(config->upstream.transport) && config_has_recursion(config))
        loader_warn(loader, "upstream.transport",
                    "upstream.transport: tls also applies to the authoritative servers that "
                    "recursion discovers, and few of them support it; write it into the zones "
                    "and entries whose servers do, or write recursion.enabled: no");
}

/* Whether recursion resolves the names of the zone, and not a forward zone's servers. Both kinds of
 * zones with servers count, the longest name first. */
static bool is_reached_by_recursion(const struct config *config, struct name name)
{
    const struct config_zone *lists[] = {config->zones, config->stub_zones};
    const size_t counts[] = {config->zone_count, config->stub_count};
    bool is_reached = config->route.recursion.enabled;
    unsigned longest = 0;
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        for (size_t j = 0; j < counts[i]; j++) {
            const struct config_zone *zone = &lists[i][j];
            if (zone->name_len <= longest ||
                !name_is_below(name, (struct name){zone->wire, zone->name_len}))
                continue;
            longest = zone->name_len;
            is_reached = zone->is_stub;
        }
    return is_reached;
}

/* This is a warning, not an error: the zone waits for a forward zone to go. */
static void warn_of_unused_zones(struct loader *loader)
{
    const struct config *config = loader->config;
    char text[KIND_TEXT_MAX];
    for (size_t i = 0; i < config->auth_zone_count; i++) {
        const struct config_auth_zone *zone = &config->auth_zones[i];
        if (zone->catalog || zone->use != ZONE_FOR_UPSTREAM ||
            is_reached_by_recursion(config, (struct name){zone->wire, zone->name_len}))
            continue;
        if (zone->is_local_root)
            loader_warn(loader, "local-root",
                        "local-root: recursion does not start at the root here, so nothing uses "
                        "the root zone; leave local-root out");
        else
            loader_warn(loader, "auth-zones",
                        "auth-zones: %s is for: upstream, but its names go to the servers of a "
                        "forward zone and not to recursion, so nothing uses it; write for: both, "
                        "or a stub zone",
                        kind_format(KIND_ZONE_NAME, zone->wire, text));
    }
}

static void check_ttls(struct loader *loader)
{
    const struct config *config = loader->config;
    const char *path = written_one(config, "cache.min-ttl", "cache.max-ttl");
    if (config->cache.min_ttl_s > config->cache.max_ttl_s)
        problems_add(loader->problems, loader_position(loader, path), path,
                     "min-ttl %us is above max-ttl %us; lower the one or raise the other",
                     config->cache.min_ttl_s, config->cache.max_ttl_s);
}

static void check_socket(struct loader *loader)
{
    const struct config *config = loader->config;
    size_t len = strlen(config->control_socket);
    if (len > CONFIG_SOCKET_MAX)
        problems_add(loader->problems, loader_position(loader, "control.socket"), "control.socket",
                     "has %zu bytes; the system accepts paths of at most %d", len,
                     CONFIG_SOCKET_MAX);
}

/* Whether two TCP sockets could not both bind the address, or would share its clients. */
static bool is_same_place(const struct addr *a, const struct addr *b)
{
    return addr_port(a) == addr_port(b) && addr_family(a) == addr_family(b) &&
           (addr_equal(a, b) || addr_is_any(a) || addr_is_any(b));
}

static void check_metrics(struct loader *loader, const struct addr *list, size_t count,
                          const char *key)
{
    const struct config *config = loader->config;
    char text[ADDR_TEXT_MAX];
    for (size_t i = 0; i < count; i++)
        if (is_same_place(&config->metrics_listen, &list[i]))
            problems_add(loader->problems, loader_position(loader, "metrics.listen"),
                         "metrics.listen", "conflicts with %s of %s; choose another port",
                         addr_format(&list[i], text), key);
}

static void report_dnstap(struct loader *loader, const char *path, const char *sentence)
{
    size_t row = option_index(options_find(path));
    problems_add(loader->problems, loader->config->written[row], path, "%s", sentence);
}

static void check_dnstap(struct loader *loader)
{
    const struct dnstap_options *dnstap = &loader->config->dnstap;
    if (strlen(dnstap->socket) > CONFIG_SOCKET_MAX)
        report_dnstap(loader, "dnstap.socket",
                      "is too long; the system accepts paths of at most 107 bytes");
    if (*dnstap->socket && *dnstap->file)
        report_dnstap(loader, "dnstap.file",
                      "cannot be combined with dnstap.socket; keep one of them");
    if ((*dnstap->socket || *dnstap->file) && !dnstap_is_built_in())
        report_dnstap(loader, *dnstap->socket ? "dnstap.socket" : "dnstap.file",
                      "is not available, because this nailupd was built without dnstap; leave it "
                      "out, or build "
                      "with NAILUP_DNSTAP=ON");
}

/* ---- connections and max-connections ---- */

static bool has_too_many(const struct upstream_options *options)
{
    return options->connections > options->max_connections;
}

static bool gives_connections(const struct config_layer *layer)
{
    return option_in_layer(ROW(connections), layer) || option_in_layer(ROW(max_connections), layer);
}

static void report_connections(struct loader *loader, const struct place *place, const char *key,
                               const struct upstream_options *options)
{
    place_error(loader, place, key,
                "connections %u is above max-connections %u; lower the one or raise the other",
                options->connections, options->max_connections);
}

static void check_section(struct loader *loader)
{
    struct place place = {.key = "upstream"};
    if (has_too_many(&loader->config->upstream))
        report_connections(loader, &place,
                           place_has(loader, &place, "connections") ? "connections"
                                                                    : "max-connections",
                           &loader->config->upstream);
}

static void check_entry(struct loader *loader, size_t index)
{
    const struct config_entry *entry = &loader->config->entries[index];
    struct upstream_options options = loader->config->upstream;
    options_overlay(&entry->layer, &options);
    if (!gives_connections(&entry->layer) || !has_too_many(&options))
        return;
    struct place place = {"tcp-upstream-keepalive", true, entry->position, index};
    report_connections(loader, &place, NULL, &options);
}

/* ---- zones ---- */

static void check_loop(struct loader *loader, const struct place *place,
                       const struct route_upstream *upstream)
{
    char text[ADDR_TEXT_MAX];
    struct addr addr;
    const char *key = policy_find_loop(&loader->config->policy, upstream, &addr);
    if (key)
        place_error(loader, place, NULL, "%s is an address of server.%s: queries would loop",
                    addr_format(&addr, text), key);
}

static void check_trust(struct loader *loader, const struct place *place,
                        const struct route_upstream *upstream)
{
    char text[CONFIG_SERVER_TEXT_MAX];
    if (!policy_is_trustworthy(upstream))
        place_error(loader, place, NULL,
                    "trust-ad: yes needs upstreams over TLS with profile: strict, or on the "
                    "loopback interface, and %s is neither: its answers could be changed in "
                    "transit",
                    config_server_text(upstream, text));
}

static void check_first(struct loader *loader, const struct config_zone *zone,
                        const struct place *place)
{
    if (zone->first && !loader->config->route.recursion.enabled)
        place_error(loader, place, "first",
                    "falls back to recursion, which recursion.enabled: no turns off; leave one of "
                    "them out");
}

/* Checks each upstream with every rule applied. Reports the error about connections once. */
static void check_zone(struct loader *loader, const struct config_zone *zone,
                       const struct place *place)
{
    bool is_fine = true;
    check_first(loader, zone, place);
    for (size_t i = 0; i < config_zone_server_count(zone); i++) {
        struct route_upstream upstream;
        config_zone_upstream(loader->config, zone, config_zone_server(zone, i), &upstream);
        if (is_fine && gives_connections(&zone->layer) && has_too_many(&upstream.options)) {
            report_connections(loader, place, NULL, &upstream.options);
            is_fine = false;
        }
        if (i < zone->upstream_count)
            check_loop(loader, place, &upstream);
        if (zone->trust_ad)
            check_trust(loader, place, &upstream);
    }
}

static void check_upstreams_of_all(struct loader *loader)
{
    const struct config *config = loader->config;
    check_section(loader);
    for (size_t i = 0; i < config->entry_count; i++)
        check_entry(loader, i);
    config_check_zones(loader);
}

void config_check_zones(struct loader *loader)
{
    const struct config *config = loader->config;
    for (size_t i = 0; i < config->zone_count; i++) {
        struct place place = {"forward-zones", true, config->zones[i].position, i};
        check_zone(loader, &config->zones[i], &place);
    }
    for (size_t i = 0; i < config->stub_count; i++) {
        struct place place = {"stub-zones", true, config->stub_zones[i].position, i};
        check_zone(loader, &config->stub_zones[i], &place);
    }
    config_check_zone_names(loader);
}

/* ---- everything ---- */

/* The set has an effect only if there are proxies. */
static void note_proxies(struct config *config)
{
    config->server.proxies = config->proxy_from.count ? config->proxy_from.set : NULL;
}

static void note_dns64(struct config *config)
{
    if (config->dns64_prefix.length == 0)
        return;
    config->dns64 = (struct dns64_options){
        .prefix = config->dns64_prefix,
        .exclude = config->dns64_exclude.count ? config->dns64_exclude.set : NULL,
        .clients = config->dns64_clients.count ? config->dns64_clients.set : NULL,
        .ignored = config->dns64_ignored.map,
    };
    config->server.dns64 = &config->dns64;
}

void config_check(struct loader *loader)
{
    const struct server_options *server = &loader->config->server;
    note_proxies(loader->config);
    note_dns64(loader->config);
    config_note_listeners(loader->config);
    check_metrics(loader, server->listen, server->listen_count, "server.listen");
    check_metrics(loader, server->listen_tls, server->listen_tls_count, "server.listen-tls");
    check_metrics(loader, server->listen_https, server->listen_https_count, "server.listen-https");
    check_has_zone(loader);
    check_ip_versions(loader);
    warn_of_tls_everywhere(loader);
    warn_of_unused_zones(loader);
    check_ttls(loader);
    check_socket(loader);
    check_dnstap(loader);
    check_upstreams_of_all(loader);
    config_check_hosts(loader);
    config_check_tls(loader);
}
