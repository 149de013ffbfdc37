/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* DNS64. Unbound makes records only if its module is loaded; the prefix then has a default. */
#include "import/unbound_maps.h"

static const char prefix_path[] = "dns64.prefix", ignore_path[] = "dns64.ignore-aaaa";

static void map_dns64_prefix(struct unbound_map_state *map,
                             const struct unbound_statement *statement)
{
    draft_account(statement->origin);
    map->dns64_prefix =
        (struct unbound_value){.text = statement->args[0], .origin = statement->origin};
}

static void map_dns64_all(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    bool yes;
    if (!map_take_flag(map, statement, &yes))
        return;
    draft_account(statement->origin);
    if (yes)
        draft_add(map->draft, ignore_path, ".", statement->origin);
}

static void map_end_dns64(struct unbound_map_state *map)
{
    struct unbound_value *given = &map->dns64_prefix;
    if (!map_has_module(map, "dns64")) {
        if (given->origin)
            draft_note(map->draft, given->origin,
                       "Not imported: module-config has no dns64, so Unbound makes no records.");
        return;
    }
    const char *prefix = draft_word(map->draft, given->text ? given->text : "64:ff9b::/96");
    if (prefix)
        draft_set(map->draft, prefix_path, prefix,
                  given->origin ? given->origin : map->modules.origin);
}

const struct unbound_maps unbound_maps_dns64 = {
    .map =
        {
            [UNBOUND_MAP_dns64_prefix] = map_dns64_prefix,
            [UNBOUND_MAP_dns64_all] = map_dns64_all,
        },
    .end = map_end_dns64,
};
