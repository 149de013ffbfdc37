/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Tags: each set of tags that access-control-tag gives becomes a view. The view has the clients of
 * the set, and the local zones and response policy zones with one of its tags. Such zones are for
 * no other clients.
 */
#include "import/unbound_maps.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "dns/name.h"
#include "local/name_map.h"

enum { TAG_TEXT_MAX = 255 };

/* ---- sets of tags ---- */

/* Returns the bit of the tag. 0: too many tags, which is noted. */
static uint32_t tag_bit(struct unbound_map_state *map, const struct unbound_statement *statement,
                        const char *tag)
{
    size_t at = 0;
    while (at < map->tag_count && strcmp(map->tags[at], tag) != 0)
        at++;
    if (at == UNBOUND_TAGS_MAX) {
        static const char many[] = "Not imported: more than 32 tags; write items of views.";
        map_note(map, statement, many);
        map_warn(map, statement->origin, many);
        return 0;
    }
    if (at == map->tag_count)
        map->tags[map->tag_count++] = draft_format(map->draft, "%s", tag);
    return UINT32_C(1) << at;
}

/* Reads "one two". 0 after a note. */
static uint32_t read_tags(struct unbound_map_state *map, const struct unbound_statement *statement,
                          const char *text)
{
    uint32_t tags = 0;
    for (text += strspn(text, " \t"); *text; text += strspn(text, " \t")) {
        char tag[TAG_TEXT_MAX + 1];
        size_t len = strcspn(text, " \t");
        snprintf(tag, sizeof(tag), "%.*s", len < sizeof(tag) ? (int)len : TAG_TEXT_MAX, text);
        uint32_t bit = tag_bit(map, statement, tag);
        if (!bit)
            return 0;
        tags |= bit;
        text += len;
    }
    if (!tags)
        map_note(map, statement, "Not imported: it has no tags.");
    return tags;
}

/* ---- the lines ---- */

static void map_define_tag(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    (void)map;
    draft_account(statement->origin);
}

static struct unbound_tagged *add_tagged(struct unbound_map_state *map,
                                         const struct unbound_statement *statement,
                                         struct unbound_tagged ***last)
{
    const char *word = map_word(map, statement, statement->args[0]);
    uint32_t tags = word ? read_tags(map, statement, statement->args[1]) : 0;
    if (!tags)
        return NULL;
    struct unbound_tagged *tagged = arena_take(&map->draft->arena, sizeof(*tagged));
    if (!tagged) {
        map->draft->err = ERR_NO_MEMORY;
        return NULL;
    }
    *tagged = (struct unbound_tagged){.origin = statement->origin,
                                      .subject = draft_format(map->draft, "%s", statement->args[0]),
                                      .word = word,
                                      .tags = tags};
    **last = tagged;
    *last = &tagged->next;
    draft_account(statement->origin);
    return tagged;
}

/* If several lines give a prefix, only the last one counts. */
static void map_access_tag(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    const struct unbound_tagged *tagged = add_tagged(map, statement, &map->last_client_tag);
    for (struct unbound_tagged *at = map->client_tags; tagged && at != tagged; at = at->next)
        at->is_void = at->is_void || strcmp(at->word, tagged->word) == 0;
}

static void map_zone_tag(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    (void)add_tagged(map, statement, &map->last_zone_tag);
}

static void map_rpz_tags(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    if (!map->rpz)
        return;
    map->rpz->tags |= read_tags(map, statement, statement->args[0]);
    draft_account(statement->origin);
}

/* ---- which local data has which tags ---- */

static bool tags_read_name(const char *text, uint8_t wire[NAME_WIRE_MAX], struct name *name)
{
    uint8_t given[NAME_WIRE_MAX];
    text += *text == '"';
    size_t len = strcspn(text, " \t\"");
    if (name_parse(name, given, text, len) != ERR_OK)
        return false;
    *name = name_fold(*name, wire);
    return true;
}

static bool put_tags(struct name_map *zones, const char *text, uint32_t tags)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct name name;
    uint32_t *number;
    if (!tags_read_name(text, wire, &name))
        return true;
    if (name_map_put(zones, name, 0, &number))
        return false;
    *number |= tags;
    return true;
}

/* Returns the tags of every local zone; NULL: out of memory. */
static struct name_map *map_zones(const struct unbound_map_state *map)
{
    struct name_map *zones = name_map_new();
    bool fine = zones;
    for (const struct unbound_local *at = map->locals; fine && at; at = at->next)
        fine = !at->is_zone || put_tags(zones, at->name, 0);
    for (const struct unbound_tagged *at = map->zone_tags; fine && at; at = at->next)
        fine = put_tags(zones, at->subject, at->tags);
    if (fine)
        return zones;
    name_map_free(zones);
    return NULL;
}

/* A record has the tags of its zone. */
static uint32_t tags_of(const struct name_map *zones, const struct unbound_local *local)
{
    uint8_t wire[NAME_WIRE_MAX], len;
    struct name name;
    const uint32_t *tags = NULL;
    if (tags_read_name(local->name, wire, &name))
        tags = name_map_find_suffix(zones, name, &len);
    return tags ? *tags : 0;
}

