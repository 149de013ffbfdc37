/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Response policy zones as written in the file. config_rpz.c reads their contents. */
#include "config/load_rpz.h"

#include "base/check.h"
#include "config/load_mapping.h"

static struct name rpz_name(const uint8_t wire[NAME_WIRE_MAX])
{
    struct name name;
    MUST(name_view(span_of(wire, NAME_WIRE_MAX), 0, &name) != 0);
    return name;
}

static bool rpz_is_listed(const struct config_rpz *rpz, const struct rpz_zone_options *zone)
{
    for (size_t i = 0; i < rpz->count; i++)
        if (name_equal(rpz_name(rpz->zones[i].wire), rpz_name(zone->wire)))
            return true;
    return false;
}

static bool is_sound(struct loader *loader, const struct yaml_tree_node *node,
                     const struct rpz_zone_options *zone)
{
    bool has_target = zone->cname_len > 1;
    if (rpz_is_listed(&loader->config->rpz, zone))
        loader_error(loader, node, "has the name of an earlier zone; keep one of them");
    else if (!*zone->file)
        loader_error(loader, node,
                     "names no file; write {name: rpz.example, file: "
                     "/var/lib/nailup/rpz.zone}");
    else if (zone->override == RPZ_OVERRIDE_CNAME && !has_target)
        loader_error(loader, node,
                     "has no target; write cname-override: garden.example, or another "
                     "action-override");
    else if (zone->override != RPZ_OVERRIDE_CNAME && has_target)
        loader_error(loader, node,
                     "has a cname-override but another action; write action-override: "
                     "cname");
    else
        return true;
    return false;
}

static void load_rpz_zone(struct loader *loader, const struct yaml_tree_node *node)
{
    struct config_rpz *rpz = &loader->config->rpz;
    struct rpz_zone_options zone = {0};
    const struct loader_place place = {.prefix = "rpz[].", .owner = &zone};
    if (!load_item(loader, node, &place,
                   "a mapping such as {name: rpz.example, file: /var/lib/nailup/rpz.zone}"))
        return;
    zone.name_len = rpz_name(zone.wire).len;
    zone.cname_len = rpz_name(zone.cname).len;
    if (!is_sound(loader, node, &zone))
        return;
    rpz->positions[rpz->count] = node->position;
    rpz->zones[rpz->count++] = zone;
}

void load_rpz(struct loader *loader, const struct option *option, const struct yaml_tree_node *node)
{
    struct config_rpz *rpz = &loader->config->rpz;
    size_t index = 0;
    if (!loader_list_fits(loader, option, node))
        return;
    rpz->zones = loader_take(loader, node->count, sizeof(*rpz->zones));
    rpz->positions = loader_take(loader, node->count, sizeof(*rpz->positions));
    if (!rpz->zones || !rpz->positions)
        return;
    for (const struct yaml_tree_node *item = node->first; item; item = item->next) {
        size_t mark = loader_enter_item(loader, index++);
        load_rpz_zone(loader, item);
        loader_leave(loader, mark);
    }
}
