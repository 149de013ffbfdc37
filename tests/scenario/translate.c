/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * A small translator for the configuration sections of Unbound's replay files. Options without
 * influence on what a scenario shows are left out in silence; those we lack are named, and so are
 * keys that our own configuration knows but does not offer yet, which is found out by trying.
 */
#include "scenario/translate.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/check.h"
#include "config/config.h"
#include "scenario/reader.h"
#include "scenario/translate_tables.h"

enum { WORD_MAX = 1024 };

/* Where zones of these two kinds are collected. */
struct zones {
    const char *section; /* in Unbound's file and, with an s, in ours */
    const char *prefix;
    struct buf text;
    bool open, has_addrs;
};

struct translating {
    struct buf section[SECTIONS];
    struct buf access;
    struct zones zones[2];
    struct zones *zone; /* that the next options belong to, or NULL */
    bool elsewhere;     /* in a section without a counterpart */
    bool has_loopback4, has_loopback6, has_caps, has_stale;
    struct translation *out;
};

static void PRINTF_LIKE(2, 3) put(struct buf *buf, const char *format, ...)
{
    char line[4 * WORD_MAX];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    MUST(buf_append(buf, line, MIN((size_t)len, sizeof(line) - 1)) == ERR_OK);
}

static void need(struct translating *work, const char *option)
{
    char *needs = work->out->needs;
    size_t len = strlen(needs);
    if (!strstr(needs, option))
        snprintf(needs + len, TRANSLATE_NEEDS_MAX - len, "%s%s", len ? " " : "", option);
}

/* Does our configuration offer this, whole or as one line of a section? */
static bool is_offered(const char *text)
{
    static const char zone[] = "\nforward-zones: [{name: ., upstreams: [192.0.2.1]}]\n";
    char whole[4 * WORD_MAX];
    struct config *config = NULL;
    struct buf errors;
    int len = snprintf(whole, sizeof(whole), "%s%s", text, zone);
    buf_init(&errors, CONFIG_ERRORS_BYTES);
    bool fine = config_parse("probe", whole, (size_t)len, &config, &errors) == ERR_OK;
    config_free(config);
    buf_deinit(&errors);
    return fine;
}

/* ---- options ---- */

static const char *const section_keys[SECTIONS] = {"server", "cache", "recursion"};

static void put_counterpart(struct translating *work, const struct counterpart *row,
                            const char *value)
{
    char line[2 * WORD_MAX], probe[3 * WORD_MAX];
    if (row->off && strcasecmp(row->off, value) == 0)
        return;
    bool is_stale = strcmp(row->key, "serve-stale") == 0;
    if (strcmp(row->option, "serve-expired") == 0)
        value = "1d";
    if (is_stale && work->has_stale)
        return;
    work->has_stale |= is_stale;
    work->has_caps |= strcmp(row->option, "use-caps-for-id") == 0;
    snprintf(line, sizeof(line), "  %s: %s%s\n", row->key, value, row->suffix);
    snprintf(probe, sizeof(probe), "%s:\n%s", section_keys[row->section], line);
    if (!is_offered(probe))
        need(work, row->option);
    else
        put(&work->section[row->section], "%s", line);
}

static void put_access(struct translating *work, const char *prefix, const char *action)
{
    const char *ours = strncmp(action, "allow", 5) == 0    ? "allow"
                       : strncmp(action, "refuse", 6) == 0 ? "refuse"
                                                           : "drop";
    if (strcmp(action, "allow_snoop") == 0) /* RD=0 is answered from the cache anyway */
        ours = "allow";
    work->has_loopback4 |= strcmp(prefix, "127.0.0.0/8") == 0;
    work->has_loopback6 |= strncmp(prefix, "::1", 3) == 0;
    put(&work->access, "    - {prefix: \"%s\", action: %s}\n", prefix, ours);
}

