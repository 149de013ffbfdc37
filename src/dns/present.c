/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Prints messages and records: header, question and EDNS here, records with ldns. Invariant: ldns
 * sees one checked record at a time, in a separate message.
 */
#include "dns/present.h"

#include <ldns/ldns.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "dns/build.h"
#include "dns/copy.h"
#include "dns/message.h"
#include "dns/rrtype.h"

/* The output; text that does not fit is cut off. */
struct text {
    char *at, *end; /* end is the last place for the NUL */
};

PRINTF_LIKE(2, 3) static void present_put(struct text *text, const char *format, ...)
{
    size_t room = (size_t)(text->end - text->at);
    va_list args;
    va_start(args, format);
    int len = vsnprintf(text->at, room + 1, format, args);
    va_end(args);
    if (len > 0)
        text->at += MIN((size_t)len, room);
}

static void put_hex(struct text *text, struct span data)
{
    for (size_t i = 0; i < data.len && text->at < text->end; i++)
        present_put(text, "%02x", data.data[i]);
}

/* Prints text from the network without characters that could move a terminal's cursor. */
static void put_foreign(struct text *text, struct span data)
{
    for (size_t i = 0; i < data.len; i++)
        present_put(text, "%c", data.data[i] >= ' ' && data.data[i] <= '~' ? data.data[i] : '?');
}

/* ---- header, question, EDNS ---- */

static void put_header(struct text *text, const struct message *message)
{
    static const struct {
        uint16_t bit;
        const char *name;
    } flags[] = {
        {HEADER_QR, " qr"}, {HEADER_AA, " aa"}, {HEADER_TC, " tc"}, {HEADER_RD, " rd"},
        {HEADER_RA, " ra"}, {HEADER_AD, " ad"}, {HEADER_CD, " cd"},
    };
    char opcode[RRTYPE_TEXT_MAX], rcode[RRTYPE_TEXT_MAX];
    present_put(text, ";; ->>HEADER<<- opcode: %s, status: %s, id: %u\n;; flags:",
                rrtype_opcode_name(message_opcode(message), opcode),
                rrtype_rcode_name(message_rcode(message), rcode), message->id);
    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        if (message->flags & flags[i].bit)
            present_put(text, "%s", flags[i].name);
    present_put(text, "; QUERY: %u, ANSWER: %u, AUTHORITY: %u, ADDITIONAL: %u\n",
                message->counts[SECTION_QUESTION], message->counts[SECTION_ANSWER],
                message->counts[SECTION_AUTHORITY], message->counts[SECTION_ADDITIONAL]);
}

static void put_option(struct text *text, const struct edns_option *option)
{
    struct span data = option->data;
    uint16_t code;
    if (option->code == EDNS_COOKIE) {
        present_put(text, "; COOKIE: ");
        put_hex(text, data);
    } else if (option->code == EDNS_TCP_KEEPALIVE && data.len == 2) {
        uint16_t units = get_u16(data.data);
        present_put(text, "; TCP-KEEPALIVE: %u.%u s", units / 10, units % 10);
    } else if (option->code == EDNS_PADDING) {
        present_put(text, "; PADDING: %zu bytes", data.len);
    } else if (option->code == EDNS_EDE && span_take_u16(&data, &code)) {
        present_put(text, "; EDE: %u (%s): ", code, edns_ede_name(code));
        put_foreign(text, data);
    } else {
        present_put(text, "; OPT=%u: ", option->code);
        put_hex(text, data);
    }
    present_put(text, "\n");
}

static void put_edns(struct text *text, const struct edns *edns)
{
    if (!edns->present)
        return;
    present_put(text, "\n;; OPT PSEUDOSECTION:\n; EDNS: version: %u, flags:%s; udp: %u\n",
                edns->version, edns->dnssec_ok ? " do" : "", edns->udp_size);
    struct span rest = edns->options;
    for (struct edns_option option; edns_option_next(&rest, &option);)
        put_option(text, &option);
}

