/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Local data, of all clients or of a view: local-zone, local-data and the reverse zones of private
 * networks. */
#include "import/unbound_maps.h"

#include <stdio.h>
#include <string.h>

#include "base/addr.h"
#include "base/check.h"
#include "dns/name.h"

/* ---- zones ---- */

static const struct {
    const char *unbound, *nailup, *note;
} types[] = {
    {"static", "nxdomain", NULL},
    {"refuse", "refuse", NULL},
    {"redirect", "redirect", NULL},
    {"transparent", "transparent", NULL},
    {"nodefault", "transparent", NULL},
    {"always_nxdomain", "nxdomain", NULL},
    {"always_nodata", "nodata", NULL},
    {"always_refuse", "refuse", NULL},
    {"always_transparent", "transparent", NULL},
    {"deny", "drop", NULL},
    {"always_deny", "drop", NULL},
    {"inform", "transparent", "Queries for it are not logged."},
    {"inform_deny", "drop", "Queries for it are not logged."},
    {"inform_redirect", "redirect", "Queries for it are not logged."},
    {"typetransparent", "typetransparent", NULL},
};

static const char plain_label[] =
    "Not imported: in Unbound * is a plain label. Here the line would concern every name below.";

/* Keeps an item for all clients: tags of a later line may change that. name: see unbound_local. */
static struct unbound_value *keep_for_all(struct unbound_map_state *map, bool is_zone,
                                          const char *name, const char *text,
                                          const struct draft_origin *origin)
{
    struct unbound_local *local = arena_take(&map->draft->arena, sizeof(*local));
    if (!local) {
        map->draft->err = ERR_NO_MEMORY;
        return NULL;
    }
    *local = (struct unbound_local){
        .value = {.text = text, .origin = origin}, .name = name, .is_zone = is_zone};
    *map->last_local = local;
    map->last_local = &local->next;
    draft_account(origin);
    return &local->value;
}

struct unbound_value *map_keep_zone(struct unbound_map_state *map, struct unbound_view *view,
                                    const char *name, const char *action,
                                    const struct draft_origin *origin)
{
    const char *kept = draft_format(map->draft, "%s", name), *word = draft_word(map->draft, kept);
    if (!word)
        return NULL;
    const char *text = draft_format(map->draft, "{name: %s, action: %s}", word, action);
    struct unbound_value *value = view ? map_keep_in_view(map, &view->last_zone, text, origin)
                                       : keep_for_all(map, true, kept, text, origin);
    if (!value)
        return NULL;
    value->zone = kept;
    value->action = action;
    return value;
}

void map_keep_record(struct unbound_map_state *map, struct unbound_view *view, const char *record,
                     const struct draft_origin *origin)
{
    if (view)
        (void)map_keep_in_view(map, &view->last_record, record, origin);
    else
        (void)keep_for_all(map, false, record, record, origin);
}

static void add_null_record(struct unbound_map_state *map,
                            const struct unbound_statement *statement, const char *record)
{
    const char *text = draft_format(map->draft, "%s %s", statement->args[0], record);
    const char *word = draft_word(map->draft, text);
    if (word)
        map_keep_record(map, map->view, word, statement->origin);
}

static bool is_name(const char *text)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct name name;
    return name_parse(&name, wire, text, strlen(text)) == ERR_OK;
}

static bool is_wildcard(const char *text)
{
    text += strspn(text, " \t");
    return text[0] == '*' && text[1] == '.';
}

static void map_local_zone(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    const char *word = map_word(map, statement, statement->args[0]), *type = statement->args[1];
    if (!word)
        return;
    if (!is_name(statement->args[0])) {
        map_note(map, statement, "Not imported: it is not a zone name.");
        return;
    }
    if (is_wildcard(statement->args[0])) {
        map_note(map, statement, plain_label);
        return;
    }
    if (strcmp(type, "always_null") == 0) {
        (void)map_keep_zone(map, map->view, statement->args[0], "redirect", statement->origin);
        add_null_record(map, statement, "A 0.0.0.0");
        add_null_record(map, statement, "AAAA ::");
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        if (strcmp(types[i].unbound, type) != 0)
            continue;
        struct unbound_value *zone =
            map_keep_zone(map, map->view, statement->args[0], types[i].nailup, statement->origin);
        if (zone) {
            zone->hides_records = strncmp(type, "always_", strlen("always_")) == 0;
            zone->leaves_names =
                strstr(types[i].nailup, "transparent") && strcmp(type, "nodefault") != 0;
        }
        if (types[i].note)
            map_note(map, statement, types[i].note);
        return;
    }
    static const char unknown[] =
        "Not imported: the actions are refuse, nxdomain, nodata, redirect, drop, transparent and "
        "typetransparent.";
    map_note(map, statement, unknown);
    map_warn(map, statement->origin, unknown);
}

/* ---- records ---- */

static void map_local_data(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    const char *word = map_word(map, statement, statement->args[0]);
    if (word && is_wildcard(statement->args[0]))
        map_note(map, statement, plain_label);
    else if (word)
        map_keep_record(map, map->view, word, statement->origin);
}

enum { REVERSE_MAX = 80 };

