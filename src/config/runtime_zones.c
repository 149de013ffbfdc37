/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Zones set at run time. Such a zone is a zone of the file with other upstreams, so config_upstream
 * applies the rules of choice. Invariant: a zone that the file asks over strict TLS is never asked
 * over anything else, except the root while a captive portal is set.
 */
#include "config/runtime_zones.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "config/config_upstream.h"
#include "config/kind.h"
#include "local/local_names.h"

/* ---- reading ---- */

static bool is_server(const struct addr *addr)
{
    size_t len;
    const uint8_t *bytes = addr_bytes(addr, &len);
    return !addr_is_any(addr) && !addr_lacks_zone(addr) &&
           (len == 4 ? bytes[0] < 224 : bytes[0] != 0xff);
}

/* Folds the name to lower case. */
static bool fold_auth_name(char name[ADDR_NAME_MAX])
{
    char folded[ADDR_NAME_MAX];
    struct addr addr;
    if (!*name)
        return true;
    if (!kind_parse_host_name(name, folded) || addr_parse(&addr, name, 0) == ERR_OK)
        return false;
    memcpy(name, folded, sizeof(folded));
    return true;
}

static bool parse_upstream(struct runtime_upstream *out, const char *text)
{
    return addr_parse_named(&out->addr, &out->has_port, out->auth_name, text, 0) == ERR_OK &&
           !(out->has_port && addr_port(&out->addr) == 0) && is_server(&out->addr) &&
           fold_auth_name(out->auth_name);
}

static bool parse_zone(struct runtime_zone *out, const char *text)
{
    struct name name;
    uint8_t wire[NAME_WIRE_MAX];
    if (name_parse(&name, wire, text, strlen(text)))
        return false;
    name_fold(name, out->wire);
    out->name_len = name.len;
    return true;
}

enum err runtime_zone_parse(struct runtime_zone *out, const char *zone, size_t count,
                            const char *const upstreams[], char why[RUNTIME_ZONE_WHY_MAX])
{
    *out = (struct runtime_zone){0};
    if (!parse_zone(out, zone)) {
        snprintf(why, RUNTIME_ZONE_WHY_MAX,
                 "'%.64s' is not a zone name; write it like corp.example, or a dot for all names",
                 zone);
        return ERR_INVALID;
    }
    if (count > RUNTIME_UPSTREAMS_MAX) {
        snprintf(why, RUNTIME_ZONE_WHY_MAX, "name at most %d servers", RUNTIME_UPSTREAMS_MAX);
        return ERR_INVALID;
    }
    for (size_t i = 0; i < count; i++) {
        if (parse_upstream(&out->upstreams[i], upstreams[i]))
            continue;
        snprintf(why, RUNTIME_ZONE_WHY_MAX,
                 "'%.64s' is not a server address; write it like 192.0.2.53, 192.0.2.53@5353, ::1, "
                 "fe80::1%%eth0 or 192.0.2.53#dns.example.net%s",
                 upstreams[i], addr_zone_hint(upstreams[i]));
        return ERR_INVALID;
    }
    out->upstream_count = (uint8_t)count;
    return ERR_OK;
}

bool runtime_zone_is_same(const struct runtime_zone *a, const struct runtime_zone *b)
{
    if (!name_equal_exact(runtime_zone_name(a), runtime_zone_name(b)) ||
        a->upstream_count != b->upstream_count)
        return false;
    for (size_t i = 0; i < a->upstream_count; i++) {
        const struct runtime_upstream *one = &a->upstreams[i], *other = &b->upstreams[i];
        if (one->has_port != other->has_port || !addr_equal(&one->addr, &other->addr) ||
            strcmp(one->auth_name, other->auth_name) != 0)
            return false;
    }
    return true;
}

/* ---- as a zone ---- */

static size_t find_route(const struct config *config, const struct runtime_zone *forward)
{
    const struct route_options *route = &config->route;
    size_t i = 0;
    while (i < route->zone_count &&
           (route->zones[i].name_len != forward->name_len ||
            memcmp(route->zones[i].wire, forward->wire, forward->name_len) != 0))
        i++;
    return i;
}

static void zone_of_file(const struct config *config, size_t place,
                         const struct runtime_zone *forward, struct config_zone *out)
{
    *out = (struct config_zone){.cache = true, .validate = true, .aggressive = true};
    if (place < config->zone_count)
        *out = config->zones[place];
    else if (place < config->route.zone_count)
        *out = config->stub_zones[place - config->zone_count];
    out->is_stub = false; /* servers set at run time are recursive */
    memcpy(out->wire, forward->wire, sizeof(out->wire));
    out->name_len = forward->name_len;
    out->upstreams = out->hosts = NULL;
    out->upstream_count = out->host_count = 0;
}

