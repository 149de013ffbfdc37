/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * One zone set at run time. The rules of choice are config_upstream.c's: such a zone is one of the
 * file with other addresses. Whether it may be is forward_check.c's.
 */
#include "config/forward.h"

#include <stdio.h>
#include <string.h>

#include "config/kind.h"

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

static bool parse_upstream(struct forward_upstream *out, const char *text)
{
    return addr_parse_named(&out->addr, &out->has_port, out->auth_name, text, 0) == ERR_OK &&
           !(out->has_port && addr_port(&out->addr) == 0) && is_server(&out->addr) &&
           forward_is_name_fine(out->auth_name);
}

static bool parse_zone(struct forward *out, const char *text)
{
    struct name name;
    uint8_t wire[NAME_WIRE_MAX];
    if (name_parse(&name, wire, text, strlen(text)))
        return false;
    name_fold(name, out->wire);
    out->name_len = name.len;
    return true;
}

enum err forward_parse(struct forward *out, const char *zone, size_t count,
                       const char *const upstreams[], char why[FORWARD_WHY_MAX])
{
    *out = (struct forward){0};
    if (!parse_zone(out, zone)) {
        snprintf(why, FORWARD_WHY_MAX,
                 "'%.64s' is no zone; write it as corp.example, or a dot for all names", zone);
        return ERR_INVALID;
    }
    if (count > FORWARD_UPSTREAMS_MAX) {
        snprintf(why, FORWARD_WHY_MAX, "name at most %d servers", FORWARD_UPSTREAMS_MAX);
        return ERR_INVALID;
    }
    for (size_t i = 0; i < count; i++) {
        if (parse_upstream(&out->upstreams[i], upstreams[i]))
            continue;
        snprintf(why, FORWARD_WHY_MAX,
                 "'%.64s' is no server; write it as 192.0.2.53, 192.0.2.53@5353, ::1, "
                 "fe80::1%%eth0 or 192.0.2.53#dns.example.net%s",
                 upstreams[i], addr_zone_hint(upstreams[i]));
        return ERR_INVALID;
    }
    out->upstream_count = (uint8_t)count;
    return ERR_OK;
}

bool forward_is_same(const struct forward *a, const struct forward *b)
{
    if (!name_equal_exact(forward_name(a), forward_name(b)) ||
        a->upstream_count != b->upstream_count)
        return false;
    for (size_t i = 0; i < a->upstream_count; i++) {
        const struct forward_upstream *one = &a->upstreams[i], *other = &b->upstreams[i];
        if (one->has_port != other->has_port || !addr_equal(&one->addr, &other->addr) ||
            strcmp(one->auth_name, other->auth_name) != 0)
            return false;
    }
    return true;
}

/* ---- as a zone ---- */

size_t forward_place(const struct config *config, const struct forward *forward)
{
    const struct route_options *route = &config->route;
    size_t i = 0;
    while (i < route->zone_count &&
           (route->zones[i].name_len != forward->name_len ||
            memcmp(route->zones[i].wire, forward->wire, forward->name_len) != 0))
        i++;
    return i;
}

void forward_zone(const struct config *config, size_t place, const struct forward *forward,
                  struct config_zone *out)
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

void forward_route(const struct config *config, const struct config_zone *zone,
                   const struct forward_upstream *upstream, char *name, struct route_upstream *out)
{
    struct config_upstream as_of_file = {
        .addr = upstream->addr, .has_port = upstream->has_port, .auth_name = name};
    config_zone_upstream(config, zone, &as_of_file, out);
}

void forward_upstream(const struct config *config, struct forward *forward, size_t n,
                      struct route_upstream *out)
{
    struct config_zone zone;
    struct forward_upstream *upstream = &forward->upstreams[n];
    forward_zone(config, forward_place(config, forward), forward, &zone);
    forward_route(config, &zone, upstream, upstream->auth_name, out);
}
