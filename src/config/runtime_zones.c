/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Zones set at run time. Such a zone is a zone of the file with other upstreams, so config_upstream
 * applies the rules of choice. Invariant: a zone that the file asks over strict TLS is never asked
 * over anything else.
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

/* A name is in lower case afterwards. */
static bool forward_is_name_fine(char name[ADDR_NAME_MAX])
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
           forward_is_name_fine(out->auth_name);
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
                 "'%.64s' is no zone; write it as corp.example, or a dot for all names", zone);
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
                 "'%.64s' is no server; write it as 192.0.2.53, 192.0.2.53@5353, ::1, "
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

static size_t forward_place(const struct config *config, const struct runtime_zone *forward)
{
    const struct route_options *route = &config->route;
    size_t i = 0;
    while (i < route->zone_count &&
           (route->zones[i].name_len != forward->name_len ||
            memcmp(route->zones[i].wire, forward->wire, forward->name_len) != 0))
        i++;
    return i;
}

static void forward_zone(const struct config *config, size_t place,
                         const struct runtime_zone *forward, struct config_zone *out)
{
    *out = (struct config_zone){.cache = true};
    if (place < config->zone_count)
        *out = config->zones[place];
    else if (place < config->route.zone_count)
        *out = config->stub_zones[place - config->zone_count];
    out->is_stub = false; /* who is named at run time is a recursive server */
    memcpy(out->wire, forward->wire, sizeof(out->wire));
    out->name_len = forward->name_len;
    out->upstreams = NULL;
    out->upstream_count = 0;
}

static void forward_route(const struct config *config, const struct config_zone *zone,
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
    forward_zone(config, forward_place(config, forward), forward, &zone);
    forward_route(config, &zone, upstream, upstream->auth_name, out);
}

/* ---- checks ---- */

struct check {
    const struct config *config;
    const struct runtime_zone *forward;
    size_t place; /* of the file's zone */
    struct config_zone zone;
    char *why;
    char text[NAME_TEXT_MAX]; /* of the zone */
};

static enum err forward_check_refuse(struct check *check, const char *format, ...)
    PRINTF_LIKE(2, 3);

static enum err forward_check_refuse(struct check *check, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(check->why, RUNTIME_ZONE_WHY_MAX, format, args);
    va_end(args);
    return ERR_INVALID;
}

static bool is_strict_in_file(const struct check *check)
{
    const struct route_options *route = &check->config->route;
    if (check->place >= route->zone_count)
        return false;
    const struct route_zone *zone = &route->zones[check->place];
    for (size_t i = 0; i < zone->upstream_count; i++)
        if (upstream_options_are_strict(&zone->upstreams[i].options))
            return true;
    return false;
}

static bool forward_check_is_half(const struct tls_peer_options *options)
{
    bool has_certificate = options->certificate && *options->certificate;
    bool has_key = options->key && *options->key;
    return has_certificate != has_key;
}

/* What is wrong with how it would be asked. */
static enum err check_options(struct check *check, const struct route_upstream *upstream)
{
    char text[ADDR_TEXT_MAX];
    const struct upstream_options *options = &upstream->options;
    addr_format(&upstream->addr, text);
    if (is_strict_in_file(check) && !upstream_options_are_strict(options))
        return forward_check_refuse(
            check,
            "%.100s is asked over strict TLS, but %s would not be; give the zone "
            "transport: tls in the file",
            check->text, text);
    if (check->zone.trust_ad && !policy_is_trustworthy(upstream))
        return forward_check_refuse(
            check,
            "%.100s has trust-ad: yes, which %s is not safe enough for; change that in "
            "the file",
            check->text, text);
    if (options->connections > options->max_connections)
        return forward_check_refuse(
            check, "%s would have more connections than max-connections; change that in the file",
            text);
    if (transport_is_secure(options->transport) && forward_check_is_half(&options->tls))
        return forward_check_refuse(
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
    forward_route(check->config, &check->zone, upstream, name, out);
    const char *key = policy_find_loop(&check->config->policy, out, &addr);
    if (key)
        return forward_check_refuse(
            check, "%s is an address of server.%s: queries would go round in a circle",
            addr_format(&addr, text), key);
    if (*name && !transport_is_secure(out->options.transport))
        return forward_check_refuse(
            check,
            "%s has a name for TLS, but would be asked over %s; leave the name out, or "
            "write transport: tls into the file",
            addr_format(&out->addr, text), transport_word(out->options.transport));
    return check_options(check, out);
}

static enum err forward_check_upstreams(struct check *check)
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
                return forward_check_refuse(check, "%s stands twice; keep one of them",
                                            addr_format(&seen[j], text));
        seen[i] = upstream.addr;
    }
    return ERR_OK;
}

static bool is_answered_here(const struct config *config, struct name name)
{
    return config->local && local_names_has_own(config->local, name);
}

/* Records of the zone's own name alone leave the names below it to upstreams. Names of special use
 * make way for the zone, as they do for one of the file. */
