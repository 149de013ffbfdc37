/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Reads entries: directives and records. It leaves words to zone_lexer and data to zone_rdata.
 * Invariant: every fault names the line of its entry.
 */
#include "zone/zone_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "dns/name.h"
#include "dns/rrtype.h"
#include "zone/zone_builder.h"
#include "zone/zone_lexer.h"
#include "zone/zone_rdata.h"

struct zone_reader {
    struct zone_builder *builder;
    struct zone_file_fault *fault;
    uint8_t origin_wire[NAME_WIRE_MAX], owner_wire[NAME_WIRE_MAX];
    struct name origin;
    struct name owner; /* of the previous record; no bytes before the first one */
    uint32_t ttl;      /* of $TTL, or of the record before */
    bool has_ttl, has_default_ttl;
    struct span last_type_word; /* zones repeat their types: this saves most look-ups */
    uint16_t last_type;
    struct zone_lexer lexer;
    struct zone_rdata rdata;
};

static enum err reader_fail(struct zone_reader *reader, const struct zone_token *token,
                            const char *sentence)
{
    *reader->fault = (struct zone_file_fault){.line = reader->lexer.entry_line,
                                              .word = token ? token->text : span_of(NULL, 0),
                                              .sentence = sentence};
    return ERR_INVALID;
}

/* ---- directives ---- */

static enum err reader_take_directive(struct zone_reader *reader)
{
    const struct zone_token *tokens = reader->lexer.tokens;
    size_t count = reader->lexer.count;
    uint8_t wire[NAME_WIRE_MAX];
    struct name name;
    if (zone_token_is(&tokens[0], "$INCLUDE"))
        return reader_fail(reader, NULL, "$INCLUDE is not supported: write the records here");
    if (zone_token_is(&tokens[0], "$ORIGIN")) {
        if (count != 2 || !zone_token_name(&tokens[1], reader->origin, wire, &name))
            return reader_fail(reader, NULL, "$ORIGIN needs a name");
        reader->origin = name_copy(name, reader->origin_wire);
        return ERR_OK;
    }
    if (zone_token_is(&tokens[0], "$TTL")) {
        if (count != 2 || !zone_token_ttl(&tokens[1], &reader->ttl))
            return reader_fail(reader, NULL, "$TTL needs a number of seconds up to 2147483647");
        reader->has_ttl = reader->has_default_ttl = true;
        return ERR_OK;
    }
    return reader_fail(reader, &tokens[0], "is not a directive: use $ORIGIN or $TTL");
}

/* ---- records ---- */

static bool read_type(struct zone_reader *reader, const struct zone_token *token, uint16_t *type)
{
    char word[RRTYPE_TEXT_MAX];
    if (!token->is_quoted && reader->last_type_word.len &&
        span_equal(token->text, reader->last_type_word)) {
        *type = reader->last_type;
        return true;
    }
    if (token->is_quoted || token->text.len >= sizeof(word))
        return false;
    memcpy(word, token->text.data, token->text.len);
    word[token->text.len] = '\0';
    if (rrtype_parse(type, word) != ERR_OK)
        return false;
    reader->last_type_word = token->text;
    reader->last_type = *type;
    return true;
}

/* The fields before the data of a record. */
struct head {
    size_t used; /* tokens */
    uint16_t type;
    uint32_t ttl;
    bool has_ttl;
};

/* Reads the owner, or keeps the last one. */
static enum err read_owner(struct zone_reader *reader, struct head *head)
{
    const struct zone_token *token = &reader->lexer.tokens[0];
    if (reader->lexer.begins_with_blank) {
        if (reader->owner.len == 0)
            return reader_fail(reader, NULL, "the first record has no owner");
        return ERR_OK;
    }
    head->used = 1;
    if (!zone_token_name(token, reader->origin, reader->owner_wire, &reader->owner))
        return reader_fail(reader, token, "is not a domain name");
    return ERR_OK;
}

