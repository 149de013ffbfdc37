/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Reads questions and writes queries. Never reads beyond the message. Refuses compressed names in
 * questions, because no name precedes them.
 */

#include "wire.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/check.h"

enum { ADDITIONAL_MAX = 4, LABEL_MAX = 63 };

/* Returns the length of the uncompressed name at the front of the span, root label included; 0: it
 * is broken. */
static size_t name_len_at(const uint8_t *data, size_t len)
{
    size_t at = 0;
    while (at < len && at < WIRE_NAME_MAX) {
        if (data[at] == 0)
            return at + 1;
        if (data[at] > LABEL_MAX)
            return 0;
        at += 1 + (size_t)data[at];
    }
    return 0;
}

/* A length byte is at most 63, which is below 'A', so a single pass over all bytes is correct. */
static void copy_lower(uint8_t *out, const uint8_t *name, size_t len)
{
    for (size_t i = 0; i < len; i++)
        out[i] = (uint8_t)(name[i] | ((uint8_t)(name[i] - 'A') < 26 ? 0x20 : 0));
}

static bool parse_edns_options(struct span options, struct wire_query *out)
{
    while (options.len) {
        uint16_t code, len;
        struct span value;
        if (!span_take_u16(&options, &code) || !span_take_u16(&options, &len) ||
            !span_take(&options, len, &value))
            return false;
        if (code == WIRE_OPTION_COOKIE)
            out->cookie = value;
    }
    return true;
}

static bool parse_additional(struct span *rest, struct wire_query *out)
{
    size_t name_len = name_len_at(rest->data, rest->len);
    struct span name, data;
    uint16_t type, class, data_len;
    uint32_t ttl;
    if (name_len == 0 || !span_take(rest, name_len, &name) || !span_take_u16(rest, &type) ||
        !span_take_u16(rest, &class) || !span_take_u32(rest, &ttl) ||
        !span_take_u16(rest, &data_len) || !span_take(rest, data_len, &data))
        return false;
    if (type != WIRE_TYPE_OPT)
        return true;
    /* RFC 6891 6.1.1: at most one OPT record, whose owner is the root */
    if (out->has_edns || name_len != 1)
        return false;
    out->has_edns = true;
    out->udp_size = MAX(class, 512);
    out->edns_version = (uint8_t)(ttl >> 16);
    out->dnssec_ok = ttl & 0x8000;
    return parse_edns_options(data, out);
}

bool wire_parse_query(struct span message, struct wire_query *out)
{
    if (message.len < WIRE_HEADER_BYTES)
        return false;
    const uint8_t *p = message.data;
    uint16_t additional = get_u16(p + 10);
    out->id = get_u16(p);
    out->flags = get_u16(p + 2);
    if (out->flags & WIRE_QR || get_u16(p + 4) != 1 || get_u16(p + 6) || get_u16(p + 8) ||
        additional > ADDITIONAL_MAX)
        return false;
    size_t end = wire_question_end(message);
    if (end == 0)
        return false;
    out->question_end = (uint16_t)end;
    out->name_len = (uint16_t)(end - 4 - WIRE_HEADER_BYTES);
    out->type = get_u16(p + end - 4);
    out->class = get_u16(p + end - 2);
    copy_lower(out->lower, p + WIRE_HEADER_BYTES, out->name_len);
    out->has_edns = out->dnssec_ok = false;
    out->edns_version = 0;
    out->udp_size = 512;
    out->cookie = span_of(NULL, 0);
    struct span rest = span_of(p + end, message.len - end);
    while (additional--)
        if (!parse_additional(&rest, out))
            return false;
    return true;
}

size_t wire_question_end(struct span message)
{
    if (message.len < WIRE_HEADER_BYTES)
        return 0;
    size_t name_len =
        name_len_at(message.data + WIRE_HEADER_BYTES, message.len - WIRE_HEADER_BYTES);
    size_t end = WIRE_HEADER_BYTES + name_len + 4;
    return name_len == 0 || end > message.len ? 0 : end;
}

/* Decodes one character of presentation format at *text into *out. Returns false for a broken
 * escape. */
