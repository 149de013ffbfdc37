/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Dispatches statements to the maps. Has the maps that set one key to one value. */
#include "import/unbound_map.h"

#include <inttypes.h>
#include <string.h>

#include "base/check.h"
#include "import/unbound_maps.h"

/* Notes for clauses without any counterpart. */
static const char *const clause_notes[UNBOUND_CLAUSES] = {
    [UNBOUND_CLAUSE_AUTH] = "auth-zones holds zones from files and primaries.",
    [UNBOUND_CLAUSE_VIEW] = "Not imported: an item of views has no such key.",
    [UNBOUND_CLAUSE_DNSCRYPT] = "DNSCrypt is not supported; server.listen-tls serves DNS over TLS.",
    [UNBOUND_CLAUSE_DNSTAP] = "Not imported: the section dnstap has no such key.",
    [UNBOUND_CLAUSE_CACHEDB] =
        "The cache is in memory; cache.snapshot preserves it across a restart.",
    [UNBOUND_CLAUSE_IPSET] = "nailup does not add addresses of answers to kernel sets.",
    [UNBOUND_CLAUSE_PYTHON] = "nailup has no modules.",
    [UNBOUND_CLAUSE_DYNLIB] = "nailup has no modules.",
};

void unbound_map_init(struct unbound_map_state *map, struct draft *draft,
                      struct unbound_source *source)
{
    *map = (struct unbound_map_state){.draft = draft, .source = source};
    map->last_interface = &map->interfaces;
    map->last_zone = &map->zones;
    map->last_rpz = &map->rpzs;
    map->last_view = &map->views;
    map->last_view_client = &map->view_clients;
    map->last_client_tag = &map->client_tags;
    map->last_zone_tag = &map->zone_tags;
    map->last_local = &map->locals;
    map->tls_ports[853 / 8] |= 1 << 853 % 8;
    map->https_port = 443;
}

/* Notes a word that its clause does not have. */
static void note_unknown(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    const char *text = statement->origin->text, *sentence = clause_notes[statement->clause];
    enum unbound_clause home = unbound_word_home(span_of(text, strcspn(text, ":")));
    if (!sentence && home != UNBOUND_NO_CLAUSE)
        sentence = draft_format(map->draft, "In the wrong clause: it is an option of %s:.",
                                unbound_clause_name(home));
    map_note(map, statement, sentence ? sentence : "Unknown option; is it a typing error?");
}

/* ---- one key, one value ---- */

static void map_none(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    map_note(map, statement, statement->word->note);
}

static void map_weaker(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    const char *value = statement->args[0];
    map_note(map, statement, statement->word->note);
    if (*value && strcmp(value, "no") != 0 && strcmp(value, "0") != 0)
        map_warn(map, statement->origin, statement->word->note);
}

static void map_flag(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    bool yes;
    if (map_has_row(map, statement) && map_take_flag(map, statement, &yes))
        draft_set(map->draft, statement->word->path, yes ? "yes" : "no", statement->origin);
}

static void set_number(struct unbound_map_state *map, const struct unbound_statement *statement,
                       const char *unit)
{
    uint64_t number;
    if (map_has_row(map, statement) && map_take_number(map, statement, &number))
        draft_set(map->draft, statement->word->path,
                  draft_format(map->draft, "%" PRIu64 "%s", number, unit), statement->origin);
}

static void map_number(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    set_number(map, statement, "");
}

static void map_seconds(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    set_number(map, statement, "s");
}

static void map_millis(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    set_number(map, statement, "ms");
}

static void map_file(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    const char *word = map_word(map, statement, map_path(map, statement->args[0]));
    if (word && map_has_row(map, statement))
        draft_set(map->draft, statement->word->path, word, statement->origin);
}

/* Copies a word in the same form. */
static void map_text(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    const char *word =
        map_has_row(map, statement) ? map_word(map, statement, statement->args[0]) : NULL;
    if (word)
        draft_set(map->draft, statement->word->path, word, statement->origin);
}

