/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Reads scenario files, except for their entries. play.c defines the steps. */
#include "scenario/script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "dns/rrtype.h"

enum { SCRIPT_BYTES_MAX = 64 * 1024 * 1024 };

static bool wrong(struct script *script, const struct reader *reader, const char *what)
{
    if (!script->error[0])
        snprintf(script->error, sizeof(script->error), "line %d: %s: %.160s", reader->line, what,
                 reader->text);
    return false;
}

void script_add_addr(struct script *script, const struct addr *addr)
{
    for (size_t i = 0; i < script->addr_count; i++)
        if (addr_equal(&script->addrs[i], addr))
            return;
    if (script->addr_count < SCRIPT_ADDRS_MAX)
        script->addrs[script->addr_count++] = *addr;
}

void script_note_record(struct script *script, uint16_t type, struct span rdata)
{
    struct addr addr = {0};
    if (type == RRTYPE_A && rdata.len == 4) {
        addr.in.sin_family = AF_INET;
        memcpy(&addr.in.sin_addr, rdata.data, 4);
    } else if (type == RRTYPE_AAAA && rdata.len == 16) {
        addr.in6.sin6_family = AF_INET6;
        memcpy(&addr.in6.sin6_addr, rdata.data, 16);
    } else {
        return;
    }
    addr_set_port(&addr, 53);
    script_add_addr(script, &addr);
}

static char *take_text(struct script *script, const char *text, size_t len)
{
    char *copy = arena_take(&script->arena, len + 1);
    MUST(copy);
    memcpy(copy, text, len);
    copy[len] = '\0';
    return copy;
}

/* ---- the file ---- */

static char *read_file(struct script *script, const char *path, size_t *len)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) {
        snprintf(script->error, sizeof(script->error), "%.200s cannot be read", path);
        return NULL;
    }
    *len = (size_t)ftell(file);
    rewind(file);
    char *data = malloc(*len + 1);
    MUST(data && fread(data, 1, *len, file) == *len);
    fclose(file);
    data[*len] = '\0';
    return data;
}

/* The configuration ends at the line CONFIG_END. A configuration of nailup begins with "; nailup".
 */
static bool take_config(struct script *script, struct reader *reader)
{
    const char *begin = reader->at;
    const char *mark = strstr(begin, "CONFIG_END");
    if (!mark)
        return wrong(script, reader, "no CONFIG_END");
    script->config = take_text(script, begin, (size_t)(mark - begin));
    script->is_ours = strncmp(begin, "; nailup", 8) == 0;
    if (script->is_ours) /* a comment in YAML as well, so that line numbers stay the same */
        script->config[0] = '#';
    while (reader_next(reader))
        if (strcmp(reader->text, "CONFIG_END") == 0)
            return true;
    return wrong(script, reader, "no CONFIG_END");
}

/* Takes the text from HINTS_BEGIN to HINTS_END unchanged. The reader is at HINTS_BEGIN. */
static bool take_hints(struct script *script, struct reader *reader)
{
    const char *mark = strstr(reader->at, "HINTS_END");
    if (!mark)
        return wrong(script, reader, "no HINTS_END");
    script->hints = take_text(script, reader->at, (size_t)(mark - reader->at));
    while (reader_next(reader) && strcmp(reader->text, "HINTS_END") != 0)
        continue;
    return reader_next(reader);
}

/* ---- ranges, zones and steps ---- */

static bool read_addr(struct script *script, const struct reader *reader, const char *text,
                      struct addr *addr)
{
    char word[SCRIPT_WORD_MAX];
    if (!reader_word(&text, word, sizeof(word), NULL) || addr_parse(addr, word, 53) != ERR_OK)
        return wrong(script, reader, "not an address");
    return true;
}

static bool read_range(struct script *script, struct reader *reader)
{
    struct script_range *range = arena_take(&script->arena, sizeof(*range));
    MUST(range);
    *range = (struct script_range){.next = script->ranges};
    if (sscanf(reader->text, "RANGE_BEGIN %d %d", &range->first, &range->last) != 2)
        return wrong(script, reader, "not a range");
    struct entry **last = &range->entries;
    while (reader_next(reader)) {
        if (strcmp(reader->text, "RANGE_END") == 0) {
            script->ranges = range;
            return true;
        }
        if (strncmp(reader->text, "ADDRESS", 7) == 0) {
            if (!read_addr(script, reader, reader->text + 7, &range->addr))
                return false;
            script_add_addr(script, &range->addr);
        } else if (strcmp(reader->text, "ENTRY_BEGIN") == 0) {
            *last = entry_read(script, reader);
            if (!*last)
                return false;
            last = &(*last)->next;
        } else {
            return wrong(script, reader, "unexpected in a range");
        }
    }
    return wrong(script, reader, "no RANGE_END");
}

/* The step's own line may have ADDRESS. */
static bool take_addr_word(struct script *script, struct reader *reader, struct script_step *step)
{
    const char *at = strstr(step->rest, "ADDRESS ");
    return !at || read_addr(script, reader, at + 8, &step->addr);
}

static bool read_step_line(struct script *script, struct reader *reader, struct script_step *step)
{
    const char *at = reader->text;
    char word[SCRIPT_WORD_MAX], *end;
    reader_word(&at, word, sizeof(word), NULL);
    reader_word(&at, word, sizeof(word), NULL);
    step->number = (int)strtol(word, &end, 10);
    if (*end || !reader_word(&at, word, sizeof(word), NULL))
        return wrong(script, reader, "not a step");
    snprintf(step->verb, sizeof(step->verb), "%.31s", word);
    at += strspn(at, " \t");
    step->rest = take_text(script, at, strlen(at));
    step->line = reader->line;
    return take_addr_word(script, reader, step);
}

