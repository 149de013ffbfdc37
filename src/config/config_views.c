/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Makes the tables of views: which client has which view (server_options), and which views resolve
 * alike (route_options). Two views share a space if everything that they set and resolution depends
 * on is printed as the same text. A view that sets nothing of the kind has the shared space.
 *
 * Invariant: the space of a view follows from what the view sets, not from what it inherits. So a
 * reload that changes the rest of the file leaves the caches of views alone.
 */
#include "config/config_views.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/hash.h"
#include "config/config_check.h"
#include "config/config_check_files.h"
#include "config/config_check_tls.h"
#include "config/config_local.h"
#include "config/config_print.h"
#include "config/config_upstream.h"
#include "config/load_zones.h"

/* ---- what a view inherits ---- */

static void set_scope(struct loader *loader, size_t index)
{
    snprintf(loader->problems->scope, sizeof(loader->problems->scope), "views[%zu].", index);
}

/* Completes the part: members that the view does not give come from the file. */
static void inherit(const struct config *config, struct config_view *view)
{
    struct config own = view->part, *part = &view->part;
    *part = *config;
    memcpy(part->written, own.written, sizeof(own.written));
    part->arena = own.arena;
    part->views = NULL;
    part->view_count = part->table_count = 0;
    part->tables = NULL;
    part->zones = own.zones;
    part->zone_count = own.zone_count;
    part->stub_zones = own.stub_zones;
    part->stub_count = own.stub_count;
    part->local_zones = own.local_zones;
    part->local_zone_count = own.local_zone_count;
    part->records = own.records;
    part->record_count = own.record_count;
    part->hosts_file = own.hosts_file;
    part->block_lists = own.block_lists;
    part->block_list_count = own.block_list_count;
    part->local = NULL;
    part->access = own.access;
    part->access_count = own.access_count;
    part->server.access = own.server.access;
    part->server.listen = own.server.listen;
    part->server.listen_count = own.server.listen_count;
    part->server.rate_limit_qps = own.server.rate_limit_qps;
    if (config_view_gives(view, "views[].validate"))
        part->route.validation.mode = own.route.validation.mode;
    if (config_view_gives(view, "views[].block-aliases"))
        part->block_aliases = own.block_aliases;
}

static bool is_listener(const struct server_options *server, const struct addr *addr)
{
    for (size_t i = 0; i < server->listen_count; i++)
        if (addr_equal(&server->listen[i], addr))
            return true;
    for (size_t i = 0; i < server->listen_tls_count; i++)
        if (addr_equal(&server->listen_tls[i], addr))
            return true;
    for (size_t i = 0; i < server->listen_https_count; i++)
        if (addr_equal(&server->listen_https[i], addr))
            return true;
    return false;
}

static void check_listeners(struct loader *loader, const struct config_view *view)
{
    const struct server_options *own = &view->part.server;
    char text[ADDR_TEXT_MAX];
    for (size_t i = 0; i < own->listen_count; i++)
        if (!is_listener(&loader->config->server, &own->listen[i]))
            problems_add(loader->problems, view->position, "listen",
                         "%s is not in server.listen, server.listen-tls or server.listen-https; "
                         "write one of their addresses, with its port",
                         addr_format(&own->listen[i], text));
}

/* Names of servers are looked up for the zones of the file only. */
static void check_hosts_of(struct loader *loader, const struct config_zone *zones, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (zones[i].host_count)
            problems_add(loader->problems, zones[i].position, "upstreams",
                         "has the name of a server, which a view cannot look up; write its "
                         "address");
}

static void check_zones_of_view(struct loader *loader, struct config_view *view)
{
    struct config *whole = loader->config;
    if (view->part.zone_count + view->part.stub_count == 0)
        return;
    check_hosts_of(loader, view->part.zones, view->part.zone_count);
    check_hosts_of(loader, view->part.stub_zones, view->part.stub_count);
    loader->config = &view->part;
    config_check_zones(loader);
    config_check_tls_zones(loader);
    config_check_zone_names(loader);
    if (loader->with_files)
        config_check_files_zones(loader);
    loader->config = whole;
}

void config_views_check(struct loader *loader)
{
    struct config *config = loader->config;
    const struct yaml_tree_node *root = loader->root;
    const struct yaml_tree_node *views = config->view_count ? yaml_tree_find(root, "views") : NULL;
    const struct yaml_tree_node *node = views ? views->first : NULL;
    for (size_t i = 0; i < config->view_count && node; i++, node = node->next) {
        set_scope(loader, i);
        inherit(config, &config->views[i]);
        check_listeners(loader, &config->views[i]);
        loader->root = node;
        check_zones_of_view(loader, &config->views[i]);
    }
    loader->problems->scope[0] = '\0';
    loader->root = root;
}

