/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Composes the messages of scenario files. Names are not compressed, so that a test can write
 * messages that no sound server would send. Deliberately broken messages are given in hex.
 */
#include "scenario/compose_message.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "dns/edns.h"
#include "dns/message.h"
#include "dns/present.h"
#include "dns/rrtype.h"
#include "scenario/reader.h"

enum { DEFAULT_TTL = 3600, DEFAULT_UDP_SIZE = 4096 };

void compose_message_init(struct compose_message *work)
{
    memset(work, 0, sizeof(*work));
    work->default_ttl = DEFAULT_TTL;
    work->udp_size = DEFAULT_UDP_SIZE;
    work->origin = name_copy(name_root(), work->origin_wire);
    buf_init(&work->options, MESSAGE_MAX);
    buf_init(&work->hex, MESSAGE_MAX);
    for (unsigned i = 0; i < SECTION_COUNT; i++)
        buf_init(&work->sections[i], 2 * MESSAGE_MAX);
}

void compose_message_deinit(struct compose_message *work)
{
    buf_deinit(&work->options);
    buf_deinit(&work->hex);
    for (unsigned i = 0; i < SECTION_COUNT; i++)
        buf_deinit(&work->sections[i]);
}

static bool put(struct buf *buf, const void *data, size_t len)
{
    return buf_append(buf, data, len) == ERR_OK;
}

static bool put_number(struct buf *buf, uint16_t value)
{
    uint8_t bytes[2];
    put_u16(bytes, value);
    return put(buf, bytes, sizeof(bytes));
}

/* ---- REPLY ---- */

struct named {
    const char *name;
    uint16_t value;
};

static const struct named flag_names[] = {
    {"QR", HEADER_QR}, {"AA", HEADER_AA}, {"TC", HEADER_TC}, {"RD", HEADER_RD},
    {"RA", HEADER_RA}, {"AD", HEADER_AD}, {"CD", HEADER_CD}, {"Z", HEADER_Z},
};
static const struct named rcode_names[] = {
    {"NOERROR", 0}, {"FORMERR", 1},  {"SERVFAIL", 2}, {"NXDOMAIN", 3}, {"NOTIMPL", 4},
    {"NOTIMP", 4},  {"REFUSED", 5},  {"YXDOMAIN", 6}, {"YXRRSET", 7},  {"NXRRSET", 8},
    {"NOTAUTH", 9}, {"NOTZONE", 10}, {"BADVERS", 16}, {"BADVS", 16},   {"BADCOOKIE", 23},
};
static const struct named opcode_names[] = {
    {"QUERY", 0}, {"IQUERY", 1}, {"STATUS", 2}, {"NOTIFY", 4}, {"UPDATE", 5},
};

static const struct named *find(const struct named *table, size_t count, const char *word)
{
    for (size_t i = 0; i < count; i++)
        if (strcasecmp(table[i].name, word) == 0)
            return &table[i];
    return NULL;
}

#define FIND(table, word) find(table, sizeof(table) / sizeof((table)[0]), word)

static bool add_option(struct compose_message *work, uint16_t code, bool has_value, uint16_t value)
{
    work->edns = true;
    return put_number(&work->options, code) && put_number(&work->options, has_value ? 2 : 0) &&
           (!has_value || put_number(&work->options, value));
}

/* Handles the words that Unbound does not have: EDNS, EDNS=512, VERSION=1, KEEPALIVE,
 * KEEPALIVE=100, EDE=22, ID=7. */
static bool own_word(struct compose_message *work, const char *word)
{
    const char *value = strchr(word, '=');
    uint16_t number = (uint16_t)(value ? strtoul(value + 1, NULL, 0) : 0);
    size_t len = value ? (size_t)(value - word) : strlen(word);
    char key[32] = "";
    if (len < sizeof(key))
        memcpy(key, word, len);
    if (strcasecmp(key, "EDNS") == 0 || strcasecmp(key, "VERSION") == 0)
        work->edns = true;
    if (strcasecmp(key, "EDNS") == 0)
        work->udp_size = value ? number : work->udp_size;
    else if (strcasecmp(key, "VERSION") == 0)
        work->edns_version = (uint8_t)number;
    else if (strcasecmp(key, "KEEPALIVE") == 0)
        return add_option(work, EDNS_TCP_KEEPALIVE, value, number);
    else if (strcasecmp(key, "EDE") == 0)
        return add_option(work, EDNS_EDE, true, number);
    else if (strcasecmp(key, "ID") == 0)
        work->id = number;
    else
        return false;
    return true;
}

