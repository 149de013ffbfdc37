/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Response policy zones. A clause becomes an item of rpz if it has a name and a file; without a
 * file nothing blocks its names, so the import warns.
 */
#include "import/unbound_maps.h"

#include <string.h>

#include "base/check.h"

void map_begin_rpz(struct unbound_map_state *map, const struct unbound_statement *statement)
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

void map_rpz_name(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    if (!map->rpz)
        return;
    if (map->rpz->name)
        map_note(map, statement, "Not imported: the zone already has a name.");
    else
        map->rpz->name = map_word(map, statement, statement->args[0]);
    draft_account(statement->origin);
}

void map_rpz_file(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    const char *name = statement->args[0];
    if (!map->rpz)
        return;
    if (!*name) {
        map_note(map, statement, "Not imported: it names no file.");
        return;
    }
    if (*name != '/')
        name = draft_format(map->draft, "%s/%s", map->source->directory, name);
    add_rpz_key(map, statement, name);
    map->rpz->has_file = true;
}

void map_rpz_key(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    if (map->rpz)
        add_rpz_key(map, statement, statement->args[0]);
}

void map_end_rpz(struct unbound_map_state *map)
{
    static const char lost[] = "Not imported: rpz needs a name and a file or primaries. Without "
                               "this zone its rules do not apply.";
    for (const struct unbound_rpz *rpz = map->rpzs; rpz; rpz = rpz->next) {
        if (rpz->name && rpz->has_file) {
            draft_add(map->draft, "rpz",
                      draft_format(map->draft, "{name: %s%s}", rpz->name, rpz->keys), rpz->origin);
            continue;
        }
        draft_note(map->draft, rpz->origin, lost);
        map_warn(map, rpz->origin, lost);
    }
}
