/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * From text to struct config: the walk over mappings and their keys. Words are read by
 * load_scalar.c, lists by load_lists.c and load_zones.c; what only shows when all is loaded is
 * config_check.c's. Invariant: a configuration is handed out only when there was no error, and
 * every field then has its row's default or what the file says.
 */
#include "config/loader.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/suggest.h"
#include "local/name_map.h"

enum { CONFIG_BYTES_MAX = 512 * 1024 * 1024, ROW_PATH_MAX = 128 };

/* ---- the path ---- */

static size_t extend_path(struct loader *loader, const char *text)
{
    size_t mark = loader->path_len;
    size_t len = MIN(strlen(text), sizeof(loader->path) - 1 - mark);
    memcpy(loader->path + mark, text, len);
    loader->path_len = mark + len;
    loader->path[loader->path_len] = '\0';
    return mark;
}

size_t loader_enter(struct loader *loader, const char *key)
{
    char quoted[PROBLEM_QUOTE_MAX];
    size_t mark = loader->path_len;
    if (mark)
        extend_path(loader, ".");
    extend_path(loader, problem_quote(key, strlen(key), quoted));
    return mark;
}

size_t loader_enter_item(struct loader *loader, size_t index)
{
    char text[32];
    snprintf(text, sizeof(text), "[%zu]", index);
    return extend_path(loader, text);
}

void loader_leave(struct loader *loader, size_t mark)
{
    loader->path_len = mark;
    loader->path[mark] = '\0';
}

/* ---- errors and memory ---- */

void loader_error(struct loader *loader, const struct yaml_tree_node *node, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    problems_add(loader->problems, node->position, loader->path_len ? loader->path : "file", "%s",
                 text);
}

void loader_error_takes(struct loader *loader, const struct yaml_tree_node *node, const char *takes,
                        const char *hint)
{
    char quoted[PROBLEM_QUOTE_MAX];
    if (yaml_tree_is_empty(node))
        loader_error(loader, node, "has no value; takes %s", takes);
    else if (node->kind == TREE_SCALAR)
        loader_error(loader, node, "takes %s, not \"%s\"%s", takes,
                     problem_quote(node->text, node->len, quoted), hint);
    else
        loader_error(loader, node, "takes %s, not a %s", takes,
                     node->kind == TREE_LIST ? "list" : "mapping");
}

void *loader_take(struct loader *loader, size_t count, size_t size)
{
    void *memory = arena_take(&loader->config->arena, MAX(count * size, 1));
    if (memory)
        memset(memory, 0, count * size);
    else
        problems_no_memory(loader->problems);
    return memory;
}

/* ---- mappings ---- */

void load_value(struct loader *loader, const struct option *option,
                const struct yaml_tree_node *node, void *owner)
{
    if (node->broken)
        return;
    switch (option->kind) {
    case KIND_LISTEN:
    case KIND_LISTEN_TLS:
        load_listen(loader, option, node);
        break;
    case KIND_OUTGOING:
        load_outgoing(loader, option, node);
        break;
    case KIND_FILES: /* include.c read them before */
        if (!loader->with_files && (node->kind != TREE_LIST || node->count > 0))
            loader_error(loader, node->key, "can only stand in a file; leave it out");
        break;
    case KIND_ACCESS:
        load_access(loader, option, node);
        break;
    case KIND_ENTRIES:
        load_entries(loader, option, node);
        break;
    case KIND_PREFIXES:
        load_prefixes(loader, option, node, option_field(option, owner));
        break;
    case KIND_NAMES:
        load_names(loader, option, node, option_field(option, owner));
        break;
    case KIND_ZONES:
        load_zones(loader, option, node);
        break;
    case KIND_LOCAL_ZONES:
        load_local_zones(loader, option, node);
        break;
    case KIND_RECORDS:
        load_records(loader, option, node);
        break;
    case KIND_BLOCK_LISTS:
        load_block_lists(loader, option, node);
        break;
    case KIND_REDIRECT:
        load_redirect(loader, option, node, owner);
        break;
    case KIND_UPSTREAMS:
        load_upstreams(loader, option, node, owner);
        break;
    case KIND_PINS:
        load_pins(loader, option, node, option_field(option, owner));
        break;
    case KIND_DNSTAP_MESSAGES:
        load_dnstap_messages(loader, option, node, option_field(option, owner));
        break;
    default:
        load_scalar(loader, option, node, owner);
    }
}

/* The key's part of a row's path below the prefix, up to the next '.', for suggestions. */
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

static void report_unknown(struct loader *loader, const struct yaml_tree_node *key,
                           const struct loader_place *place)
{
    struct suggestion suggestion;
    if (problems_is_full(loader->problems)) {
        loader_error(loader, key, "is not known");
        return;
    }
    suggest_init(&suggestion, key->text);
    suggest_key(&suggestion, place->prefix, false);
    if (place->layer)
        suggest_key(&suggestion, "upstream.", true);
    if (suggestion.word)
        loader_error(loader, key, "is not known; did you mean %.*s?",
                     (int)strcspn(suggestion.word, ".["), suggestion.word);
    else
        loader_error(loader, key, "is not known; nailup.yaml(5) lists what is");
}