bool compose_message_word(struct compose_message *work, const char *word)
{
    const struct named *found;
    if ((found = FIND(flag_names, word)))
        work->flags |= found->value;
    else if ((found = FIND(rcode_names, word)))
        work->rcode = found->value;
    else if ((found = FIND(opcode_names, word)))
        work->flags = (uint16_t)((work->flags & ~HEADER_OPCODE_MASK) | found->value << 11);
    else if (strcasecmp(word, "DO") == 0)
        work->edns = work->dnssec_ok = true;
    else
        return own_word(work, word);
    return true;
}

/* ---- sections ---- */

static bool class_of(const char *word, uint16_t *cls)
{
    static const struct named classes[] = {
        {"IN", 1}, {"CH", 3}, {"HS", 4}, {"NONE", 254}, {"ANY", 255}};
    const struct named *found = FIND(classes, word);
    if (found)
        *cls = found->value;
    else if (strncasecmp(word, "CLASS", 5) == 0)
        *cls = (uint16_t)strtoul(word + 5, NULL, 10);
    return found || strncasecmp(word, "CLASS", 5) == 0;
}

static bool name_of(const struct compose_message *work, const char *text,
                    uint8_t wire[NAME_WIRE_MAX], struct name *name)
{
    size_t len = strlen(text);
    if (name_parse(name, wire, text, len) != ERR_OK)
        return false;
    if (text[len - 1] == '.' || name_is_root(work->origin))
        return true;
    memcpy(wire + name->len - 1, work->origin.wire, work->origin.len);
    name->len = (uint8_t)(name->len - 1 + work->origin.len);
    return true;
}

bool compose_message_question(struct compose_message *work, const char *line)
{
    char word[READER_LINE_MAX / 16];
    uint8_t wire[NAME_WIRE_MAX];
    struct name name;
    uint16_t cls = RRCLASS_IN, type = 0;
    bool has_class = false;
    if (!reader_word(&line, word, sizeof(word), NULL) || !name_of(work, word, wire, &name))
        return false;
    while (reader_word(&line, word, sizeof(word), NULL)) {
        if (isdigit((unsigned char)word[0])) /* a TTL has no meaning in a question */
            continue;
        if (!has_class && class_of(word, &cls) && strcasecmp(word, "ANY") != 0)
            has_class = true;
        else if (strcasecmp(word, "ANY") == 0)
            type = RRTYPE_ANY;
        else if (rrtype_parse(&type, word) != ERR_OK)
            return false;
    }
    work->counts[SECTION_QUESTION]++;
    struct buf *out = &work->sections[SECTION_QUESTION];
    return put(out, name.wire, name.len) && put_number(out, type) && put_number(out, cls);
}

static bool directive(struct compose_message *work, const char *line)
{
    char word[NAME_TEXT_MAX];
    bool is_ttl = strncmp(line, "$TTL", 4) == 0;
    line += is_ttl ? 4 : strcspn(line, " \t");
    if (!reader_word(&line, word, sizeof(word), NULL))
        return false;
    if (is_ttl)
        work->default_ttl = (uint32_t)strtoul(word, NULL, 10);
    else
        return name_parse(&work->origin, work->origin_wire, word, strlen(word)) == ERR_OK;
    return true;
}

/* Takes "owner [TTL] [class] type \# length hex" (RFC 3597), also for types with another form,
 * because a test may need the very record that ldns refuses. */