static void resolve_upstream(const struct config *config, const struct config_zone *zone,
                             const struct runtime_upstream *upstream, char *name,
                             struct route_upstream *out)
{
    struct config_upstream as_of_file = {
        .addr = upstream->addr, .has_port = upstream->has_port, .auth_name = name};
    config_zone_upstream(config, zone, &as_of_file, out);
}

void runtime_zone_upstream(const struct config *config, struct runtime_zone *forward, size_t n,
                           struct route_upstream *out)
{
    struct config_zone zone;
    struct runtime_upstream *upstream = &forward->upstreams[n];
    zone_of_file(config, find_route(config, forward), forward, &zone);
    resolve_upstream(config, &zone, upstream, upstream->auth_name, out);
}

/* ---- checks ---- */

struct check {
    const struct config *config;
    const struct runtime_zone *forward;
    size_t place; /* index of the file's zone in the routes */
    struct config_zone zone;
    char *why;
    char text[NAME_TEXT_MAX]; /* the zone's name */
};

static enum err refuse_zone(struct check *check, const char *format, ...) PRINTF_LIKE(2, 3);

static enum err refuse_zone(struct check *check, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(check->why, RUNTIME_ZONE_WHY_MAX, format, args);
    va_end(args);
    return ERR_INVALID;
}

static bool is_strict_in_file(const struct check *check)
{
    const struct config *config = check->config;
    if (check->place >= config->route.zone_count)
        return false;
    const struct config_zone *zone = check->place < config->zone_count
                                         ? &config->zones[check->place]
                                         : &config->stub_zones[check->place - config->zone_count];
    for (size_t i = 0; i < config_zone_server_count(zone); i++) {
        struct route_upstream server;
        config_zone_upstream(config, zone, config_zone_server(zone, i), &server);
        if (upstream_options_are_strict(&server.options))
            return true;
    }
    return false;
}

static bool is_half_pair(const struct tls_peer_options *options)
{
    bool has_certificate = options->certificate && *options->certificate;
    bool has_key = options->key && *options->key;
    return has_certificate != has_key;
}

/* Checks the options that the upstream would have. */
static enum err check_options(struct check *check, const struct route_upstream *upstream)
{
    char text[ADDR_TEXT_MAX];
    const struct upstream_options *options = &upstream->options;
    addr_format(&upstream->addr, text);
    if (is_strict_in_file(check) && !upstream_options_are_strict(options))
        return refuse_zone(check,
                           "%.100s is asked over strict TLS, but %s would not be; give the zone "
                           "transport: tls in the file",
                           check->text, text);
    if (check->zone.trust_ad && !policy_is_trustworthy(upstream))
        return refuse_zone(
            check,
            "%.100s has trust-ad: yes, which %s is not safe enough for; change that in "
            "the file",
            check->text, text);
    if (options->connections > options->max_connections)
        return refuse_zone(
            check, "%s would have more connections than max-connections; change that in the file",
            text);
    if (transport_is_secure(options->transport) && is_half_pair(&options->tls))
        return refuse_zone(
            check,
            "%s would have only one of client-certificate and client-key; change that in "
            "the file",
            text);
    return ERR_OK;
}

static enum err check_upstream(struct check *check, const struct runtime_upstream *upstream,
                               struct route_upstream *out)
{
    char text[ADDR_TEXT_MAX], name[ADDR_NAME_MAX];
    struct addr addr;
    memcpy(name, upstream->auth_name, sizeof(name));
    resolve_upstream(check->config, &check->zone, upstream, name, out);
    const char *key = policy_find_loop(&check->config->policy, out, &addr);
    if (key)
        return refuse_zone(check, "%s is an address of server.%s: queries would loop",
                           addr_format(&addr, text), key);
    if (*name && !transport_is_secure(out->options.transport))
        return refuse_zone(
            check,
            "%s has a name for TLS, but would be asked over %s; leave the name out, or "
            "write transport: tls into the file",
            addr_format(&out->addr, text), transport_word(out->options.transport));
    return check_options(check, out);
}

static enum err check_upstreams(struct check *check)
{
    struct addr seen[RUNTIME_UPSTREAMS_MAX];
    char text[ADDR_TEXT_MAX];
    for (size_t i = 0; i < check->forward->upstream_count; i++) {
        struct route_upstream upstream;
        enum err err = check_upstream(check, &check->forward->upstreams[i], &upstream);
        if (err)
            return err;
        for (size_t j = 0; j < i; j++)
            if (addr_equal(&seen[j], &upstream.addr))
                return refuse_zone(check, "%s is given twice; keep one of them",
                                   addr_format(&seen[j], text));
        seen[i] = upstream.addr;
    }
    return ERR_OK;
}