static bool take_character(const char **text, uint8_t *out)
{
    const char *p = *text;
    if (*p != '\\') {
        *out = (uint8_t)*p;
        *text = p + 1;
        return true;
    }
    p++;
    if (*p >= '0' && *p <= '9') {
        unsigned value = 0;
        for (int i = 0; i < 3; i++, p++) {
            if (*p < '0' || *p > '9')
                return false;
            value = value * 10 + (unsigned)(*p - '0');
        }
        *out = (uint8_t)value;
        *text = p;
        return value < 256;
    }
    *out = (uint8_t)*p;
    *text = p + 1;
    return *p != '\0';
}

size_t wire_name_from_text(uint8_t out[WIRE_NAME_MAX], const char *text)
{
    if (strcmp(text, ".") == 0 || *text == '\0') {
        out[0] = 0;
        return *text ? 1 : 0;
    }
    size_t at = 1, label = 0; /* label: the place of its length byte */
    while (*text) {
        if (*text == '.') {
            if (at - label == 1)
                return 0;
            out[label] = (uint8_t)(at - label - 1);
            label = at++;
            text++;
        } else if (at >= WIRE_NAME_MAX - 1 || at - label > LABEL_MAX ||
                   !take_character(&text, &out[at++])) {
            return 0;
        }
        if (at > WIRE_NAME_MAX)
            return 0;
    }
    if (at - label > 1) { /* the text has no final dot */
        out[label] = (uint8_t)(at - label - 1);
        label = at++;
    }
    out[label] = 0;
    return at;
}

size_t wire_build_query(uint8_t *out, const uint8_t *name, size_t name_len, uint16_t type,
                        const struct wire_style *style)
{
    memset(out, 0, WIRE_HEADER_BYTES);
    put_u16(out + 2,
            (style->recursion_desired ? WIRE_RD : 0) | (style->checking_disabled ? WIRE_CD : 0));
    put_u16(out + 4, 1);
    uint8_t *p = out + WIRE_HEADER_BYTES;
    memcpy(p, name, name_len);
    p += name_len;
    put_u16(p, type);
    put_u16(p + 2, WIRE_CLASS_IN);
    p += 4;
    if (style->edns_bytes) {
        put_u16(out + 10, 1);
        *p++ = 0;
        put_u16(p, WIRE_TYPE_OPT);
        put_u16(p + 2, style->edns_bytes);
        put_u32(p + 4, style->dnssec_ok ? 0x8000 : 0);
        put_u16(p + 8, 0);
        p += 10;
    }
    return (size_t)(p - out);
}

static const struct {
    const char *text;
    uint16_t type;
} types[] = {
    {"A", WIRE_TYPE_A},
    {"NS", WIRE_TYPE_NS},
    {"CNAME", WIRE_TYPE_CNAME},
    {"SOA", WIRE_TYPE_SOA},
    {"PTR", WIRE_TYPE_PTR},
    {"MX", WIRE_TYPE_MX},
    {"TXT", WIRE_TYPE_TXT},
    {"AAAA", WIRE_TYPE_AAAA},
    {"HINFO", 13},
    {"LOC", 29},
    {"SRV", 33},
    {"NAPTR", 35},
    {"DNAME", 39},
    {"DS", 43},
    {"SSHFP", 44},
    {"RRSIG", 46},
    {"NSEC", 47},
    {"DNSKEY", 48},
    {"NSEC3", 50},
    {"TLSA", 52},
    {"SPF", 99},
    {"SVCB", 64},
    {"HTTPS", 65},
    {"ANY", 255},
    {"CAA", 257},
};

bool wire_type_from_text(const char *text, uint16_t *out)
{
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (strcasecmp(text, types[i].text) == 0) {
            *out = types[i].type;
            return true;
        }
    if (strncasecmp(text, "TYPE", 4) != 0 || text[4] < '0' || text[4] > '9')
        return false;
    char *end;
    unsigned long value = strtoul(text + 4, &end, 10);
    *out = (uint16_t)value;
    return *end == '\0' && value <= UINT16_MAX;
}

const char *wire_rcode_text(unsigned rcode)
{
    static const char *const texts[] = {"NOERROR", "FORMERR",  "SERVFAIL", "NXDOMAIN", "NOTIMP",
                                        "REFUSED", "YXDOMAIN", "YXRRSET",  "NXRRSET",  "NOTAUTH"};
    return rcode < ARRAY_LEN(texts) ? texts[rcode] : "OTHER";
}
