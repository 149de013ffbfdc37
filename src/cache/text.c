/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Turns answers into lines and back. dns/present writes the records; revive checks the messages.
 * Invariant: an answer with an unusable line is not stored, and the answers around it are.
 */
#include "cache/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/check.h"
#include "cache/cache.h"
#include "cache/revive.h"
#include "dns/build.h"
#include "dns/copy.h"
#include "dns/message.h"
#include "dns/present.h"
#include "dns/record_text.h"
#include "dns/rrtype.h"

static const char *const section_lines[] = {"", "", ";authority", ";additional"};

/* ---- writing ---- */

PRINTF_LIKE(2, 3) static bool text_put_format(struct buf *out, const char *format, ...)
{
    char line[NAME_TEXT_MAX + 256];
    va_list arguments;
    va_start(arguments, format);
    int len = vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    MUST(len >= 0 && (size_t)len < sizeof(line));
    return buf_append(out, line, (size_t)len) == ERR_OK;
}

static bool text_put_flags(struct buf *out, const struct cache_item *item, uint16_t header)
{
    bool has_do = item->flags & CACHE_KEY_DO, has_cd = item->flags & CACHE_KEY_CD;
    bool has_ad = header & HEADER_AD;
    if (!has_do && !has_cd && !has_ad)
        return true;
    return text_put_format(out, " flags %s%s%s%s%s", has_do ? "do" : "",
                           has_do && (has_cd || has_ad) ? "," : "", has_cd ? "cd" : "",
                           has_cd && has_ad ? "," : "", has_ad ? "ad" : "");
}

static bool text_put_head(struct buf *out, const struct cache_item *item,
                          const struct message *message, uint32_t left_s)
{
    const struct answer *answer = &item->answer;
    char name[NAME_TEXT_MAX], type[RRTYPE_TEXT_MAX], rcode[RRTYPE_TEXT_MAX];
    bool fits = text_put_format(out, ";answer %s %s ttl %u rcode %s kind %s",
                                name_format(message->question.name, name),
                                rrtype_name(message->question.type, type), left_s,
                                rrtype_rcode_name(message->flags & HEADER_RCODE_MASK, rcode),
                                answer_kind_name(answer->kind)) &&
                text_put_flags(out, item, message->flags);
    for (unsigned i = 0; i < answer->ede_count; i++)
        fits = fits && text_put_format(out, " ede %u", answer->ede[i]);
    return fits && text_put_format(out, "\n");
}

static bool text_put_records(struct buf *out, const struct message *message, char *line)
{
    enum section section = SECTION_ANSWER;
    struct rr_iter iter = message_all_rrs(message);
    for (struct rr rr; message_rr_next(&iter, &rr);) {
        if (rr.section != section && !text_put_format(out, "%s\n", section_lines[rr.section]))
            return false;
        section = rr.section;
        size_t len = present_rr(message, &rr, line, TEXT_LINE_MAX);
        if (len == 0 || buf_append(out, line, len) != ERR_OK)
            return false;
    }
    return text_put_format(out, ";end\n");
}

/* scratch has room for a message and then a line. */
static bool put_aged(struct buf *out, const struct cache_item *item, uint64_t now_us,
                     uint8_t *scratch)
{
    const struct answer *answer = &item->answer;
    uint32_t age_s = answer_age(answer, now_us);
    struct message message;
    answer_copy(answer, answer->message.len, now_us, scratch);
    if (message_parse(&message, span_of(scratch, answer->message.len)) != MESSAGE_OK)
        return true; /* there is nothing to show */
    return text_put_head(out, item, &message, age_s < answer->ttl_s ? answer->ttl_s - age_s : 0) &&
           text_put_records(out, &message, (char *)scratch + MESSAGE_MAX);
}

/* Cuts the buffer back to len bytes. */
static void cut_back(struct buf *out, size_t len)
{
    out->end = out->start + len;
}

bool text_put(struct buf *out, const struct cache_item *item, uint64_t now_us)
{
    size_t before = buf_len(out);
    uint8_t *scratch = malloc(MESSAGE_MAX + TEXT_LINE_MAX);
    bool fits = scratch && put_aged(out, item, now_us, scratch);
    free(scratch);
    if (!fits)
        cut_back(out, before);
    return fits;
}

/* ---- reading ---- */

enum state { BETWEEN, IN_ANSWER, SKIPPING /* to the end of an unusable answer */ };

struct text_reader {
    struct cache *cache;
    struct cache_filter filter;
    uint64_t now_us, count, skipped;
    enum state state;

    /* the current answer */
    struct question question;
    uint8_t name[NAME_WIRE_MAX];
    uint32_t ttl_s;
    uint8_t kind, flags, ede_count;
    uint16_t ede[2];
    struct build build;

    struct revived revived;
    uint8_t message[MESSAGE_MAX];
    uint8_t record[HEADER_LEN + PRESENT_RR_MAX]; /* a message with one record */
    char line[TEXT_LINE_MAX + 1];
};

