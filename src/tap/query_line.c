/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Lines of the query log. Every byte that a client chose goes through name_format(), which leaves
 * only printable ASCII. JSON escapes its backslashes and quotes again. Every byte of the text of an
 * extended error, which a server may have chosen, goes through query_line_put_cause().
 */
#include "tap/query_line.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "dns/edns.h"
#include "dns/header.h"
#include "dns/name.h"
#include "dns/rrtype.h"

/* A line under construction. It has room for any record; text that does not fit is left out. */
struct line {
    char *text;
    size_t len;
};

/* The words of a record. */
struct words {
    char client[ADDR_TEXT_MAX], upstream[ADDR_TEXT_MAX];
    char name[NAME_TEXT_MAX], type[RRTYPE_TEXT_MAX], cls[RRTYPE_TEXT_MAX];
    char rcode[RRTYPE_TEXT_MAX];
    char view[QUERY_LINE_VIEW_MAX + 1]; /* letters, digits, dots, hyphens and underscores */
    struct span cause;                  /* any bytes; empty: none */
    bool has_upstream;
};

static const char *const origins[TAP_ORIGIN_COUNT] = {
    [TAP_FROM_CACHE] = "cache",      [TAP_FROM_STALE] = "stale",
    [TAP_FROM_LOCAL] = "local",      [TAP_FROM_UPSTREAM] = "upstream",
    [TAP_FROM_NO_ANSWER] = "failed", [TAP_FROM_REFUSAL] = "refused",
    [TAP_FROM_LIMIT] = "limited",
};

static void query_line_put(struct line *line, const char *format, ...) PRINTF_LIKE(2, 3);

static void query_line_put(struct line *line, const char *format, ...)
{
    size_t room = QUERY_LINE_MAX - 1 - line->len; /* one for the newline */
    va_list args;
    va_start(args, format);
    int len = vsnprintf(line->text + line->len, room, format, args);
    va_end(args);
    line->len += MIN((size_t)MAX(len, 0), room - 1);
}

static void put_char(struct line *line, char c)
{
    if (line->len < QUERY_LINE_MAX - 2)
        line->text[line->len++] = c;
}

static void put_json_text(struct line *line, const char *text)
{
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            put_char(line, '\\');
        put_char(line, *text);
    }
}

/* Writes the cause between quotes. A byte that is not printable becomes \DDD, as in names, and
 * JSON escapes that backslash. */
static void query_line_put_cause(struct line *line, struct span cause, const char *escape)
{
    put_char(line, '"');
    for (size_t i = 0; i < cause.len; i++) {
        uint8_t byte = cause.data[i];
        if (byte < ' ' || byte > '~') {
            query_line_put(line, "%s%03u", escape, byte);
            continue;
        }
        if (byte == '"' || byte == '\\')
            put_char(line, '\\');
        put_char(line, (char)byte);
    }
    put_char(line, '"');
}

/* Returns the text of the first extended error, or else its name. */
static struct span query_line_cause(const struct query_record *record, const uint8_t *text)
{
    if (record->ede_count == 0)
        return (struct span){0};
    if (record->cause_len > 0)
        return span_of(text, MIN(record->cause_len, QUERY_LINE_CAUSE_MAX));
    const char *name = edns_ede_name(record->ede[0]);
    return span_of((const uint8_t *)name, strlen(name));
}

static void query_line_put_errors(struct line *line, const struct query_record *record)
{
    for (unsigned i = 0; i < MIN(record->ede_count, TAP_ERRORS_MAX); i++)
        query_line_put(line, "%s%u", i ? "," : "", record->ede[i]);
}

static uint64_t took_us(const struct query_record *record)
{
    return record->answered_at > record->asked_at ? record->answered_at - record->asked_at : 0;
}

static void make_words(struct words *words, const struct query_record *record, const uint8_t *name)
{
    *words = (struct words){.name = "-", .type = "-", .cls = "-", .rcode = "-"};
    words->has_upstream =
        record->origin == TAP_FROM_UPSTREAM && addr_family(&record->source.addr) != AF_UNSPEC;
    if (words->has_upstream)
        addr_format(&record->source.addr, words->upstream);
    if (record->size > 0)
        rrtype_rcode_name(record->rcode, words->rcode);
    memcpy(words->view, name + record->name_len, MIN(record->view_len, QUERY_LINE_VIEW_MAX));
    words->cause = query_line_cause(record, name + record->name_len + record->view_len);
    if (record->name_len == 0)
        return;
    name_format((struct name){name, record->name_len}, words->name);
    rrtype_name(record->type, words->type);
    rrtype_class_name(record->cls, words->cls);
}

