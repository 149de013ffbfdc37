/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Options of clients: listeners, access and limits. */
#include "import/unbound_maps.h"

#include <inttypes.h>
#include <string.h>

#include "base/addr.h"
#include "base/check.h"
#include "base/prefix.h"
#include "config/options.h"

enum { LISTENERS_MAX = 256, PLAIN_PORT = 53 };

/* ---- listeners ---- */

static void map_interface(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    struct unbound_value *value = map_keep(map, statement);
    if (!value)
        return;
    *map->last_interface = value;
    map->last_interface = &value->next;
}

static void map_interface_automatic(struct unbound_map_state *map,
                                    const struct unbound_statement *statement)
{
    bool yes;
    if (map_take_flag(map, statement, &yes))
        map->automatic =
            (struct unbound_value){.text = yes ? "yes" : NULL, .origin = statement->origin};
    draft_account(statement->origin);
}

/* port applies to all listeners; the other options name the ports with TLS or HTTPS. */
static void map_port(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    uint64_t port;
    if (!map_take_number(map, statement, &port))
        return;
    if (port == 0 || port >= UNBOUND_PORTS) {
        map_note(map, statement, "Not imported: it takes a port from 1 to 65535.");
        return;
    }
    draft_account(statement->origin); /* each listener shows its port */
    if (strcmp(statement->word->name, "port") == 0) {
        map->port = (struct unbound_value){.text = statement->args[0], .origin = statement->origin};
        return;
    }
    if (strcmp(statement->word->name, "https-port") == 0) {
        map->https_port = port;
        return;
    }
    if (strstr(statement->word->name, "additional") == NULL)
        map->tls_ports[853 / 8] &= (uint8_t) ~(1 << 853 % 8);
    map->tls_ports[port / 8] |= (uint8_t)(1 << port % 8);
}

static void map_family(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    bool yes;
    if (!map_take_flag(map, statement, &yes))
        return;
    if (strcmp(statement->word->name, "do-ip4") == 0)
        map->no_ip4 = !yes;
    else
        map->no_ip6 = !yes;
    map->family = (struct unbound_value){.text = statement->args[0], .origin = statement->origin};
    if (yes)
        draft_account(statement->origin);
    else
        map_note(map, statement,
                 options_find("recursion.ipv4")
                     ? "Addresses of this family are left out of server.listen and of the zones."
                     : "Addresses of this family are left out of server.listen and of the zones. "
                       "Recursion still asks servers of both families.");
}

/* yes is the default and needs no note. */
static void map_protocol(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    bool yes;
    if (!map_take_flag(map, statement, &yes))
        return;
    draft_account(statement->origin);
    if (!yes)
        map_note(map, statement, statement->word->note);
}

static uint16_t plain_port(const struct unbound_map_state *map)
{
    uint16_t port = 0;
    for (const char *at = map->port.text; at && *at; at++)
        port = (uint16_t)(port * 10 + (*at - '0'));
    return map->port.text ? port : PLAIN_PORT;
}

static const char plain_path[] = "server.listen", tls_path[] = "server.listen-tls",
                  https_path[] = "server.listen-https";

static const char *listener_path(const struct unbound_map_state *map, uint16_t port)
{
    if (port == map->https_port)
        return https_path;
    return map->tls_ports[port / 8] & 1 << port % 8 ? tls_path : plain_path;
}

static void add_listener(struct unbound_map_state *map, const struct addr *addr,
                         const struct draft_origin *origin)
{
    char text[ADDR_TEXT_MAX];
    const char *path = listener_path(map, addr_port(addr));
    const char *word = draft_word(map->draft, addr_format(addr, text));
    if (!word)
        return;
    draft_add(map->draft, path, word, origin);
    *(path == plain_path ? &map->has_plain_listener : &map->has_secure_listener) = true;
}

/* Returns NULL if the address can be served. */
static const char *why_not(const struct unbound_map_state *map, const struct addr *addr)
{
    if (addr_family(addr) == AF_INET ? map->no_ip4 : map->no_ip6)
        return "Not imported: do-ip4 or do-ip6 excludes it.";
    if (addr_port(addr) == 0)
        return "Port 0 cannot be served.";
    return NULL;
}

static void end_interface(struct unbound_map_state *map, const struct unbound_value *value)
{
    struct addr addr;
    if (addr_parse(&addr, value->text, plain_port(map)) != ERR_OK) {
        draft_note(map->draft, value->origin,
                   "Not imported: it is not an address. Write the addresses of an interface.");
        return;
    }
    const char *reason = why_not(map, &addr);
    if (reason)
        draft_note(map->draft, value->origin, reason);
    else
        add_listener(map, &addr, value->origin);
}

