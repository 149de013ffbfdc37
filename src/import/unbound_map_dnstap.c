/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * dnstap. Unbound writes nothing without dnstap-enable, and no kind of messages that the file does
 * not turn on. Without these rules the output would write more than the file did.
 */
#include <string.h>

#include "import/unbound_maps.h"

static const char kind_prefix[] = "dnstap-log-", kind_suffix[] = "-messages";

/* The kind in dnstap-log-<kind>-messages. */
static const char *kind_of(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    const char *name = statement->word->name + sizeof(kind_prefix) - 1;
    return draft_format(map->draft, "%.*s", (int)(strlen(name) - (sizeof(kind_suffix) - 1)), name);
}

static void map_dnstap_enable(struct unbound_map_state *map,
                              const struct unbound_statement *statement)
{
    bool yes;
    if (!map_take_flag(map, statement, &yes))
        return;
    draft_account(statement->origin);
    map->dnstap_origin = yes ? statement->origin : NULL;
}

/* Keeps values for map_end_dnstap(): the last one of a name counts. */
static void dnstap_keep(struct unbound_map_state *map, const struct unbound_statement *statement,
                        const char *text)
{
    for (struct unbound_value *at = map->dnstap_values; at; at = at->next)
        if (strcmp(at->action, statement->word->name) == 0) {
            draft_note(map->draft, at->origin, "Replaced by a later line.");
            at->text = text;
            at->origin = statement->origin;
            return;
        }
    struct unbound_value *value = map_keep(map, statement);
    if (!value)
        return;
    value->text = text;
    value->action = statement->word->name;
    value->next = map->dnstap_values;
    map->dnstap_values = value;
}

static void map_dnstap_text(struct unbound_map_state *map,
                            const struct unbound_statement *statement)
{
    dnstap_keep(map, statement, statement->args[0]);
}

/* NULL: the file turns the kind off. */
static void map_dnstap_messages(struct unbound_map_state *map,
                                const struct unbound_statement *statement)
{
    bool yes;
    if (map_take_flag(map, statement, &yes))
        dnstap_keep(map, statement, yes ? kind_of(map, statement) : NULL);
}

/* The last line with this name, or NULL. */
static struct unbound_value *dnstap_find(struct unbound_map_state *map, const char *name)
{
    struct unbound_value *at = map->dnstap_values;
    while (at && strcmp(at->action, name) != 0)
        at = at->next;
    return at;
}

static void dnstap_set(struct unbound_map_state *map, const char *name, const char *path,
                       bool is_file)
{
    struct unbound_value *value = dnstap_find(map, name);
    const char *text = !value ? NULL : is_file ? map_path(map, value->text) : value->text;
    const char *word = text ? draft_word(map->draft, text) : NULL;
    if (word)
        draft_set(map->draft, path, word, value->origin);
    else if (value)
        draft_note(map->draft, value->origin, "Not imported: it has non-ASCII characters.");
}

/* Sends the text that the file asks for. Unbound also has a built-in text. */
static void dnstap_set_sent(struct unbound_map_state *map, const char *flag, const char *name,
                            const char *path)
{
    struct unbound_value *wish = dnstap_find(map, flag), *text = dnstap_find(map, name);
    bool is_sent = wish && strcmp(wish->text, "yes") == 0;
    bool is_empty = text && !*text->text; /* which means Unbound's built-in text */
    if (wish)
        draft_account(wish->origin);
    if (is_empty)
        draft_account(text->origin);
    if (is_sent && text && !is_empty)
        dnstap_set(map, name, path, false);
    else if (is_sent)
        draft_note(
            map->draft, wish->origin,
            draft_format(map->draft, "Write the text into %s: Unbound has a built-in one.", path));
    else if (text && !is_empty)
        draft_note(map->draft, text->origin,
                   draft_format(map->draft, "Not imported: %s is not yes.", flag));
}

static bool dnstap_is_kind(const struct unbound_value *value)
{
    return strncmp(value->action, kind_prefix, sizeof(kind_prefix) - 1) == 0;
}

/* False: the file turns no kind on. */
static bool dnstap_add_kinds(struct unbound_map_state *map)
{
    bool has_kind = false;
    for (struct unbound_value *at = map->dnstap_values; at; at = at->next) {
        if (!dnstap_is_kind(at))
            continue;
        draft_account(at->origin);
        if (at->text)
            draft_add(map->draft, "dnstap.messages", at->text, at->origin);
        has_kind |= at->text != NULL;
    }
    return has_kind;
}

static void dnstap_note_all(struct unbound_map_state *map, const char *sentence)
{
    for (struct unbound_value *at = map->dnstap_values; at; at = at->next)
        draft_note(map->draft, at->origin, sentence);
}

/* Sets the socket. Unbound ignores it if it has an address to which it sends instead. */
static void dnstap_set_reader(struct unbound_map_state *map)
{
    struct unbound_value *ip = dnstap_find(map, "dnstap-ip");
    struct unbound_value *socket = dnstap_find(map, "dnstap-socket-path");
    bool is_remote = ip && *ip->text;
    if (is_remote)
        draft_note(map->draft, ip->origin,
                   "Not imported: nailup sends dnstap to a local socket (dnstap.socket) or into a "
                   "file (dnstap.file) only.");
    else if (ip)
        draft_account(ip->origin);
    if (is_remote && socket)
        draft_note(map->draft, socket->origin,
                   "Not imported: Unbound ignores it because of dnstap-ip. Write the socket of a "
                   "reader on this host into dnstap.socket.");
    else if (is_remote)
        draft_note(map->draft, map->dnstap_origin,
                   "Write the socket of a reader on this host into dnstap.socket.");
    else if (!socket)
        draft_note(map->draft, map->dnstap_origin,
                   "Write the socket of the reader into dnstap.socket; Unbound has one of its "
                   "own.");
    else
        dnstap_set(map, "dnstap-socket-path", "dnstap.socket", true);
}

static void map_end_dnstap(struct unbound_map_state *map)
{
    map->dnstap_values = map_reversed(map->dnstap_values);
    if (!map->dnstap_origin) {
        dnstap_note_all(map, "Not imported: dnstap-enable is not yes.");
        return;
    }
    if (!dnstap_add_kinds(map)) {
        draft_note(map->draft, map->dnstap_origin, "Not imported: no kind of messages is on.");
        dnstap_note_all(map, "Not imported: no kind of messages is on.");
        return;
    }
    dnstap_set_reader(map);
    dnstap_set_sent(map, "dnstap-send-identity", "dnstap-identity", "dnstap.identity");
    dnstap_set_sent(map, "dnstap-send-version", "dnstap-version", "dnstap.version");
}

const struct unbound_maps unbound_maps_dnstap = {
    .map =
        {
            [UNBOUND_MAP_dnstap_enable] = map_dnstap_enable,
            [UNBOUND_MAP_dnstap_text] = map_dnstap_text,
            [UNBOUND_MAP_dnstap_messages] = map_dnstap_messages,
        },
    .end = map_end_dnstap,
};