static bool raw_record(struct compose_message *work, struct buf *out, const char *line,
                       const char *raw)
{
    char word[NAME_TEXT_MAX];
    uint8_t wire[NAME_WIRE_MAX], ttl[4];
    struct name name;
    uint16_t cls = RRCLASS_IN, type = 0;
    struct buf rdata;
    put_u32(ttl, work->default_ttl);
    if (!reader_word(&line, word, sizeof(word), NULL) || !name_of(work, word, wire, &name))
        return false;
    while (line < raw && reader_word(&line, word, sizeof(word), NULL) && word[0] != '\\')
        if (isdigit((unsigned char)word[0]))
            put_u32(ttl, (uint32_t)strtoul(word, NULL, 10));
        else if (!class_of(word, &cls) && rrtype_parse(&type, word) != ERR_OK)
            return false;
    raw += 2;
    /* skips the length, because the hexadecimal digits decide */
    reader_word(&raw, word, sizeof(word), NULL);
    buf_init(&rdata, MESSAGE_MAX);
    bool fine = compose_message_hex(&rdata, raw) && put(out, name.wire, name.len) &&
                put_number(out, type) && put_number(out, cls) && put(out, ttl, sizeof(ttl)) &&
                put_number(out, (uint16_t)buf_len(&rdata)) &&
                put(out, buf_span(&rdata).data, buf_len(&rdata));
    buf_deinit(&rdata);
    return fine;
}

bool compose_message_record(struct compose_message *work, enum section section, const char *line)
{
    const char *raw = strstr(line, "\\# ");
    if (*line == '$')
        return directive(work, line);
    if (raw) {
        work->counts[section]++;
        return raw_record(work, &work->sections[section], line, raw);
    }
    uint8_t *bytes = malloc(PRESENT_RR_MAX);
    size_t len = 0;
    bool fine = bytes && present_rr_from_text(bytes, PRESENT_RR_MAX, &len, line, work->origin,
                                              work->default_ttl) == ERR_OK;
    fine = fine && put(&work->sections[section], bytes, len);
    work->counts[section]++;
    free(bytes);
    return fine;
}

bool compose_message_hex(struct buf *out, const char *line)
{
    while (*line) {
        if (strchr(" \t.\r", *line)) {
            line++;
            continue;
        }
        char pair[3] = {line[0], line[1], '\0'}, *end;
        uint8_t byte = (uint8_t)strtoul(pair, &end, 16);
        if (end != pair + 2 || !put(out, &byte, 1))
            return false;
        line += 2;
    }
    return true;
}

/* ---- the message ---- */

static bool put_opt(struct compose_message *work, struct buf *out)
{
    struct span options = buf_span(&work->options);
    uint8_t ext_rcode = (uint8_t)(work->rcode >> 4);
    uint8_t version = work->edns_version;
    return put(out, "", 1) && put_number(out, RRTYPE_OPT) && put_number(out, work->udp_size) &&
           put(out, &ext_rcode, 1) && put(out, &version, 1) &&
           put_number(out, work->dnssec_ok ? EDNS_FLAG_DO : 0) &&
           put_number(out, (uint16_t)options.len) && put(out, options.data, options.len);
}

static bool put_all(struct compose_message *work, struct buf *out)
{
    bool edns = work->edns || buf_len(&work->options) > 0 || work->rcode > 15;
    uint8_t header[HEADER_LEN];
    header_set_id(header, work->id);
    header_set_flags(header, (uint16_t)(work->flags | (work->rcode & HEADER_RCODE_MASK)));
    for (unsigned i = 0; i < SECTION_COUNT; i++)
        header_set_count(header, i, work->counts[i]);
    header_set_count(header, SECTION_ADDITIONAL,
                     (uint16_t)(work->counts[SECTION_ADDITIONAL] + edns));
    bool fine = put(out, header, sizeof(header));
    for (unsigned i = 0; i < SECTION_COUNT; i++) {
        struct span bytes = buf_span(&work->sections[i]);
        fine = fine && put(out, bytes.data, bytes.len);
    }
    return fine && (!edns || put_opt(work, out));
}

uint8_t *compose_message_finish(struct compose_message *work, size_t *len)
{
    struct buf out;
    buf_init(&out, MESSAGE_MAX);
    struct span hex = buf_span(&work->hex);
    bool fine = hex.len ? put(&out, hex.data, hex.len) : put_all(work, &out);
    *len = buf_len(&out);
    uint8_t *bytes = fine ? malloc(*len) : NULL;
    if (bytes)
        memcpy(bytes, buf_span(&out).data, *len);
    buf_deinit(&out);
    return bytes;
}
