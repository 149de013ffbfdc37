/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Reads zones. zone_answer.c answers from them. */
#include "scenario/zone.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "scenario/compose_message.h"
#include "scenario/script.h"

/* ---- reading ---- */

static struct script_zone *wrong(struct script *script, const struct reader *reader,
                                 const char *what)
{
    if (!script->error[0])
        snprintf(script->error, sizeof(script->error), "line %d: %s: %.160s", reader->line, what,
                 reader->text);
    return NULL;
}

static bool take_manner(struct script_zone *zone, const char *word)
{
    static const struct {
        const char *word;
        enum zone_manner bit;
    } manners[] = {
        {"full", ZONE_FULL},
        {"no_ent", ZONE_NO_ENT},
        {"lower_case", ZONE_LOWER_CASE},
        {"no_edns", ZONE_NO_EDNS},
        {"drops_edns", ZONE_DROPS_EDNS},
        {"truncates", ZONE_TRUNCATES},
        {"not_aa", ZONE_NOT_AA},
        {"offers_ra", ZONE_OFFERS_RA},
        {"refuses_rd0", ZONE_REFUSES_RD0},
    };
    for (size_t i = 0; i < ARRAY_LEN(manners); i++) {
        if (strcmp(manners[i].word, word) != 0)
            continue;
        zone->manners |= manners[i].bit;
        return true;
    }
    return false;
}

/* ZONE_BEGIN first last name [manner...] [signing...] */
static bool read_head(struct script *script, const char *text, struct script_zone *zone)
{
    char word[SCRIPT_WORD_MAX];
    uint8_t wire[NAME_WIRE_MAX];
    int len = 0;
    if (sscanf(text, "ZONE_BEGIN %d %d %n", &zone->first, &zone->last, &len) != 2 || !len)
        return false;
    text += len;
    if (!reader_word(&text, word, sizeof(word), NULL) ||
        name_parse(&zone->apex, wire, word, strlen(word)) != ERR_OK)
        return false;
    zone->apex.wire = arena_copy(&script->arena, wire, zone->apex.len);
    while (reader_word(&text, word, sizeof(word), NULL))
        if (!take_manner(zone, word) && !zone_sign_word(&zone->signing, word))
            return false;
    return true;
}

/* Adds a record, in the order of the file. */
static void add_record(struct script *script, struct script_zone *zone, struct span bytes)
{
    struct zone_record *record = arena_take(&script->arena, sizeof(*record));
    MUST(record);
    const uint8_t *copy = arena_copy(&script->arena, bytes.data, bytes.len);
    size_t end = name_view(span_of(copy, bytes.len), 0, &record->owner);
    MUST(end);
    record->type = get_u16(copy + end);
    record->rest = span_of(copy + end, bytes.len - end);
    record->next = NULL;
    script_note_record(
        script, record->type,
        span_of(record->rest.data + ZONE_FIXED_LEN, record->rest.len - ZONE_FIXED_LEN));
    struct zone_record **last = &zone->records;
    while (*last)
        last = &(*last)->next;
    *last = record;
}

static bool read_record(struct script *script, struct script_zone *zone, const char *line)
{
    struct compose_message work;
    compose_message_init(&work);
    bool fine = compose_message_record(&work, SECTION_ANSWER, line);
    if (fine)
        add_record(script, zone, buf_span(&work.sections[SECTION_ANSWER]));
    compose_message_deinit(&work);
    return fine;
}

static bool read_addr(struct script *script, struct script_zone *zone, const char *text)
{
    char word[SCRIPT_WORD_MAX];
    struct addr *addr = &zone->addrs[zone->addr_count];
    if (zone->addr_count == ZONE_ADDRS_MAX || !reader_word(&text, word, sizeof(word), NULL) ||
        addr_parse(addr, word, 53) != ERR_OK)
        return false;
    zone->addr_count++;
    script_add_addr(script, addr);
    return true;
}

static struct script_zone *read_lines(struct script *script, struct reader *reader,
                                      struct script_zone *zone)
{
    while (reader_next(reader)) {
        if (strcmp(reader->text, "ZONE_END") == 0)
            return zone;
        bool is_addr = strncmp(reader->text, "ADDRESS ", 8) == 0;
        if (is_addr ? !read_addr(script, zone, reader->text + 8)
                    : !read_record(script, zone, reader->text))
            return wrong(script, reader, "not a record");
    }
    return wrong(script, reader, "no ZONE_END");
}

struct script_zone *zone_read(struct script *script, struct reader *reader)
{
    struct script_zone *zone = arena_take(&script->arena, sizeof(*zone));
    MUST(zone);
    memset(zone, 0, sizeof(*zone));
    if (!read_head(script, reader->text, zone))
        return wrong(script, reader, "not a zone");
    return read_lines(script, reader, zone);
}

bool zone_read_more(struct script *script, struct reader *reader)
{
    char word[SCRIPT_WORD_MAX];
    uint8_t wire[NAME_WIRE_MAX];
    struct name apex;
    const char *at = reader->text + strlen("ZONE_MORE");
    if (!reader_word(&at, word, sizeof(word), NULL) ||
        name_parse(&apex, wire, word, strlen(word)) != ERR_OK)
        return wrong(script, reader, "not a name");
    for (struct script_zone *zone = script->zones; zone; zone = zone->next)
        if (name_equal(zone->apex, apex))
            return read_lines(script, reader, zone);
    return wrong(script, reader, "there is no such zone");
}
