/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Lists in which something is looked up: of prefixes, and of names. Each as the file has it, for
 * printing, and in the form for looking up. */
#include "base/check.h"
#include "base/prefix.h"
#include "config/kind.h"
#include "config/loader.h"
#include "dns/name.h"
#include "local/name_map.h"

/* ---- prefixes ---- */

static void load_prefix(struct loader *loader, const struct yaml_tree_node *item,
                        struct config_prefixes *prefixes)
{
    struct prefix *prefix = &prefixes->list[prefixes->count];
    char text[PREFIX_TEXT_MAX];
    if (item->broken)
        return;
    if (item->kind != TREE_SCALAR || prefix_parse(prefix, item->text) != ERR_OK) {
        loader_error_takes(loader, item, kind_takes(KIND_PREFIX),
                           item->kind == TREE_SCALAR ? addr_zone_hint(item->text) : "");
        return;
    }
    enum err err = prefix_set_add(prefixes->set, prefix, 0);
    if (err == ERR_INVALID)
        loader_error(loader, item, "%s stands twice; keep one of them",
                     prefix_format(prefix, text));
    else if (err)
        problems_no_memory(loader->problems);
    else
        prefixes->count++;
}

void load_prefixes(struct loader *loader, const struct option *option,
                   const struct yaml_tree_node *node, struct config_prefixes *prefixes)
{
    size_t index = 0;
    if (!load_list_fits(loader, option, node))
        return;
    prefix_set_free(prefixes->set);
    prefixes->set = prefix_set_new();
    prefixes->list = loader_take(loader, node->count, sizeof(struct prefix));
    prefixes->count = 0;
    if (!prefixes->set || !prefixes->list) {
        problems_no_memory(loader->problems);
        return;
    }
    for (const struct yaml_tree_node *item = node->first; item; item = item->next) {
        size_t mark = loader_enter_item(loader, index++);
        load_prefix(loader, item, prefixes);
        loader_leave(loader, mark);
    }
    if (prefix_set_freeze(prefixes->set))
        problems_no_memory(loader->problems);
}

/* ---- names ---- */

static void load_sets_load_name(struct loader *loader, const struct yaml_tree_node *item,
                                struct config_names *names)
{
    char text[KIND_TEXT_MAX];
    uint8_t *wire = names->list[names->count];
    struct name name;
    uint32_t *number;
    if (item->broken)
        return;
    if (item->kind != TREE_SCALAR ||
        !kind_parse(KIND_ZONE_NAME, item->text, &loader->config->arena, wire)) {
        loader_error_takes(loader, item, kind_takes(KIND_ZONE_NAME), "");
        return;
    }
    MUST(name_view(span_of(wire, NAME_WIRE_MAX), 0, &name) != 0);
    if (name_map_find(names->map, name))
        loader_error(loader, item, "%s stands twice; keep one of them",
                     kind_format(KIND_ZONE_NAME, wire, text));
    else if (name_map_put(names->map, name, 0, &number))
        problems_no_memory(loader->problems);
    else
        names->count++;
}

void load_names(struct loader *loader, const struct option *option,
                const struct yaml_tree_node *node, struct config_names *names)
{
    size_t index = 0;
    if (!load_list_fits(loader, option, node))
        return;
    name_map_free(names->map);
    *names = (struct config_names){0};
    if (!node->count)
        return;
    names->map = name_map_new();
    names->list = loader_take(loader, node->count, NAME_WIRE_MAX);
    if (!names->map || !names->list) {
        problems_no_memory(loader->problems);
        return;
    }
    for (const struct yaml_tree_node *item = node->first; item; item = item->next) {
        size_t mark = loader_enter_item(loader, index++);
        load_sets_load_name(loader, item, names);
        loader_leave(loader, mark);
    }
}