static void map_directory(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    if (*statement->args[0] == '/')
        map->source->directory = statement->args[0];
    map_note(map, statement,
             "Not needed: file names are absolute here, and relative ones were converted.");
}

static void map_keepalive(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    const char *word = map_word(map, statement, statement->args[0]);
    if (word)
        draft_add(map->draft, statement->word->path, word, statement->origin);
}

static void map_verbosity(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    uint64_t number;
    if (map_take_number(map, statement, &number))
        draft_set(map->draft, statement->word->path,
                  number == 0   ? "warning"
                  : number == 1 ? "info"
                                : "debug",
                  statement->origin);
}

/* nailup always has a control socket, unless its path is empty. */
static void map_control_enable(struct unbound_map_state *map,
                               const struct unbound_statement *statement)
{
    bool yes;
    if (!map_take_flag(map, statement, &yes))
        return;
    if (!yes)
        draft_set(map->draft, statement->word->path, "\"\"", statement->origin);
    else
        map_note(map, statement, "Always on; nailupctl uses the socket control.socket.");
}

static const struct unbound_maps unbound_maps_values = {
    .map =
        {
            [UNBOUND_MAP_none] = map_none,
            [UNBOUND_MAP_weaker] = map_weaker,
            [UNBOUND_MAP_flag] = map_flag,
            [UNBOUND_MAP_number] = map_number,
            [UNBOUND_MAP_seconds] = map_seconds,
            [UNBOUND_MAP_millis] = map_millis,
            [UNBOUND_MAP_file] = map_file,
            [UNBOUND_MAP_text] = map_text,
            [UNBOUND_MAP_directory] = map_directory,
            [UNBOUND_MAP_keepalive] = map_keepalive,
            [UNBOUND_MAP_verbosity] = map_verbosity,
            [UNBOUND_MAP_control_enable] = map_control_enable,
        },
};

/* ---- dispatch ---- */

/* In the order of their ends. */
static const struct unbound_maps *const all_maps[] = {
    &unbound_maps_values, &unbound_maps_server, &unbound_maps_cache,  &unbound_maps_recursion,
    &unbound_maps_dnssec, &unbound_maps_dns64,  &unbound_maps_dnstap, &unbound_maps_zones,
    &unbound_maps_rpz,    &unbound_maps_local,  &unbound_maps_shadow, &unbound_maps_tags,
    &unbound_maps_views,
};

/* Modules may block names, and the output does not. */
static void begin_unbound_clause(struct unbound_map_state *map,
                                 const struct unbound_statement *statement)
{
    static const bool may_block[UNBOUND_CLAUSES] = {
        [UNBOUND_CLAUSE_PYTHON] = true,
        [UNBOUND_CLAUSE_DYNLIB] = true,
    };
    for (size_t i = 0; i < ARRAY_LEN(all_maps); i++)
        if (all_maps[i]->begin)
            all_maps[i]->begin(map, statement);
    if (may_block[statement->clause])
        map_warn(map, statement->origin, clause_notes[statement->clause]);
}

/* Returns the maps that have this one. */
static const struct unbound_maps *find_maps(enum unbound_map id)
{
    size_t i = 0;

    while (!all_maps[i]->map[id]) {
        i++;
        MUST(i < ARRAY_LEN(all_maps));
    }
    return all_maps[i];
}

void unbound_map_take(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    const struct unbound_word *word = statement->word;

    if (word)
        find_maps(word->map)->map[word->map](map, statement);
    else if (statement->begins_clause)
        begin_unbound_clause(map, statement);
    else
        note_unknown(map, statement);
}

void unbound_map_end(struct unbound_map_state *map)
{
    for (size_t i = 0; i < ARRAY_LEN(all_maps); i++)
        if (all_maps[i]->end)
            all_maps[i]->end(map);
    draft_account_rest(map->draft, "Not imported: nothing here corresponds to it.");
}
