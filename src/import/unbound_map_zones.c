/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Zones with servers: forward-zone becomes a zone of forward-zones, stub-zone one of stub-zones. An
 * auth-zone with primaries by address, or with a file alone, becomes one of auth-zones. If no other
 * clause has the names of another auth-zone, they are refused, so that their queries do not go to
 * the servers of a larger zone.
 */
#include "import/unbound_maps.h"

#include <stdio.h>
#include <string.h>

#include "base/addr.h"
#include "base/check.h"
#include "config/host_text.h"
#include "dns/name.h"

enum { UPSTREAMS_MAX = 64 };

static const char lost_with_zone[] = "Not imported, because its zone is not.";

/* ---- what a clause says ---- */

static void map_begin_zone(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    map->zone = NULL;
    if (statement->clause != UNBOUND_CLAUSE_FORWARD && statement->clause != UNBOUND_CLAUSE_STUB &&
        statement->clause != UNBOUND_CLAUSE_AUTH)
        return;
    struct unbound_zone *zone = arena_take(&map->draft->arena, sizeof(*zone));
    if (!zone) {
        map->draft->err = ERR_NO_MEMORY;
        return;
    }
    *zone = (struct unbound_zone){.clause = statement->clause, .origin = statement->origin};
    *map->last_zone = map->zone = zone;
    map->last_zone = &zone->next;
}

static void map_zone_name(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    if (!map->zone)
        return;
    if (map->zone->name)
        map_note(map, statement, "Not imported: the zone already has a name.");
    else {
        map->zone->name = statement->args[0];
        map->zone->origin = statement->origin;
    }
}

static void map_zone_addr(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    struct unbound_value *value = map->zone ? map_keep(map, statement) : NULL;
    if (!value)
        return;
    value->next = map->zone->addresses; /* the newest comes first */
    map->zone->addresses = value;
}

static void map_zone_host(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    map_zone_addr(map, statement);
    if (map->zone && map->zone->addresses)
        map->zone->addresses->is_host = true;
}

static void take_zone_flag(struct unbound_map_state *map, const struct unbound_statement *statement,
                           bool *field, const struct draft_origin **origin)
{
    bool yes;
    if (!map_take_flag(map, statement, &yes))
        return;
    if (*origin)
        draft_note(map->draft, *origin, "Replaced by a later line.");
    if (!yes)
        draft_account(statement->origin); /* no is the default */
    *field = yes;
    *origin = statement->origin;
}

static void map_zone_tls(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    if (map->zone)
        take_zone_flag(map, statement, &map->zone->tls, &map->zone->tls_origin);
}

static void map_zone_tcp(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    if (map->zone)
        take_zone_flag(map, statement, &map->zone->tcp, &map->zone->tcp_origin);
}

static void map_zone_no_cache(struct unbound_map_state *map,
                              const struct unbound_statement *statement)
{
    if (map->zone)
        take_zone_flag(map, statement, &map->zone->no_cache, &map->zone->cache_origin);
}

static void map_zone_first(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    if (map->zone)
        take_zone_flag(map, statement, &map->zone->first, &map->zone->first_origin);
}

/* ---- what an auth-zone says ---- */

/* Keeps the option for its note. NULL: no zone, or out of memory. */
static struct unbound_zone *keep_option(struct unbound_map_state *map,
                                        const struct unbound_statement *statement)
{
    struct unbound_value *value = map->zone ? map_keep(map, statement) : NULL;
    if (!value)
        return NULL;
    value->next = map->zone->options;
    map->zone->options = value;
    return map->zone;
}

/* Reads yes or no of an auth-zone. False after a note. */
static bool take_option_flag(struct unbound_map_state *map,
                             const struct unbound_statement *statement, bool *yes)
{
    return map->zone && map_take_flag(map, statement, yes) && keep_option(map, statement);
}

static void map_zone_fallback(struct unbound_map_state *map,
                              const struct unbound_statement *statement)
{
    bool yes;
    if (take_option_flag(map, statement, &yes))
        map->zone->fallback = yes;
}

static void map_zone_file(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    if (keep_option(map, statement))
        map->zone->file = *statement->args[0] ? statement->args[0] : NULL;
}

static void map_zone_url(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    if (keep_option(map, statement))
        map->zone->has_url = true;
}

static void map_zone_notify(struct unbound_map_state *map,
                            const struct unbound_statement *statement)
{
    struct unbound_value *value = map->zone ? map_keep(map, statement) : NULL;
    if (!value)
        return;
    value->next = map->zone->notifies;
    map->zone->notifies = value;
}