/* The name of an address in in-addr.arpa or ip6.arpa (RFC 1035 section 3.5, RFC 3596 section 2.5).
 */
static const char *format_reverse_name(const struct addr *addr, char out[REVERSE_MAX])
{
    size_t len, at = 0;
    const uint8_t *bytes = addr_bytes(addr, &len);
    for (size_t i = len; i-- > 0;) {
        if (len == 4)
            at += (size_t)snprintf(out + at, REVERSE_MAX - at, "%u.", bytes[i]);
        else
            at += (size_t)snprintf(out + at, REVERSE_MAX - at, "%x.%x.", bytes[i] & 15,
                                   bytes[i] >> 4);
    }
    snprintf(out + at, REVERSE_MAX - at, "%s.arpa.", len == 4 ? "in-addr" : "ip6");
    return out;
}

/* Reads "192.0.2.3 www.example", with an optional TTL in between. */
static void map_local_data_ptr(struct unbound_map_state *map,
                               const struct unbound_statement *statement)
{
    char ip[ADDR_TEXT_MAX], reverse[REVERSE_MAX];
    const char *text = statement->args[0];
    struct addr addr;
    text += strspn(text, " \t");
    size_t len = strcspn(text, " \t");
    snprintf(ip, sizeof(ip), "%.*s", len < sizeof(ip) ? (int)len : 0, text);
    text += len + strspn(text + len, " \t");
    bool has_ttl = *text >= '0' && *text <= '9' && strcspn(text, " \t") < strlen(text) &&
                   strspn(text, "0123456789") == strcspn(text, " \t");
    size_t ttl_len = has_ttl ? strcspn(text, " \t") : 0;
    if (addr_parse(&addr, ip, 0) != ERR_OK || strchr(ip, '@') || !*text) {
        map_note(map, statement, "Not imported: it takes an address and a name.");
        return;
    }
    const char *record =
        draft_format(map->draft, "%s %.*s IN PTR %s", format_reverse_name(&addr, reverse),
                     (int)ttl_len, text, text + ttl_len + strspn(text + ttl_len, " \t"));
    const char *word = map_word(map, statement, record);
    if (word)
        map_keep_record(map, map->view, word, statement->origin);
}

/* ---- reverse names of private addresses ---- */

/* The default zones to which unblock-lan-zones applies (RFC 6303), except those of 172 and 100. */
static const char *const lan_zones[] = {
    "10.in-addr.arpa",
    "168.192.in-addr.arpa",
    "0.in-addr.arpa",
    "254.169.in-addr.arpa",
    "2.0.192.in-addr.arpa",
    "100.51.198.in-addr.arpa",
    "113.0.203.in-addr.arpa",
    "255.255.255.255.in-addr.arpa",
    "0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.ip6.arpa",
    "d.f.ip6.arpa",
    "8.e.f.ip6.arpa",
    "9.e.f.ip6.arpa",
    "a.e.f.ip6.arpa",
    "b.e.f.ip6.arpa",
    "8.b.d.0.1.0.0.2.ip6.arpa",
};

static void map_unblock_lan(struct unbound_map_state *map,
                            const struct unbound_statement *statement)
{
    bool yes;
    if (!map_take_flag(map, statement, &yes))
        return;
    draft_account(statement->origin);
    map->unblock_origin = yes ? statement->origin : NULL;
}

/* Keeps the zone unless the file has it: its own line decides, as in Unbound. */
static void unblock_zone(struct unbound_map_state *map, const char *zone)
{
    uint8_t wire[NAME_WIRE_MAX], given_wire[NAME_WIRE_MAX];
    struct name name, given;
    if (name_parse(&name, wire, zone, strlen(zone)) != ERR_OK)
        return;
    for (const struct unbound_local *at = map->locals; at; at = at->next)
        if (at->is_zone && name_parse(&given, given_wire, at->name, strlen(at->name)) == ERR_OK &&
            name_equal(given, name))
            return;
    (void)map_keep_zone(map, NULL, zone, "transparent", map->unblock_origin);
}

static void unblock_range(struct unbound_map_state *map, unsigned from, unsigned to,
                          const char *above)
{
    for (unsigned at = from; at <= to; at++)
        unblock_zone(map, draft_format(map->draft, "%u.%s", at, above));
}

static void map_end_local(struct unbound_map_state *map)
{
    if (!map->unblock_origin)
        return;
    for (size_t i = 0; i < ARRAY_LEN(lan_zones); i++)
        unblock_zone(map, lan_zones[i]);
    unblock_range(map, 16, 31, "172.in-addr.arpa");
    unblock_range(map, 64, 127, "100.in-addr.arpa");
    draft_note(map->draft, map->unblock_origin,
               "Converted to zones with the action transparent; remove those that your servers do "
               "not serve.");
}

const struct unbound_maps unbound_maps_local = {
    .map =
        {
            [UNBOUND_MAP_local_zone] = map_local_zone,
            [UNBOUND_MAP_local_data] = map_local_data,
            [UNBOUND_MAP_local_data_ptr] = map_local_data_ptr,
            [UNBOUND_MAP_unblock_lan] = map_unblock_lan,
        },
    .end = map_end_local,
};
