/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Zones with servers below a local zone. In Unbound a local zone answers first, so the servers of
 * such a zone get no query. Here the longer name decides. The local zone is therefore repeated for
 * the name of the lower one: otherwise a walled garden would have holes, and records of a zone
 * that is typetransparent would hide the other types of their names. A local zone with an
 * action always_... also answers before its own records, which are left out.
 */
#include "import/unbound_maps.h"

#include <string.h>

#include "dns/name.h"
#include "local/name_map.h"

static const char shadowed[] =
    "In Unbound a local-zone above it answers first, so its servers get no query. An item of "
    "local-zones does the same here; remove it if the servers are to answer.";

/* The local zones of all clients or of one view, and where their copies go. view: NULL for all. */
struct shadow {
    struct unbound_view *view;
    struct name_map *names; /* finds the marks of the zones */
};

/* The mark of a zone: its place in the list, from 1, and whether it hides its records. */
static uint32_t shadow_mark(uint32_t place, bool hides_records)
{
    return place << 1 | hides_records;
}

static bool shadow_read_name(const char *text, size_t len, uint8_t wire[NAME_WIRE_MAX],
                             struct name *name)
{
    uint8_t given[NAME_WIRE_MAX];
    if (name_parse(name, given, text, len) != ERR_OK)
        return false;
    *name = name_fold(*name, wire);
    return true;
}

/* If several zones have one name, the first counts, as in the loader. */
static void shadow_note_name(struct unbound_map_state *map, struct shadow *shadow, const char *zone,
                             uint32_t mark)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct name name;
    uint32_t *number;
    if (shadow_read_name(zone, strlen(zone), wire, &name) &&
        name_map_put(shadow->names, name, mark, &number))
        map->draft->err = ERR_NO_MEMORY;
}

static void shadow_note_names(struct unbound_map_state *map, struct shadow *shadow)
{
    uint32_t place = 0;
    if (shadow->view)
        for (const struct unbound_value *at = shadow->view->zones; at; at = at->next)
            shadow_note_name(map, shadow, at->zone, shadow_mark(++place, at->hides_records));
    else
        for (const struct unbound_local *at = map->locals; at; at = at->next)
            if (at->is_zone)
                shadow_note_name(map, shadow, at->name,
                                 shadow_mark(++place, at->value.hides_records));
}

static const struct unbound_value *shadow_at(const struct unbound_map_state *map,
                                             const struct shadow *shadow, uint32_t place)
{
    if (shadow->view) {
        const struct unbound_value *at = shadow->view->zones;
        while (--place)
            at = at->next;
        return at;
    }
    const struct unbound_local *at = map->locals;
    while (!at->is_zone || --place)
        at = at->next;
    return &at->value;
}

/* Gives the records of a redirected zone to its copy. A record is a quoted word of YAML. */
static void copy_records(struct unbound_map_state *map, const struct shadow *shadow,
                         struct name from, const char *to)
{
    const struct unbound_value *record = shadow->view ? shadow->view->records : NULL;
    const struct unbound_local *local = shadow->view ? NULL : map->locals;
    while (record || local) {
        uint8_t wire[NAME_WIRE_MAX];
        struct name owner;
        const struct unbound_value *value = record ? record : &local->value;
        const char *text = value->text + (*value->text == '"');
        size_t len = strcspn(text, " \t\"");
        if ((!local || !local->is_zone) && text > value->text &&
            shadow_read_name(text, len, wire, &owner) && name_equal(owner, from))
            map_keep_record(map, shadow->view, draft_format(map->draft, "\"%s%s", to, text + len),
                            value->origin);
        record = record ? record->next : NULL;
        local = local ? local->next : NULL;
    }
}

/* A copy has the tags of its zone. */
static void copy_tags(struct unbound_map_state *map, struct name from, const char *to)
{
    struct unbound_tagged *last = NULL;
    for (struct unbound_tagged *at = map->zone_tags; at; at = at->next)
        last = at;
    for (struct unbound_tagged *at = map->zone_tags; at; at = at == last ? NULL : at->next) {
        uint8_t wire[NAME_WIRE_MAX];
        struct name name;
        if (!shadow_read_name(at->subject, strlen(at->subject), wire, &name) ||
            !name_equal(name, from))
            continue;
        struct unbound_tagged *copy = arena_take(&map->draft->arena, sizeof(*copy));
        if (!copy) {
            map->draft->err = ERR_NO_MEMORY;
            return;
        }
        *copy = *at;
        copy->subject = to;
        copy->next = NULL;
        *map->last_zone_tag = copy;
        map->last_zone_tag = &copy->next;
    }
}