/* ---- which client has which view ---- */

static bool add_prefix(struct prefix_set *set, const struct prefix *prefix, size_t number)
{
    return prefix_set_add(set, prefix, (int)number) != ERR_NO_MEMORY; /* the first one counts */
}

static bool add_all_clients(struct prefix_set *set, size_t number)
{
    struct prefix v4, v6;
    MUST(prefix_parse(&v4, "0.0.0.0/0") == ERR_OK && prefix_parse(&v6, "::/0") == ERR_OK);
    return add_prefix(set, &v4, number) && add_prefix(set, &v6, number);
}

static bool add_clients(struct prefix_set *set, const struct config_view *view, size_t number)
{
    if (!view->clients.count)
        return add_all_clients(set, number);
    for (size_t i = 0; i < view->clients.count; i++)
        if (!add_prefix(set, &view->clients.list[i], number))
            return false;
    return true;
}

static bool names_listener(const struct config_view *view, const struct addr *listener)
{
    for (size_t i = 0; i < view->part.server.listen_count; i++)
        if (addr_equal(&view->part.server.listen[i], listener))
            return true;
    return false;
}

static void report_equal_clients(struct loader *loader, const struct config_view *view,
                                 const struct prefix *prefix, const struct addr *listener)
{
    char text[PREFIX_TEXT_MAX], at[ADDR_TEXT_MAX];
    problems_add(loader->problems, view->position, "views",
                 "%s is in clients of %s and of an earlier view%s%s; keep one of them",
                 prefix_format(prefix, text), view->name, listener ? " at " : "",
                 listener ? addr_format(listener, at) : "");
}

/* Finds a prefix of the view that a view before it has at the same listener: it would never choose
 * this view. A view without clients has all of them. */
static void check_clients_at(struct loader *loader, struct prefix_set *seen,
                             const struct config_view *view, const struct addr *listener)
{
    struct config_prefixes all = {.count = 0};
    struct prefix everywhere[2];
    const struct config_prefixes *clients = &view->clients;
    MUST(prefix_parse(&everywhere[0], "0.0.0.0/0") == ERR_OK &&
         prefix_parse(&everywhere[1], "::/0") == ERR_OK);
    if (!clients->count) {
        all = (struct config_prefixes){.list = everywhere, .count = ARRAY_LEN(everywhere)};
        clients = &all;
    }
    for (size_t i = 0; i < clients->count; i++)
        if (prefix_set_add(seen, &clients->list[i], 0) == ERR_INVALID)
            report_equal_clients(loader, view, &clients->list[i], listener);
}

/* Checks the views that name the listener. */
static void check_listener(struct loader *loader, const struct addr *listener)
{
    const struct config *config = loader->config;
    struct prefix_set *seen = prefix_set_new();
    for (size_t i = 0; seen && i < config->view_count; i++)
        if (names_listener(&config->views[i], listener))
            check_clients_at(loader, seen, &config->views[i], listener);
    if (!seen)
        problems_no_memory(loader->problems);
    prefix_set_free(seen);
}

/* Returns the views at the listener, which comes first where a view names it. NULL: at all other
 * listeners. */
static struct prefix_set *views_at(const struct config *config, const struct addr *listener)
{
    struct prefix_set *set = prefix_set_new();
    bool fine = set;
    for (size_t i = 0; fine && listener && i < config->view_count; i++)
        if (names_listener(&config->views[i], listener))
            fine = add_clients(set, &config->views[i], i + 1);
    for (size_t i = 0; fine && i < config->view_count; i++)
        if (!config->views[i].part.server.listen_count)
            fine = add_clients(set, &config->views[i], i + 1);
    if (fine && prefix_set_freeze(set) == ERR_OK)
        return set;
    prefix_set_free(set);
    return NULL;
}

static bool add_view_listener(struct loader *loader, const struct addr *listener)
{
    const struct config *config = loader->config;
    struct server_options *server = &loader->config->server;
    struct server_view_listener *out = &server->view_listeners[server->view_listener_count];
    for (size_t i = 0; listener && i < server->view_listener_count; i++)
        if (addr_equal(&server->view_listeners[i].listen, listener))
            return true;
    *out = (struct server_view_listener){.views = views_at(config, listener)};
    if (listener)
        out->listen = *listener;
    if (!out->views)
        return false;
    server->view_listener_count++;
    if (listener)
        check_listener(loader, listener);
    return true;
}

/* Checks the views that name no listener. */
static void check_equal_clients(struct loader *loader)
{
    const struct config *config = loader->config;
    struct prefix_set *seen = prefix_set_new();
    for (size_t i = 0; seen && i < config->view_count; i++)
        if (!config->views[i].part.server.listen_count)
            check_clients_at(loader, seen, &config->views[i], NULL);
    if (!seen)
        problems_no_memory(loader->problems);
    prefix_set_free(seen);
}

