/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Reads mappings: finds the row of each key and reads its value. Reports unknown keys with a
 * suggestion.
 */
#include "config/load_mapping.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/suggest.h"

enum { ROW_PATH_MAX = 128 };

/* ---- keys ---- */

/* Offers the key in a row's path below the prefix, up to the next '.', as a suggestion. */
static void offer_key(struct suggestion *suggestion, const char *row_path, const char *prefix,
                      char key[ROW_PATH_MAX])
{
    size_t prefix_len = strlen(prefix);
    if (strncmp(row_path, prefix, prefix_len) != 0)
        return;
    const char *rest = row_path + prefix_len;
    snprintf(key, ROW_PATH_MAX, "%.*s", (int)strcspn(rest, ".["), rest);
    struct suggestion offered = *suggestion;
    suggest_offer(&offered, key);
    if (offered.word != suggestion->word || offered.distance != suggestion->distance) {
        offered.word = rest;
        *suggestion = offered;
    }
}

static void suggest_key(struct suggestion *suggestion, const char *prefix, bool layered_only)
{
    char key[ROW_PATH_MAX];
    size_t count;
    const struct option *rows = options_all(&count);
    for (size_t i = 0; i < count; i++)
        if (!layered_only || option_is_layered(&rows[i]))
            offer_key(suggestion, rows[i].path, prefix, key);
}

/* Finds the key as a whole step of a row's path. Returns the length of the part before it, or -1.
 */
static int find_step(const char *row_path, const char *key)
{
    size_t len = strlen(key);
    for (const char *at = row_path; *at; at++) {
        bool is_start = at == row_path || at[-1] == '.';
        if (is_start && strncmp(at, key, len) == 0 && strchr(".[", at[len]))
            return (int)(at - row_path);
    }
    return -1;
}

/* Words of other resolvers, and the place of the same option in nailup.yaml. section: where the
 * word is written; NULL: anywhere. */
static const struct {
    const char *section, *word, *here;
} foreign_words[] = {
    {"server.", "port", "server.listen, as in 127.0.0.1@5300"},
    {NULL, "interface", "server.listen"},
    {NULL, "interfaces", "server.listen"},
    {NULL, "listen-on", "server.listen"},
    {NULL, "listen-on-v6", "server.listen"},
    {NULL, "listen-address", "server.listen"},
    {NULL, "local-address", "server.listen"},
    {NULL, "bind", "server.listen"},
    {NULL, "access-control", "server.access"},
    {NULL, "allow-query", "server.access"},
    {NULL, "allow-recursion", "server.access"},
    {NULL, "allow-from", "server.access"},
    {NULL, "acl", "server.access"},
    {NULL, "threads", "server.workers"},
    {NULL, "num-threads", "server.workers"},
    {NULL, "username", "server.user"},
    {NULL, "cache-size", "cache.size"},
    {NULL, "max-cache-size", "cache.size"},
    {NULL, "msg-cache-size", "cache.size"},
    {NULL, "size-max", "cache.size"},
    {NULL, "max-cache-ttl", "cache.max-ttl"},
    {NULL, "forward", "forward-zones"},
    {NULL, "forwarders", "forward-zones"},
    {NULL, "forward-addr", "upstreams in an item of forward-zones"},
    {NULL, "stub-addr", "upstreams in an item of stub-zones"},
    {"forward-zones[].", "servers", "upstreams"},
    {"stub-zones[].", "servers", "upstreams"},
    {"forward-zones[].", "zone", "name"},
    {"stub-zones[].", "zone", "name"},
    {NULL, "forward-tls-upstream", "transport: tls in the zone"},
    {NULL, "tls-upstream", "transport: tls in the zone"},
    {NULL, "dnssec-validation", "dnssec.validate"},
    {NULL, "trust-anchor", "dnssec.trust-anchors"},
    {NULL, "auto-trust-anchor-file", "dnssec.trust-anchor-file"},
    {NULL, "domain-insecure", "dnssec.negative-trust-anchors"},
    {NULL, "serve-expired", "cache.serve-stale"},
    {NULL, "response-policy", "rpz"},
    {NULL, "view", "views"},
    {NULL, "logging", "log"},
    {NULL, "remote-control", "control"},
};