/* Adds the default listeners of Unbound. */
static void add_default_listeners(struct unbound_map_state *map, const char *v4, const char *v6,
                                  const struct draft_origin *origin)
{
    struct addr addr;
    const char *const texts[] = {v4, v6};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (addr_parse(&addr, texts[i], plain_port(map)) == ERR_OK && !why_not(map, &addr))
            add_listener(map, &addr, origin);
}

static void end_listeners(struct unbound_map_state *map)
{
    size_t count = 0;
    const struct draft_origin *origin = map->port.origin ? map->port.origin : map->family.origin;
    if (map->automatic.text)
        add_default_listeners(map, "0.0.0.0", "::", map->automatic.origin);
    for (struct unbound_value *at = map->interfaces; at; at = at->next) {
        if (map->automatic.text)
            draft_note(map->draft, at->origin, "interface-automatic serves all addresses.");
        else if (count++ >= LISTENERS_MAX)
            draft_note(map->draft, at->origin, "Not imported: server.listen takes 256.");
        else
            end_interface(map, at);
    }
    if (!map->automatic.text && !map->interfaces && origin)
        add_default_listeners(map, "127.0.0.1", "::1", origin);
    /* The default of server.listen is port 53 in plain text, which the file does not open. */
    if (map->has_secure_listener && !map->has_plain_listener)
        draft_add_none(map->draft, plain_path, map->interfaces ? map->interfaces->origin : origin);
}

/* ---- access ---- */

static const struct {
    const char *unbound, *nailup, *note;
} actions[] = {
    {"allow", "allow", NULL},
    {"deny", "drop", NULL},
    {"refuse", "refuse", NULL},
    {"allow_snoop", "allow-snoop", NULL},
    {"allow_setrd", "allow",
     "Imported as allow: a query without RD gets an answer from local data or REFUSED, and is not "
     "resolved."},
    {"allow_cookie", "allow",
     "Imported as allow: cookies are optional. server.rate-limit limits only queries without a "
     "valid cookie."},
    {"deny_non_local", "drop", "Imported as drop, which includes local data."},
    {"refuse_non_local", "refuse", "Imported as refuse, which includes local data."},
};

static void mark_local(struct unbound_map_state *map, const char *text)
{
    struct prefix prefix, local;
    if (prefix_parse(&prefix, text) != ERR_OK)
        return;
    if (prefix_parse(&local, "127.0.0.0/8") == ERR_OK && prefix_equal(&prefix, &local))
        map->has_local_v4 = true;
    if (prefix_parse(&local, "::1") == ERR_OK && prefix_equal(&prefix, &local))
        map->has_local_v6 = true;
}

static void map_access(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    const char *word = map_word(map, statement, statement->args[0]);
    if (prefix_is_mapped(statement->args[0])) {
        map_note(map, statement,
                 "Not needed: no client of Unbound has an IPv4-mapped address. Here the prefix "
                 "would apply to IPv4 clients.");
        return;
    }
    for (size_t i = 0; word && i < ARRAY_LEN(actions); i++) {
        if (strcmp(actions[i].unbound, statement->args[1]) != 0)
            continue;
        if (actions[i].note)
            map_note(map, statement, actions[i].note);
        if (strcmp(statement->args[1], "allow_cookie") == 0)
            map_warn(map, statement->origin, "Clients without a cookie may ask too.");
        mark_local(map, statement->args[0]);
        map->access_origin = statement->origin;
        draft_add(map->draft, "server.access",
                  draft_format(map->draft, "{prefix: %s, action: %s}", word, actions[i].nailup),
                  statement->origin);
        return;
    }
    if (word)
        map_note(map, statement, "Not imported: unknown action.");
}

/* Unbound always allows this machine; a list of nailup is complete. */
static void end_access(struct unbound_map_state *map)
{
    if (map->access_origin && !map->has_local_v4)
        draft_add(map->draft, "server.access", "{prefix: 127.0.0.0/8, action: allow}",
                  map->access_origin);
    if (map->access_origin && !map->has_local_v6)
        draft_add(map->draft, "server.access", "{prefix: \"::1\", action: allow}",
                  map->access_origin);
}

/* ---- the rest ---- */

static void map_incoming_tcp(struct unbound_map_state *map,
                             const struct unbound_statement *statement)
{
    uint64_t number;
    if (!map_take_number(map, statement, &number))
        return;
    if (map->incoming_tcp.origin)
        draft_note(map->draft, map->incoming_tcp.origin, "Replaced by a later line.");
    map->incoming_tcp =
        (struct unbound_value){.text = statement->args[0], .origin = statement->origin};
}

static uint64_t parse_digits_of(const char *text)
{
    uint64_t number = 0;
    for (; text && *text >= '0' && *text <= '9'; text++)
        number = number * 10 + (uint64_t)(*text - '0');
    return number;
}