/* Takes the text from RELOAD_BEGIN to RELOAD_END unchanged. The reader is at RELOAD_BEGIN. */
static bool take_reload(struct script *script, struct reader *reader, struct script_step *step)
{
    const char *mark = strstr(reader->at, "RELOAD_END");
    if (!mark)
        return wrong(script, reader, "no RELOAD_END");
    step->text = take_text(script, reader->at, (size_t)(mark - reader->at));
    while (reader_next(reader) && strcmp(reader->text, "RELOAD_END") != 0)
        continue;
    return true;
}

/* *again: the last line that was read belongs to the next part. */
static bool read_step_body(struct script *script, struct reader *reader, struct script_step *step)
{
    struct reader before = *reader;
    while (reader_next(reader)) {
        if (strncmp(reader->text, "ADDRESS", 7) == 0) {
            if (!read_addr(script, reader, reader->text + 7, &step->addr))
                return false;
        } else if (strcmp(reader->text, "ENTRY_BEGIN") == 0) {
            return (step->entry = entry_read(script, reader));
        } else if (strcmp(reader->text, "RELOAD_BEGIN") == 0) {
            return take_reload(script, reader, step);
        } else if (strncmp(reader->text, "FILE_BEGIN", 10) == 0 ||
                   strncmp(reader->text, "TEMPFILE", 8) == 0) {
            snprintf(script->needs, sizeof(script->needs), "temporary files");
            return false;
        } else {
            break;
        }
        before = *reader;
    }
    *reader = before;
    return true;
}

static bool add_zone(struct script *script, struct reader *reader)
{
    struct script_zone *zone = zone_read(script, reader);
    if (!zone)
        return false;
    zone->next = script->zones;
    script->zones = zone;
    return true;
}

static bool read_step(struct script *script, struct reader *reader)
{
    struct script_step *step = arena_take(&script->arena, sizeof(*step));
    MUST(step);
    *step = (struct script_step){0};
    if (!read_step_line(script, reader, step) || !read_step_body(script, reader, step))
        return false;
    struct script_step **last = &script->steps;
    while (*last)
        last = &(*last)->next;
    *last = step;
    return true;
}

static bool read_included(struct script *script, struct reader *reader);

/* Reads one part of the body. The reader is at its first line. */
static bool read_part(struct script *script, struct reader *reader)
{
    const char *text = reader->text;
    if (strncmp(text, "RANGE_BEGIN", 11) == 0)
        return read_range(script, reader);
    if (strncmp(text, "ZONE_BEGIN", 10) == 0)
        return add_zone(script, reader);
    if (strncmp(text, "ZONE_MORE", 9) == 0)
        return zone_read_more(script, reader);
    if (strncmp(text, "INCLUDE", 7) == 0)
        return read_included(script, reader);
    if (strncmp(text, "STEP", 4) == 0)
        return read_step(script, reader);
    if (strcmp(text, "RANGE_END") == 0) /* a superfluous one is harmless */
        return true;
    return wrong(script, reader, "unexpected");
}

/* INCLUDE path: a file of zones and ranges, relative to the folder of this file. It cannot
 * include another. */
static bool read_included(struct script *script, struct reader *reader)
{
    char word[SCRIPT_WORD_MAX], path[1024];
    const char *at = reader->text + strlen("INCLUDE"), *slash = strrchr(script->path, '/');
    size_t len;
    reader_word(&at, word, sizeof(word), NULL);
    snprintf(path, sizeof(path), "%.*s%s", slash ? (int)(slash + 1 - script->path) : 0,
             script->path, word);
    char *data = read_file(script, path, &len);
    struct reader *inner = malloc(sizeof(*inner));
    MUST(inner);
    bool fine = data;
    if (data)
        reader_init(inner, data, len);
    while (fine && reader_next(inner))
        fine = strncmp(inner->text, "INCLUDE", 7) == 0 ? wrong(script, inner, "included twice")
                                                       : read_part(script, inner);
    free(inner);
    free(data);
    return fine;
}

static bool read_body(struct script *script, struct reader *reader)
{
    while (reader_next(reader)) {
        if (strcmp(reader->text, "SCENARIO_END") == 0)
            return true;
        if (!read_part(script, reader))
            return false;
    }
    return wrong(script, reader, "no SCENARIO_END");
}

static bool read_all(struct script *script, struct reader *reader)
{
    if (!take_config(script, reader) || !reader_next(reader))
        return wrong(script, reader, "no scenario");
    if (strcmp(reader->text, "HINTS_BEGIN") == 0 && !take_hints(script, reader))
        return wrong(script, reader, "no scenario");
    if (strncmp(reader->text, "SCENARIO_BEGIN", 14) != 0)
        return wrong(script, reader, "no SCENARIO_BEGIN");
    const char *title = reader->text + 14 + strspn(reader->text + 14, " \t");
    script->title = take_text(script, title, strlen(title));
    return read_body(script, reader);
}

bool script_load(struct script *script, const char *path)
{
    memset(script, 0, sizeof(*script));
    arena_init(&script->arena, SCRIPT_BYTES_MAX);
    script->wall_s = SCENARIO_WALL_S;
    script->path = path;
    script->title = "";
    size_t len;
    char *data = read_file(script, path, &len);
    struct reader *reader = malloc(sizeof(*reader));
    MUST(reader);
    if (data) {
        reader_init(reader, data, len);
        if (read_all(script, reader) && script->error[0] == '\0' && script->needs[0] == '\0') {
            MUST(script->config);
            zone_sign_link(script);
        }
    }
    free(reader);
    free(data);
    return script->error[0] == '\0' && script->needs[0] == '\0';
}

void script_free(struct script *script)
{
    arena_deinit(&script->arena);
}