/* ---- views ---- */

static bool is_known_set(const struct unbound_map_state *map, const struct unbound_tagged *client)
{
    for (const struct unbound_tagged *at = map->client_tags; at != client; at = at->next)
        if (!at->is_void && at->tags == client->tags)
            return true;
    return false;
}

/* Makes "tags-one-two" of the set. Letters that no name of a view may have become underscores. */
static const char *name_of_set(struct unbound_map_state *map, uint32_t tags)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    char name[64] = "tags";
    for (size_t i = 0, len = 4; i < map->tag_count && len < sizeof(name); i++)
        if (tags >> i & 1)
            len += (size_t)snprintf(name + len, sizeof(name) - len, "-%s", map->tags[i]);
    for (char *at = name; *at; at++)
        if (!strchr(allowed, *at))
            *at = '_';
    return draft_format(map->draft, "%s", name);
}

/* The view also has the zones without tags, as every client does. */
static void keep_policies(struct unbound_map_state *map, struct unbound_view *view, uint32_t tags)
{
    bool has_own = false;
    for (const struct unbound_rpz *rpz = map->rpzs; rpz; rpz = rpz->next)
        has_own |= !rpz->is_lost && rpz->tags & tags;
    for (const struct unbound_rpz *rpz = map->rpzs; has_own && rpz; rpz = rpz->next)
        if (!rpz->is_lost && (!rpz->tags || rpz->tags & tags))
            map_keep_in_view(map, &view->last_policy, rpz->name, rpz->origin);
}

static void keep_locals(struct unbound_map_state *map, const struct name_map *zones,
                        struct unbound_view *view, uint32_t tags)
{
    for (const struct unbound_local *at = map->locals; at; at = at->next)
        if (tags_of(zones, at) & tags)
            map_keep_in_view(map, at->is_zone ? &view->last_zone : &view->last_record,
                             at->value.text, at->value.origin);
}

static void add_view_of_tags(struct unbound_map_state *map, const struct name_map *zones,
                             const struct unbound_tagged *first)
{
    struct unbound_view *view = map_new_view(map, first->origin);
    if (!view)
        return;
    view->name = name_of_set(map, first->tags);
    view->asks_all = true;
    for (const struct unbound_tagged *at = first; at; at = at->next)
        if (!at->is_void && at->tags == first->tags)
            map_add_view_client(map, at->word, view->name, at->origin);
    keep_locals(map, zones, view, first->tags);
    keep_policies(map, view, first->tags);
}

/* A client has one view, and access-control-view comes first. */
static void void_viewed_clients(struct unbound_map_state *map)
{
    static const char viewed[] =
        "Not imported: access-control-view gives this prefix a view, and a client has one view.";
    static const char twice[] = "Not imported: a later line gives this prefix other tags.";
    for (struct unbound_tagged *at = map->client_tags; at; at = at->next) {
        bool has_view = false;
        for (const struct unbound_view_client *of = map->view_clients; of; of = of->next)
            has_view |= strcmp(of->prefix, at->word) == 0;
        if (at->is_void || has_view)
            draft_note(map->draft, at->origin, at->is_void ? twice : viewed);
        if (has_view && !at->is_void)
            map_warn(map, at->origin, viewed);
        at->is_void |= has_view;
    }
}

/* ---- what no client has ---- */

static void note_unused(struct unbound_map_state *map, const struct draft_origin *origin,
                        uint32_t tags)
{
    for (const struct unbound_tagged *at = map->client_tags; at; at = at->next)
        if (!at->is_void && at->tags & tags)
            return;
    draft_note(map->draft, origin,
               "No access-control-tag has one of these tags, so no client has "
               "the zone.");
}

static void note_all_unused(struct unbound_map_state *map)
{
    for (const struct unbound_tagged *at = map->zone_tags; at; at = at->next)
        note_unused(map, at->origin, at->tags);
    for (const struct unbound_rpz *rpz = map->rpzs; rpz; rpz = rpz->next)
        if (rpz->tags)
            note_unused(map, rpz->origin, rpz->tags);
}

static void map_end_tags(struct unbound_map_state *map)
{
    struct name_map *zones = map_zones(map);
    if (!zones) {
        map->draft->err = ERR_NO_MEMORY;
        return;
    }
    void_viewed_clients(map);
    for (const struct unbound_local *at = map->locals; at; at = at->next)
        if (!tags_of(zones, at))
            draft_add_local(map->draft, at->is_zone ? "local-zones" : "local-data", at->value.text,
                            at->value.origin);
    for (const struct unbound_tagged *at = map->client_tags; at; at = at->next)
        if (!at->is_void && !is_known_set(map, at))
            add_view_of_tags(map, zones, at);
    note_all_unused(map);
    name_map_free(zones);
}

const struct unbound_maps unbound_maps_tags = {
    .map =
        {
            [UNBOUND_MAP_define_tag] = map_define_tag,
            [UNBOUND_MAP_access_tag] = map_access_tag,
            [UNBOUND_MAP_zone_tag] = map_zone_tag,
            [UNBOUND_MAP_rpz_tags] = map_rpz_tags,
        },
    .end = map_end_tags,
};
