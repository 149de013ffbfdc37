/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * A small translator for the configuration sections of Unbound's replay files. Options that do not
 * affect a scenario are dropped silently. Options that we lack are reported, and so are keys that
 * our configuration knows but does not offer yet, which the translator finds out by trying.
 */
#include "scenario/translate.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "config/config.h"
#include "scenario/reader.h"
#include "scenario/translate_inside.h"

void translate_put(struct buf *buf, const char *format, ...)
{
    char line[4 * WORD_MAX];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    MUST(buf_append(buf, line, MIN((size_t)len, sizeof(line) - 1)) == ERR_OK);
}

void translate_need(struct translating *work, const char *option)
{
    char *needs = work->out->needs;
    size_t len = strlen(needs);
    if (!strstr(needs, option))
        snprintf(needs + len, TRANSLATE_NEEDS_MAX - len, "%s%s", len ? " " : "", option);
}

bool translate_is_offered(const char *text)
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

/* ---- sections ---- */

static bool is_section(const char *key)
{
    static const char *const sections[] = {"server",    "forward-zone", "stub-zone",      "view",
                                           "auth-zone", "rpz",          "remote-control", "python",
                                           "dnscrypt",  "cachedb",      "dnstap",         "dynlib"};
    for (size_t i = 0; i < ARRAY_LEN(sections); i++)
        if (strcmp(sections[i], key) == 0)
            return true;
    return false;
}

static void begin_section(struct translating *work, const char *key)
{
    translate_zone_end(work);
    work->elsewhere = strcmp(key, "server") != 0;
    for (unsigned i = 0; i < ZONE_KINDS; i++) {
        if (strcmp(key, work->zones[i].section) == 0) {
            work->zone = &work->zones[i];
            work->elsewhere = false;
        }
    }
    if (work->elsewhere && strcmp(key, "remote-control") != 0)
        translate_need(work, key);
}

static void option(struct translating *work, const char *key, char *value, const char *second,
                   const char *line)
{
    if (work->elsewhere)
        return;
    if (work->zone && strcmp(value, "TEMPFILE_NAME") == 0) {
        char path[2 * WORD_MAX];
        snprintf(path, sizeof(path), "%s %s", value, second);
        translate_zone(work, key, path);
    } else if (work->zone)
        translate_zone(work, key, value);
    else
        translate_server(work, key, value, second, line);
}

/* ---- text ---- */

/* Recognises an unquoted "key:". Returns true, and the word without its colon. */
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

/* Takes up to two values. The next option may follow on the same line. */
static void take_values(struct translating *work, const char *key, const char **at)
{
    char value[WORD_MAX] = "", second[WORD_MAX] = "", ignored[WORD_MAX];
    const char *line = *at + strspn(*at, " \t");
    reader_word(at, value, sizeof(value), NULL);
    const char *before = *at;
    if (take_key(at, ignored))
        *at = before;
    else
        reader_word(at, second, sizeof(second), NULL);
    option(work, key, value, second, line);
    if (strcmp(key, "local-data") == 0) /* its value contains quotes */
        *at += strlen(*at);
}

