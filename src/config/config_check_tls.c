/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Finds contradictions about TLS: listeners without a certificate, names and pins without TLS,
 * plain text with a strict profile, one half of a pair. Reads no file.
 */
#include "config/config_check_tls.h"

#include <string.h>

#include "config/config_upstream.h"
#include "config/place.h"

#define ROW(field)                                                                                 \
    options_find_field(OWNER_upstream_options, offsetof(struct upstream_options, field))

/* ---- listeners ---- */

static const struct place server_place = {.key = "server"};

static void check_certificate(struct loader *loader)
{
    const struct server_options *server = &loader->config->server;
    bool has_certificate = loader_is_set(server->tls_certificate),
         has_key = loader_is_set(server->tls_key);
    if (server_options_have_tls(server) && !(has_certificate && has_key))
        place_error(loader, &server_place, server->listen_tls_count ? "listen-tls" : "listen-https",
                    "needs %s%s%s", has_certificate ? "" : "tls-certificate",
                    has_certificate || has_key ? "" : " and ", has_key ? "" : "tls-key");
}

/* An item that is not an address has been reported already. */
static bool is_left_empty(const struct loader *loader, const char *key)
{
    const struct yaml_tree_node *server =
        loader->root ? yaml_tree_find(loader->root, server_place.key) : NULL;
    const struct yaml_tree_node *list = server ? yaml_tree_find(server, key) : NULL;
    return !list || list->count == 0;
}

static void check_any(struct loader *loader)
{
    const struct server_options *server = &loader->config->server;
    if (!server->listen_count && !server_options_have_tls(server) &&
        is_left_empty(loader, "listen") && is_left_empty(loader, "listen-tls") &&
        is_left_empty(loader, "listen-https"))
        place_error(loader, &server_place, "listen",
                    "has no address, and neither has listen-tls or listen-https: no client could "
                    "send queries; add one");
}

/* A list of server and its key. */
struct listeners {
    const char *key;
    const struct addr *list;
    size_t count;
};

static void check_clash_of(struct loader *loader, struct listeners one, struct listeners other)
{
    char text[ADDR_TEXT_MAX];
    for (size_t i = 0; i < one.count; i++)
        for (size_t j = 0; j < other.count; j++)
            if (addr_equal(&one.list[i], &other.list[j]))
                place_error(loader, &server_place, one.key,
                            "%s is in server.%s too; one of them needs another port",
                            addr_format(&one.list[i], text), other.key);
}

static void check_clash(struct loader *loader)
{
    const struct server_options *server = &loader->config->server;
    struct listeners plain = {"listen", server->listen, server->listen_count};
    struct listeners tls = {"listen-tls", server->listen_tls, server->listen_tls_count};
    struct listeners https = {"listen-https", server->listen_https, server->listen_https_count};
    check_clash_of(loader, tls, plain);
    check_clash_of(loader, https, plain);
    check_clash_of(loader, https, tls);
}

/* ---- what contradicts itself in one place: the section, an entry, a zone ---- */

/* The rows that a place gives, and the options that follow only from this place and the section.
 */
struct view {
    struct place place;
    const struct config_layer *layer; /* NULL: the section, which gives the keys written in it */
    struct upstream_options options;
};

static bool view_gives(const struct loader *loader, const struct view *view,
                       const struct option *row)
{
    if (view->layer)
        return option_in_layer(row, view->layer);
    return loader->config->written[option_index(row)].line != 0;
}

static void check_fallback(struct loader *loader, const struct view *view)
{
    const struct upstream_options *options = &view->options;
    if (upstream_options_are_strict(options) && options->fallback == UPSTREAM_FALLBACK_UDP &&
        view_gives(loader, view, ROW(fallback)) && view_gives(loader, view, ROW(transport)))
        place_error(loader, &view->place, "fallback",
                    "udp is plain text, which transport: tls with profile: strict never sends; "
                    "leave it out, or write profile: opportunistic");
}

static bool has_half_pair(const struct tls_peer_options *options)
{
    return loader_is_set(options->certificate) != loader_is_set(options->key);
}

/* A client certificate needs its key, wherever each comes from. The error is reported where one of
 * them is given. */
static void check_pair(struct loader *loader, const struct view *view)
{
    static const char *const keys[] = {"client-certificate", "client-key"};
    const struct option *const rows[] = {ROW(tls.certificate), ROW(tls.key)};
    int there = loader_is_set(view->options.tls.certificate) ? 0 : 1, missing = !there;
    if (!has_half_pair(&view->options.tls))
        return;
    if (view_gives(loader, view, rows[there]))
        place_error(loader, &view->place, keys[there], "needs %s; give both or none",
                    keys[missing]);
    else if (view_gives(loader, view, rows[missing]))
        place_error(loader, &view->place, keys[missing],
                    "is empty, but %s is not; give both or none", keys[there]);
}

/* Two places may each form a complete pair with the section, and yet combine to half a pair. */
static void check_pair_left(struct loader *loader, const struct place *place,
                            const struct config_zone *zone, const struct route_upstream *upstream)
{
    char text[CONFIG_SERVER_TEXT_MAX];
    struct upstream_options alone = loader->config->upstream;
    bool is_key = option_in_layer(ROW(tls.key), &zone->layer);
    options_overlay(&zone->layer, &alone);
    if (transport_is_secure(upstream->options.transport) && has_half_pair(&upstream->options.tls) &&
        !has_half_pair(&alone.tls) &&
        (is_key || option_in_layer(ROW(tls.certificate), &zone->layer)))
        place_error(loader, place, is_key ? "client-key" : "client-certificate",
                    "with the entry of tcp-upstream-keepalive for %s only one of "
                    "client-certificate and client-key is left; give both here",
                    config_server_text(upstream, text));
}

