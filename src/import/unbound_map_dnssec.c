/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Validation. Unbound validates if its module is loaded, which is the default, and a trust anchor
 * is given. nailup validates by default and has the root's anchors built in, so a file without an
 * anchor needs dnssec.validate: no to behave as before.
 */
#include "import/unbound_maps.h"

#include <string.h>

static const char mode_path[] = "dnssec.validate";

static void map_modules(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    draft_account(statement->origin);
    map->modules = (struct unbound_value){.text = statement->args[0], .origin = statement->origin};
}

static void map_permissive(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    if (!map_take_flag(map, statement, &map->is_permissive))
        return;
    draft_account(statement->origin);
    map->permissive_origin = statement->origin;
}

static void map_anchor(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    const char *word = map_word(map, statement, statement->args[0]);
    if (word)
        draft_add(map->draft, statement->word->path, word, statement->origin);
    map->anchor_origin = statement->origin;
}

/* A file that Unbound keeps up to date. */
static void map_updates(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    draft_set(map->draft, "dnssec.update-anchors", "yes", statement->origin);
    map_note(
        map, statement,
        "nailupd keeps this file up to date too (RFC 5011). Its user must be able to write the "
        "directory, and Unbound must no longer write the file: copy it to "
        "/var/lib/nailup and name it there.");
}

static void map_anchor_file(struct unbound_map_state *map,
                            const struct unbound_statement *statement)
{
    const char *name = statement->args[0], *path = statement->word->path;
    draft_account(statement->origin);
    if (!*name)
        return;
    if (draft_get(map->draft, path)) {
        map_note(map, statement,
                 "Not imported: nailup takes one file; append the records of this one to it.");
        return;
    }
    const char *word = map_word(map, statement, map_path(map, name));
    if (word)
        draft_set(map->draft, path, word, statement->origin);
    map->anchor_origin = statement->origin;
    if (strcmp(statement->word->name, "auto-trust-anchor-file") == 0)
        map_updates(map, statement);
}

static void map_end_dnssec(struct unbound_map_state *map)
{
    const struct draft_origin *origin =
        map->modules.origin ? map->modules.origin : map->anchor_origin;
    if (map->modules.origin && !map_has_module(map, "validator")) {
        draft_set(map->draft, mode_path, "no", origin);
        return;
    }
    if (map->is_permissive)
        draft_set(map->draft, mode_path, "log", map->permissive_origin);
    else if (origin)
        draft_set(map->draft, mode_path, "yes", origin);
    if (map->modules.origin && !map->anchor_origin)
        draft_note(map->draft, map->modules.origin,
                   "Unbound validates nothing without a trust anchor. nailup has those of the root "
                   "built in, so it does validate; dnssec.validate: no prevents that.");
}

const struct unbound_maps unbound_maps_dnssec = {
    .map =
        {
            [UNBOUND_MAP_modules] = map_modules,
            [UNBOUND_MAP_permissive] = map_permissive,
            [UNBOUND_MAP_anchor] = map_anchor,
            [UNBOUND_MAP_anchor_file] = map_anchor_file,
        },
    .end = map_end_dnssec,
};
