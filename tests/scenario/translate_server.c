/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The section "server": options become lines of nailup's sections, and repeated options become
 * lists. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/check.h"
#include "scenario/translate_inside.h"

static const char *const section_keys[SECTIONS] = {"server", "cache", "recursion", "dns64"};

/* The place of each list. Section -1 is the top of the file. */
static const struct {
    int section;
    const char *key, *first;
} lists[LISTS] = {
    [LIST_DO_NOT_QUERY] = {IN_RECURSION, "do-not-query", "127.0.0.0/8, \"::1\""},
    [LIST_PRIVATE] = {IN_RECURSION, "private-addresses", NULL},
    [LIST_PRIVATE_DOMAINS] = {IN_RECURSION, "private-domains", NULL},
    [LIST_LOCAL_ZONES] = {-1, "local-zones", NULL},
    [LIST_LOCAL_DATA] = {-1, "local-data", NULL},
};

/* ---- single values ---- */

static void put_counterpart(struct translating *work, const struct counterpart *row,
                            const char *value)
{
    char line[2 * WORD_MAX], probe[3 * WORD_MAX];
    if (row->off && strcasecmp(row->off, value) == 0)
        return;
    work->has_caps |= strcmp(row->option, "use-caps-for-id") == 0;
    snprintf(line, sizeof(line), "  %s: %s%s\n", row->key, value, row->suffix);
    snprintf(probe, sizeof(probe), "%s:\n%s", section_keys[row->section], line);
    if (!translate_is_offered(probe))
        translate_need(work, row->option);
    else
        translate_put(&work->section[row->section], "%s", line);
}

static void put_access(struct translating *work, const char *prefix, const char *action)
{
    const char *ours = strcmp(action, "allow_snoop") == 0  ? "allow-snoop"
                       : strncmp(action, "allow", 5) == 0  ? "allow"
                       : strncmp(action, "refuse", 6) == 0 ? "refuse"
                                                           : "drop";
    work->has_loopback4 |= strcmp(prefix, "127.0.0.0/8") == 0;
    work->has_loopback6 |= strncmp(prefix, "::1", 3) == 0;
    translate_put(&work->access, "    - {prefix: \"%s\", action: %s}\n", prefix, ours);
}

static void put_root_hints(struct translating *work, const char *word, const char *name)
{
    if (work->has_hints_file) {
        translate_need(work, "root-hints"); /* a second file would be for another class */
        return;
    }
    work->has_hints_file = true;
    translate_put(&work->section[IN_RECURSION], "  root-hints: %s %s\n", word, name);
}

/* This is off by default. Another option has its duration. */
static bool take_stale(struct translating *work, const char *key, const char *value)
{
    if (strcmp(key, "serve-expired-ttl") == 0)
        work->stale_s = strtoul(value, NULL, 10);
    else if (strcmp(key, "serve-expired") == 0)
        work->serves_stale = strcmp(value, "yes") == 0;
    else
        return false;
    return true;
}

/* One second less, because nailup still serves during the last second. */
static void put_stale(struct translating *work)
{
    unsigned long bound_s = work->stale_s > 1 ? work->stale_s - 1 : work->stale_s;
    if (work->serves_stale && bound_s)
        translate_put(&work->section[IN_CACHE], "  serve-stale: %lus\n", bound_s);
    else
        translate_put(&work->section[IN_CACHE], "  serve-stale: %s\n",
                      work->serves_stale ? "1d" : "0s");
}

/* ---- lists ---- */

static void put_item(struct translating *work, int list, const char *option, const char *item)
{
    char probe[3 * WORD_MAX];
    struct buf *buf = &work->lists[list];
    if (lists[list].section < 0)
        snprintf(probe, sizeof(probe), "%s: [%s]\n", lists[list].key, item);
    else
        snprintf(probe, sizeof(probe), "%s: {%s: [%s]}\n", section_keys[lists[list].section],
                 lists[list].key, item);
    if (!translate_is_offered(probe)) {
        translate_need(work, option);
        return;
    }
    if (!buf_span(buf).len && lists[list].first)
        translate_put(buf, "%s", lists[list].first);
    translate_put(buf, "%s%s", buf_span(buf).len ? ", " : "", item);
}

static void put_word(struct translating *work, int list, const char *option, const char *word)
{
    char item[WORD_MAX + 2];
    snprintf(item, sizeof(item), "\"%s\"", word);
    put_item(work, list, option, item);
}

