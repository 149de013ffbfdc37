/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Entries of tcp-upstream-keepalive, forward-zones and stub-zones: mappings with their own keys,
 * and with keys of the section upstream, which go to a layer. config_upstream.c combines the
 * layers.
 */
#include "config/load_zones.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/hash.h"
#include "config/load_mapping.h"
#include "config/load_scalar.h"
#include "config/place.h"

/* ---- entries ---- */

/* A single word is an entry with a prefix only. */
static bool load_entry(struct loader *loader, const struct yaml_tree_node *node,
                       struct config_entry *entry)
{
    const struct loader_place place = {"tcp-upstream-keepalive[].", entry, &entry->layer};
    entry->position = node->position;
    if (node->kind == TREE_MAP || node->broken)
        return load_item(loader, node, &place, "");
    return load_scalar(loader, options_find("tcp-upstream-keepalive[].prefix"), node, entry);
}

static void add_entry(struct loader *loader, const struct yaml_tree_node *node,
                      const struct config_entry *entry)
{
    struct config *config = loader->config;
    char text[PREFIX_TEXT_MAX];
    enum err err = prefix_set_add(config->entry_set, &entry->prefix, (int)config->entry_count);
    if (err == ERR_INVALID)
        loader_error(loader, node, "%s is given twice; keep one of them",
                     prefix_format(&entry->prefix, text));
    else if (err)
        problems_no_memory(loader->problems);
    else
        config->entries[config->entry_count++] = *entry;
}

static void load_entry_item(struct loader *loader, const struct yaml_tree_node *item)
{
    struct config_entry entry = {0};
    if (load_entry(loader, item, &entry))
        add_entry(loader, item, &entry);
}

/* A single address or prefix needs no list around it. */
static bool is_single_entry(const struct yaml_tree_node *node)
{
    return node->kind == TREE_SCALAR && !yaml_tree_is_empty(node);
}

void load_entries(struct loader *loader, const struct option *option,
                  const struct yaml_tree_node *node)
{
    size_t index = 0;
    struct config *config = loader->config;
    bool is_single = is_single_entry(node);
    if (!is_single && !loader_list_fits(loader, option, node))
        return;
    prefix_set_free(config->entry_set);
    config->entry_set = prefix_set_new();
    config->entries = loader_take(loader, is_single ? 1 : node->count, sizeof(*config->entries));
    if (!config->entry_set || !config->entries) {
        problems_no_memory(loader->problems);
        return;
    }
    if (is_single)
        load_entry_item(loader, node);
    for (const struct yaml_tree_node *item = node->first; item; item = item->next) {
        size_t mark = loader_enter_item(loader, index++);
        load_entry_item(loader, item);
        loader_leave(loader, mark);
    }
    if (prefix_set_freeze(config->entry_set))
        problems_no_memory(loader->problems);
}

/* ---- zones ---- */

static bool load_zone(struct loader *loader, const struct yaml_tree_node *node,
                      struct config_zone *zone)
{
    const struct loader_place place = {zone->is_stub ? "stub-zones[]." : "forward-zones[].", zone,
                                       &zone->layer};
    struct name name;
    zone->position = node->position;
    if (!load_item(loader, node, &place, "a mapping such as {name: ., upstreams: [192.0.2.53]}"))
        return false;
    MUST(name_view(span_of(zone->wire, NAME_WIRE_MAX), 0, &name) != 0);
    zone->name_len = name.len;
    return true;
}

/* Zones by name: open addressing, NULL in an empty slot. */
struct zone_index {
    const struct config_zone **slots;
    size_t mask;
};

static bool open_index(struct zone_index *index, size_t count)
{
    index->mask = 1;
    while (index->mask + 1 < 2 * count + 2)
        index->mask = index->mask * 2 + 1;
    index->slots = calloc(index->mask + 1, sizeof(*index->slots));
    return index->slots != NULL;
}

/* The slot of the zone with this name, or the empty slot for it. */
static const struct config_zone **find_zone_slot(const struct zone_index *index,
                                                 const struct config_zone *zone)
{
    size_t at = hash_bytes(zone->wire, zone->name_len, 0) & index->mask;
    for (; index->slots[at]; at = (at + 1) & index->mask) {
        const struct config_zone *other = index->slots[at];
        if (other->name_len == zone->name_len &&
            memcmp(other->wire, zone->wire, zone->name_len) == 0)
            break;
    }
    return &index->slots[at];
}

/* One of the two lists, while it is being read. */
struct zone_list {
    struct config_zone *zones;
    size_t *count;
    bool is_stub;
    struct zone_index index;
};

static void add_config_zone(struct loader *loader, const struct yaml_tree_node *node,
                            const struct config_zone *zone, struct zone_list *list)
{
    char text[KIND_TEXT_MAX];
    const struct config_zone **slot = find_zone_slot(&list->index, zone);
    if (*slot) {
        loader_error(loader, node,
                     "zone %.100s is given twice; write all of its upstreams into one of them",
                     kind_format(KIND_ZONE_NAME, zone->wire, text));
        return;
    }
    *slot = &list->zones[*list->count];
    list->zones[(*list->count)++] = *zone;
}

static void load_zone_items(struct loader *loader, const struct yaml_tree_node *node,
                            struct zone_list *list)
{
    size_t number = 0;
    for (const struct yaml_tree_node *item = node->first; item; item = item->next) {
        struct config_zone zone = {.is_stub = list->is_stub};
        size_t mark = loader_enter_item(loader, number++);
        if (load_zone(loader, item, &zone))
            add_config_zone(loader, item, &zone, list);
        loader_leave(loader, mark);
    }
}

void load_zones(struct loader *loader, const struct option *option,
                const struct yaml_tree_node *node)
{
    struct config *config = loader->config;
    bool is_stub = strstr(option->path, "stub-zones") != NULL; /* in the file or in a view */
    struct config_zone **zones = is_stub ? &config->stub_zones : &config->zones;
    struct zone_list list = {.count = is_stub ? &config->stub_count : &config->zone_count,
                             .is_stub = is_stub};
    if (!loader_list_fits(loader, option, node))
        return;
    *zones = list.zones = loader_take(loader, node->count, sizeof(**zones));
    if (open_index(&list.index, node->count) && list.zones)
        load_zone_items(loader, node, &list);
    else
        problems_no_memory(loader->problems);
    free(list.index.slots);
}

static void report_both(struct loader *loader, const struct config_zone *stub, size_t number)
{
    struct place place = {"stub-zones", true, stub->position, number};
    char text[KIND_TEXT_MAX];
    place_error(loader, &place, "name",
                "%.100s is in forward-zones too, but its servers are either recursive or "
                "authoritative; keep one of them",
                kind_format(KIND_ZONE_NAME, stub->wire, text));
}

void config_check_zone_names(struct loader *loader)
{
    const struct config *config = loader->config;
    struct zone_index index;
    if (config->stub_count == 0)
        return;
    if (!open_index(&index, config->zone_count)) {
        problems_no_memory(loader->problems);
        return;
    }
    for (size_t i = 0; i < config->zone_count; i++)
        *find_zone_slot(&index, &config->zones[i]) = &config->zones[i];
    for (size_t i = 0; i < config->stub_count; i++)
        if (*find_zone_slot(&index, &config->stub_zones[i]))
            report_both(loader, &config->stub_zones[i], i);
    free(index.slots);
}