/* Returns the view's choice of response policy zones. */
static uint32_t choose_policy(struct loader *loader, const struct config_view *view)
{
    struct config *config = loader->config;
    struct rpz_choices *choices = &config->server.policy_choices;
    char text[NAME_TEXT_MAX];
    uint32_t choice = 0;
    if (!config_view_gives(view, "views[].rpz-zones"))
        return choices->usual;
    set_scope(loader, (size_t)(view - config->views));
    for (size_t i = 0; i < view->policy_zones.count; i++) {
        struct name name;
        uint32_t bit;
        MUST(name_view(span_of(view->policy_zones.list[i], NAME_WIRE_MAX), 0, &name) != 0);
        if (rpz_choices_find(choices, name, &bit))
            choice |= bit;
        else
            problems_add(loader->problems, view->position, "rpz-zones",
                         "%s is not a zone of rpz; add it there, or leave it out here",
                         name_format(name, text));
    }
    loader->problems->scope[0] = '\0';
    choices->differ |= choice != choices->usual;
    return choice;
}

static bool make_choices(struct loader *loader)
{
    struct config *config = loader->config;
    struct server_options *server = &config->server;
    size_t listeners = 1;
    for (size_t i = 0; i < config->view_count; i++)
        listeners += config->views[i].part.server.listen_count;
    server->view_listeners = loader_take(loader, listeners, sizeof(*server->view_listeners));
    server->views = loader_take(loader, config->view_count, sizeof(*server->views));
    if (!server->view_listeners || !server->views || !add_view_listener(loader, NULL))
        return false;
    for (size_t i = 0; i < config->view_count; i++) {
        const struct config_view *view = &config->views[i];
        bool has_access = config_view_gives(view, "views[].access");
        server->views[i] = (struct server_view){
            .name = view->name,
            .access = has_access ? view->part.server.access : NULL,
            .limits_rate = config_view_gives(view, "views[].queries-per-second"),
            .rate_limit_qps = view->part.server.rate_limit_qps,
            .policy_zones = choose_policy(loader, view)};
        for (size_t j = 0; j < view->part.server.listen_count; j++)
            if (!add_view_listener(loader, &view->part.server.listen[j]))
                return false;
    }
    server->view_count = config->view_count;
    return true;
}

/* ---- which views resolve alike ---- */

static bool has_local(const struct config *part)
{
    return part->local_zone_count || part->record_count || *part->hosts_file ||
           part->block_list_count;
}

/* Whether the local data changes which questions are resolved, and not just the answers given here.
 * If so, it belongs to the settings of the space. */
static bool changes_questions(const struct config_view *view)
{
    const struct config *part = &view->part;
    for (size_t i = 0; i < part->local_zone_count; i++)
        if (local_action_asks(part->local_zones[i].action))
            return true;
    return !view->inherit_local || (part->block_list_count && part->block_aliases);
}

static bool put_row_text(const struct config_view *view, const char *path, struct buf *text)
{
    return buf_append(text, path, strlen(path)) == ERR_OK &&
           config_print_value(&view->part, options_find(path), text) == ERR_OK;
}

/* Appends the settings on which resolution depends. The text stays empty if they equal the file's.
 */
static bool put_space_text(const struct config *config, const struct config_view *view,
                           struct buf *text)
{
    static const char *const local_rows[] = {"local-zones", "local-data", "hosts-file",
                                             "block-lists", "block-aliases"};
    const struct config *part = &view->part;
    bool fine = true;
    if (part->zone_count)
        fine = put_row_text(view, "forward-zones", text);
    if (fine && part->stub_count)
        fine = put_row_text(view, "stub-zones", text);
    if (fine && part->route.validation.mode != config->route.validation.mode)
        fine = put_row_text(view, "dnssec.validate", text);
    for (size_t i = 0; fine && changes_questions(view) && i < ARRAY_LEN(local_rows); i++)
        fine = put_row_text(view, local_rows[i], text);
    return fine && (view->inherit_local || buf_append(text, "own", 3) == ERR_OK);
}

/* The local data of one view, or of a space without the data of its views. */
static bool make_table(struct loader *loader, struct config_view *view, bool with_files,
                       struct local_names **out)
{
    struct config *whole = loader->config;
    view->part.warnings = whole->warnings;
    loader->config = &view->part;
    config_local_of_view(loader, with_files, view->inherit_local);
    loader->config = whole;
    whole->warnings = view->part.warnings;
    *out = view->part.local;
    if (!*out)
        return false;
    if (view->inherit_local)
        local_names_set_under(*out, whole->local);
    whole->tables[whole->table_count++] = *out;
    return true;
}