static void put_local_zone(struct translating *work, const char *name, const char *type)
{
    static const char *const actions[][2] = {
        {"static", "nxdomain"},       {"transparent", "transparent"},
        {"nodefault", "transparent"}, {"refuse", "refuse"},
        {"redirect", "redirect"},     {"always_transparent", "transparent"},
        {"always_refuse", "refuse"},  {"always_nxdomain", "nxdomain"},
        {"always_nodata", "nodata"},  {"typetransparent", "typetransparent"},
    };
    char item[2 * WORD_MAX];
    for (size_t i = 0; i < ARRAY_LEN(actions); i++) {
        if (strcmp(actions[i][0], type) != 0)
            continue;
        snprintf(item, sizeof(item), "{name: \"%.900s\", action: %s}", name, actions[i][1]);
        /* A redirect zone alone has no record yet. Playing reports that. */
        if (strcmp(type, "redirect") == 0)
            translate_put(&work->lists[LIST_LOCAL_ZONES], "%s%s",
                          buf_span(&work->lists[LIST_LOCAL_ZONES]).len ? ", " : "", item);
        else
            put_item(work, LIST_LOCAL_ZONES, "local-zone", item);
        return;
    }
    translate_need(work, "local-zone");
}

/* line: the quoted record, in either kind of quotes. Within YAML's single quotes, only single
 * quotes are special. */
static void put_local_data(struct translating *work, const char *line)
{
    char item[2 * WORD_MAX];
    size_t len = strlen(line), at = 0;
    if (len >= 2 && (line[0] == '"' || line[0] == '\'') && line[len - 1] == line[0])
        line++, len -= 2;
    item[at++] = '\'';
    for (size_t i = 0; i < len && at + 4 < sizeof(item); i++) {
        if (line[i] == '\'')
            item[at++] = '\'';
        item[at++] = line[i];
    }
    item[at++] = '\'';
    item[at] = '\0';
    put_item(work, LIST_LOCAL_DATA, "local-data", item);
}

/* ---- validation ---- */

/* Reads YYYYMMDDHHMMSS as seconds since 1970. Returns 0 for other text. */
static int64_t date_of(const char *text)
{
    struct tm date = {0};
    return strptime(text, "%Y%m%d%H%M%S", &date) ? timegm(&date) : 0;
}

/* With -1, Unbound does not check dates. */
static void put_date(struct translating *work, const char *value)
{
    work->out->ignores_dates = strcmp(value, "-1") == 0;
    work->out->wall_s = work->out->ignores_dates ? 0 : date_of(value);
}

/* Returns the algorithm of a DS or DNSKEY record, or 0 if the record has another form. */
static unsigned anchor_algorithm(const char *record)
{
    static const struct {
        const char *type, *format;
    } forms[] = {{"DNSKEY", "DNSKEY %*u %*u %u"}, {"DS", "DS %*u %u"}};
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        const char *at = strstr(record, forms[i].type);
        unsigned algorithm;
        if (at && sscanf(at, forms[i].format, &algorithm) == 1)
            return algorithm;
    }
    return 0;
}

/* line: a DS or DNSKEY record in quotes. */
static void put_anchor(struct translating *work, const char *line)
{
    char record[WORD_MAX];
    size_t len = strcspn(line += *line == '"', "\"");
    snprintf(record, sizeof(record), "%.*s", (int)len, line);
    work->has_old_anchor |= anchor_algorithm(record) < OLDEST_ALGORITHM;
    work->has_root_anchor |= record[0] == '.';
    translate_put(&work->anchors, "%s\"%s\"", buf_len(&work->anchors) ? ", " : "", record);
}

static void put_insecure(struct translating *work, const char *name)
{
    const char *quote = strchr("\"'", name[0]) ? "" : "\"";
    translate_put(&work->insecure, "%s%s%s, ", quote, name, quote);
}

/* ---- options ---- */

/* Switches a family off: its servers are never queried. */
static bool put_family(struct translating *work, const char *key, const char *value)
{
    bool is_v4 = strcmp(key, "do-ip4") == 0, is_v6 = strcmp(key, "do-ip6") == 0;
    if ((is_v4 || is_v6) && strcmp(value, "no") == 0)
        put_word(work, LIST_DO_NOT_QUERY, key, is_v4 ? "0.0.0.0/0" : "::/0");
    return is_v4 || is_v6;
}

/* The validator does nothing without an anchor, respip nothing without rpz, and dns64 nothing
 * without a prefix. These are translated; other options of respip are not. Other modules change
 * answers. */