static void present_put_question(struct text *text, const struct message *message)
{
    if (!message->has_question)
        return;
    char name[NAME_TEXT_MAX], cls[RRTYPE_TEXT_MAX], type[RRTYPE_TEXT_MAX];
    present_put(
        text, "\n;; QUESTION SECTION:\n;%s\t\t%s\t%s\n", name_format(message->question.name, name),
        rrtype_class_name(message->question.cls, cls), rrtype_name(message->question.type, type));
}

/* ---- records ---- */

/* Prints a record that ldns cannot print, as in RFC 3597 section 5. */
static void put_rr_unknown(struct text *text, const struct message *message, const struct rr *rr)
{
    uint8_t wire[NAME_WIRE_MAX];
    char owner[NAME_TEXT_MAX], cls[RRTYPE_TEXT_MAX];
    present_put(text, "%s\t%u\t%s\tTYPE%u\t\\# %u ",
                name_format(message_owner(message, rr, wire), owner), rr->ttl,
                rrtype_class_name(rr->cls, cls), rr->type, rr->rdata_len);
    put_hex(text, message_rdata(message, rr));
    present_put(text, "\n");
}

/* Returns the record as ldns prints it, or NULL. The caller frees it. scratch has room for any
 * message. */
static char *rr_text(const struct message *message, const struct rr *rr, uint8_t *scratch)
{
    struct build build;
    struct copy copy;
    build_init(&build, scratch, MESSAGE_MAX);
    build_header(&build, 0, 0);
    build_section(&build, SECTION_ANSWER);
    copy_init(&copy, &build, message);
    if (!copy_rr(&copy, rr, rr->ttl))
        return NULL;
    size_t len = build_finish(&build), at = HEADER_LEN;
    ldns_rr *parsed = NULL;
    if (!len || ldns_wire2rr(&parsed, scratch, len, &at, LDNS_SECTION_ANSWER) != LDNS_STATUS_OK)
        return NULL;
    char *out = ldns_rr2str(parsed);
    ldns_rr_free(parsed);
    return out;
}

static void put_rr(struct text *text, const struct message *message, const struct rr *rr,
                   uint8_t *scratch)
{
    char *line = rrtype_is_meta(rr->type) ? NULL : rr_text(message, rr, scratch);
    if (line)
        present_put(text, "%s", line);
    else
        put_rr_unknown(text, message, rr);
    LDNS_FREE(line);
}

size_t present_rr(const struct message *message, const struct rr *rr, char *out, size_t size)
{
    uint8_t *scratch = malloc(MESSAGE_MAX);
    if (!scratch || size == 0) {
        free(scratch);
        return 0;
    }
    struct text text = {.at = out, .end = out + size - 1};
    put_rr(&text, message, rr, scratch);
    free(scratch);
    return text.at < text.end && text.at > out && text.at[-1] == '\n' ? (size_t)(text.at - out) : 0;
}

static void put_rrs(struct text *text, const struct message *message, uint8_t *scratch)
{
    static const char *const titles[] = {"", "ANSWER", "AUTHORITY", "ADDITIONAL"};
    enum section titled = SECTION_QUESTION;
    int left = PRESENT_RRS_MAX;
    struct rr_iter iter = message_all_rrs(message);
    for (struct rr rr; text->at < text->end && message_rr_next(&iter, &rr);) {
        if (rr.type == RRTYPE_OPT)
            continue;
        if (left-- == 0) {
            present_put(text, ";; and more\n");
            return;
        }
        if (rr.section != titled)
            present_put(text, "\n;; %s SECTION:\n", titles[rr.section]);
        titled = rr.section;
        put_rr(text, message, &rr, scratch);
    }
}

enum err present_message(struct span bytes, char *out, size_t size)
{
    MUST(size > 0);
    struct text text = {.at = out, .end = out + size - 1};
    *out = '\0';
    struct message message;
    if (message_parse(&message, bytes) != MESSAGE_OK || !message_check_rdata(&message)) {
        present_put(&text, ";; malformed message of %zu bytes\n", bytes.len);
        return ERR_INVALID;
    }
    uint8_t *scratch = malloc(MESSAGE_MAX);
    if (!scratch)
        return ERR_NO_MEMORY;
    put_header(&text, &message);
    put_edns(&text, &message.edns);
    present_put_question(&text, &message);
    put_rrs(&text, &message, scratch);
    free(scratch);
    return ERR_OK;
}

