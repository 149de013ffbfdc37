/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Entries of auth-zones. Invariant: each name is in the list once. */
#include "config/load_auth_zones.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "config/load_mapping.h"

static bool is_auth_zone_listed(const struct config *config, const struct config_auth_zone *zone)
{
    for (size_t i = 0; i < config->auth_zone_count; i++)
        if (name_equal((struct name){config->auth_zones[i].wire, config->auth_zones[i].name_len},
                       (struct name){zone->wire, zone->name_len}))
            return true;
    return false;
}

/* Returns false after an error. */
static bool check_auth_zone(struct loader *loader, const struct yaml_tree_node *node,
                            const struct config_auth_zone *zone)
{
    char text[KIND_TEXT_MAX];
    if (!*zone->file && zone->source.primary_count == 0)
        loader_error(loader, node,
                     "has no records; write file: /etc/nailup/corp.example.zone, or primaries: "
                     "[192.0.2.1]");
    else if (zone->catalog && zone->source.primary_count == 0)
        loader_error(loader, node,
                     "is a catalog, and its zones come from its primaries; write primaries: "
                     "[192.0.2.1], or leave catalog out");
    else if (*zone->file && zone->source.primary_count > 0 && !zone->catalog)
        loader_error(loader, node, "has a file and primaries; keep one of them");
    else if (is_auth_zone_listed(loader->config, zone))
        loader_error(loader, node, "zone %.100s is given twice; keep one of them",
                     kind_format(KIND_ZONE_NAME, zone->wire, text));
    else
        return true;
    return false;
}

static void load_auth_zone(struct loader *loader, const struct yaml_tree_node *node)
{
    struct config *config = loader->config;
    struct config_auth_zone zone = {.position = node->position};
    const struct loader_place place = {.prefix = "auth-zones[].", .owner = &zone};
    struct name name;
    if (load_item(loader, node, &place,
                  "a mapping such as {name: corp.example, file: /etc/nailup/corp.example.zone}")) {
        MUST(name_view(span_of(zone.wire, NAME_WIRE_MAX), 0, &name) != 0);
        zone.name_len = name.len;
        if (check_auth_zone(loader, node, &zone)) {
            config->auth_zones[config->auth_zone_count++] = zone;
            return;
        }
    }
    prefix_set_free(zone.source.allow_notify.set);
}

void load_auth_zones(struct loader *loader, const struct option *option,
                     const struct yaml_tree_node *node)
{
    struct config *config = loader->config;
    size_t index = 0;
    if (!loader_list_fits(loader, option, node))
        return;
    config->auth_zones = loader_take(loader, node->count, sizeof(*config->auth_zones));
    if (!config->auth_zones)
        return;
    for (const struct yaml_tree_node *item = node->first; item; item = item->next) {
        size_t mark = loader_enter_item(loader, index++);
        load_auth_zone(loader, item);
        loader_leave(loader, mark);
    }
}

/* ---- local-root ---- */

/* The servers that allow transfers of the root zone (RFC 8806 appendix A). Their addresses are
 * those of recurse/root_hints.c, and for the last two the ones that ICANN publishes. */
static const struct {
    const char *v4, *v6;
} root_primaries[] = {
    {"170.247.170.2", "2801:1b8:10::b"},      /* b.root-servers.net */
    {"192.33.4.12", "2001:500:2::c"},         /* c */
    {"199.7.91.13", "2001:500:2d::d"},        /* d */
    {"192.5.5.241", "2001:500:2f::f"},        /* f */
    {"192.112.36.4", "2001:500:12::d0d"},     /* g */
    {"193.0.14.129", "2001:7fd::1"},          /* k */
    {"192.0.32.132", "2620:0:2d0:202::132"},  /* xfr.lax.dns.icann.org */
    {"192.0.47.132", "2620:0:2830:202::132"}, /* xfr.cjr.dns.icann.org */
};

enum { LOCAL_ROOT_TEXT_MAX = 1024 };

/* Writes the zone as a user would. IPv4 comes first: a host without IPv6 then loses no time. */
static void write_local_root(const struct config *config, char text[LOCAL_ROOT_TEXT_MAX])
{
    size_t len = (size_t)snprintf(text, LOCAL_ROOT_TEXT_MAX, "{name: ., primaries: [");
    for (size_t i = 0; i < ARRAY_LEN(root_primaries) && config->recursion_ipv4; i++)
        len +=
            (size_t)snprintf(text + len, LOCAL_ROOT_TEXT_MAX - len, "%s, ", root_primaries[i].v4);
    for (size_t i = 0; i < ARRAY_LEN(root_primaries) && config->recursion_ipv6; i++)
        len += (size_t)snprintf(text + len, LOCAL_ROOT_TEXT_MAX - len, "\"%s\", ",
                                root_primaries[i].v6);
    len += (size_t)snprintf(text + len, LOCAL_ROOT_TEXT_MAX - len,
                            "], for: upstream, fallback: yes, zonemd: require}");
    MUST(len < LOCAL_ROOT_TEXT_MAX);
}

/* Makes room for one more zone. */
static bool grow_auth_zones(struct loader *loader)
{
    struct config *config = loader->config;
    struct config_auth_zone *zones =
        loader_take(loader, config->auth_zone_count + 1, sizeof(*zones));
    if (!zones)
        return false;
    if (config->auth_zone_count > 0)
        memcpy(zones, config->auth_zones, config->auth_zone_count * sizeof(*zones));
    config->auth_zones = zones;
    return true;
}

void load_local_root(struct loader *loader)
{
    struct config *config = loader->config;
    const struct config_position position = loader_position(loader, "local-root");
    const struct config_auth_zone root = {.wire = {0}, .name_len = 1};
    char text[LOCAL_ROOT_TEXT_MAX];
    if (!config->local_root || !(config->recursion_ipv4 || config->recursion_ipv6))
        return;
    if (is_auth_zone_listed(config, &root)) {
        problems_add(loader->problems, position, "local-root",
                     "is yes, and auth-zones has a zone for the root; keep one of them");
        return;
    }
    write_local_root(config, text);
    struct yaml_tree *tree = yaml_tree_parse(text, strlen(text), loader->problems);
    if (!tree || !grow_auth_zones(loader)) {
        yaml_tree_free(tree);
        return;
    }
    size_t index = config->auth_zone_count;
    load_auth_zone(loader, yaml_tree_root(tree));
    yaml_tree_free(tree);
    if (config->auth_zone_count == index)
        return; /* out of memory, which is recorded */
    config->auth_zones[index].position = position;
    config->auth_zones[index].is_local_root = true;
}