static void check_tls_section(struct loader *loader)
{
    struct view view = {.place = {.key = "upstream"}, .options = loader->config->upstream};
    check_fallback(loader, &view);
    check_pair(loader, &view);
}

static void check_layer(struct loader *loader, const struct place *place,
                        const struct config_layer *layer)
{
    struct view view = {.place = *place, .layer = layer, .options = loader->config->upstream};
    options_overlay(layer, &view.options);
    check_fallback(loader, &view);
    check_pair(loader, &view);
}

/* ---- zones ---- */

static void check_auth_name(struct loader *loader, const struct place *place,
                            const struct config_zone *zone, size_t index,
                            const struct route_upstream *upstream)
{
    const struct config_upstream *item = config_zone_server(zone, index);
    if (*item->auth_name && !transport_is_secure(upstream->options.transport))
        place_upstream_error(loader, place, item->position, index,
                             "names a server for TLS (#%.60s), but is asked over %s; write "
                             "transport: tls in the zone, or leave the name out",
                             item->auth_name, transport_word(upstream->options.transport));
    else if (item->pins && !transport_is_secure(upstream->options.transport))
        place_upstream_error(loader, place, item->position, index,
                             "has pin-sha256 for TLS, but is asked over %s; write transport: tls "
                             "in the zone, or leave the pins out",
                             transport_word(upstream->options.transport));
}

/* One address may have a port and the other none: whether they are equal depends on the transport.
 */
static void check_twins(struct loader *loader, const struct place *place,
                        const struct config_zone *zone, size_t index,
                        const struct route_upstream *upstream)
{
    char text[ADDR_TEXT_MAX];
    for (size_t i = 0; i < index; i++) {
        struct route_upstream other;
        if (!addr_equal_ip(&zone->upstreams[i].addr, &upstream->addr))
            continue;
        config_zone_upstream(loader->config, zone, &zone->upstreams[i], &other);
        if (addr_equal(&other.addr, &upstream->addr))
            place_upstream_error(loader, place, zone->upstreams[index].position, index,
                                 "%s is given twice; keep one of them",
                                 addr_format(&upstream->addr, text));
    }
}

static bool concerns_tls(const struct option *row)
{
    size_t tls = offsetof(struct upstream_options, tls);
    return option_is_layered(row) &&
           ((row->offset >= tls && row->offset < tls + sizeof(struct tls_peer_options)) ||
            row == ROW(max_handshakes) || row == ROW(fallback_port));
}

/* An operator who writes such a key into a zone expects TLS. */
static void check_use(struct loader *loader, const struct place *place,
                      const struct config_layer *layer)
{
    size_t count;
    const struct option *rows = options_all(&count);
    for (size_t i = 0; i < count; i++) {
        if (!option_in_layer(&rows[i], layer) || !concerns_tls(&rows[i]))
            continue;
        place_error(loader, place, strchr(rows[i].path, '.') + 1,
                    "is about TLS, but no upstream of this zone uses it; write "
                    "transport: tls, or leave it out");
        return;
    }
}

static void check_tls_zone(struct loader *loader, const struct config_zone *zone, size_t index)
{
    struct place place = {zone->is_stub ? "stub-zones" : "forward-zones", true, zone->position,
                          index};
    bool has_tls = false;
    for (size_t i = 0; i < config_zone_server_count(zone); i++) {
        struct route_upstream upstream;
        config_zone_upstream(loader->config, zone, config_zone_server(zone, i), &upstream);
        has_tls |= transport_is_secure(upstream.options.transport);
        check_auth_name(loader, &place, zone, i, &upstream);
        if (i < zone->upstream_count)
            check_twins(loader, &place, zone, i, &upstream);
        check_pair_left(loader, &place, zone, &upstream);
    }
    if (!has_tls)
        check_use(loader, &place, &zone->layer);
    check_layer(loader, &place, &zone->layer);
}

/* ---- files that are written ---- */

static void check_files_differ(struct loader *loader)
{
    static const struct place log = {.key = "log"}, cache = {.key = "cache"};
    const struct config *config = loader->config;
    if (*config->snapshot_file && strcmp(config->snapshot_file, config->tls_key_log) == 0)
        place_error(loader, &log, "tls-keys", "is the file of cache.snapshot; name another");
    if (*config->snapshot_file && strcmp(config->snapshot_file, config->session_file) == 0)
        place_error(loader, &cache, "snapshot",
                    "is the file of upstream.session-file; name another");
    if (*config->session_file && strcmp(config->session_file, config->tls_key_log) == 0)
        place_error(loader, &log, "tls-keys", "is the file of upstream.session-file; name another");
}

void config_check_tls(struct loader *loader)
{
    const struct config *config = loader->config;
    check_any(loader);
    check_certificate(loader);
    check_clash(loader);
    check_tls_section(loader);
    for (size_t i = 0; i < config->entry_count; i++) {
        const struct config_entry *entry = &config->entries[i];
        struct place place = {"tcp-upstream-keepalive", true, entry->position, i};
        check_layer(loader, &place, &entry->layer);
    }
    config_check_tls_zones(loader);
    check_files_differ(loader);
}

void config_check_tls_zones(struct loader *loader)
{
    const struct config *config = loader->config;
    for (size_t i = 0; i < config->zone_count; i++)
        check_tls_zone(loader, &config->zones[i], i);
    for (size_t i = 0; i < config->stub_count; i++)
        check_tls_zone(loader, &config->stub_zones[i], i);
}
