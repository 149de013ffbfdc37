/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The servers that recursion asks and avoids, and the addresses that it rejects. */
#include "import/unbound_maps.h"

#include "base/prefix.h"

static const char list_path[] = "recursion.do-not-query";

/* Copies one item of a list. */
static void map_item(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    const char *word =
        map_has_row(map, statement) ? map_word(map, statement, statement->args[0]) : NULL;
    if (word)
        draft_add(map->draft, statement->word->path, word, statement->origin);
}

/* The names prefer-ip4 and prefer-ip6 end in the version. */
static void map_prefer(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    const char *name = statement->word->name;
    bool yes;
    if (!map_take_flag(map, statement, &yes))
        return;
    draft_account(statement->origin);
    if (yes)
        draft_set(map->draft, statement->word->path,
                  draft_format(map->draft, "%s", name + sizeof("prefer-ip") - 1),
                  statement->origin);
}

static void map_do_not_query(struct unbound_map_state *map,
                             const struct unbound_statement *statement)
{
    if (prefix_is_mapped(statement->args[0]))
        map_note(map, statement,
                 "Not imported: nailup asks a server with an IPv4-mapped address over IPv4, so "
                 "here the prefix would exclude IPv4 servers.");
    else
        map_item(map, statement);
    if (!map->not_query_origin)
        map->not_query_origin = statement->origin;
}

static void map_not_localhost(struct unbound_map_state *map,
                              const struct unbound_statement *statement)
{
    bool yes;
    if (!map_take_flag(map, statement, &yes))
        return;
    draft_account(statement->origin);
    map->queries_localhost = !yes;
    if (!yes)
        map->not_query_origin = statement->origin;
}

/* A given list replaces the default, which is this machine. */
static void map_end_recursion(struct unbound_map_state *map)
{
    if (map->no_ip4)
        draft_set(map->draft, "recursion.ipv4", "no", map->family.origin);
    if (map->no_ip6)
        draft_set(map->draft, "recursion.ipv6", "no", map->family.origin);
    const struct draft_origin *origin = map->not_query_origin;
    if (!origin)
        return;
    if (map->queries_localhost) {
        draft_add_none(map->draft, list_path, origin);
        return;
    }
    draft_add(map->draft, list_path, "127.0.0.0/8", origin);
    draft_add(map->draft, list_path, "\"::1\"", origin);
}

const struct unbound_maps unbound_maps_recursion = {
    .map =
        {
            [UNBOUND_MAP_item] = map_item,
            [UNBOUND_MAP_prefer] = map_prefer,
            [UNBOUND_MAP_do_not_query] = map_do_not_query,
            [UNBOUND_MAP_not_localhost] = map_not_localhost,
        },
    .end = map_end_recursion,
};