/* Returns the place of a word of other resolvers, or NULL. */
static const char *foreign_place(const char *key, const struct loader_place *place)
{
    for (size_t i = 0; i < ARRAY_LEN(foreign_words); i++)
        if (strcmp(foreign_words[i].word, key) == 0 &&
            (!foreign_words[i].section || strcmp(foreign_words[i].section, place->prefix) == 0))
            return foreign_words[i].here;
    return NULL;
}

/* ---- the section of a key ---- */

enum { HOMES_MAX = 2 };

/* The paths of places that have a key: "cache.", "views[].", "" for the top. */
struct homes {
    char paths[HOMES_MAX][ROW_PATH_MAX];
    size_t count;
};

/* Adds the places of one kind: items of lists, or sections and the top. */
static void find_homes(struct homes *homes, const char *key, bool wants_items)
{
    size_t count;
    const struct option *rows = options_all(&count);
    for (size_t i = 0; i < count && homes->count < HOMES_MAX; i++) {
        char home[ROW_PATH_MAX];
        int before = find_step(rows[i].path, key);
        if (before < 0)
            continue;
        snprintf(home, sizeof(home), "%.*s", before, rows[i].path);
        if ((strchr(home, '[') != NULL) != wants_items ||
            (homes->count && strcmp(home, homes->paths[homes->count - 1]) == 0))
            continue;
        strcpy(homes->paths[homes->count++], home);
    }
}

/* Names the places of other sections that have this key: "the section cache". False: none has. */
static bool name_homes(const char *key, char *out, size_t max)
{
    struct homes homes = {.count = 0};
    size_t len = 0;
    find_homes(&homes, key, false); /* a section is the likelier place */
    find_homes(&homes, key, true);
    for (size_t i = 0; i < homes.count; i++) {
        const char *home = homes.paths[i];
        size_t home_len = strcspn(home, "[");
        bool is_item = home[home_len] == '[';
        if (!is_item && home_len)
            home_len--; /* the dot */
        len += (size_t)snprintf(out + len, max - len, "%s%s%.*s", i ? " or " : "",
                                is_item ? "an item of "
                                : *home ? "the section "
                                        : "the top of the file, outside of all sections,",
                                (int)home_len, home);
    }
    if (len && out[len - 1] == ',')
        out[len - 1] = '\0';
    return homes.count > 0;
}

static void report_unknown(struct loader *loader, const struct yaml_tree_node *key,
                           const struct loader_place *place)
{
    struct suggestion suggestion;
    if (problems_is_full(loader->problems)) {
        loader_error(loader, key, "is unknown");
        return;
    }
    suggest_init(&suggestion, key->text);
    suggest_key(&suggestion, place->prefix, false);
    if (place->layer)
        suggest_key(&suggestion, "upstream.", true);
    char homes[HOMES_MAX * ROW_PATH_MAX + 128];
    const char *here = foreign_place(key->text, place);
    bool is_typo = suggestion.word && suggestion.distance <= 1;
    if (here && !is_typo)
        loader_error(loader, key, "is unknown; the key here is %s", here);
    else if (!is_typo && *key->text && !strpbrk(key->text, ".[") &&
             name_homes(key->text, homes, sizeof(homes)))
        loader_error(loader, key, "is unknown here; it belongs to %s", homes);
    else if (suggestion.word)
        loader_error(loader, key, "is unknown; did you mean %.*s?",
                     (int)strcspn(suggestion.word, ".["), suggestion.word);
    else
        loader_error(loader, key, "is unknown; nailup.yaml(5) lists all keys");
}

/* Reads the value of a key that is a row or a section. False if it is not a row or a section. */
static bool load_key(struct loader *loader, const struct yaml_tree_node *node,
                     const struct loader_place *place)
{
    char path[ROW_PATH_MAX];
    int len = snprintf(path, sizeof(path) - 1, "%s%s", place->prefix, node->key->text);
    if (len >= (int)sizeof(path) - 1)
        return false;
    const struct option *option = options_find(path);
    if (option) {
        if (!place->owner)
            loader->config->written[option_index(option)] = node->key->position;
        loader->load_value(loader, option, node,
                           place->owner ? place->owner : option_owner_of(option, loader->config));
    } else if (options_is_section(path)) {
        struct loader_place inside = *place;
        strcat(path, ".");
        inside.prefix = path;
        load_mapping(loader, node, &inside);
    } else {
        return false;
    }
    return true;
}