/* Writes "rd,cd,do", or "-". */
static void query_line_put_flags(struct line *line, const struct query_record *record)
{
    bool has[] = {record->flags & HEADER_RD, record->flags & HEADER_CD, record->dnssec_ok};
    static const char *const names[] = {"rd", "cd", "do"};
    const char *before = "";
    for (size_t i = 0; i < ARRAY_LEN(has); i++) {
        if (!has[i])
            continue;
        query_line_put(line, "%s%s", before, names[i]);
        before = ",";
    }
    query_line_put(line, "%s", *before ? "" : "-");
}

static void query_line_put_text(struct line *line, const struct query_record *record,
                                const struct words *words)
{
    uint64_t us = took_us(record);
    query_line_put(line, "%.64s: info: query: %s %s %s %s %s ", program_invocation_short_name,
                   words->client, transport_word(record->transport), words->name, words->type,
                   words->cls);
    query_line_put_flags(line, record);
    query_line_put(line, " %s %" PRIu32 " %" PRIu64 ".%03" PRIu64 "ms %s", words->rcode,
                   record->size, us / 1000, us % 1000, origins[record->origin]);
    if (words->has_upstream)
        query_line_put(line, " %s %s", words->upstream, transport_word(record->source.transport));
    if (*words->view)
        query_line_put(line, " view=%s", words->view);
    if (record->ede_count > 0) {
        query_line_put(line, " ede=");
        query_line_put_errors(line, record);
    }
    if (record->omitted > 0)
        query_line_put(line, " omitted=%" PRIu32, record->omitted);
    if (words->cause.len > 0) {
        query_line_put(line, " cause=");
        query_line_put_cause(line, words->cause, "\\");
    }
}

static const char *boolean(bool value)
{
    return value ? "true" : "false";
}

static void put_json_question(struct line *line, const struct query_record *record,
                              const struct words *words)
{
    if (record->name_len > 0) {
        query_line_put(line, ",\"name\":\"");
        put_json_text(line, words->name);
        query_line_put(line, "\",\"type\":\"%s\",\"class\":\"%s\"", words->type, words->cls);
    }
    query_line_put(line, ",\"rd\":%s,\"cd\":%s,\"do\":%s", boolean(record->flags & HEADER_RD),
                   boolean(record->flags & HEADER_CD), boolean(record->dnssec_ok));
}

static void put_json(struct line *line, const struct query_record *record,
                     const struct words *words, uint64_t answered_us)
{
    char at[LOG_TIME_MAX];
    uint64_t us = took_us(record);
    log_time(answered_us, at);
    query_line_put(line,
                   "{\"time\":\"%s\",\"level\":\"info\",\"module\":\"query\",\"client\":\"%s\"", at,
                   words->client);
    query_line_put(line, ",\"port\":%u,\"protocol\":\"%s\"", addr_port(&record->client),
                   transport_word(record->transport));
    put_json_question(line, record, words);
    if (record->size > 0)
        query_line_put(line, ",\"rcode\":\"%s\"", words->rcode);
    query_line_put(line,
                   ",\"size\":%" PRIu32 ",\"seconds\":%" PRIu64 ".%06" PRIu64 ",\"origin\":\"%s\"",
                   record->size, us / 1000000, us % 1000000, origins[record->origin]);
    if (words->has_upstream)
        query_line_put(line, ",\"upstream\":\"%s\",\"transport\":\"%s\"", words->upstream,
                       transport_word(record->source.transport));
    if (*words->view)
        query_line_put(line, ",\"view\":\"%s\"", words->view);
    if (record->ede_count > 0) {
        query_line_put(line, ",\"ede\":[");
        query_line_put_errors(line, record);
        query_line_put(line, "]");
    }
    if (record->omitted > 0)
        query_line_put(line, ",\"omitted\":%" PRIu32, record->omitted);
    if (words->cause.len > 0) {
        query_line_put(line, ",\"cause\":");
        query_line_put_cause(line, words->cause, "\\\\");
    }
    query_line_put(line, "}");
}

size_t query_line(char out[QUERY_LINE_MAX], enum log_format format,
                  const struct query_record *record, const uint8_t *name, uint64_t answered_us)
{
    struct line line = {.text = out};
    struct words words;
    make_words(&words, record, name);
    if (format == LOG_JSON) {
        addr_format_ip(&record->client, words.client);
        put_json(&line, record, &words, answered_us);
    } else {
        addr_format(&record->client, words.client);
        query_line_put_text(&line, record, &words);
    }
    out[line.len++] = '\n';
    return line.len;
}