static bool is_answered_here(const struct config *config, struct name name)
{
    return config->local && local_names_has_own(config->local, name);
}

/* Whether local data also answers the names below the zone. Records of the zone's own name leave
 * these to upstreams. Special-use names make way for the zone, as they do for a zone of the file.
 */
static bool is_zone_answered_here(const struct config *config, const struct runtime_zone *forward)
{
    static const char label[] = "\1-"; /* a label that no name has */
    uint8_t below[NAME_WIRE_MAX];
    struct name name = {forward->wire, forward->name_len};
    if (!is_answered_here(config, name))
        return false;
    if (name.len + sizeof(label) - 1 > sizeof(below))
        return true;
    memcpy(below, label, sizeof(label) - 1);
    memcpy(below + sizeof(label) - 1, name.wire, name.len);
    return is_answered_here(config, (struct name){below, (uint8_t)(name.len + sizeof(label) - 1)});
}

/* Clients get the answers of such a zone before any server is asked. */
static bool is_zone_held_here(const struct config *config, const struct runtime_zone *forward)
{
    for (size_t i = 0; i < config->auth_zone_count; i++) {
        const struct config_auth_zone *held = &config->auth_zones[i];
        if (!held->catalog && held->use != ZONE_FOR_UPSTREAM &&
            held->name_len == forward->name_len &&
            memcmp(held->wire, forward->wire, forward->name_len) == 0)
            return true;
    }
    return false;
}

enum err runtime_zone_check(const struct config *config, const struct runtime_zone *forward,
                            char why[RUNTIME_ZONE_WHY_MAX])
{
    struct check check = {
        .config = config, .forward = forward, .place = find_route(config, forward), .why = why};
    zone_of_file(config, check.place, forward, &check.zone);
    name_format(runtime_zone_name(forward), check.text);
    if (is_zone_answered_here(config, forward))
        return refuse_zone(
            &check,
            "%.100s is answered by local-zones, local-data or block-lists; add it to "
            "local-zones with action: transparent",
            check.text);
    if (is_zone_held_here(config, forward))
        return refuse_zone(&check,
                           "%.100s is held here by auth-zones, so no server of it would be asked; "
                           "give it for: upstream in the file, or remove it from auth-zones",
                           check.text);
    return check_upstreams(&check);
}

/* ---- the captive portal ---- */

static void portal_upstream(const struct config *config, const struct runtime_zone *portal,
                            struct route_upstream *out)
{
    const struct runtime_upstream *server = &portal->upstreams[0];
    bool is_v6 = addr_family(&server->addr) == AF_INET6;
    out->addr = server->addr;
    if (!server->has_port)
        addr_set_port(&out->addr, transport_port(TRANSPORT_UDP));
    out->host = NULL;
    out->options = upstream_options_default;
    out->options.sources = is_v6 ? config->outgoing.v6 : config->outgoing.v4;
}

enum err runtime_portal_read(struct runtime_zone *out, const struct config *config,
                             const char *server, char why[RUNTIME_ZONE_WHY_MAX])
{
    struct route_upstream upstream;
    struct addr addr;
    char text[ADDR_TEXT_MAX];
    enum err err = runtime_zone_parse(out, ".", 1, &server, why);
    if (err)
        return err;
    if (*out->upstreams[0].auth_name) {
        snprintf(why, RUNTIME_ZONE_WHY_MAX,
                 "a portal is asked in plain text: leave the name for TLS out");
        return ERR_INVALID;
    }
    portal_upstream(config, out, &upstream);
    const char *key = policy_find_loop(&config->policy, &upstream, &addr);
    if (!key)
        return ERR_OK;
    snprintf(why, RUNTIME_ZONE_WHY_MAX, "%s is an address of server.%s: queries would loop",
             addr_format(&addr, text), key);
    return ERR_INVALID;
}

static enum err make_portal_route(const struct config *config, const struct runtime_zone *portal,
                                  struct arena *arena, struct route_zone *out)
{
    *out = (struct route_zone){.kind = ROUTE_FORWARD, .cache = true, .upstream_count = 1};
    memcpy(out->wire, portal->wire, sizeof(out->wire));
    out->name_len = portal->name_len;
    out->upstreams = arena_take(arena, sizeof(*out->upstreams));
    if (!out->upstreams)
        return ERR_NO_MEMORY;
    portal_upstream(config, portal, &out->upstreams[0]);
    return ERR_OK;
}

/* ---- the list ---- */

/* The index of the zone with this name, or count. */
static size_t find_index(const struct runtime_zones *zones, struct name name)
{
    size_t i = 0;
    while (i < zones->count && !name_equal_exact(runtime_zone_name(zones->list[i]), name))
        i++;
    return i;
}

