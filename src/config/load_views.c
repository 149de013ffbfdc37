/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Views as written in the file. A view is a small file: the loaders of its keys fill its part as
 * they fill a whole configuration. config_views.c makes the tables of them.
 */
#include "config/load_views.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "config/load_mapping.h"
#include "local/name_map.h"

enum { VIEW_BYTES_MAX = 64 * 1024 * 1024 };

static bool is_view_name(const char *name)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    size_t len = strlen(name);
    return len > 0 && len <= VIEW_NAME_MAX && strspn(name, allowed) == len;
}

/* Notes which keys the view gives, because it inherits the others. */
static void note_keys(struct config_view *view, const struct yaml_tree_node *map)
{
    char path[128];
    for (const struct yaml_tree_node *key = map->first; key; key = key->next) {
        snprintf(path, sizeof(path), "views[].%.100s", key->key->text);
        const struct option *option = options_find(path);
        if (option)
            view->part.written[option_index(option)] = key->key->position;
    }
}

bool config_view_gives(const struct config_view *view, const char *path)
{
    return view->part.written[option_index(options_find(path))].line > 0;
}

static bool load_view_keys(struct loader *loader, const struct yaml_tree_node *node,
                           struct config_view *view)
{
    const struct loader_place place = {.prefix = "views[].", .owner = view};
    struct config *whole = loader->config;
    loader->config = &view->part;
    bool fine =
        load_item(loader, node, &place, "a mapping such as {name: guests, clients: [10.0.0.0/8]}");
    loader->config = whole;
    return fine;
}

static void check_view(struct loader *loader, const struct yaml_tree_node *node,
                       const struct config_view *view)
{
    const struct config *config = loader->config;
    if (!is_view_name(view->name)) {
        loader_error(loader, node,
                     "has a name that is not 1 to %d letters, digits, dots, hyphens and "
                     "underscores; write name: guests",
                     VIEW_NAME_MAX);
        return;
    }
    if (!view->clients.count && !view->part.server.listen_count)
        loader_error(loader, node,
                     "has neither clients nor listen, so no client could have this view; add "
                     "clients: [10.0.0.0/8]");
    for (size_t i = 0; i < config->view_count; i++)
        if (config->views[i].name && strcmp(config->views[i].name, view->name) == 0)
            loader_error(loader, node, "has the name of another view, %s; choose another one",
                         view->name);
}

static void load_view(struct loader *loader, const struct yaml_tree_node *node)
{
    struct config *config = loader->config;
    struct config_view *view = &config->views[config->view_count];
    view->position = node->position;
    arena_init(&view->part.arena, VIEW_BYTES_MAX);
    bool fine = load_view_keys(loader, node, view);
    if (fine) {
        note_keys(view, node);
        check_view(loader, node, view);
    }
    config->view_count++; /* frees it, sound or not */
}

void load_views(struct loader *loader, const struct option *option,
                const struct yaml_tree_node *node)
{
    size_t index = 0;
    struct config *config = loader->config;
    if (!loader_list_fits(loader, option, node))
        return;
    config->views = loader_take(loader, node->count, sizeof(*config->views));
    for (const struct yaml_tree_node *item = node->first; config->views && item;
         item = item->next) {
        size_t mark = loader_enter_item(loader, index++);
        load_view(loader, item);
        loader_leave(loader, mark);
    }
}

void load_views_free(struct config *config)
{
    for (size_t i = 0; i < config->view_count; i++) {
        struct config_view *view = &config->views[i];
        prefix_set_free(view->clients.set);
        name_map_free(view->policy_zones.map);
        if (view->part.server.access != config->server.access)
            prefix_set_free(view->part.server.access);
        arena_deinit(&view->part.arena);
    }
}