static void server_option(struct translating *work, const char *key, const char *value,
                          const char *second)
{
    if (translate_is_harmless(key))
        return;
    const struct counterpart *row = translate_find(key);
    if (row) {
        put_counterpart(work, row, value);
        return;
    }
    if (strcmp(key, "access-control") == 0)
        put_access(work, value, second);
    else if (strcmp(key, "module-config") != 0 || strcmp(value, "iterator") != 0)
        need(work, key);
}

/* forward-addr and stub-addr: "IP@PORT", a name behind '#' left out. */
static void put_zone_addr(struct zones *zones, char *value)
{
    value[strcspn(value, "#")] = '\0';
    put(&zones->text, "%s\"%s\"", zones->has_addrs ? ", " : ", upstreams: [", value);
    zones->has_addrs = true;
}

static void end_zone(struct translating *work)
{
    struct zones *zones = work->zone;
    if (zones && zones->open)
        put(&zones->text, "%s}\n", zones->has_addrs ? "]" : "");
    if (zones)
        zones->open = zones->has_addrs = false;
    work->zone = NULL;
}

/* "forward-first: yes" is "first: yes" in ours. Addresses come last: Unbound lets them stand
 * anywhere, so options in between are put in front by ending the list early. */
static void zone_option(struct translating *work, const char *key, char *value)
{
    struct zones *zones = work->zone;
    size_t prefix = strlen(zones->prefix);
    const char *own = strncmp(key, zones->prefix, prefix) == 0 ? key + prefix : key;
    if (strcmp(key, "name") == 0) {
        put(&zones->text, "  - {name: \"%s\"", *value ? value : ".");
        zones->open = true;
    } else if (strcmp(own, "addr") == 0) {
        put_zone_addr(zones, value);
    } else if (strcmp(value, "no") != 0 && strcmp(own, "prime") != 0) {
        if (zones->has_addrs)
            put(&zones->text, "]");
        zones->has_addrs = false;
        if (strcmp(own, "tcp-upstream") == 0)
            put(&zones->text, ", transport: tcp");
        else if (strcmp(own, "first") == 0)
            put(&zones->text, ", first: yes");
        else if (strcmp(own, "no-cache") == 0)
            put(&zones->text, ", cache: no");
        else
            need(work, key);
    }
}

static void begin_section(struct translating *work, const char *key)
{
    end_zone(work);
    work->elsewhere = true;
    if (strcmp(key, "server") == 0)
        work->elsewhere = false;
    for (unsigned i = 0; i < 2; i++) {
        if (strcmp(key, work->zones[i].section) == 0) {
            work->zone = &work->zones[i];
            work->elsewhere = false;
        }
    }
    if (work->elsewhere && strcmp(key, "remote-control") != 0)
        need(work, key);
}

/* ---- text ---- */

static bool is_section(const char *key)
{
    static const char *const sections[] = {"server",    "forward-zone", "stub-zone",      "view",
                                           "auth-zone", "rpz",          "remote-control", "python",
                                           "dnscrypt",  "cachedb"};
    for (size_t i = 0; i < ARRAY_LEN(sections); i++)
        if (strcmp(sections[i], key) == 0)
            return true;
    return false;
}

static void option(struct translating *work, const char *key, char *value, const char *second)
{
    if (work->elsewhere)
        return;
    if (work->zone)
        zone_option(work, key, value);
    else
        server_option(work, key, value, second);
}

/* True and the word without its colon for an unquoted "key:". */
static bool take_key(const char **at, char *word)
{
    const char *before = *at;
    bool quoted;
    if (!reader_word(at, word, WORD_MAX, &quoted))
        return false;
    size_t len = strlen(word);
    if (!quoted && len > 1 && word[len - 1] == ':' && word[0] >= 'a' && word[0] <= 'z') {
        word[len - 1] = '\0';
        return true;
    }
    *at = before;
    return false;
}