struct text_reader *text_reader_new(struct cache *cache, struct cache_filter filter,
                                    uint64_t now_us)
{
    struct text_reader *reader = calloc(1, sizeof(*reader));
    if (!reader)
        return NULL;
    reader->cache = cache;
    reader->filter = filter;
    reader->now_us = now_us;
    return reader;
}

uint64_t text_reader_count(const struct text_reader *reader)
{
    return reader->count;
}

uint64_t text_reader_skipped(const struct text_reader *reader)
{
    return reader->skipped;
}

PRINTF_LIKE(3, 4)
static bool text_refuse(struct text_reader *reader, char why[TEXT_WHY_MAX], const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, TEXT_WHY_MAX, format, arguments);
    va_end(arguments);
    reader->state = SKIPPING;
    return false;
}

/* Returns the next word of the line, or NULL. */
static char *text_next_word(char **rest)
{
    char *word;
    do
        word = strsep(rest, " \t");
    while (word && !*word);
    return word;
}

static bool read_number(const char *word, uint32_t max, uint32_t *out)
{
    if (!word || !*word || strspn(word, "0123456789") != strlen(word) || strlen(word) > 10)
        return false;
    unsigned long long value = strtoull(word, NULL, 10);
    *out = (uint32_t)value;
    return value <= max;
}

static bool read_flags(struct text_reader *reader, char *words, uint16_t *header)
{
    for (char *word; (word = strsep(&words, ","));) {
        if (strcmp(word, "do") == 0)
            reader->flags |= CACHE_KEY_DO;
        else if (strcmp(word, "cd") == 0)
            reader->flags |= CACHE_KEY_CD;
        else if (strcmp(word, "ad") == 0)
            *header |= HEADER_AD;
        else
            return false;
    }
    return true;
}

static bool read_rcode(const char *word, uint16_t *header)
{
    char name[RRTYPE_TEXT_MAX];
    for (uint16_t rcode = 0; rcode < 16; rcode++) {
        if (strcasecmp(word, rrtype_rcode_name(rcode, name)) == 0) {
            *header |= rcode;
            return true;
        }
    }
    return false;
}

static bool read_kind(const char *word, uint8_t *kind)
{
    for (unsigned i = 0; i < ANSWER_KINDS; i++) {
        if (strcmp(word, answer_kind_name((uint8_t)i)) == 0) {
            *kind = (uint8_t)i;
            return true;
        }
    }
    return false;
}

static bool read_ede(struct text_reader *reader, const char *word)
{
    uint32_t code;
    if (reader->ede_count == 2 || !read_number(word, UINT16_MAX, &code))
        return false;
    reader->ede[reader->ede_count++] = (uint16_t)code;
    return true;
}

static bool read_pair(struct text_reader *reader, const char *key, char *value, uint16_t *header)
{
    if (!value)
        return false;
    if (strcmp(key, "ttl") == 0)
        return read_number(value, INT32_MAX, &reader->ttl_s);
    if (strcmp(key, "rcode") == 0)
        return read_rcode(value, header);
    if (strcmp(key, "kind") == 0)
        return read_kind(value, &reader->kind);
    if (strcmp(key, "flags") == 0)
        return read_flags(reader, value, header);
    return strcmp(key, "ede") == 0 && read_ede(reader, value);
}

static void begin_message(struct text_reader *reader, uint16_t header)
{
    build_init(&reader->build, reader->message, sizeof(reader->message));
    build_header(&reader->build, 0, (uint16_t)(HEADER_QR | HEADER_RA | header));
    build_question(&reader->build, &reader->question);
    build_section(&reader->build, SECTION_ANSWER);
    reader->state = IN_ANSWER;
}

/* Reads the words after ";answer ". */
static bool read_head(struct text_reader *reader, char *rest, char why[TEXT_WHY_MAX])
{
    const char *name = text_next_word(&rest), *type = text_next_word(&rest);
    uint16_t header = 0;
    reader->ttl_s = 0;
    reader->kind = ANSWER_POSITIVE;
    reader->flags = reader->ede_count = 0;
    reader->question.cls = RRCLASS_IN;
    if (!name || name_parse(&reader->question.name, reader->name, name, strlen(name)))
        return text_refuse(reader, why, "no name after ;answer");
    if (!type || rrtype_parse(&reader->question.type, type))
        return text_refuse(reader, why, "no type after the name; write it as AAAA or TYPE28");
    reader->question.name = name_fold(reader->question.name, reader->name);
    for (char *key; (key = text_next_word(&rest));)
        if (!read_pair(reader, key, text_next_word(&rest), &header))
            return text_refuse(reader, why, "'%.32s' or its value is not known", key);
    begin_message(reader, header);
    return true;
}

static bool read_section(struct text_reader *reader, enum section section, char why[TEXT_WHY_MAX])
{
    if (reader->build.section > section)
        return text_refuse(reader, why, "sections are out of order: %s", section_lines[section]);
    build_section(&reader->build, section);
    return true;
}

/* Parses the record into a separate message and copies it from there, compressed, into the answer.
 */