static void map_zone_downstream(struct unbound_map_state *map,
                                const struct unbound_statement *statement)
{
    bool yes;
    if (take_option_flag(map, statement, &yes))
        map->zone->no_clients = !yes;
}

static void map_zone_upstream(struct unbound_map_state *map,
                              const struct unbound_statement *statement)
{
    bool yes;
    if (take_option_flag(map, statement, &yes))
        map->zone->no_upstream = !yes;
}

static void map_zone_zonemd(struct unbound_map_state *map,
                            const struct unbound_statement *statement)
{
    bool yes;
    if (take_option_flag(map, statement, &yes))
        map->zone->checks_zonemd = yes;
}

static void map_zone_zonemd_absence(struct unbound_map_state *map,
                                    const struct unbound_statement *statement)
{
    bool yes;
    if (take_option_flag(map, statement, &yes))
        map->zone->requires_zonemd = yes;
}

/* ---- what a zone is ---- */

/* Formats the zone's name, equal for equal names. NULL: not a name. */
static const char *fold_zone_name(struct unbound_map_state *map, const struct unbound_zone *zone)
{
    uint8_t wire[NAME_WIRE_MAX];
    char text[NAME_TEXT_MAX];
    struct name name;
    if (!zone->name || name_parse(&name, wire, zone->name, strlen(zone->name)) != ERR_OK)
        return NULL;
    name_format(name_fold(name, wire), text);
    size_t len = strlen(text);
    return draft_format(map->draft, "%.*s", (int)(len > 1 ? len - 1 : len), text);
}

static bool is_drawn(const struct unbound_map_state *map, const char *word)
{
    for (const struct draft_item *item = map->draft->first; item; item = item->next)
        if (item->zone && strcmp(item->zone, word) == 0)
            return true;
    return false;
}

static void end_address(struct unbound_map_state *map, struct draft_item *item, bool is_tls,
                        const struct unbound_value *value)
{
    struct addr addr;
    bool has_port;
    char name[ADDR_NAME_MAX], ip[ADDR_TEXT_MAX], port[16] = "";
    if (addr_parse_named(&addr, &has_port, name, value->text, 0) != ERR_OK) {
        draft_note(map->draft, value->origin, "Not imported: it is not an address.");
        return;
    }
    if (addr_family(&addr) == AF_INET ? map->no_ip4 : map->no_ip6) {
        draft_note(map->draft, value->origin, "Not imported: do-ip4 or do-ip6 excludes it.");
        return;
    }
    if (*name && !is_tls)
        draft_note(map->draft, value->origin,
                   "The name after the # matters only over TLS and is left out.");
    if (!*name && is_tls)
        draft_note(map->draft, value->origin,
                   "Unbound accepts any server at an address without a #name. Here the certificate "
                   "must match the address; otherwise add the name, or pin-sha256.");
    if (has_port)
        snprintf(port, sizeof(port), "@%u", addr_port(&addr));
    const char *word =
        draft_word(map->draft, draft_format(map->draft, "%s%s%s%s", addr_format_ip(&addr, ip), port,
                                            *name && is_tls ? "#" : "", is_tls ? name : ""));
    if (word)
        draft_add_upstream(map->draft, item, word, value->origin);
}

/* The loader decides whether the name can be resolved. A name of one label gets a dot. */
static void end_host(struct unbound_map_state *map, struct draft_item *item, bool is_tls,
                     const struct unbound_value *value)
{
    size_t name_len = strcspn(value->text, "@#");
    bool has_dot = memchr(value->text, '.', name_len);
    struct host_text host;
    const char *text = draft_format(map->draft, "%.*s%s%s", (int)name_len, value->text,
                                    has_dot ? "" : ".", value->text + name_len);
    if (!text || !host_text_parse(&host, text)) {
        draft_note(map->draft, value->origin, "Not imported: it is not a host name.");
        return;
    }
    if (*host.auth_name && !is_tls)
        draft_note(map->draft, value->origin,
                   "The name after the # matters only over TLS and is left out.");
    if (!*host.auth_name && is_tls)
        draft_note(map->draft, value->origin,
                   "Unbound accepts any certificate of a server without a #name. Here it must "
                   "match the host name; otherwise add the name, or pin-sha256.");
    size_t len = is_tls ? strlen(text) : strcspn(text, "#");
    const char *word = draft_word(map->draft, draft_format(map->draft, "%.*s", (int)len, text));
    if (word)
        draft_add_upstream(map->draft, item, word, value->origin);
}

static const char *list_of(enum unbound_clause clause)
{
    return clause == UNBOUND_CLAUSE_STUB ? "stub-zones" : "forward-zones";
}

