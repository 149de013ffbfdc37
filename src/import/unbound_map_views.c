/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Views: a clause and the lines access-control-view that name it become an item of views.
 * unbound_map_local.c reads the local data of a clause. A view without clients is left out: an item
 * without clients would be for all of them.
 */
#include "import/unbound_maps.h"

#include <string.h>

#include "base/check.h"

struct unbound_view *map_new_view(struct unbound_map_state *map, const struct draft_origin *origin)
{
    struct unbound_view *view = arena_take(&map->draft->arena, sizeof(*view));
    if (!view) {
        map->draft->err = ERR_NO_MEMORY;
        return NULL;
    }
    *view = (struct unbound_view){.origin = origin};
    view->last_zone = &view->zones;
    view->last_record = &view->records;
    view->last_policy = &view->policies;
    *map->last_view = view;
    map->last_view = &view->next;
    return view;
}

static void map_begin_view(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    bool is_view = statement->clause == UNBOUND_CLAUSE_VIEW;
    map->view = is_view ? map_new_view(map, statement->origin) : NULL;
}

struct unbound_value *map_keep_in_view(struct unbound_map_state *map, struct unbound_value ***last,
                                       const char *text, const struct draft_origin *origin)
{
    struct unbound_value *value = arena_take(&map->draft->arena, sizeof(*value));
    if (!value) {
        map->draft->err = ERR_NO_MEMORY;
        return NULL;
    }
    *value = (struct unbound_value){.text = text, .origin = origin};
    **last = value;
    *last = &value->next;
    return value;
}

static void map_view_name(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    if (!map->view)
        return;
    if (map->view->name)
        map_note(map, statement, "Not imported: the view already has a name.");
    else
        map->view->name = map_word(map, statement, statement->args[0]);
    if (!map->view->name_origin)
        map->view->name_origin = statement->origin;
}

static void map_view_first(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    if (map->view && map_take_flag(map, statement, &map->view->asks_all))
        map->view->first_origin = statement->origin;
}

/* If several lines give a prefix, only the last one counts, as in Unbound. */
void map_add_view_client(struct unbound_map_state *map, const char *prefix, const char *view,
                         const struct draft_origin *origin)
{
    for (struct unbound_view_client *at = map->view_clients; at; at = at->next)
        at->is_void = at->is_void || strcmp(at->prefix, prefix) == 0;
    struct unbound_view_client *client = arena_take(&map->draft->arena, sizeof(*client));
    if (!client) {
        map->draft->err = ERR_NO_MEMORY;
        return;
    }
    *client = (struct unbound_view_client){.origin = origin, .prefix = prefix, .view = view};
    *map->last_view_client = client;
    map->last_view_client = &client->next;
    draft_account(origin);
}

static void map_access_view(struct unbound_map_state *map,
                            const struct unbound_statement *statement)
{
    const char *prefix = map_word(map, statement, statement->args[0]);
    const char *view = map_word(map, statement, statement->args[1]);
    if (prefix && view)
        map_add_view_client(map, prefix, view, statement->origin);
}

/* ---- the items ---- */

static void put_text(struct unbound_map_state *map, struct buf *buf, const char *text)
{
    enum err err = buf_append(buf, text, strlen(text));
    if (err)
        map->draft->err = err;
}

static void put_list(struct unbound_map_state *map, struct buf *buf, const char *key,
                     const struct unbound_value *values)
{
    if (!values)
        return;
    put_text(map, buf, ", ");
    put_text(map, buf, key);
    for (const char *before = ": ["; values; values = values->next, before = ", ") {
        put_text(map, buf, before);
        put_text(map, buf, values->text);
    }
    put_text(map, buf, "]");
}

/* Returns whether the view has clients. */
static bool put_clients(struct unbound_map_state *map, struct buf *buf,
                        const struct unbound_view *view)
{
    const char *before = ", clients: [";
    bool has_any = false;
    for (struct unbound_view_client *at = map->view_clients; at; at = at->next) {
        if (strcmp(at->view, view->name) != 0)
            continue;
        at->is_known = true;
        if (at->is_void)
            continue;
        put_text(map, buf, before);
        put_text(map, buf, at->prefix);
        before = ", ";
        has_any = true;
    }
    put_text(map, buf, has_any ? "]" : "");
    return has_any;
}

