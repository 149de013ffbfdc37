/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The primaries of an auth-zone or a response policy zone, as the lists that auth-zones and rpz
 * have. */
#include "base/addr.h"
#include "base/prefix.h"
#include "import/unbound_map_state.h"

enum { PRIMARIES_MAX = 16 };

struct unbound_value *map_reversed(struct unbound_value *list)
{
    struct unbound_value *out = NULL, *next;
    for (; list; list = next) {
        next = list->next;
        list->next = out;
        out = list;
    }
    return out;
}

/* Returns the address of a primary as a word of YAML. NULL after a note. */
static const char *primary_word(struct unbound_map_state *map, const struct unbound_value *value)
{
    struct addr addr;
    bool has_port;
    char name[ADDR_NAME_MAX];
    const char *fault = NULL;
    if (addr_parse_named(&addr, &has_port, name, value->text, 0) != ERR_OK)
        fault = "Not imported: primaries are given by address; write that of this host "
                "among the primaries.";
    else if (addr_family(&addr) == AF_INET ? map->no_ip4 : map->no_ip6)
        fault = "Not imported: do-ip4 or do-ip6 excludes it.";
    const char *word = fault ? NULL : draft_word(map->draft, value->text);
    if (word)
        draft_account(value->origin);
    else
        draft_note(map->draft, value->origin,
                   fault ? fault : "Not imported: it is not an address.");
    return word;
}

const char *map_primaries(struct unbound_map_state *map, struct unbound_value *newest)
{
    const char *list = "";
    size_t count = 0;
    for (struct unbound_value *at = map_reversed(newest); at; at = at->next) {
        if (count == PRIMARIES_MAX) {
            draft_note(map->draft, at->origin, "Not imported: a zone has 16 primaries at most.");
            continue;
        }
        const char *word = primary_word(map, at);
        if (word)
            list = draft_format(map->draft, "%s%s%s", list, count++ ? ", " : "", word);
    }
    return list;
}

const char *map_notifies(struct unbound_map_state *map, struct unbound_value *newest)
{
    const char *list = "";
    for (struct unbound_value *at = map_reversed(newest); at; at = at->next) {
        struct prefix prefix;
        const char *word =
            prefix_parse(&prefix, at->text) == ERR_OK ? draft_word(map->draft, at->text) : NULL;
        if (!word) {
            draft_note(map->draft, at->origin,
                       "Not imported: allow-notify takes addresses and prefixes.");
            continue;
        }
        draft_account(at->origin);
        list = draft_format(map->draft, "%s%s%s", list, *list ? ", " : "", word);
    }
    return list;
}