static bool is_zone_answered_here(const struct config *config, const struct runtime_zone *forward)
{
    static const char label[] = "\1-"; /* which nobody has */
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

enum err runtime_zone_check(const struct config *config, const struct runtime_zone *forward,
                            char why[RUNTIME_ZONE_WHY_MAX])
{
    struct check check = {
        .config = config, .forward = forward, .place = forward_place(config, forward), .why = why};
    forward_zone(config, check.place, forward, &check.zone);
    name_format(runtime_zone_name(forward), check.text);
    if (is_zone_answered_here(config, forward))
        return forward_check_refuse(
            &check,
            "%.100s is answered here, by local-zones, local-data or block-lists; write "
            "it into local-zones with action: transparent",
            check.text);
    return forward_check_upstreams(&check);
}

/* ---- the list ---- */

/* count: there is none. */
static size_t forwards_place_of(const struct runtime_zones *forwards, struct name name)
{
    size_t i = 0;
    while (i < forwards->count && !name_equal_exact(runtime_zone_name(forwards->list[i]), name))
        i++;
    return i;
}

void runtime_zones_deinit(struct runtime_zones *forwards)
{
    for (size_t i = 0; i < forwards->count; i++)
        free(forwards->list[i]);
    forwards->count = 0;
}

const struct runtime_zone *runtime_zones_find(const struct runtime_zones *forwards,
                                              struct name name)
{
    size_t place = forwards_place_of(forwards, name);
    return place < forwards->count ? forwards->list[place] : NULL;
}

enum err runtime_zones_put(struct runtime_zones *forwards, const struct runtime_zone *forward)
{
    size_t place = forwards_place_of(forwards, runtime_zone_name(forward));
    if (place == RUNTIME_ZONES_MAX)
        return ERR_LIMIT;
    if (place == forwards->count) {
        forwards->list[place] = malloc(sizeof(*forward));
        if (!forwards->list[place])
            return ERR_NO_MEMORY;
        forwards->count++;
    }
    *forwards->list[place] = *forward;
    return ERR_OK;
}

bool runtime_zones_remove(struct runtime_zones *forwards, struct name name)
{
    size_t place = forwards_place_of(forwards, name);
    if (place == forwards->count)
        return false;
    free(forwards->list[place]);
    forwards->count--;
    memmove(&forwards->list[place], &forwards->list[place + 1],
            (forwards->count - place) * sizeof(forwards->list[0]));
    return true;
}

/* ---- routes and local data ---- */

static char *forwards_copy_name(struct arena *arena, const char *name)
{
    return arena_copy(arena, name, strlen(name) + 1);
}

static enum err lay_zone(const struct config *config, size_t place,
                         const struct runtime_zone *forward, struct arena *arena,
                         struct route_zone *out)
{
    struct config_zone zone;
    size_t count = forward->upstream_count;
    forward_zone(config, place, forward, &zone);
    memcpy(out->wire, zone.wire, sizeof(out->wire));
    out->name_len = zone.name_len;
    out->kind = ROUTE_FORWARD;
    out->first = zone.first;
    out->trust_ad = zone.trust_ad;
    out->cache = zone.cache;
    out->upstream_count = count;
    out->upstreams = arena_take(arena, count * sizeof(*out->upstreams));
    for (size_t i = 0; i < count; i++) {
        char *name = forwards_copy_name(arena, forward->upstreams[i].auth_name);
        if (!out->upstreams || !name)
            return ERR_NO_MEMORY;
        forward_route(config, &zone, &forward->upstreams[i], name, &out->upstreams[i]);
    }
    return ERR_OK;
}

enum err runtime_zones_routes(const struct runtime_zones *forwards, const struct config *config,
                              struct arena *arena, struct route_options *out)
{
    *out = config->route;
    if (forwards->count == 0)
        return ERR_OK;
    size_t room = config->route.zone_count + forwards->count;
    out->zones = arena_take(arena, room * sizeof(*out->zones));
    if (!out->zones)
        return ERR_NO_MEMORY;
    memcpy(out->zones, config->route.zones, config->route.zone_count * sizeof(*out->zones));
    for (size_t i = 0; i < forwards->count; i++) {
        size_t of_file = forward_place(config, forwards->list[i]);
        size_t place = of_file < config->route.zone_count ? of_file : out->zone_count++;
        enum err err = lay_zone(config, of_file, forwards->list[i], arena, &out->zones[place]);
        if (err)
            return err;
    }
    return ERR_OK;
}

enum err runtime_zones_local_names(const struct runtime_zones *forwards,
                                   const struct config *config, struct local_names **out)
{
    enum err err = ERR_OK;
    *out = NULL;
    if (forwards->count == 0 || !config->local)
        return ERR_OK;
    struct local_names *names = local_names_new_over(config->local);
    if (!names)
        return ERR_NO_MEMORY;
    for (size_t i = 0; i < forwards->count && !err; i++)
        err = local_names_spare(names, runtime_zone_name(forwards->list[i]));
    if (err)
        local_names_free(names);
    else
        *out = names;
    return err;
}