/* Where the key leads: a row, a section, or nowhere. */
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
        load_value(loader, option, node,
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

/* As load_key() for a key of the section upstream that stands in an entry or a zone. */
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
        load_value(loader, option, node, &layer->values);
    } else if (option) {
        loader_error(loader, node->key,
                     "concerns the whole process; move it to the section upstream");
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
    /* Rows are named by paths; one path typed as a key is not known. */
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
                               ? "; is a blank missing after a colon?"
                               : "");
        return;
    }
    for (const struct yaml_tree_node *child = map->first; child; child = child->next)
        load_child(loader, child, place);
}

/* ---- defaults ---- */

/* Defaults are read like the file itself, so that a row says them as a user would. */
static void load_default(struct loader *loader, const struct option *option)
{
    const char *text = option->default_text;
    struct yaml_tree *tree = yaml_tree_parse(text, strlen(text), loader->problems);
    if (!tree)
        return;
    loader_enter(loader, option->path);
    load_value(loader, option, yaml_tree_root(tree), option_owner_of(option, loader->config));
    loader_leave(loader, 0);
    yaml_tree_free(tree);
    MUST(loader->problems->count == 0);
}

static void load_defaults(struct loader *loader)
{
    size_t count;
    const struct option *rows = options_all(&count);
    for (size_t i = 0; i < count; i++)
        if (!option_is_of_item(&rows[i]))
            load_default(loader, &rows[i]);
}

/* ---- the whole ---- */

static struct config *new_config(void)
{
    struct config *config = calloc(1, sizeof(*config));
    if (!config)
        return NULL;
    config->run_as = (struct config_account){CONFIG_NO_ID, CONFIG_NO_ID, ""};
    config->control_account = config->run_as;
    arena_init(&config->arena, CONFIG_BYTES_MAX);
    buf_init(&config->warnings, CONFIG_WARNINGS_BYTES);
    return config;
}

void config_free(struct config *config)
{
    if (!config)
        return;
    prefix_set_free(config->entry_set);
    prefix_set_free(config->server.access);
    prefix_set_free(config->do_not_query.set);
    prefix_set_free(config->own_set);
    prefix_set_free(config->private_addresses.set);
    name_map_free(config->private_domains.map);
    local_names_free(config->local);
    buf_deinit(&config->warnings);
    arena_deinit(&config->arena);
    free(config);
}

static void load_tree(struct loader *loader, struct span text)
{
    struct yaml_tree *tree = yaml_tree_parse((const char *)text.data, text.len, loader->problems);
    if (!tree)
        return;
    struct includes *includes = NULL;
    if (loader->with_files && problems_is_empty(loader->problems))
        includes = include_files(loader, tree, text.len);
    bool is_whole = problems_is_empty(loader->problems);
    loader->root = yaml_tree_root(tree);
    if (loader->root)
        load_mapping(loader, loader->root, &(struct loader_place){.prefix = ""});
    /* What a half-read file lacks may stand in its other half. */
    if (is_whole && !loader->problems->no_memory)
        config_check(loader);
    if (is_whole && !loader->problems->no_memory && loader->with_files)
        config_check_files(loader);
    if (problems_is_empty(loader->problems) && !loader->problems->no_memory)
        config_warn_of_hints(loader);
    if (is_whole && !loader->problems->no_memory)
        config_local(loader, loader->with_files);
    loader->root = NULL;
    includes_free(includes);
    yaml_tree_free(tree);
}

static enum err load_finish(struct loader *loader, const char *file_name, struct config **out,
                            struct buf *errors)
{
    bool fine = problems_is_empty(loader->problems) && config_route(loader);
    enum err err = loader->problems->no_memory ? ERR_NO_MEMORY : fine ? ERR_OK : ERR_INVALID;
    problems_print(loader->problems, file_name, errors);
    if (err)
        config_free(loader->config);
    else
        *out = loader->config;
    return err;
}

enum err load_text(const char *file_name, struct span text, bool with_files, struct config **out,
                   struct buf *errors)
{
    struct problems problems;
    *out = NULL;
    struct config *config = new_config();
    if (!config) {
        problems_print_one(file_name, errors, "out of memory");
        return ERR_NO_MEMORY;
    }
    struct loader loader = {
        .config = config, .problems = &problems, .file_name = file_name, .with_files = with_files};
    problems_init(&problems);
    load_defaults(&loader);
    if (text.len > CONFIG_FILE_MAX)
        problems_add(&problems, (struct config_position){1, 1, 0}, "file",
                     "is larger than %d bytes; shorten it", CONFIG_FILE_MAX);
    else if (problems_is_empty(&problems))
        load_tree(&loader, text);
    enum err err = load_finish(&loader, file_name, out, errors);
    problems_deinit(&problems);
    return err;
}

enum err config_parse_with_files(const char *file_name, const char *text, size_t len,
                                 struct config **out, struct buf *errors)
{
    return load_text(file_name, span_of(text, len), true, out, errors);
}

enum err config_parse(const char *file_name, const char *text, size_t len, struct config **out,
                      struct buf *errors)
{
    return load_text(file_name, span_of(text, len), false, out, errors);
}