static void end_with_servers(struct unbound_map_state *map, const struct unbound_zone *zone,
                             const char *name)
{
    bool is_tls = zone->tls || map->tls_origin;
    size_t count = 0;
    struct draft_item *item = draft_add_zone(map->draft, list_of(zone->clause), name, zone->origin);
    if (!item)
        return;
    for (struct unbound_value *at = map_reversed(zone->addresses); at; at = at->next) {
        if (count++ >= UPSTREAMS_MAX)
            draft_note(map->draft, at->origin, "Not imported: a zone has 64 servers at most.");
        else if (at->is_host)
            end_host(map, item, is_tls, at);
        else
            end_address(map, item, is_tls, at);
    }
    if (zone->tls)
        draft_add_key(map->draft, item, "transport: tls", zone->tls_origin);
    else if (zone->tcp && !is_tls)
        draft_add_key(map->draft, item, "transport: tcp", zone->tcp_origin);
    else if (zone->tls_origin && is_tls)
        draft_note(map->draft, zone->tls_origin, "tls-upstream: yes applies to all zones.");
    if (zone->tcp && is_tls)
        draft_note(map->draft, zone->tcp_origin, "Not needed: TLS runs over TCP.");
    if (zone->no_cache)
        draft_add_key(map->draft, item, "cache: no", zone->cache_origin);
    if (zone->first)
        draft_add_key(map->draft, item, "first: yes", zone->first_origin);
}

/* Adds a note to each option of an auth-zone, or none where the zone expresses it. */
static void end_options(struct unbound_map_state *map, const struct unbound_zone *zone,
                        const char *sentence)
{
    for (const struct unbound_value *at = zone->options; at; at = at->next) {
        if (sentence)
            draft_note(map->draft, at->origin, sentence);
        else
            draft_account(at->origin);
    }
}

/* Leaves a zone out, with a note on each of its lines. */
static void leave_out(struct unbound_map_state *map, const struct unbound_zone *zone,
                      const char *reason)
{
    const struct draft_origin *const origins[] = {
        zone->tls ? zone->tls_origin : NULL,
        zone->tcp ? zone->tcp_origin : NULL,
        zone->no_cache ? zone->cache_origin : NULL,
        zone->first ? zone->first_origin : NULL,
    };
    draft_note(map->draft, zone->origin, reason);
    for (const struct unbound_value *at = zone->addresses; at; at = at->next)
        draft_note(map->draft, at->origin, lost_with_zone);
    for (const struct unbound_value *at = zone->notifies; at; at = at->next)
        draft_note(map->draft, at->origin, lost_with_zone);
    end_options(map, zone, lost_with_zone);
    for (size_t i = 0; i < ARRAY_LEN(origins); i++)
        if (origins[i])
            draft_note(map->draft, origins[i], lost_with_zone);
}

static const char *use_of(const struct unbound_zone *zone)
{
    return zone->no_clients ? "upstream" : zone->no_upstream ? "clients" : "both";
}

/* Unbound checks no digest by default, and the result does the same. */
static const char *zonemd_of(const struct unbound_zone *zone)
{
    if (!zone->checks_zonemd && !zone->requires_zonemd)
        return "ignore";
    return zone->requires_zonemd ? "require" : "check";
}

static void add_held(struct unbound_map_state *map, const struct unbound_zone *zone,
                     const char *word, const char *source)
{
    draft_add(map->draft, "auth-zones",
              draft_format(map->draft, "{name: %s, %s, for: %s, fallback: %s, zonemd: %s}", word,
                           source, use_of(zone), zone->fallback ? "yes" : "no", zonemd_of(zone)),
              zone->origin);
}

/* Unbound keeps its copy of a transferred zone in the file, and downloads by url when all primaries
 * fail. */
static void end_with_primaries(struct unbound_map_state *map, const struct unbound_zone *zone,
                               const char *word, const char *primaries)
{
    add_held(map, zone, word,
             draft_format(map->draft, "primaries: [%s], allow-notify: [%s]", primaries,
                          map_notifies(map, zone->notifies)));
    if (zone->file)
        draft_note(map->draft, zone->origin,
                   "The zone comes from its primaries, and zonefile is not read. Set "
                   "transfer-directory to keep the zone over a restart.");
    if (zone->has_url)
        draft_note(map->draft, zone->origin,
                   "Its url is not imported: zones come by AXFR and IXFR, or from a file.");
    end_options(map, zone, NULL);
}