static void shadow_zone(struct unbound_map_state *map, const struct shadow *shadow,
                        const struct unbound_zone *zone)
{
    uint8_t wire[NAME_WIRE_MAX], len, from_wire[NAME_WIRE_MAX];
    struct name name, from;
    if (!zone->name || !shadow_read_name(zone->name, strlen(zone->name), wire, &name))
        return;
    const uint32_t *mark = name_map_find_suffix(shadow->names, name, &len);
    const struct unbound_value *above = mark ? shadow_at(map, shadow, *mark >> 1) : NULL;
    if (!above || strcmp(above->action, "transparent") == 0 ||
        !shadow_read_name(above->zone, strlen(above->zone), from_wire, &from) ||
        name_equal(from, name))
        return;
    if (!draft_word(map->draft, zone->name))
        return;
    if (strcmp(above->action, "redirect") == 0)
        copy_records(map, shadow, from, zone->name);
    if (!shadow->view)
        copy_tags(map, from, zone->name);
    (void)map_keep_zone(map, shadow->view, zone->name, above->action, above->origin);
    if (strcmp(above->action, "typetransparent") != 0)
        draft_note(map->draft, zone->origin, shadowed);
}

static bool is_first_of_name(const struct unbound_map_state *map, const struct unbound_zone *zone)
{
    for (const struct unbound_zone *at = map->zones; at != zone; at = at->next)
        if (at->name && zone->name && strcmp(at->name, zone->name) == 0)
            return false;
    return true;
}

/* ---- records that their zone hides ---- */

/* Whether the zone of a record, a quoted word of YAML, answers before the record in Unbound. Notes
 * such a record. */
static bool shadow_hides(struct unbound_map_state *map, const struct shadow *shadow,
                         const struct unbound_value *record)
{
    static const char hidden[] =
        "Not imported: in Unbound the action of its local-zone answers before it.";
    uint8_t wire[NAME_WIRE_MAX], len;
    struct name owner;
    const char *text = record->text + (*record->text == '"');
    if (!shadow_read_name(text, strcspn(text, " \t\""), wire, &owner))
        return false;
    const uint32_t *mark = name_map_find_suffix(shadow->names, owner, &len);
    if (!mark || !(*mark & 1))
        return false;
    draft_note(map->draft, record->origin, hidden);
    return true;
}

/* Takes these records out. Otherwise a name that Unbound blocks would have an answer. */
static void shadow_drop_hidden(struct unbound_map_state *map, const struct shadow *shadow)
{
    struct unbound_view *view = shadow->view;
    for (struct unbound_value **at = view ? &view->records : NULL; at && *at;)
        if (shadow_hides(map, shadow, *at))
            *at = (*at)->next;
        else
            at = &(*at)->next;
    if (view)
        for (view->last_record = &view->records; *view->last_record;)
            view->last_record = &(*view->last_record)->next;
    for (struct unbound_local **at = view ? NULL : &map->locals; at && *at;)
        if (!(*at)->is_zone && shadow_hides(map, shadow, &(*at)->value))
            *at = (*at)->next;
        else
            at = &(*at)->next;
    for (map->last_local = &map->locals; *map->last_local;)
        map->last_local = &(*map->last_local)->next;
}

static void shadow_zones(struct unbound_map_state *map, struct unbound_view *view)
{
    struct shadow shadow = {view, name_map_new()};
    if (!shadow.names) {
        map->draft->err = ERR_NO_MEMORY;
        return;
    }
    shadow_note_names(map, &shadow);
    shadow_drop_hidden(map, &shadow);
    for (const struct unbound_zone *zone = map->zones; zone; zone = zone->next)
        if (is_first_of_name(map, zone))
            shadow_zone(map, &shadow, zone);
    name_map_free(shadow.names);
}

static void map_end_shadows(struct unbound_map_state *map)
{
    shadow_zones(map, NULL);
    for (struct unbound_view *view = map->views; view; view = view->next)
        shadow_zones(map, view);
}

const struct unbound_maps unbound_maps_shadow = {
    .end = map_end_shadows,
};