/* ---- the lines of a clause ---- */

static void view_end_line(struct unbound_map_state *map, const struct draft_origin *origin,
                          bool is_lost)
{
    if (origin && is_lost)
        draft_note(map->draft, origin, "Not imported, because its view is not.");
    else if (origin)
        draft_account(origin);
}

/* In Unbound, a transparent zone of a view with view-first leaves what it has no records of to the
 * local data of all clients, except with nodefault. Here the zone of the view decides, so blocked
 * names would be resolved. */
static void view_note_left_names(struct unbound_map_state *map, const struct unbound_view *view)
{
    static const char exempt[] =
        "In Unbound, the local data of all clients answers here too, where the view has no "
        "records. In nailup this zone exempts its names from that data; remove it if they must "
        "stay blocked.";
    for (const struct unbound_value *at = view->zones; at; at = at->next)
        if (view->asks_all && map->locals && at->leaves_names)
            draft_note(map->draft, at->origin, exempt);
}

/* The item has all lines of the clause, or none. */
static void view_end_lines(struct unbound_map_state *map, const struct unbound_view *view,
                           bool is_lost)
{
    view_end_line(map, view->name_origin, is_lost);
    view_end_line(map, view->first_origin, is_lost);
    for (const struct unbound_value *at = view->zones; at; at = at->next)
        view_end_line(map, at->origin, is_lost);
    for (const struct unbound_value *at = view->records; at; at = at->next)
        view_end_line(map, at->origin, is_lost);
}

/* In Unbound, a view with local data ignores the local data of all clients unless view-first is
 * yes. Returns the item, or NULL: the view has no clients. */
static const char *make_item(struct unbound_map_state *map, const struct unbound_view *view)
{
    bool has_local = view->zones || view->records;
    const char *item = NULL;
    struct buf buf;
    buf_init(&buf, DRAFT_ITEM_BYTES);
    put_text(map, &buf, "{name: ");
    put_text(map, &buf, view->name);
    if (put_clients(map, &buf, view)) {
        put_list(map, &buf, "local-zones", view->zones);
        put_list(map, &buf, "local-data", view->records);
        put_list(map, &buf, "rpz-zones", view->policies);
        put_text(map, &buf, has_local && !view->asks_all ? ", inherit-local: no}" : "}");
        struct span text = buf_span(&buf);
        item = draft_format(map->draft, "%.*s", (int)text.len, (const char *)text.data);
    }
    buf_deinit(&buf);
    return item;
}

static void end_view(struct unbound_map_state *map, const struct unbound_view *view)
{
    const char *item = view->name ? make_item(map, view) : NULL;
    if (item)
        draft_add(map->draft, "views", item, view->origin);
    else if (view->name)
        draft_note(map->draft, view->origin,
                   "Not imported: no access-control-view gives this view clients.");
    else
        draft_note(map->draft, view->origin, "Not imported: the view has no name.");
    if (item)
        view_note_left_names(map, view);
    view_end_lines(map, view, !item);
}

static void map_end_views(struct unbound_map_state *map)
{
    static const char unknown[] = "Not imported: no view has this name.";
    static const char twice[] = "Not imported: a later line gives this prefix another view.";
    for (const struct unbound_view *view = map->views; view; view = view->next)
        end_view(map, view);
    for (const struct unbound_view_client *at = map->view_clients; at; at = at->next) {
        if (at->is_known && !at->is_void)
            continue;
        draft_note(map->draft, at->origin, at->is_void ? twice : unknown);
        if (!at->is_void)
            map_warn(map, at->origin, unknown);
    }
}

const struct unbound_maps unbound_maps_views = {
    .map =
        {
            [UNBOUND_MAP_view_name] = map_view_name,
            [UNBOUND_MAP_view_first] = map_view_first,
            [UNBOUND_MAP_access_view] = map_access_view,
        },
    .begin = map_begin_view,
    .end = map_end_views,
};