/* Reads TTL and class in any order (RFC 1035 section 5.1), and the type. */
static enum err reader_take_head(struct zone_reader *reader, struct head *head)
{
    bool has_class = false;
    *head = (struct head){0};
    enum err err = read_owner(reader, head);
    for (; err == ERR_OK && head->used < reader->lexer.count; head->used++) {
        const struct zone_token *token = &reader->lexer.tokens[head->used];
        if (!head->has_ttl && token->text.len && token->text.data[0] >= '0' &&
            token->text.data[0] <= '9') {
            if (!zone_token_ttl(token, &head->ttl))
                return reader_fail(reader, token, "is not a TTL up to 2147483647 seconds");
            head->has_ttl = true;
        } else if (!has_class && (zone_token_is(token, "IN") || zone_token_is(token, "CLASS1"))) {
            has_class = true;
        } else if (read_type(reader, token, &head->type)) {
            head->used++;
            return ERR_OK;
        } else {
            return reader_fail(reader, token,
                               "is not a type, and IN is the only class that is served");
        }
    }
    return err != ERR_OK ? err : reader_fail(reader, NULL, "the record has no type");
}

/* Decides the TTL: its own, that of $TTL, that of the previous record, or the MINIMUM of the
 * SOA. */
static bool choose_ttl(struct zone_reader *reader, struct head *head)
{
    if (!head->has_ttl) {
        const struct zone_rdata *rdata = &reader->rdata;
        if (!reader->has_ttl && (head->type != RRTYPE_SOA || rdata->len < 4))
            return false;
        head->ttl = reader->has_ttl ? reader->ttl : get_u32(rdata->bytes + rdata->len - 4);
    }
    if (!reader->has_default_ttl)
        reader->ttl = head->ttl;
    reader->has_ttl = true;
    return true;
}

static enum err reader_add_record(struct zone_reader *reader, const struct head *head)
{
    enum err err = zone_builder_add(reader->builder, reader->owner, head->type, head->ttl,
                                    span_of(reader->rdata.bytes, reader->rdata.len));
    switch (err) {
    case ERR_OUT_OF_ZONE:
        (void)reader_fail(reader, NULL, "the owner is outside the zone");
        return err;
    case ERR_INVALID:
        return reader_fail(reader, NULL,
                           head->type == RRTYPE_SOA ? "the SOA record is not at the zone's origin"
                                                    : "the data do not fit the type");
    case ERR_LIMIT:
        (void)reader_fail(reader, NULL, "the zone exceeds its bound");
        return err;
    default:
        return err;
    }
}

static enum err read_record(struct zone_reader *reader)
{
    struct head head;
    enum err err = reader_take_head(reader, &head);
    if (err != ERR_OK)
        return err;
    const char *sentence =
        zone_rdata_read(&reader->rdata, head.type, reader->lexer.tokens + head.used,
                        reader->lexer.count - head.used, reader->origin);
    if (sentence)
        return reader_fail(reader, NULL, sentence);
    if (!choose_ttl(reader, &head))
        return reader_fail(reader, NULL, "the record has no TTL: begin the file with $TTL");
    return reader_add_record(reader, &head);
}

static enum err read_all(struct zone_reader *reader)
{
    for (;;) {
        enum err err = zone_lexer_next(&reader->lexer, reader->fault);
        if (err != ERR_OK || reader->lexer.count == 0)
            return err;
        const struct zone_token *first = &reader->lexer.tokens[0];
        bool is_directive =
            !reader->lexer.begins_with_blank && !first->is_quoted && first->text.data[0] == '$';
        err = is_directive ? reader_take_directive(reader) : read_record(reader);
        if (err != ERR_OK)
            return err;
    }
}

enum err zone_file_read(struct zone_builder *builder, struct span text,
                        struct zone_file_fault *fault)
{
    struct zone_reader *reader = calloc(1, sizeof(*reader));
    *fault = (struct zone_file_fault){0};
    if (!reader)
        return ERR_NO_MEMORY;
    reader->builder = builder;
    reader->fault = fault;
    reader->origin = name_copy(zone_builder_origin(builder), reader->origin_wire);
    zone_lexer_init(&reader->lexer, text);
    enum err err = read_all(reader);
    free(reader);
    return err;
}