/* Like load_key(), for a key of the section upstream in an entry or a zone. */
static bool load_layered_key(struct loader *loader, const struct yaml_tree_node *node,
                             const char *prefix, struct config_layer *layer)
{
    char path[ROW_PATH_MAX];
    int len = snprintf(path, sizeof(path) - 1, "%s%s", prefix, node->key->text);
    if (len >= (int)sizeof(path) - 1)
        return false;
    const struct option *option = options_find(path);
    if (option && option_is_layered(option)) {
        option_mark_layer(option, layer);
        loader->load_value(loader, option, node, &layer->values);
    } else if (option) {
        loader_error(loader, node->key,
                     "applies to the whole process; move it to the section upstream");
    } else if (options_is_section(path)) {
        strcat(path, ".");
        load_mapping(loader, node,
                     &(struct loader_place){.prefix = path, .owner = layer, .layer = layer});
    } else {
        return false;
    }
    return true;
}

static bool is_layered_section(const struct loader_place *place)
{
    return place->layer && place->owner == place->layer;
}

static void load_child(struct loader *loader, const struct yaml_tree_node *node,
                       const struct loader_place *place)
{
    size_t mark = loader_enter(loader, node->key->text);
    /* Rows are found by their path; a key that contains a path is unknown. */
    bool is_plain = !strpbrk(node->key->text, ".[");
    bool known = is_plain && !is_layered_section(place) && load_key(loader, node, place);
    if (is_plain && !known && place->layer)
        known = load_layered_key(
            loader, node, is_layered_section(place) ? place->prefix : "upstream.", place->layer);
    if (!known)
        report_unknown(loader, node->key, place);
    loader_leave(loader, mark);
}

void load_mapping(struct loader *loader, const struct yaml_tree_node *map,
                  const struct loader_place *place)
{
    if (map->broken || yaml_tree_is_empty(map))
        return;
    if (map->kind != TREE_MAP) {
        loader_error_takes(loader, map, "a mapping of keys to values",
                           map->kind == TREE_SCALAR && strchr(map->text, ':')
                               ? "; is a space missing after a colon?"
                               : "");
        return;
    }
    for (const struct yaml_tree_node *child = map->first; child; child = child->next)
        load_child(loader, child, place);
}

/* ---- items of lists ---- */

static void load_row_default(struct loader *loader, const struct option *option, void *owner)
{
    const char *text = option->default_text;
    MUST(kind_parse(option->kind, strcmp(text, "\"\"") == 0 ? "" : text, &loader->config->arena,
                    option_field(option, owner)) ||
         loader_lacks_memory(loader));
}

/* Sets the defaults of the rows below the prefix, before the mapping is read. */
static void load_row_defaults(struct loader *loader, const char *prefix, void *owner)
{
    size_t count;
    const struct option *rows = options_all(&count);
    for (size_t i = 0; i < count; i++)
        if (strncmp(rows[i].path, prefix, strlen(prefix)) == 0 && rows[i].default_text &&
            !kind_is_list(rows[i].kind)) /* lists start empty */
            load_row_default(loader, &rows[i], owner);
}

static bool has_required(struct loader *loader, const char *prefix,
                         const struct yaml_tree_node *map)
{
    size_t count, missing = 0;
    const struct option *rows = options_all(&count);
    for (size_t i = 0; i < count; i++) {
        const char *key = rows[i].path + strlen(prefix);
        if (strncmp(rows[i].path, prefix, strlen(prefix)) != 0 || rows[i].default_text ||
            yaml_tree_find(map, key))
            continue;
        missing++;
        if (map->cut)
            continue;
        loader_error(loader, map, "has no %s; takes %s", key, kind_takes(rows[i].kind));
    }
    return missing == 0;
}

bool load_item(struct loader *loader, const struct yaml_tree_node *node,
               const struct loader_place *place, const char *takes)
{
    size_t before = loader->problems->count;
    if (node->broken)
        return false;
    if (node->kind != TREE_MAP) {
        loader_error_takes(loader, node, takes, "");
        return false;
    }
    load_row_defaults(loader, place->prefix, place->owner);
    load_mapping(loader, node, place);
    return has_required(loader, place->prefix, node) && loader->problems->count == before;
}
