/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * The driver of the loader: reads a file, reads every value into a struct config, and runs the
 * checks. Invariant: a configuration is returned only if it has no error, and every field then has
 * the value of the file or the default of its row.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/file.h"
#include "config/config_anchors.h"
#include "config/config_check.h"
#include "config/config_check_files.h"
#include "config/config_hints.h"
#include "config/config_local.h"
#include "config/config_rpz.h"
#include "config/config_upstream.h"
#include "config/config_views.h"
#include "config/include.h"
#include "config/load_auth_zones.h"
#include "config/load_lists.h"
#include "config/load_local.h"
#include "config/load_mapping.h"
#include "config/load_rpz.h"
#include "config/load_scalar.h"
#include "config/load_tsig_keys.h"
#include "config/load_upstreams.h"
#include "config/load_views.h"
#include "config/load_zones.h"
#include "config/loader.h"
#include "local/name_map.h"
#include "rpz/rpz_policy.h"
#include "validate/anchors.h"

enum { CONFIG_BYTES_MAX = 512 * 1024 * 1024, REASON_MAX = 128 };

/* ---- values ---- */

static void load_value(struct loader *loader, const struct option *option,
                       const struct yaml_tree_node *node, void *owner)
{
    if (node->broken)
        return;
    switch (option->kind) {
    case KIND_LISTEN:
    case KIND_LISTEN_HTTPS:
    case KIND_LISTEN_TLS:
        load_listen(loader, option, node);
        break;
    case KIND_OUTGOING:
        load_outgoing(loader, option, node);
        break;
    case KIND_FILES: /* include.c has read them */
        if (!loader->with_files && (node->kind != TREE_LIST || node->count > 0))
            loader_error(loader, node->key, "is only allowed in a file; leave it out");
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
    case KIND_VIEWS:
        load_views(loader, option, node);
        break;
    case KIND_AUTH_ZONES:
        load_auth_zones(loader, option, node);
        break;
    case KIND_TSIG_KEYS:
        load_tsig_keys(loader, option, node);
        break;
    case KIND_PRIMARIES:
        load_primaries(loader, option, node, option_field(option, owner));
        break;
    case KIND_LOCAL_ZONES:
        load_local_zones(loader, option, node);
        break;
    case KIND_RECORDS:
        load_records(loader, option, node);
        break;
    case KIND_ANCHORS:
        load_anchors(loader, option, node);
        break;
    case KIND_BLOCK_LISTS:
        load_block_lists(loader, option, node);
        break;
    case KIND_RPZ_ZONES:
        load_rpz(loader, option, node);
        break;
    case KIND_REDIRECT:
        load_redirect(loader, option, node, owner);
        break;
    case KIND_UPSTREAMS:
        load_upstreams(loader, option, node, owner);
        break;
    case KIND_SERVERS:
        load_servers(loader, option, node, option_field(option, owner));
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

/* ---- defaults ---- */

/* Defaults are read like the file itself, so that a row can write them as a user would. */
static void load_default(struct loader *loader, const struct option *option)
{
    const char *text = option->default_text;
    struct yaml_tree *tree = yaml_tree_parse(text, strlen(text), loader->problems);
    const struct yaml_tree_node *root = tree ? yaml_tree_root(tree) : NULL;
    if (root) { /* else memory is short, which the problems hold */
        loader_enter(loader, option->path);
        load_value(loader, option, root, option_owner_of(option, loader->config));
        loader_leave(loader, 0);
    }
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

/* ---- the configuration ---- */

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
    rpz_policy_unref(config->rpz.policy);
    load_views_free(config);
    for (size_t i = 0; i < config->server.view_listener_count; i++)
        prefix_set_free(config->server.view_listeners[i].views);
    for (size_t i = 0; i < config->table_count; i++)
        local_names_free(config->tables[i]);
    sources_unref(config->outgoing.v4);
    sources_unref(config->outgoing.v6);
    prefix_set_free(config->entry_set);
    prefix_set_free(config->server.access);
    prefix_set_free(config->do_not_query.set);
    prefix_set_free(config->own_set);
    prefix_set_free(config->private_addresses.set);
    prefix_set_free(config->proxy_from.set);
    prefix_set_free(config->dns64_exclude.set);
    prefix_set_free(config->dns64_clients.set);
    name_map_free(config->dns64_ignored.map);
    name_map_free(config->private_domains.map);
    name_map_free(config->negative_anchors.map);
    anchors_free(config->anchors);
    local_names_free(config->local);
    for (size_t i = 0; i < config->auth_zone_count; i++)
        prefix_set_free(config->auth_zones[i].source.allow_notify.set);
    for (size_t i = 0; i < config->rpz.count; i++)
        prefix_set_free(config->rpz.zones[i].source.allow_notify.set);
    tsig_keys_wipe(config);
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
    loader->config->is_blank = !loader->root || loader->root->count == 0;
    if (loader->root)
        load_mapping(loader, loader->root, &(struct loader_place){.prefix = ""});
    /* Only a file that was read to its end is checked: a value that seems missing may be in the
     * rest. */
    if (is_whole && !loader->problems->no_memory)
        load_local_root(loader);
    if (is_whole && !loader->problems->no_memory)
        config_check(loader);
    if (is_whole && !loader->problems->no_memory && loader->with_files)
        config_check_files(loader);
    if (problems_is_empty(loader->problems) && !loader->problems->no_memory)
        config_views_check(loader);
    if (problems_is_empty(loader->problems) && !loader->problems->no_memory)
        config_warn_of_hints(loader);
    if (is_whole && !loader->problems->no_memory)
        config_check_primaries(loader);
    if (is_whole && !loader->problems->no_memory)
        config_local(loader, loader->with_files);
    if (is_whole && !loader->problems->no_memory)
        config_rpz(loader, loader->with_files);
    if (is_whole && !loader->problems->no_memory && loader->with_files)
        config_read_anchor_file(loader);
    if (problems_is_empty(loader->problems) && !loader->problems->no_memory)
        config_warn_of_anchors(loader);
    loader->root = NULL;
    includes_free(includes);
    yaml_tree_free(tree);
}

static enum err load_finish(struct loader *loader, const char *file_name, struct config **out,
                            struct buf *errors)
{
    bool fine = problems_is_empty(loader->problems) && config_route(loader);
    if (fine)
        config_views(loader, loader->with_files);
    fine = fine && problems_is_empty(loader->problems) && config_anchors(loader);
    enum err err = loader->problems->no_memory ? ERR_NO_MEMORY : fine ? ERR_OK : ERR_INVALID;
    problems_print(loader->problems, file_name, errors);
    if (err)
        config_free(loader->config);
    else
        *out = loader->config;
    return err;
}

static enum err load_text(const char *file_name, struct span text, bool with_files,
                          struct config **out, struct buf *errors)
{
    struct problems problems;
    *out = NULL;
    struct config *config = new_config();
    if (!config) {
        problems_print_one(file_name, errors, "out of memory");
        return ERR_NO_MEMORY;
    }
    struct loader loader = {.config = config,
                            .problems = &problems,
                            .file_name = file_name,
                            .with_files = with_files,
                            .load_value = load_value};
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

/* ---- files ---- */

/* Reads at most one byte more than a file may have. -1: reason says why. O_NONBLOCK: a FIFO is
 * refused, not waited for. */
static ssize_t read_file(const char *path, char *text, char reason[REASON_MAX])
{
    struct stat status;
    ssize_t len = -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    bool is_special = fd >= 0 && fstat(fd, &status) == 0 && !S_ISREG(status.st_mode);
    if (fd >= 0 && !is_special)
        len = file_read(fd, text, CONFIG_FILE_MAX + 1);
    if (is_special)
        snprintf(reason, REASON_MAX, "is not a regular file");
    else if (len < 0)
        snprintf(reason, REASON_MAX, "cannot be read: %s%s", strerror(errno),
                 errno == EACCES ? "; let the user that nailupd runs as read it" : "");
    if (fd >= 0)
        close(fd);
    return len;
}

enum err config_load(const char *path, struct config **out, struct buf *errors)
{
    char reason[REASON_MAX];
    *out = NULL;
    char *text = malloc(CONFIG_FILE_MAX + 1);
    if (!text) {
        problems_print_one(path, errors, "out of memory");
        return ERR_NO_MEMORY;
    }
    ssize_t len = read_file(path, text, reason);
    enum err err = ERR_INVALID;
    if (len < 0)
        problems_print_one(path, errors, reason);
    else
        err = load_text(path, span_of(text, (size_t)len), true, out, errors);
    free(text);
    return err;
}
