/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * What only shows when all is loaded: values that contradict each other. Each value alone was
 * checked when it was read.
 */
#include "config/loader.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"

#define ROW(field)                                                                                 \
    options_find_field(OWNER_upstream_options, offsetof(struct upstream_options, field))

/* Where a key stands, or the beginning of the file when it does not. */
static struct config_position position_of(const struct config *config, const char *path)
{
    const struct option *option = options_find(path);
    MUST(option);
    struct config_position position = config->written[option_index(option)];
    return position.line ? position : (struct config_position){1, 1};
}

/* Of two keys that contradict each other, the one that is written. */
static const char *written_one(const struct config *config, const char *path, const char *other)
{
    return config->written[option_index(options_find(path))].line ? path : other;
}

static void check_has_zone(struct loader *loader, const struct yaml_tree_node *root)
{
    const struct yaml_tree_node *zones = root ? yaml_tree_find(root, "forward-zones") : NULL;
    if (zones && (zones->count || zones->broken || !yaml_tree_is_empty(zones)) &&
        (zones->kind != TREE_LIST || zones->count))
        return;
    problems_add(loader->problems, position_of(loader->config, "forward-zones"), "forward-zones",
                 "names no zone, so nothing could be answered; add the servers to ask, for example "
                 "forward-zones: [{name: ., upstreams: [192.0.2.53]}]");
}

static void check_ttls(struct loader *loader)
{
    const struct config *config = loader->config;
    const char *path = written_one(config, "cache.min-ttl", "cache.max-ttl");
    if (config->cache.min_ttl_s > config->cache.max_ttl_s)
        problems_add(loader->problems, position_of(config, path), path,
                     "min-ttl %us is above max-ttl %us; lower the one or raise the other",
                     config->cache.min_ttl_s, config->cache.max_ttl_s);
}

static void check_socket(struct loader *loader)
{
    const struct config *config = loader->config;
    size_t len = strlen(config->control_socket);
    if (len > CONFIG_SOCKET_MAX)
        problems_add(loader->problems, position_of(config, "control.socket"), "control.socket",
                     "has %zu bytes; the system takes paths of at most %d", len, CONFIG_SOCKET_MAX);
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

static void report_connections(struct loader *loader, struct config_position position,
                               const char *path, const struct upstream_options *options)
{
    problems_add(loader->problems, position, path,
                 "connections %u is above max-connections %u; lower the one or raise the other",
                 options->connections, options->max_connections);
}

static void check_entry(struct loader *loader, size_t index)
{
    char path[64];
    const struct config_entry *entry = &loader->config->entries[index];
    struct upstream_options options = loader->config->upstream;
    options_overlay(&entry->layer, &options);
    if (!gives_connections(&entry->layer) || !has_too_many(&options))
        return;
    snprintf(path, sizeof(path), "tcp-upstream-keepalive[%zu]", index);
    report_connections(loader, entry->position, path, &options);
}

static void check_zone_connections(struct loader *loader, const struct config_zone *zone,
                                   const char *path)
{
    struct upstream_options options;
    for (size_t i = 0; i < zone->upstream_count && gives_connections(&zone->layer); i++) {
        config_upstream_options(loader->config, zone, &zone->upstreams[i].addr, &options);
        if (!has_too_many(&options))
            continue;
        report_connections(loader, zone->position, path, &options);
        return;
    }
}

static void check_connections(struct loader *loader)
{
    const struct config *config = loader->config;
    const char *path = written_one(config, "upstream.connections", "upstream.max-connections");
    if (has_too_many(&config->upstream))
        report_connections(loader, position_of(config, path), path, &config->upstream);
    for (size_t i = 0; i < config->entry_count; i++)
        check_entry(loader, i);
}

/* ---- zones ---- */

static bool is_loopback(const struct addr *addr)
{
    static const uint8_t v6[16] = {[15] = 1};
    size_t len;
    const uint8_t *bytes = addr_bytes(addr, &len);
    return len == 4 ? bytes[0] == 127 : memcmp(bytes, v6, sizeof(v6)) == 0;
}

/* A listener on a wildcard also takes what is sent to the loopback addresses. */
static bool is_own_address(const struct config *config, const struct addr *addr)
{
    for (size_t i = 0; i < config->server.listen_count; i++) {
        const struct addr *own = &config->server.listen[i];
        if (addr_equal(own, addr))
            return true;
        if (addr_is_any(own) && addr_family(own) == addr_family(addr) &&
            addr_port(own) == addr_port(addr) && is_loopback(addr))
            return true;
    }
    return false;
}

static void check_zone(struct loader *loader, size_t index)
{
    char path[64], text[ADDR_TEXT_MAX];
    const struct config_zone *zone = &loader->config->zones[index];
    snprintf(path, sizeof(path), "forward-zones[%zu]", index);
    check_zone_connections(loader, zone, path);
    for (size_t i = 0; i < zone->upstream_count; i++) {
        struct route_upstream upstream;
        config_zone_upstream(loader->config, zone, &zone->upstreams[i], &upstream);
        addr_format(&upstream.addr, text);
        if (is_own_address(loader->config, &upstream.addr))
            problems_add(loader->problems, zone->position, path,
                         "%s is an address of server.listen: queries would go round in a circle",
                         text);
        bool is_safe = is_loopback(&upstream.addr) || (upstream.options.transport == UPSTREAM_TLS &&
                                                       upstream.options.tls.profile == TLS_STRICT);
        if (zone->trust_ad && !is_safe)
            problems_add(loader->problems, zone->position, path,
                         "trust-ad: yes takes upstreams over TLS with profile: strict, or on the "
                         "loopback interface, not %s: on the way an answer could be changed",
                         text);
    }
}

void config_check(struct loader *loader, const struct yaml_tree_node *root)
{
    check_has_zone(loader, root);
    check_ttls(loader);
    check_socket(loader);
    check_connections(loader);
    for (size_t i = 0; i < loader->config->zone_count; i++)
        check_zone(loader, i);
}