/* The table of only the zones, which the views of a space have in common. */
static bool make_common_table(struct loader *loader, struct config_view *view,
                              const struct local_names **out)
{
    struct config_view bare = *view;
    struct local_names *table;
    bare.part.local_zone_count = bare.part.record_count = bare.part.block_list_count = 0;
    static char none[] = "";
    bare.part.hosts_file = none;
    if (!make_table(loader, &bare, false, &table))
        return false;
    *out = table;
    return true;
}

static size_t find_space_text(const struct config *config, struct span text, uint64_t *hashes,
                              uint64_t hash)
{
    for (size_t i = 0; i < config->view_set.space_count; i++)
        if (hashes[i] == hash && strlen(config->space_texts[i]) == text.len &&
            memcmp(config->space_texts[i], text.data, text.len) == 0)
            return i + 1;
    return 0;
}

static bool add_space_of(struct loader *loader, struct config_view *view, struct span text)
{
    struct config *config = loader->config;
    size_t place = config->view_set.space_count;
    struct space_options *space = &config->view_set.spaces[place];
    char *copy = loader_take(loader, text.len + 1, 1);
    if (!copy)
        return false;
    memcpy(copy, text.data, text.len);
    config->space_texts[place] = copy;
    *space = (struct space_options){.number = (uint32_t)place + 1,
                                    .zones = view->part.route.zones,
                                    .zone_count = view->part.route.zone_count,
                                    .mode = view->part.route.validation.mode};
    config->view_set.space_count++;
    return changes_questions(view) || make_common_table(loader, view, &space->local);
}

static bool make_view(struct loader *loader, size_t index, struct buf *text, uint64_t *hashes,
                      bool with_files)
{
    struct config *config = loader->config;
    struct config_view *view = &config->views[index];
    struct view_options *out = &config->view_set.views[index];
    struct local_names *table = NULL;
    buf_clear(text);
    if (!config_route_zones(loader, &view->part) || !put_space_text(config, view, text))
        return false;
    struct span key = buf_span(text);
    uint64_t hash = hash_bytes(key.data, key.len, 0);
    out->name = view->name;
    out->space = key.len ? find_space_text(config, key, hashes, hash) : 0;
    bool is_new = key.len && !out->space;
    if (is_new) {
        hashes[config->view_set.space_count] = hash;
        if (!add_space_of(loader, view, key))
            return false;
        out->space = config->view_set.space_count;
    }
    bool has_table = has_local(&view->part) || changes_questions(view);
    bool is_in_space = changes_questions(view); /* one table for all of its views */
    if (has_table && (is_new || !is_in_space) && !make_table(loader, view, with_files, &table))
        return false;
    if (is_in_space && is_new)
        config->view_set.spaces[out->space - 1].local = table;
    else if (!is_in_space)
        out->local = table;
    return true;
}

static void check_zone_bound(struct loader *loader)
{
    const struct config *config = loader->config;
    size_t zones = 0, inherited = config->zone_count + config->stub_count;
    for (size_t i = 0; i < config->view_set.space_count; i++)
        zones += config->view_set.spaces[i].zone_count + inherited;
    if (zones > VIEW_ZONES_MAX)
        problems_add(loader->problems, config->views[0].position, "views",
                     "have %zu zones together, inherited ones included; at most %d are allowed; "
                     "give fewer views their own zones",
                     zones, VIEW_ZONES_MAX);
}

static bool make_views(struct loader *loader, bool with_files)
{
    struct config *config = loader->config;
    size_t count = config->view_count;
    struct view_set *set = &config->view_set;
    uint64_t *hashes = loader_take(loader, count, sizeof(*hashes));
    struct buf text;
    set->views = loader_take(loader, count, sizeof(*set->views));
    set->spaces = loader_take(loader, count, sizeof(*set->spaces));
    config->space_texts = loader_take(loader, count, sizeof(char *));
    config->tables = loader_take(loader, 2 * count, sizeof(struct local_names *));
    bool fine = hashes && set->views && set->spaces && config->space_texts && config->tables;
    buf_init(&text, 4 * CONFIG_FILE_MAX);
    for (size_t i = 0; fine && i < count; i++) {
        set_scope(loader, i);
        fine = make_view(loader, i, &text, hashes, with_files);
    }
    loader->problems->scope[0] = '\0';
    buf_deinit(&text);
    set->view_count = count;
    return fine;
}

void config_views(struct loader *loader, bool with_files)
{
    struct config *config = loader->config;
    if (!config->view_count)
        return;
    check_equal_clients(loader);
    if (!make_choices(loader) || !make_views(loader, with_files)) {
        problems_no_memory(loader->problems);
        return;
    }
    check_zone_bound(loader);
    config->route.views = &config->view_set;
}
