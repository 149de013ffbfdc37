/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_IMPORT_UNBOUND_MAPS_H
#define NAILUP_IMPORT_UNBOUND_MAPS_H

/*
 * The maps: one function for each kind of conversion in unbound_words.def. Only unbound_map.c calls
 * them, through its table. No map calls a map of another file.
 */

#include "import/unbound_map_state.h"
#include "import/unbound_words.h"

/* Converts a statement, or keeps it until everything is read. */
#define MAP(name)                                                                                  \
    void map_##name(struct unbound_map_state *map, const struct unbound_statement *statement);
UNBOUND_MAPS(MAP)
#undef MAP

/* Begins a zone: the next options of its clause belong to it. */
void map_begin_zone(struct unbound_map_state *map, const struct unbound_statement *statement);

/* Begins a response policy zone, or a view, in the same way. */
void map_begin_rpz(struct unbound_map_state *map, const struct unbound_statement *statement);
void map_begin_view(struct unbound_map_state *map, const struct unbound_statement *statement);

/* Each converts what the maps of one file have kept. */
void map_end_server(struct unbound_map_state *map);
void map_end_cache(struct unbound_map_state *map);
void map_end_recursion(struct unbound_map_state *map);
void map_end_dnssec(struct unbound_map_state *map);
void map_end_dns64(struct unbound_map_state *map);
void map_end_dnstap(struct unbound_map_state *map);
void map_end_zones(struct unbound_map_state *map);
void map_end_rpz(struct unbound_map_state *map);

/* Adds the zones of unblock-lan-zones that no line names. Before map_end_shadows(). */
void map_end_local(struct unbound_map_state *map);

/* Repeats local zones for the zones with servers below them. Before map_end_tags(). */
void map_end_shadows(struct unbound_map_state *map);

/* Makes a view of each set of tags that clients have, and adds the local data of all other clients.
 * After map_end_rpz() and before map_end_views(). */
void map_end_tags(struct unbound_map_state *map);
void map_end_views(struct unbound_map_state *map);

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