/* ---- from text ---- */

/* Writes the record uncompressed in wire form. */
static enum err put_wire(uint8_t *out, size_t size, size_t *len, const ldns_rr *rr)
{
    uint8_t *wire = NULL;
    ldns_status status = ldns_rr2wire(&wire, rr, LDNS_SECTION_ANSWER, len);
    enum err err = status != LDNS_STATUS_OK ? ERR_INVALID : *len > size ? ERR_LIMIT : ERR_OK;
    if (err == ERR_OK)
        memcpy(out, wire, *len);
    LDNS_FREE(wire);
    return err;
}

enum err present_rr_from_text(uint8_t *out, size_t size, size_t *len, const char *text,
                              struct name origin, uint32_t default_ttl)
{
    ldns_rdf *origin_rdf = ldns_rdf_new_frm_data(LDNS_RDF_TYPE_DNAME, origin.len, origin.wire);
    if (!origin_rdf)
        return ERR_NO_MEMORY;
    ldns_rr *rr = NULL;
    ldns_status status = ldns_rr_new_frm_str(&rr, text, default_ttl, origin_rdf, NULL);
    ldns_rdf_deep_free(origin_rdf);
    if (status != LDNS_STATUS_OK)
        return ERR_INVALID;
    enum err err = put_wire(out, size, len, rr);
    ldns_rr_free(rr);
    return err;
}

/* ---- from a file ---- */

struct zone_reader {
    FILE *file;
    ldns_rdf *origin, *owner; /* ldns changes them while it reads */
    uint32_t ttl;
    int line, begun; /* first line of the next record, and of the last one */
};

/* Lines that hold no record. */
static bool is_no_record(ldns_status status)
{
    return status == LDNS_STATUS_SYNTAX_TTL || status == LDNS_STATUS_SYNTAX_ORIGIN ||
           status == LDNS_STATUS_SYNTAX_EMPTY;
}

static enum err next_record(struct zone_reader *reader, uint8_t *out, size_t *len)
{
    ldns_rr *rr = NULL;
    reader->begun = reader->line;
    ldns_status status = ldns_rr_new_frm_fp_l(&rr, reader->file, &reader->ttl, &reader->origin,
                                              &reader->owner, &reader->line);
    *len = 0;
    if (is_no_record(status))
        return ERR_OK;
    if (status != LDNS_STATUS_OK)
        return status == LDNS_STATUS_MEM_ERR ? ERR_NO_MEMORY : ERR_INVALID;
    enum err err = put_wire(out, PRESENT_RR_MAX, len, rr);
    ldns_rr_free(rr);
    return err;
}

static enum err read_zone(struct zone_reader *reader, uint8_t *record, present_on_record on_record,
                          void *context)
{
    while (!feof(reader->file)) {
        size_t len;
        enum err err = next_record(reader, record, &len);
        if (err != ERR_OK)
            return err;
        if (len && !on_record(context, span_of(record, len), (size_t)reader->begun))
            break;
    }
    return ERR_OK;
}

enum err present_zone(struct span text, present_on_record on_record, void *context, size_t *line)
{
    *line = 1;
    if (text.len == 0)
        return ERR_OK;
    struct zone_reader reader = {.ttl = LDNS_DEFAULT_TTL, .line = 1, .begun = 1};
    uint8_t *record = malloc(PRESENT_RR_MAX);
    reader.file = fmemopen((void *)(uintptr_t)text.data, text.len, "r");
    reader.origin = ldns_dname_new_frm_str(".");
    enum err err = ERR_NO_MEMORY;
    if (record && reader.file && reader.origin)
        err = read_zone(&reader, record, on_record, context);
    *line = (size_t)reader.begun;
    if (reader.file)
        fclose(reader.file);
    ldns_rdf_deep_free(reader.origin);
    ldns_rdf_deep_free(reader.owner);
    free(record);
    return err;
}
