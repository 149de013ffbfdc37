/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Contradictions in zones and entries that show when every rule of choice is applied: bounds on
 * connections, circles, and answers trusted without reason. TLS is config_check_tls.c's.
 */
#include "config/place.h"

#include <string.h>

#define ROW(field)                                                                                 \
    options_find_field(OWNER_upstream_options, offsetof(struct upstream_options, field))

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

static void config_check_zones_check_section(struct loader *loader)
{
    struct place place = {.key = "upstream"};
    if (has_too_many(&loader->config->upstream))
        report_connections(loader, &place,
                           place_has(loader, &place, "connections") ? "connections"
                                                                    : "max-connections",
                           &loader->config->upstream);
}

static void config_check_zones_check_entry(struct loader *loader, size_t index)
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

static void check_circle(struct loader *loader, const struct place *place,
                         const struct route_upstream *upstream)
{
    char text[ADDR_TEXT_MAX];
    struct addr addr;
    const char *key = policy_find_loop(&loader->config->policy, upstream, &addr);
    if (key)
        place_error(loader, place, NULL,
                    "%s is an address of server.%s: queries would go round in a circle",
                    addr_format(&addr, text), key);
}

static void check_trust(struct loader *loader, const struct place *place,
                        const struct route_upstream *upstream)
{
    char text[ADDR_TEXT_MAX];
    if (!policy_is_trustworthy(upstream))
        place_error(loader, place, NULL,
                    "trust-ad: yes takes upstreams over TLS with profile: strict, or on the "
                    "loopback interface, not %s: on the way an answer could be changed",
                    addr_format(&upstream->addr, text));
}

static void check_first(struct loader *loader, const struct config_zone *zone,
                        const struct place *place)
{
    if (zone->first && !loader->config->route.recursion.enabled)
        place_error(loader, place, "first",
                    "falls back to recursion, which recursion.enabled: no turns off; leave one of "
                    "them out");
}

/* Each upstream with its rules applied; the one error about connections is said once. */
static void config_check_zones_check_zone(struct loader *loader, const struct config_zone *zone,
                                          const struct place *place)
{
    bool is_fine = true;
    check_first(loader, zone, place);
    for (size_t i = 0; i < zone->upstream_count; i++) {
        struct route_upstream upstream;
        config_zone_upstream(loader->config, zone, &zone->upstreams[i], &upstream);
        if (is_fine && gives_connections(&zone->layer) && has_too_many(&upstream.options)) {
            report_connections(loader, place, NULL, &upstream.options);
            is_fine = false;
        }
        check_circle(loader, place, &upstream);
        if (zone->trust_ad)
            check_trust(loader, place, &upstream);
    }
}

void config_check_zones(struct loader *loader)
{
    const struct config *config = loader->config;
    config_check_zones_check_section(loader);
    for (size_t i = 0; i < config->entry_count; i++)
        config_check_zones_check_entry(loader, i);
    for (size_t i = 0; i < config->zone_count; i++) {
        struct place place = {"forward-zones", true, config->zones[i].position, i};
        config_check_zones_check_zone(loader, &config->zones[i], &place);
    }
    for (size_t i = 0; i < config->stub_count; i++) {
        struct place place = {"stub-zones", true, config->stub_zones[i].position, i};
        config_check_zones_check_zone(loader, &config->stub_zones[i], &place);
    }
    config_check_zone_names(loader);
}
