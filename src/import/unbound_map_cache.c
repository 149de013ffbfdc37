/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Options of the cache, and general options of upstreams. */
#include "import/unbound_maps.h"

#include <inttypes.h>
#include <string.h>

#include "base/addr.h"

enum { SIZE_DEFAULT = 4 << 20, STALE_MAX_S = 3 * 86400, STALE_DEFAULT_S = 86400 };

#define SIZE_LIMIT ((uint64_t)1 << 40)

/* ---- size ---- */

/* Reads a size in bytes; 0 if the text is not a size. k, m and g are powers of 1024. */
static uint64_t parse_cache_size(const char *text)
{
    static const char units[] = "kmg";
    uint64_t size = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9' && size < SIZE_LIMIT; at++)
        size = size * 10 + (uint64_t)(*at - '0');
    if (at == text || (*at >= '0' && *at <= '9'))
        return 0;
    const char *unit = *at ? strchr(units, *at | 0x20) : NULL;
    if (unit) {
        for (const char *step = units; step <= unit && size <= SIZE_LIMIT; step++)
            size *= 1024;
        at++;
    }
    if (*at == 'b' || *at == 'B')
        at++;
    return *at ? 0 : size;
}

static void map_cache_size(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    uint64_t size = parse_cache_size(statement->args[0]);
    if (!size) {
        map_note(map, statement, "Not imported: it takes a size such as 50m.");
        return;
    }
    *(*statement->word->name == 'm' ? &map->message_bytes : &map->rrset_bytes) = size;
    map->size_origin = statement->origin;
    draft_account(statement->origin);
}

/* Unbound has two caches, for messages and for records; nailup has one. */
static void end_size(struct unbound_map_state *map)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB"};
    size_t unit = 0;
    if (!map->size_origin)
        return;
    uint64_t size = (map->message_bytes ? map->message_bytes : SIZE_DEFAULT) +
                    (map->rrset_bytes ? map->rrset_bytes : SIZE_DEFAULT);
    for (; unit < 3 && size % 1024 == 0; unit++)
        size /= 1024;
    draft_set(map->draft, "cache.size",
              draft_format(map->draft, "%" PRIu64 "%s", size, units[unit]), map->size_origin);
}

/* ---- stale answers ---- */

static void map_serve_expired(struct unbound_map_state *map,
                              const struct unbound_statement *statement)
{
    struct unbound_value value = {.text = statement->args[0], .origin = statement->origin};
    bool yes;
    uint64_t number;
    if (strcmp(statement->word->name, "serve-expired") == 0) {
        if (map_take_flag(map, statement, &yes))
            map->expired = value;
    } else if (map_take_number(map, statement, &number)) {
        map->expired_ttl = value;
    }
    draft_account(statement->origin); /* both give one value, or a note */
}

static uint64_t stale_seconds(struct unbound_map_state *map)
{
    uint64_t seconds = 0;
    if (!map->expired_ttl.origin)
        return STALE_DEFAULT_S;
    for (const char *at = map->expired_ttl.text; *at; at++)
        seconds = seconds * 10 + (uint64_t)(*at - '0');
    if (seconds && seconds <= STALE_MAX_S)
        return seconds;
    draft_note(map->draft, map->expired_ttl.origin, "Set to three days, the maximum.");
    return STALE_MAX_S;
}

static void end_stale(struct unbound_map_state *map)
{
    const char *path = "cache.serve-stale";
    if (!map->expired.origin && map->expired_ttl.origin)
        draft_note(map->draft, map->expired_ttl.origin,
                   "Unbound ignores it without serve-expired: yes. cache.serve-stale is one day by "
                   "default.");
    if (!map->expired.origin)
        return;
    if (strcmp(map->expired.text, "yes") == 0)
        draft_set(map->draft, path, draft_format(map->draft, "%" PRIu64 "s", stale_seconds(map)),
                  map->expired.origin);
    else
        draft_set(map->draft, path, "0s", map->expired.origin);
}

/* ---- upstreams ---- */

static void map_outgoing(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    struct prefix prefix;
    char text[PREFIX_TEXT_MAX];
    if (prefix_parse(&prefix, statement->args[0]) != ERR_OK) {
        map_note(map, statement, "Not imported: server.outgoing takes addresses and prefixes.");
        return;
    }
    (void)prefix_clear_host_bits(&prefix);
    if (addr_is_any(&prefix.addr)) {
        map_note(map, statement,
                 "Not imported: without an address in server.outgoing, the system chooses.");
        return;
    }
    for (unsigned i = 0; i < map->source_count; i++) {
        if (prefix_equal(&map->sources[i], &prefix)) {
            draft_account(statement->origin); /* given twice */
            return;
        }
    }
    if (map->source_count == UNBOUND_SOURCES_MAX) {
        map_note(map, statement, "Not imported: server.outgoing takes 64 entries.");
        return;
    }
    map->sources[map->source_count++] = prefix;
    const struct draft_origin **first =
        addr_family(&prefix.addr) == AF_INET6 ? &map->source_v6 : &map->source_v4;
    if (!*first)
        *first = statement->origin;
    const char *word = draft_word(map->draft, prefix_format(&prefix, text));
    if (word)
        draft_add(map->draft, "server.outgoing", word, statement->origin);
}

/* Unbound uses an IP version only if it has an outgoing-interface. */
static void end_outgoing(struct unbound_map_state *map)
{
    if (map->source_v4 && !map->source_v6 && !map->no_ip6)
        draft_note(map->draft, map->source_v4,
                   "IPv6 queries leave from an address that the system chooses. Unbound sends "
                   "none without an IPv6 outgoing-interface.");
    if (map->source_v6 && !map->source_v4 && !map->no_ip4)
        draft_note(map->draft, map->source_v6,
                   "IPv4 queries leave from an address that the system chooses. Unbound sends "
                   "none without an IPv4 outgoing-interface.");
}

static void map_tcp_upstream(struct unbound_map_state *map,
                             const struct unbound_statement *statement)
{
    bool yes;
    if (!map_take_flag(map, statement, &yes))
        return;
    draft_account(statement->origin);
    map->tcp_origin = yes ? statement->origin : NULL;
}

static void map_tls_upstream(struct unbound_map_state *map,
                             const struct unbound_statement *statement)
{
    bool yes;
    if (!map_take_flag(map, statement, &yes))
        return;
    draft_account(statement->origin);
    map->tls_origin = yes ? statement->origin : NULL;
}

/* Unbound never falls back from either to UDP. */
static void end_transport(struct unbound_map_state *map)
{
    if (map->tls_origin)
        draft_set(map->draft, "upstream.transport", "tls", map->tls_origin);
    else if (map->tcp_origin)
        draft_set(map->draft, "upstream.transport", "tcp", map->tcp_origin);
    if (map->tcp_origin)
        draft_set(map->draft, "upstream.fallback", "none", map->tcp_origin);
}

static void map_end_cache(struct unbound_map_state *map)
{
    end_size(map);
    end_stale(map);
    end_outgoing(map);
    end_transport(map);
}

const struct unbound_maps unbound_maps_cache = {
    .map =
        {
            [UNBOUND_MAP_cache_size] = map_cache_size,
            [UNBOUND_MAP_serve_expired] = map_serve_expired,
            [UNBOUND_MAP_outgoing] = map_outgoing,
            [UNBOUND_MAP_tcp_upstream] = map_tcp_upstream,
            [UNBOUND_MAP_tls_upstream] = map_tls_upstream,
        },
    .end = map_end_cache,
};