static void take_line(struct translating *work, const char *at)
{
    char key[WORD_MAX], value[WORD_MAX], second[WORD_MAX], ignored[WORD_MAX];
    while (*(at += strspn(at, " \t"))) {
        if (!take_key(&at, key)) {
            reader_word(&at, ignored, sizeof(ignored), NULL);
            continue;
        }
        if (is_section(key)) {
            begin_section(work, key);
            continue;
        }
        value[0] = second[0] = '\0';
        reader_word(&at, value, sizeof(value), NULL);
        const char *before = at;
        if (take_key(&at, ignored))
            at = before;
        else
            reader_word(&at, second, sizeof(second), NULL);
        option(work, key, value, second);
    }
}

static void cut_comment(char *line)
{
    bool quoted = false;
    for (char *c = line; *c; c++) {
        if (*c == '"')
            quoted = !quoted;
        else if (!quoted && *c == '#' && (c == line || c[-1] == ' ' || c[-1] == '\t'))
            *c = '\0';
        if (!*c)
            return;
    }
}

/* Unbound's own default, unless the file says otherwise for the same prefix. */
static void put_access_list(struct translating *work, struct buf *yaml)
{
    struct span text = buf_span(&work->access);
    put(yaml, "  access:\n");
    if (!work->has_loopback4)
        put(yaml, "    - {prefix: 127.0.0.0/8, action: allow}\n");
    if (!work->has_loopback6)
        put(yaml, "    - {prefix: \"::1\", action: allow}\n");
    MUST(buf_append(yaml, text.data, text.len) == ERR_OK);
}

static void put_sections(struct translating *work, struct buf *yaml)
{
    for (unsigned i = 0; i < SECTIONS; i++) {
        struct span text = buf_span(&work->section[i]);
        if (i != IN_SERVER && !text.len)
            continue;
        put(yaml, "%s:\n", section_keys[i]);
        MUST(buf_append(yaml, text.data, text.len) == ERR_OK);
        if (i == IN_SERVER)
            put_access_list(work, yaml);
    }
}

static void finish(struct translating *work)
{
    struct buf yaml;
    bool any = false;
    end_zone(work);
    buf_init(&yaml, CONFIG_FILE_MAX);
    put(&work->section[IN_RECURSION], "  cookies: no\n");
    if (!work->has_caps)
        put(&work->section[IN_RECURSION], "  case-randomisation: no\n");
    put_sections(work, &yaml);
    for (unsigned i = 0; i < 2; i++) {
        struct span text = buf_span(&work->zones[i].text);
        if (!text.len)
            continue;
        if (i == 1 && !is_offered("stub-zones: [{name: example.com, upstreams: [192.0.2.2]}]")) {
            need(work, "stub-zone");
            continue;
        }
        any = true;
        put(&yaml, "%ss:\n", work->zones[i].section);
        MUST(buf_append(&yaml, text.data, text.len) == ERR_OK);
    }
    MUST(buf_append(&yaml, "", 1) == ERR_OK);
    work->out->yaml = any ? strdup((const char *)buf_span(&yaml).data) : NULL;
    buf_deinit(&yaml);
}

struct translation translate_options(const char *options)
{
    struct translation out = {0};
    struct translating work = {.zones = {{.section = "forward-zone", .prefix = "forward-"},
                                         {.section = "stub-zone", .prefix = "stub-"}},
                               .out = &out};
    struct reader *reader = malloc(sizeof(*reader));
    MUST(reader);
    for (unsigned i = 0; i < SECTIONS; i++)
        buf_init(&work.section[i], CONFIG_FILE_MAX);
    buf_init(&work.access, CONFIG_FILE_MAX);
    buf_init(&work.zones[0].text, CONFIG_FILE_MAX);
    buf_init(&work.zones[1].text, CONFIG_FILE_MAX);
    reader_init(reader, options, strlen(options));
    while (reader_next(reader)) {
        cut_comment(reader->text);
        take_line(&work, reader->text);
    }
    finish(&work);
    for (unsigned i = 0; i < SECTIONS; i++)
        buf_deinit(&work.section[i]);
    buf_deinit(&work.access);
    buf_deinit(&work.zones[0].text);
    buf_deinit(&work.zones[1].text);
    free(reader);
    return out;
}

void translate_free(struct translation *translation)
{
    free(translation->yaml);
    translation->yaml = NULL;
}
