/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Whether a forward may be: what the checks of a file say of a zone, for one that is set at run
 * time. Invariant: what is asked over strict TLS by the file is asked over nothing else.
 */
#include "config/forward_check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "config/loader.h"
#include "local/local_names.h"

struct check {
    const struct config *config;
    const struct forward *forward;
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
    vsnprintf(check->why, FORWARD_WHY_MAX, format, args);
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

static enum err check_upstream(struct check *check, const struct forward_upstream *upstream,
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
    struct addr seen[FORWARD_UPSTREAMS_MAX];
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
static bool is_zone_answered_here(const struct config *config, const struct forward *forward)
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

enum err forward_check(const struct config *config, const struct forward *forward,
                       char why[FORWARD_WHY_MAX])
{
    struct check check = {
        .config = config, .forward = forward, .place = forward_place(config, forward), .why = why};
    forward_zone(config, check.place, forward, &check.zone);
    name_format(forward_name(forward), check.text);
    if (is_zone_answered_here(config, forward))
        return forward_check_refuse(
            &check,
            "%.100s is answered here, by local-zones, local-data or block-lists; write "
            "it into local-zones with action: transparent",
            check.text);
    return forward_check_upstreams(&check);
}