static void end_with_file(struct unbound_map_state *map, const struct unbound_zone *zone,
                          const char *word)
{
    const char *file = draft_word(map->draft, map_path(map, zone->file));
    if (!file) {
        leave_out(map, zone, "Not imported: the path has bytes that no value may have.");
        return;
    }
    for (const struct unbound_value *at = zone->notifies; at; at = at->next)
        draft_note(map->draft, at->origin, "Not needed: a zone of a file has no primaries.");
    add_held(map, zone, word, draft_format(map->draft, "file: %s", file));
    end_options(map, zone, NULL);
}

static void end_refused(struct unbound_map_state *map, const struct unbound_zone *zone,
                        const char *word)
{
    bool is_refused = strcmp(word, ".") != 0 && !zone->fallback && !is_drawn(map, word);
    draft_note(map->draft, zone->origin,
               is_refused
                   ? "The zone has no primary with an address, and no file of its own. local-zones "
                     "refuses its names, so that they do not reach servers of another zone. Add "
                     "the zone to auth-zones, with its primaries or its file, and remove it from "
                     "local-zones."
                   : "The zone has no primary with an address, and no file of its own: write "
                     "primaries of auth-zones, and for the root zone local-root: yes.");
    for (const struct unbound_value *at = zone->notifies; at; at = at->next)
        draft_note(map->draft, at->origin, lost_with_zone);
    end_options(map, zone, lost_with_zone);
    if (is_refused)
        draft_refuse(map->draft, word, zone->origin);
}

/* A file beside a url or a primary is Unbound's copy of the zone, which would become outdated. */
static void end_auth(struct unbound_map_state *map, const struct unbound_zone *zone,
                     const char *word)
{
    bool has_file_only = zone->file && !zone->addresses && !zone->has_url;
    if (zone->no_clients && zone->no_upstream) {
        leave_out(map, zone, "Not imported: Unbound uses it for neither clients nor upstream.");
        return;
    }
    const char *primaries = map_primaries(map, zone->addresses);
    if (*primaries)
        end_with_primaries(map, zone, word, primaries);
    else if (has_file_only)
        end_with_file(map, zone, word);
    else
        end_refused(map, zone, word);
}

static void end_zone(struct unbound_map_state *map, const struct unbound_zone *zone)
{
    const char *name = fold_zone_name(map, zone);
    const char *word = name ? draft_word(map->draft, name) : NULL;
    if (!word)
        leave_out(map, zone, "Not imported: the zone has no valid name.");
    else if (zone->clause == UNBOUND_CLAUSE_AUTH)
        end_auth(map, zone, word);
    else if (is_drawn(map, word))
        leave_out(map, zone,
                  "Not imported: the zone exists already; the first one is used, and a "
                  "forward-zone before a stub-zone.");
    else
        end_with_servers(map, zone, name);
}

/* Clauses of the same kind are converted together: a forward-zone takes precedence over a
 * stub-zone. */
static void map_end_zones(struct unbound_map_state *map)
{
    static const enum unbound_clause order[] = {UNBOUND_CLAUSE_FORWARD, UNBOUND_CLAUSE_STUB,
                                                UNBOUND_CLAUSE_AUTH};
    for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++)
        for (const struct unbound_zone *zone = map->zones; zone; zone = zone->next)
            if (zone->clause == order[i])
                end_zone(map, zone);
}

const struct unbound_maps unbound_maps_zones = {
    .map =
        {
            [UNBOUND_MAP_zone_name] = map_zone_name,
            [UNBOUND_MAP_zone_addr] = map_zone_addr,
            [UNBOUND_MAP_zone_host] = map_zone_host,
            [UNBOUND_MAP_zone_tls] = map_zone_tls,
            [UNBOUND_MAP_zone_tcp] = map_zone_tcp,
            [UNBOUND_MAP_zone_no_cache] = map_zone_no_cache,
            [UNBOUND_MAP_zone_first] = map_zone_first,
            [UNBOUND_MAP_zone_fallback] = map_zone_fallback,
            [UNBOUND_MAP_zone_file] = map_zone_file,
            [UNBOUND_MAP_zone_url] = map_zone_url,
            [UNBOUND_MAP_zone_notify] = map_zone_notify,
            [UNBOUND_MAP_zone_downstream] = map_zone_downstream,
            [UNBOUND_MAP_zone_upstream] = map_zone_upstream,
            [UNBOUND_MAP_zone_zonemd] = map_zone_zonemd,
            [UNBOUND_MAP_zone_zonemd_absence] = map_zone_zonemd_absence,
        },
    .begin = map_begin_zone,
    .end = map_end_zones,
};
