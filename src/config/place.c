/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Finds the positions of errors. Looking for an item walks its list, and only happens while errors
 * are kept, so that a file with an error in each of 50,000 zones takes no quadratic time.
 */
#include "config/place.h"

#include <stdarg.h>
#include <stdio.h>

static bool place_is_at(const struct yaml_tree_node *node, struct config_position position)
{
    return node->position.line == position.line && node->position.column == position.column &&
           node->position.file == position.file;
}

/* The node of the place, or NULL if it was not found or not looked for. *index is the item's index
 * in the file. */
static const struct yaml_tree_node *place_find(const struct loader *loader,
                                               const struct place *place, size_t *index)
{
    const struct yaml_tree_node *node =
        loader->root ? yaml_tree_find(loader->root, place->key) : NULL;
    *index = place->index;
    if (!node || !place->is_item)
        return node;
    size_t at = 0;
    for (node = node->first; node && !place_is_at(node, place->position); at++)
        node = node->next;
    if (node)
        *index = at;
    return node;
}

bool place_has(const struct loader *loader, const struct place *place, const char *key)
{
    size_t index;
    if (problems_is_full(loader->problems))
        return false;
    const struct yaml_tree_node *node = place_find(loader, place, &index);
    return node && yaml_tree_find(node, key);
}

static struct config_position place_position_of(const struct place *place,
                                                const struct yaml_tree_node *node, const char *key)
{
    const struct yaml_tree_node *value = node && key ? yaml_tree_find(node, key) : NULL;
    if (value)
        return value->key->position;
    if (place->is_item)
        return place->position;
    return node && node->key ? node->key->position : (struct config_position){1, 1, 0};
}

static void place_report(struct loader *loader, const struct place *place, size_t index,
                         struct config_position position, const char *key, const char *format,
                         va_list args)
{
    char text[512], path[LOADER_PATH_MAX], item[32] = "";
    vsnprintf(text, sizeof(text), format, args);
    if (place->is_item)
        snprintf(item, sizeof(item), "[%zu]", index);
    snprintf(path, sizeof(path), "%s%s%s%s", place->key, item, key ? "." : "", key ? key : "");
    problems_add(loader->problems, position, path, "%s", text);
}

void place_error(struct loader *loader, const struct place *place, const char *key,
                 const char *format, ...)
{
    size_t index = 0;
    const struct yaml_tree_node *node =
        problems_is_full(loader->problems) ? NULL : place_find(loader, place, &index);
    va_list args;
    va_start(args, format);
    place_report(loader, place, index, place_position_of(place, node, key), key, format, args);
    va_end(args);
}

void place_upstream_error(struct loader *loader, const struct place *place,
                          struct config_position position, size_t index, const char *format, ...)
{
    size_t zone_index = 0;
    char key[32];
    va_list args;
    if (!problems_is_full(loader->problems))
        place_find(loader, place, &zone_index);
    snprintf(key, sizeof(key), "upstreams[%zu]", index);
    va_start(args, format);
    place_report(loader, place, zone_index, position, key, format, args);
    va_end(args);
}
