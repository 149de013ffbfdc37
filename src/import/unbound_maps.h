/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_IMPORT_UNBOUND_MAPS_H
#define NAILUP_IMPORT_UNBOUND_MAPS_H

/*
 * The maps: one function for each kind of conversion in unbound_words.def. Each file has the maps
 * of one subject and shows them in one table. unbound_map.c calls them. No map calls a map of
 * another file.
 */

#include "import/unbound_map_state.h"
#include "import/unbound_words.h"

/* Takes a statement: converts it, or keeps it until everything is read. */
typedef void unbound_map_function(struct unbound_map_state *map,
                                  const struct unbound_statement *statement);

/* The maps of one file. */
struct unbound_maps {
    unbound_map_function *map[UNBOUND_MAP_COUNT]; /* NULL: another file has it */
    unbound_map_function *begin; /* a clause begins: the next options belong to it; or NULL */
    /* Everything is read: converts the kept statements; or NULL. */
    void (*end)(struct unbound_map_state *map);
};

extern const struct unbound_maps unbound_maps_server, unbound_maps_cache, unbound_maps_recursion,
    unbound_maps_dnssec, unbound_maps_dns64, unbound_maps_dnstap, unbound_maps_zones,
    unbound_maps_rpz;

/* Its end adds the zones of unblock-lan-zones that no line names. */
extern const struct unbound_maps unbound_maps_local;

/* Its end repeats local zones for the zones with servers below them. After the one of local. */
extern const struct unbound_maps unbound_maps_shadow;

/* Its end makes a view of each set of tags that clients have, and adds the local data of all other
 * clients. After the ones of rpz and shadow. */
extern const struct unbound_maps unbound_maps_tags;

/* After the one of tags. */
extern const struct unbound_maps unbound_maps_views;

/* Returns an empty view at the end of the list. NULL: out of memory, which the draft records. */
struct unbound_view *map_new_view(struct unbound_map_state *map, const struct draft_origin *origin);

/* Gives a view the clients of a prefix; both are words of YAML. */
void map_add_view_client(struct unbound_map_state *map, const char *prefix, const char *view,
                         const struct draft_origin *origin);

/* Appends an item to a list of a view. Returns it; NULL: out of memory, which the draft records. */
struct unbound_value *map_keep_in_view(struct unbound_map_state *map, struct unbound_value ***last,
                                       const char *text, const struct draft_origin *origin);

/* Keep local data for a view, or for all clients (NULL). name: as given, of a valid zone; record: a
 * word of YAML. */
struct unbound_value *map_keep_zone(struct unbound_map_state *map, struct unbound_view *view,
                                    const char *name, const char *action,
                                    const struct draft_origin *origin);
void map_keep_record(struct unbound_map_state *map, struct unbound_view *view, const char *record,
                     const struct draft_origin *origin);

#endif