void runtime_zones_deinit(struct runtime_zones *zones)
{
    for (size_t i = 0; i < zones->count; i++)
        free(zones->list[i]);
    zones->count = 0;
}

const struct runtime_zone *runtime_zones_find(const struct runtime_zones *zones, struct name name)
{
    size_t place = find_index(zones, name);
    return place < zones->count ? zones->list[place] : NULL;
}

enum err runtime_zones_put(struct runtime_zones *zones, const struct runtime_zone *forward)
{
    size_t place = find_index(zones, runtime_zone_name(forward));
    if (place == RUNTIME_ZONES_MAX)
        return ERR_LIMIT;
    if (place == zones->count) {
        zones->list[place] = malloc(sizeof(*forward));
        if (!zones->list[place])
            return ERR_NO_MEMORY;
        zones->count++;
    }
    *zones->list[place] = *forward;
    return ERR_OK;
}

bool runtime_zones_remove(struct runtime_zones *zones, struct name name)
{
    size_t place = find_index(zones, name);
    if (place == zones->count)
        return false;
    free(zones->list[place]);
    zones->count--;
    memmove(&zones->list[place], &zones->list[place + 1],
            (zones->count - place) * sizeof(zones->list[0]));
    return true;
}

/* ---- routes and local data ---- */

static char *copy_name(struct arena *arena, const char *name)
{
    return arena_copy(arena, name, strlen(name) + 1);
}

static enum err make_runtime_route(const struct config *config, size_t place,
                                   const struct runtime_zone *forward, struct arena *arena,
                                   struct route_zone *out)
{
    struct config_zone zone;
    size_t count = forward->upstream_count;
    zone_of_file(config, place, forward, &zone);
    config_route_settings(&zone, out);
    out->kind = ROUTE_FORWARD;
    out->upstream_count = count;
    out->upstreams = arena_take(arena, count * sizeof(*out->upstreams));
    for (size_t i = 0; i < count; i++) {
        char *name = copy_name(arena, forward->upstreams[i].auth_name);
        if (!out->upstreams || !name)
            return ERR_NO_MEMORY;
        resolve_upstream(config, &zone, &forward->upstreams[i], name, &out->upstreams[i]);
    }
    return ERR_OK;
}

/* The place of the root among the zones; count if it is not one of them. */
static size_t runtime_zones_find_root(const struct route_options *route)
{
    size_t i = 0;
    while (i < route->zone_count && route->zones[i].name_len != 1)
        i++;
    return i;
}

/* The portal replaces the zone of the root, whether the file or a forward made it. A hotel's own
 * servers have private addresses. */
static enum err apply_portal(const struct runtime_zone *portal, const struct config *config,
                             struct arena *arena, struct route_options *out)
{
    size_t place = runtime_zones_find_root(out);
    out->recursion.private = (struct private_addrs){0};
    enum err err = make_portal_route(config, portal, arena, &out->zones[place]);
    if (!err && place == out->zone_count)
        out->zone_count++;
    return err;
}

enum err runtime_zones_routes(const struct runtime_zones *zones, const struct config *config,
                              const struct route_options *of_file, struct arena *arena,
                              struct route_options *out)
{
    *out = *of_file;
    if (zones->count == 0 && !zones->portal)
        return ERR_OK;
    size_t room = config->route.zone_count + zones->count + 1;
    out->zones = arena_take(arena, room * sizeof(*out->zones));
    if (!out->zones)
        return ERR_NO_MEMORY;
    memcpy(out->zones, of_file->zones, of_file->zone_count * sizeof(*out->zones));
    for (size_t i = 0; i < zones->count; i++) {
        size_t found = find_route(config, zones->list[i]);
        size_t place = found < config->route.zone_count ? found : out->zone_count++;
        enum err err = make_runtime_route(config, found, zones->list[i], arena, &out->zones[place]);
        if (err)
            return err;
    }
    return zones->portal ? apply_portal(zones->portal, config, arena, out) : ERR_OK;
}

enum err runtime_zones_local_names(const struct runtime_zones *zones, const struct config *config,
                                   struct local_names **out)
{
    enum err err = ERR_OK;
    *out = NULL;
    if (zones->count == 0 || !config->local)
        return ERR_OK;
    struct local_names *names = local_names_new_over(config->local);
    if (!names)
        return ERR_NO_MEMORY;
    for (size_t i = 0; i < zones->count && !err; i++)
        err = local_names_exempt(names, runtime_zone_name(zones->list[i]));
    if (err)
        local_names_free(names);
    else
        *out = names;
    return err;
}