static void take_line(struct translating *work, const char *at)
{
    char key[WORD_MAX], ignored[WORD_MAX];
    if (work->waiting[0] && strncmp(at, "TEMPFILE_NAME", 13) == 0) {
        take_values(work, work->waiting, &at);
        work->waiting[0] = '\0';
        return;
    }
    while (*(at += strspn(at, " \t"))) {
        if (!take_key(&at, key)) {
            reader_word(&at, ignored, sizeof(ignored), NULL);
            continue;
        }
        work->waiting[0] = '\0';
        if (is_section(key))
            begin_section(work, key);
        else if (at[strspn(at, " \t")])
            take_values(work, key, &at);
        else
            snprintf(work->waiting, sizeof(work->waiting), "%.63s", key);
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

/* Puts the contents of another file of this script in place of the line that includes it. nailup
 * refuses $INCLUDE. Returns false when the line or the file is missing. */
static bool take_included(struct translating *work, const struct reader *reader, size_t len)
{
    static const char word[] = "$INCLUDE_TEMPFILE ";
    char begin[OPTION_MAX + 32];
    const char *line = memmem(reader->at, len, word, strlen(word));
    if (!line)
        return false;
    const char *name = line + strlen(word);
    int name_len = (int)strcspn(name, " \t\r\n");
    snprintf(begin, sizeof(begin), "TEMPFILE_CONTENTS %.*s\n", MIN(name_len, OPTION_MAX), name);
    const char *found =
        memmem(reader->at, (size_t)(reader->end - reader->at), begin, strlen(begin));
    const char *text = found ? found + strlen(begin) : NULL;
    const char *end = text ? strstr(text, "TEMPFILE_END") : NULL;
    if (!end)
        return false;
    translate_put(&work->files, "%.*s%.*s%.*s", (int)(line - reader->at), reader->at,
                  (int)(end - text), text, (int)(reader->at + len - (name + name_len)),
                  name + name_len);
    return true;
}

/* Unbound also reads policy zones without a SOA record, and gives their records a TTL. Here the
 * translation adds both after the line with $ORIGIN. */
static void take_contents(struct translating *work, const char *text, size_t len)
{
    static const char origin[] = "$ORIGIN ";
    const char *line = memmem(text, len, origin, strlen(origin));
    const char *rest = line ? memchr(line, '\n', len - (size_t)(line - text)) : NULL;
    if (rest && !memmem(text, len, "SOA", 3)) {
        size_t head = (size_t)(rest + 1 - text);
        MUST(buf_append(&work->files, text, head) == ERR_OK);
        translate_put(&work->files, "$TTL 3600\n@ SOA ns host 1 3600 600 86400 60\n");
        text += head;
        len -= head;
    }
    MUST(len == 0 || buf_append(&work->files, text, len) == ERR_OK);
}

/* Takes the lines from TEMPFILE_CONTENTS to TEMPFILE_END as they are: blanks at the start of a line
 * have a meaning in a zone file. */
static void take_file(struct translating *work, struct reader *reader)
{
    static const char end_word[] = "TEMPFILE_END";
    translate_put(&work->files, "%s\n", reader->text);
    const char *end =
        memmem(reader->at, (size_t)(reader->end - reader->at), end_word, strlen(end_word));
    end = end ? end : reader->end;
    size_t len = (size_t)(end - reader->at);
    if (!take_included(work, reader, len))
        take_contents(work, reader->at, len);
    reader->at = end; /* the end word follows, and its line has no other meaning */
    translate_put(&work->files, "%s\n", end_word);
}

static void take_text(struct translating *work, const char *options)
{
    struct reader *reader = malloc(sizeof(*reader));
    MUST(reader);
    reader_init(reader, options, strlen(options));
    while (reader_next(reader)) {
        if (strncmp(reader->text, "TEMPFILE_CONTENTS", 17) == 0) {
            take_file(work, reader);
            continue;
        }
        cut_comment(reader->text);
        take_line(work, reader->text);
    }
    free(reader);
}

/* ---- the configuration ---- */

static void put_files(struct translating *work, struct buf *yaml)
{
    struct span hints = buf_span(&work->hints), files = buf_span(&work->files);
    MUST(!files.len || buf_append(yaml, files.data, files.len) == ERR_OK);
    if (!hints.len)
        return;
    translate_put(yaml, "TEMPFILE_CONTENTS hints\n");
    MUST(buf_append(yaml, hints.data, hints.len) == ERR_OK);
    translate_put(yaml, "TEMPFILE_END\n");
}

/* The built-in anchors of the real root never count in a play. A name below no anchor of the file
 * is insecure, as in Unbound. */
static void put_anchors(struct translating *work, struct buf *yaml)
{
    struct span anchors = buf_span(&work->anchors), insecure = buf_span(&work->insecure);
    if (!anchors.len)
        return;
    if (work->has_old_anchor) {
        translate_need(work, TRANSLATE_VALIDATION);
        work->out->wall_s = 0;
        return;
    }
    translate_put(yaml,
                  "dnssec:\n  validate: yes\n  sha1: yes\n  aggressive: %s\n  trust-anchors: [",
                  work->is_not_aggressive ? "no" : "yes");
    MUST(buf_append(yaml, anchors.data, anchors.len) == ERR_OK);
    translate_put(yaml, "]\n");
    translate_put(yaml, "  negative-trust-anchors: [%s", work->has_root_anchor ? "" : "., ");
    MUST(buf_append(yaml, insecure.data, insecure.len) == ERR_OK);
    translate_put(yaml, "]\n");
}

static void finish(struct translating *work)
{
    struct buf yaml;
    translate_zone_end(work);
    buf_init(&yaml, CONFIG_FILE_MAX);
    translate_server_finish(work, &yaml);
    translate_zones_finish(work, &yaml);
    put_anchors(work, &yaml);
    put_files(work, &yaml);
    MUST(buf_append(&yaml, "", 1) == ERR_OK);
    work->out->yaml = strdup((const char *)buf_span(&yaml).data);
    MUST(work->out->yaml);
    buf_deinit(&yaml);
}

static void each_buf(struct translating *work, void (*act)(struct buf *buf))
{
    for (unsigned i = 0; i < SECTIONS; i++)
        act(&work->section[i]);
    for (unsigned i = 0; i < LISTS; i++)
        act(&work->lists[i]);
    for (unsigned i = 0; i < ZONE_KINDS; i++)
        act(&work->zones[i].text);
    act(&work->access);
    act(&work->hints);
    act(&work->files);
    act(&work->anchors);
    act(&work->insecure);
}

static void init(struct buf *buf)
{
    buf_init(buf, CONFIG_FILE_MAX);
}

struct translation translate_options(const char *options)
{
    struct translation out = {0};
    struct translating work = {
        .zones = {[FORWARD_ZONES] = {.section = "forward-zone", .prefix = "forward-"},
                  [STUB_ZONES] = {.section = "stub-zone", .prefix = "stub-"},
                  [AUTH_ZONES] = {.section = "auth-zone", .prefix = ""},
                  [RPZ_ZONES] = {.section = "rpz", .prefix = ""}},
        .out = &out};
    each_buf(&work, init);
    take_text(&work, options);
    finish(&work);
    each_buf(&work, buf_deinit);
    return out;
}

void translate_free(struct translation *translation)
{
    free(translation->yaml);
    translation->yaml = NULL;
}