static bool is_harmless_module(const char *key, const char *value)
{
    static const char *const before[] = {"respip ", "dns64 "}; /* also in the reverse order */
    if (strcmp(key, "module-config") != 0)
        return false;
    for (size_t i = 0; i < 2 * ARRAY_LEN(before); i++)
        if (strncmp(value, before[i % 2], strlen(before[i % 2])) == 0)
            value += strlen(before[i % 2]);
    return strcmp(value, "iterator") == 0 || strcmp(value, "validator iterator") == 0;
}

void translate_server(struct translating *work, const char *key, const char *value,
                      const char *second, const char *line)
{
    const struct counterpart *row = translate_find(key);
    if (translate_is_harmless(key) || is_harmless_module(key, value) ||
        put_family(work, key, value) || take_stale(work, key, value))
        return;
    work->has_negative_bound |= strcmp(key, "cache-max-negative-ttl") == 0;
    if (row)
        put_counterpart(work, row, value);
    else if (strcmp(key, "access-control") == 0)
        put_access(work, value, second);
    else if (strcmp(key, "root-hints") == 0)
        put_root_hints(work, value, second);
    else if (strcmp(key, "do-not-query-address") == 0)
        put_word(work, LIST_DO_NOT_QUERY, key, value);
    else if (strcmp(key, "private-address") == 0)
        put_word(work, LIST_PRIVATE, key, value);
    else if (strcmp(key, "private-domain") == 0)
        put_word(work, LIST_PRIVATE_DOMAINS, key, value);
    else if (strcmp(key, "local-zone") == 0)
        put_local_zone(work, value, second);
    else if (strcmp(key, "local-data") == 0)
        put_local_data(work, line);
    else if (strcmp(key, "iter-scrub-promiscuous") == 0)
        work->out->is_trusting = strcmp(value, "no") == 0;
    else if (strcmp(key, "val-override-date") == 0)
        put_date(work, value);
    else if (strcmp(key, "aggressive-nsec") == 0)
        work->is_not_aggressive = strcmp(value, "no") == 0;
    else if (strcmp(key, "domain-insecure") == 0)
        put_insecure(work, value);
    else if (strcmp(key, "zonemd-permissive-mode") == 0)
        work->ignores_zonemd = strcmp(value, "yes") == 0;
    else if (strcmp(key, "trust-anchor") == 0)
        put_anchor(work, line);
    else if (!translate_is_off(key, value))
        translate_need(work, key);
}

/* ---- the sections ---- */

/* Writes Unbound's default, unless the file sets the same prefix. */
static void put_access_list(struct translating *work, struct buf *yaml)
{
    struct span text = buf_span(&work->access);
    translate_put(yaml, "  access:\n");
    if (!work->has_loopback4)
        translate_put(yaml, "    - {prefix: 127.0.0.0/8, action: allow}\n");
    if (!work->has_loopback6)
        translate_put(yaml, "    - {prefix: \"::1\", action: allow}\n");
    MUST(buf_append(yaml, text.data, text.len) == ERR_OK);
}

static void put_lists(struct translating *work, int section, struct buf *yaml)
{
    for (unsigned i = 0; i < LISTS; i++) {
        struct span text = buf_span(&work->lists[i]);
        if (lists[i].section != section || !text.len)
            continue;
        translate_put(yaml, "%s%s: [", section < 0 ? "" : "  ", lists[i].key);
        MUST(buf_append(yaml, text.data, text.len) == ERR_OK);
        translate_put(yaml, "]\n");
    }
}

void translate_server_finish(struct translating *work, struct buf *yaml)
{
    struct buf *recursion = &work->section[IN_RECURSION];
    put_stale(work);
    if (!work->has_negative_bound)
        translate_put(&work->section[IN_CACHE], "  max-negative-ttl: 3600s\n");
    translate_put(recursion, "  cookies: %s\n", work->out->is_trusting ? "yes" : "no");
    if (!work->has_caps)
        translate_put(recursion, "  case-randomisation: no\n");
    if (buf_span(&work->hints).len && !work->has_hints_file)
        translate_put(recursion, "  root-hints: TEMPFILE_NAME hints\n");
    for (int i = 0; i < SECTIONS; i++) {
        struct span text = buf_span(&work->section[i]);
        if (i != IN_SERVER && !text.len)
            continue;
        translate_put(yaml, "%s:\n", section_keys[i]);
        MUST(buf_append(yaml, text.data, text.len) == ERR_OK);
        put_lists(work, i, yaml);
        if (i == IN_SERVER)
            put_access_list(work, yaml);
    }
    put_lists(work, -1, yaml);
}
