/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Response policy zones as written in the file. config_rpz.c reads their contents. */
#include "config/load_rpz.h"

#include "base/check.h"
#include "config/load_mapping.h"
#include "rpz/rpz_choice.h"
#include "rpz/rpz_rules.h"

static struct name rpz_name(const uint8_t wire[NAME_WIRE_MAX])
{
    struct name name;
    MUST(name_view(span_of(wire, NAME_WIRE_MAX), 0, &name) != 0);
    return name;
}

static bool rpz_is_listed(const struct config_rpz *rpz, const struct config_rpz_zone *zone)
{
    for (size_t i = 0; i < rpz->count; i++)
        if (name_equal(rpz_name(rpz->zones[i].options.wire), rpz_name(zone->options.wire)))
            return true;
    return false;
}

/* The target "*." would be the listed name itself. */
static bool is_ordinary_target(const struct config_rpz_zone *zone)
{
    uint8_t wire[NAME_WIRE_MAX];
    return rpz_target_action(name_fold(rpz_name(zone->options.cname), wire)) == RPZ_DATA;
}

static bool is_sound(struct loader *loader, const struct yaml_tree_node *node,
                     const struct config_rpz_zone *zone)
{
    bool has_target = zone->options.cname_len > 1;
    if (rpz_is_listed(&loader->config->rpz, zone))
        loader_error(loader, node, "has the name of an earlier zone; keep one of them");
    else if (!*zone->file && zone->source.primary_count == 0)
        loader_error(loader, node,
                     "has no rules; write file: /var/lib/nailup/rpz.zone, or primaries: "
                     "[192.0.2.1]");
    else if (*zone->file && zone->source.primary_count > 0)
        loader_error(loader, node, "has a file and primaries; keep one of them");
    else if (*zone->file && zone->catalog)
        loader_error(loader, node,
                     "has a file, but the zones of a catalog come from its primaries; write "
                     "primaries: [192.0.2.1], or leave catalog out");
    else if (zone->options.override == RPZ_OVERRIDE_CNAME && !has_target)
        loader_error(loader, node,
                     "has no target; write cname-override: garden.example, or another "
                     "action-override");
    else if (has_target && !is_ordinary_target(zone))
        loader_error(loader, node,
                     "has a target that is the name of an action; write cname-override: "
                     "garden.example, or another action-override");
    else if (zone->options.override != RPZ_OVERRIDE_CNAME && has_target)
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
    struct config_rpz_zone zone = {.position = node->position};
    const struct loader_place place = {.prefix = "rpz[].", .owner = &zone};
    if (load_item(loader, node, &place,
                  "a mapping such as {name: rpz.example, file: /var/lib/nailup/rpz.zone}")) {
        zone.options.name_len = rpz_name(zone.options.wire).len;
        zone.options.mark = rpz_choice_mark(rpz_name(zone.options.wire));
        zone.options.cname_len = rpz_name(zone.options.cname).len;
        if (is_sound(loader, node, &zone)) {
            rpz->zones[rpz->count++] = zone;
            return;
        }
    }
    prefix_set_free(zone.source.allow_notify.set);
}

void load_rpz(struct loader *loader, const struct option *option, const struct yaml_tree_node *node)
{
    struct config_rpz *rpz = &loader->config->rpz;
    size_t index = 0;
    if (!loader_list_fits(loader, option, node))
        return;
    rpz->zones = loader_take(loader, node->count, sizeof(*rpz->zones));
    if (!rpz->zones)
        return;
    for (const struct yaml_tree_node *item = node->first; item; item = item->next) {
        size_t mark = loader_enter_item(loader, index++);
        load_rpz_zone(loader, item);
        loader_leave(loader, mark);
    }
}
