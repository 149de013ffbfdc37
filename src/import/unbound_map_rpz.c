/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Response policy zones. A clause becomes an item of rpz if it has a name and primaries by address,
 * or a file alone; without them nothing blocks its names, so the import warns.
 */
#include "import/unbound_maps.h"

#include <string.h>

#include "base/check.h"

static void map_begin_rpz(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    map->rpz = NULL;
    if (statement->clause != UNBOUND_CLAUSE_RPZ)
        return;
    struct unbound_rpz *rpz = arena_take(&map->draft->arena, sizeof(*rpz));
    if (!rpz) {
        map->draft->err = ERR_NO_MEMORY;
        return;
    }
    *rpz = (struct unbound_rpz){.origin = statement->origin, .keys = ""};
    *map->last_rpz = map->rpz = rpz;
    map->last_rpz = &rpz->next;
}

/* Appends a key of the word's row, which is "rpz[].KEY". */
static void add_rpz_key(struct unbound_map_state *map, const struct unbound_statement *statement,
                        const char *text)
{
    const char *key = strchr(statement->word->path, '.');
    const char *word = map_word(map, statement, text);
    MUST(key);
    if (!word)
        return;
    map->rpz->keys = draft_format(map->draft, "%s, %s: %s", map->rpz->keys, key + 1, word);
    draft_account(statement->origin);
}

static void map_rpz_name(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    if (!map->rpz)
        return;
    if (map->rpz->name)
        map_note(map, statement, "Not imported: the zone already has a name.");
    else
        map->rpz->name = map_word(map, statement, statement->args[0]);
    draft_account(statement->origin);
}

static void map_rpz_file(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    const char *name = statement->args[0];
    if (!map->rpz)
        return;
    if (!*name) {
        map_note(map, statement, "Not imported: it names no file.");
        return;
    }
    if (map_word(map, statement, name)) {
        map->rpz->file = name;
        draft_account(statement->origin);
    }
}

/* Puts the statement before the list, which is one of map->rpz. */
static void keep_rpz_value(struct unbound_map_state *map, const struct unbound_statement *statement,
                           struct unbound_value **list)
{
    struct unbound_value *value = map_keep(map, statement);
    if (!value)
        return;
    value->next = *list;
    *list = value;
}

static void map_rpz_primary(struct unbound_map_state *map,
                            const struct unbound_statement *statement)
{
    if (map->rpz)
        keep_rpz_value(map, statement, &map->rpz->primaries);
}

static void map_rpz_url(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    if (map->rpz)
        keep_rpz_value(map, statement, &map->rpz->urls);
}

static void map_rpz_notify(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    if (map->rpz)
        keep_rpz_value(map, statement, &map->rpz->notifies);
}

static void map_rpz_key(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    if (map->rpz)
        add_rpz_key(map, statement, statement->args[0]);
}

static void note_values(struct unbound_map_state *map, const struct unbound_value *list,
                        const char *sentence)
{
    for (; list; list = list->next)
        draft_note(map->draft, list->origin, sentence);
}

/* Returns the keys that say where the rules come from, or NULL. A file beside a primary or a url is
 * Unbound's copy of the zone, which would become outdated. */
static const char *source_of(struct unbound_map_state *map, const struct unbound_rpz *rpz)
{
    const char *primaries = map_primaries(map, rpz->primaries);
    if (*primaries) {
        if (rpz->file)
            draft_note(map->draft, rpz->origin,
                       "The zone comes from its primaries, and zonefile is not read. Set "
                       "transfer-directory to keep the zone over a restart.");
        return draft_format(map->draft, "primaries: [%s], allow-notify: [%s]", primaries,
                            map_notifies(map, rpz->notifies));
    }
    if (!rpz->file || rpz->primaries || rpz->urls) {
        note_values(map, rpz->notifies, "Not imported, because its zone is not.");
        return NULL;
    }
    note_values(map, rpz->notifies, "Not needed: a zone of a file has no primaries.");
    const char *file = draft_word(map->draft, map_path(map, rpz->file));
    return file ? draft_format(map->draft, "file: %s", file) : NULL;
}

static bool has_local_data(const struct unbound_map_state *map)
{
    bool has_any = map->locals;
    for (const struct unbound_view *at = map->views; at; at = at->next)
        has_any |= at->zones || at->records;
    return has_any;
}

/* Local data that an administrator wrote against a rule loses its effect silently otherwise. */
static void note_order(struct unbound_map_state *map, const struct unbound_rpz *rpz)
{
    draft_note(map->draft, rpz->origin,
               "In Unbound, local-zone and local-data answer before response policy zones. Here "
               "the rules come first: where local data must win, give its names a rule "
               "rpz-passthru in the first zone of rpz.");
}

static void map_end_rpz(struct unbound_map_state *map)
{
    bool needs_order = has_local_data(map);
    static const char lost[] =
        "Not imported: rpz needs a name, and primaries by address or a file of its own. Without "
        "this zone its rules do not apply.";
    for (struct unbound_rpz *rpz = map->rpzs; rpz; rpz = rpz->next) {
        const char *source = source_of(map, rpz);
        note_values(map, rpz->urls, "Not imported: zones come by AXFR and IXFR, or from a file.");
        if (rpz->name && source) {
            const char *scope = rpz->tags ? ", default: no" : "";
            draft_add(
                map->draft, "rpz",
                draft_format(map->draft, "{name: %s, %s%s%s}", rpz->name, source, rpz->keys, scope),
                rpz->origin);
            if (needs_order)
                note_order(map, rpz);
            needs_order = false;
            continue;
        }
        rpz->is_lost = true;
        draft_note(map->draft, rpz->origin, lost);
        map_warn(map, rpz->origin, lost);
    }
}

const struct unbound_maps unbound_maps_rpz = {
    .map =
        {
            [UNBOUND_MAP_rpz_name] = map_rpz_name,
            [UNBOUND_MAP_rpz_file] = map_rpz_file,
            [UNBOUND_MAP_rpz_primary] = map_rpz_primary,
            [UNBOUND_MAP_rpz_url] = map_rpz_url,
            [UNBOUND_MAP_rpz_notify] = map_rpz_notify,
            [UNBOUND_MAP_rpz_key] = map_rpz_key,
        },
    .begin = map_begin_rpz,
    .end = map_end_rpz,
};
