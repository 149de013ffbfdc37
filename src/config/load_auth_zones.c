/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Entries of auth-zones. Invariant: each name is in the list once. */
#include "config/load_auth_zones.h"

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
    if (!*zone->file && zone->primary_count == 0)
        loader_error(loader, node,
                     "has no records; write file: /etc/nailup/corp.example.zone, or primaries: "
                     "[192.0.2.1]");
    else if (*zone->file && zone->primary_count > 0)
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
    prefix_set_free(zone.allow_notify.set);
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