static bool text_read_record(struct text_reader *reader, const char *line, char why[TEXT_WHY_MAX])
{
    struct message message;
    struct copy copy;
    struct rr rr;
    size_t len;
    const char *fault = record_text_fault(line);
    if (fault)
        return text_refuse(reader, why, "this is not a record: it %s", fault);
    memset(reader->record, 0, HEADER_LEN);
    header_set_flags(reader->record, HEADER_QR);
    header_set_count(reader->record, SECTION_ANSWER, 1);
    if (present_rr_from_text(reader->record + HEADER_LEN, PRESENT_RR_MAX, &len, line, name_root(),
                             0) ||
        len > MESSAGE_MAX - HEADER_LEN ||
        message_parse(&message, span_of(reader->record, HEADER_LEN + len)) != MESSAGE_OK)
        return text_refuse(reader, why, "this is not a record");
    struct rr_iter iter = message_rrs(&message, SECTION_ANSWER);
    copy_init(&copy, &reader->build, &message);
    if (!message_rr_next(&iter, &rr) || rrtype_is_meta(rr.type) || !copy_rr(&copy, &rr, rr.ttl))
        return text_refuse(reader, why, "this is not a record");
    return true;
}

static bool text_store(struct text_reader *reader)
{
    struct revived *revived = &reader->revived;
    struct cache_key key;
    revived->answer.ttl_s =
        MIN(reader->ttl_s, cache_ttl(reader->cache, reader->kind, reader->ttl_s));
    revived->answer.stored_at = reader->now_us;
    revived->answer.ede_count = reader->ede_count;
    memcpy(revived->answer.ede, reader->ede, sizeof(reader->ede));
    cache_key_init(&key, reader->cache, &revived->question, reader->flags, 0, CACHE_SPACE_SHARED);
    return cache_filter_takes(&reader->filter, (struct name){key.name, key.name_len},
                              &revived->answer) &&
           cache_store(reader->cache, &key, &revived->answer);
}

/* Stores the answer that ends here. Expired answers and failures are skipped without an error. */
static bool read_last(struct text_reader *reader, char why[TEXT_WHY_MAX])
{
    size_t len = build_finish(&reader->build);
    reader->state = BETWEEN;
    if (reader->ttl_s == 0 || reader->kind == ANSWER_FAILURE) {
        reader->skipped++;
        return true;
    }
    if (len == 0) {
        snprintf(why, TEXT_WHY_MAX, "the answer that ends here is larger than a message may be");
        return false;
    }
    if (!revive(&reader->revived, span_of(reader->message, len), reader->kind)) {
        snprintf(why, TEXT_WHY_MAX,
                 "the answer that ends here contradicts itself: its rcode, kind and records do not "
                 "match");
        return false;
    }
    if (text_store(reader))
        reader->count++;
    else
        reader->skipped++;
    return true;
}

static bool read_directive(struct text_reader *reader, char *line, char why[TEXT_WHY_MAX])
{
    static const char begin[] = ";answer ";
    if (strncmp(line, begin, sizeof(begin) - 1) == 0) {
        bool is_cut = reader->state == IN_ANSWER;
        bool fits = read_head(reader, line + sizeof(begin) - 1, why);
        if (fits && is_cut)
            snprintf(why, TEXT_WHY_MAX, "the previous answer has no ;end");
        return fits && !is_cut;
    }
    if (strcmp(line, ";end") == 0) {
        bool is_whole = reader->state == IN_ANSWER;
        bool is_none = reader->state == BETWEEN;
        reader->state = BETWEEN;
        if (is_none)
            snprintf(why, TEXT_WHY_MAX, "no answer ends here");
        return is_whole ? read_last(reader, why) : !is_none;
    }
    for (enum section section = SECTION_AUTHORITY; section <= SECTION_ADDITIONAL; section++)
        if (reader->state == IN_ANSWER && strcmp(line, section_lines[section]) == 0)
            return read_section(reader, section, why);
    return true;
}

bool text_read(struct text_reader *reader, struct span line, char why[TEXT_WHY_MAX])
{
    if (line.len > TEXT_LINE_MAX || (line.len > 0 && memchr(line.data, '\0', line.len)))
        return text_refuse(reader, why, "the line is too long or holds a zero byte");
    if (line.len > 0 && line.data[line.len - 1] == '\r')
        line.len--;
    memcpy(reader->line, line.data ? line.data : (const uint8_t *)"", line.len);
    reader->line[line.len] = '\0';
    if (reader->line[strspn(reader->line, " \t")] == '\0')
        return true;
    if (*reader->line == ';')
        return read_directive(reader, reader->line, why);
    if (reader->state == BETWEEN)
        return text_refuse(reader, why,
                           "a record outside of an answer; begin one with ;answer NAME TYPE");
    return reader->state == SKIPPING || text_read_record(reader, reader->line, why);
}

bool text_read_end(struct text_reader *reader, char why[TEXT_WHY_MAX])
{
    if (reader->state != IN_ANSWER)
        return true;
    return text_refuse(reader, why, "the last answer has no ;end");
}