/* Unbound counts per thread. */
static void end_incoming_tcp(struct unbound_map_state *map)
{
    const struct unbound_value *value = &map->incoming_tcp;
    uint64_t threads = parse_digits_of(draft_get(map->draft, "server.workers"));
    if (!value->origin)
        return;
    if (parse_digits_of(value->text) == 0)
        draft_note(map->draft, value->origin, "TCP cannot be turned off.");
    else if (threads > 1000 || parse_digits_of(value->text) > 1000000)
        draft_note(map->draft, value->origin, "Not imported: server.max-clients takes 1000000.");
    else
        draft_set(map->draft, "server.max-clients",
                  draft_format(map->draft, "%" PRIu64,
                               parse_digits_of(value->text) * (threads ? threads : 1)),
                  value->origin);
}

static void map_ciphers(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    bool is_suites = strcmp(statement->word->name, "tls-ciphersuites") == 0;
    draft_account(statement->origin);
    *(is_suites ? &map->suites : &map->ciphers) =
        (struct unbound_value){.text = statement->args[0], .origin = statement->origin};
}

static void end_ciphers(struct unbound_map_state *map)
{
    const char *ciphers = map->ciphers.text ? map->ciphers.text : "";
    const char *suites = map->suites.text ? map->suites.text : "";
    const struct draft_origin *origin =
        map->ciphers.origin ? map->ciphers.origin : map->suites.origin;
    const char *text =
        draft_format(map->draft, "%s%s%s", ciphers, *ciphers && *suites ? ":" : "", suites);
    const char *word = draft_word(map->draft, text);
    if (*text && word)
        draft_set(map->draft, "server.tls-ciphers", word, origin);
    else if (*text)
        draft_note(map->draft, origin, "Not imported: it has non-ASCII characters.");
}

static bool is_version(const struct unbound_statement *statement)
{
    return strcmp(statement->word->path, "server.version") == 0;
}

static void map_identity(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    struct unbound_value *value = is_version(statement) ? &map->version : &map->identity;
    if (value->origin)
        draft_note(map->draft, value->origin, "Replaced by a later line.");
    *value = (struct unbound_value){.text = statement->args[0], .origin = statement->origin};
}

static void map_hide(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    bool yes;
    if (!map_take_flag(map, statement, &yes))
        return;
    draft_account(statement->origin); /* a shown value without a text gets a note at the end */
    *(is_version(statement) ? &map->hides_version : &map->hides_identity) = yes;
    *(is_version(statement) ? &map->shown_version : &map->shown_identity) =
        yes ? NULL : statement->origin;
}

static void end_identity(struct unbound_map_state *map, const struct unbound_value *value,
                         const char *path, bool is_hidden, const struct draft_origin *shown)
{
    const char *word = value->text && *value->text ? draft_word(map->draft, value->text) : NULL;
    if (word && !is_hidden)
        draft_set(map->draft, path, word, value->origin);
    else if (value->origin)
        draft_note(map->draft, value->origin,
                   is_hidden ? "Hidden by hide-version or hide-identity."
                             : "Not imported: it is not text.");
    else if (shown)
        draft_note(map->draft, shown,
                   "Queries in class CHAOS are answered with the texts of server.version and "
                   "server.identity; without one the answer is REFUSED.");
}

/* nailup has one line for a query and its answer, so either option asks for it. */
static void map_log_queries(struct unbound_map_state *map,
                            const struct unbound_statement *statement)
{
    bool is_replies = strcmp(statement->word->name, "log-replies") == 0, yes;
    if (!map_take_flag(map, statement, &yes))
        return;
    draft_account(statement->origin);
    *(is_replies ? &map->log_replies : &map->log_queries) = yes ? statement->origin : NULL;
}

static void end_log(struct unbound_map_state *map)
{
    const struct draft_origin *origin = map->log_queries ? map->log_queries : map->log_replies;
    if (origin)
        draft_set(map->draft, "log.queries", "yes", origin);
}

static void map_end_server(struct unbound_map_state *map)
{
    end_listeners(map);
    end_access(map);
    end_incoming_tcp(map);
    end_ciphers(map);
    end_identity(map, &map->version, "server.version", map->hides_version, map->shown_version);
    end_identity(map, &map->identity, "server.identity", map->hides_identity, map->shown_identity);
    end_log(map);
}

const struct unbound_maps unbound_maps_server = {
    .map =
        {
            [UNBOUND_MAP_interface] = map_interface,
            [UNBOUND_MAP_interface_automatic] = map_interface_automatic,
            [UNBOUND_MAP_port] = map_port,
            [UNBOUND_MAP_family] = map_family,
            [UNBOUND_MAP_protocol] = map_protocol,
            [UNBOUND_MAP_access] = map_access,
            [UNBOUND_MAP_incoming_tcp] = map_incoming_tcp,
            [UNBOUND_MAP_ciphers] = map_ciphers,
            [UNBOUND_MAP_identity] = map_identity,
            [UNBOUND_MAP_hide] = map_hide,
            [UNBOUND_MAP_log_queries] = map_log_queries,
        },
    .end = map_end_server,
};
