/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Reads RDATA by a form: one letter for each field of the type. Invariant: out->len never exceeds
 * its buffer, because every byte goes through rdata_put().
 */
#include "zone/zone_rdata.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "dns/present.h"
#include "dns/rrtype.h"

/* Fields: n name, 1 2 4 numbers of this many bytes, t time, s character-string, S one or more of
 * them up to the end, T text without a length, a IPv4, A IPv6, l locator, x hexadecimal digits up
 * to the end. */
static const struct {
    uint16_t type;
    const char *form;
} forms[] = {
    {RRTYPE_CNAME, "n"},      {RRTYPE_A, "a"},         {RRTYPE_AAAA, "A"},  {RRTYPE_NS, "n"},
    {RRTYPE_PTR, "n"},        {RRTYPE_TXT, "S"},       {RRTYPE_MX, "2n"},   {RRTYPE_SRV, "222n"},
    {RRTYPE_SOA, "nn4tttt"},  {RRTYPE_DNAME, "n"},     {RRTYPE_DS, "211x"}, {RRTYPE_CDS, "211x"},
    {RRTYPE_TLSA, "111x"},    {RRTYPE_SSHFP, "11x"},   {RRTYPE_SPF, "S"},   {RRTYPE_HINFO, "ss"},
    {RRTYPE_RP, "nn"},        {RRTYPE_AFSDB, "2n"},    {RRTYPE_RT, "2n"},   {RRTYPE_KX, "2n"},
    {RRTYPE_NAPTR, "22sssn"}, {RRTYPE_ZONEMD, "411x"}, {RRTYPE_CAA, "1sT"}, {RRTYPE_X25, "s"},
    {RRTYPE_GPOS, "sss"},     {RRTYPE_NID, "2l"},      {RRTYPE_L32, "2a"},  {RRTYPE_L64, "2l"},
    {RRTYPE_LP, "2n"},
};

static bool rdata_put(struct zone_rdata *out, const void *data, size_t len)
{
    if (len > sizeof(out->bytes) - out->len)
        return false;
    memcpy(out->bytes + out->len, data, len);
    out->len += len;
    return true;
}

/* ---- words ---- */

static bool is_digit(uint8_t byte)
{
    return byte >= '0' && byte <= '9';
}

/* A final dot makes a name absolute, unless an odd number of backslashes escapes it. */
static bool is_absolute(struct span text)
{
    size_t slashes = 0;
    if (text.len == 0 || text.data[text.len - 1] != '.')
        return false;
    for (size_t at = text.len - 1; at > 0 && text.data[at - 1] == '\\'; at--)
        slashes++;
    return slashes % 2 == 0;
}

bool zone_token_name(const struct zone_token *token, struct name origin, uint8_t out[NAME_WIRE_MAX],
                     struct name *name)
{
    if (zone_token_is(token, "@")) {
        *name = name_copy(origin, out);
        return true;
    }
    if (name_parse(name, out, (const char *)token->text.data, token->text.len) != ERR_OK)
        return false;
    if (is_absolute(token->text))
        return true;
    size_t labels = (size_t)name->len - 1;
    if (labels + origin.len > NAME_WIRE_MAX)
        return false;
    memcpy(out + labels, origin.wire, origin.len);
    name->len = (uint8_t)(labels + origin.len);
    return true;
}

bool zone_token_number(const struct zone_token *token, uint32_t max, uint32_t *out)
{
    uint64_t value = 0;
    for (size_t i = 0; i < token->text.len; i++) {
        if (!is_digit(token->text.data[i]))
            return false;
        value = value * 10 + (uint64_t)(token->text.data[i] - '0');
        if (value > max)
            return false;
    }
    *out = (uint32_t)value;
    return token->text.len > 0;
}

/* Returns the seconds of a unit, or 0. */
static uint32_t unit_seconds(uint8_t unit)
{
    switch (name_fold_byte(unit)) {
    case 's':
        return 1;
    case 'm':
        return 60;
    case 'h':
        return 3600;
    case 'd':
        return 86400;
    case 'w':
        return 604800;
    default:
        return 0;
    }
}

bool zone_token_ttl(const struct zone_token *token, uint32_t *out)
{
    uint64_t total = 0, value = 0;
    bool has_digit = false;
    for (size_t i = 0; i < token->text.len; i++) {
        uint8_t byte = token->text.data[i];
        if (is_digit(byte)) {
            value = value * 10 + (uint64_t)(byte - '0');
            has_digit = true;
        } else {
            uint32_t seconds = unit_seconds(byte);
            if (!has_digit || seconds == 0)
                return false;
            total += value * seconds;
            value = 0;
            has_digit = i + 1 == token->text.len;
        }
        if (value > INT32_MAX || total + value > INT32_MAX)
            return false;
    }
    *out = (uint32_t)(total + value);
    return has_digit;
}

/* ---- fields ---- */

static bool put_number(struct zone_rdata *out, const struct zone_token *token, unsigned size)
{
    uint32_t value;
    uint8_t bytes[4];
    if (!zone_token_number(token, UINT32_MAX >> (32 - 8 * size), &value))
        return false;
    put_u32(bytes, value);
    return rdata_put(out, bytes + 4 - size, size);
}

static bool put_time(struct zone_rdata *out, const struct zone_token *token)
{
    uint32_t value;
    uint8_t bytes[4];
    if (!zone_token_ttl(token, &value))
        return false;
    put_u32(bytes, value);
    return rdata_put(out, bytes, sizeof(bytes));
}

static bool rdata_put_address(struct zone_rdata *out, const struct zone_token *token, int family)
{
    char text[INET6_ADDRSTRLEN];
    uint8_t bytes[16];
    if (token->text.len >= sizeof(text))
        return false;
    memcpy(text, token->text.data, token->text.len);
    text[token->text.len] = '\0';
    return inet_pton(family, text, bytes) == 1 &&
           rdata_put(out, bytes, family == AF_INET ? 4 : sizeof(bytes));
}

/* Reads the byte at *at of an escaped text. Returns false when the escape is malformed. */
static bool read_escaped(struct span text, size_t *at, uint8_t *byte)
{
    *byte = text.data[(*at)++];
    if (*byte != '\\')
        return true;
    if (*at == text.len)
        return false;
    *byte = text.data[(*at)++];
    if (!is_digit(*byte))
        return true;
    if (text.len - *at < 2 || !is_digit(text.data[*at]) || !is_digit(text.data[*at + 1]))
        return false;
    int value = (*byte - '0') * 100 + (text.data[*at] - '0') * 10 + (text.data[*at + 1] - '0');
    *at += 2;
    *byte = (uint8_t)value;
    return value <= UINT8_MAX;
}

static bool put_string(struct zone_rdata *out, const struct zone_token *token)
{
    uint8_t string[1 + UINT8_MAX], len = 0;
    for (size_t at = 0; at < token->text.len;) {
        if (len == UINT8_MAX || !read_escaped(token->text, &at, &string[1 + len]))
            return false;
        len++;
    }
    string[0] = len;
    return rdata_put(out, string, (size_t)len + 1);
}

static bool rdata_put_text(struct zone_rdata *out, const struct zone_token *token)
{
    for (size_t at = 0; at < token->text.len;) {
        uint8_t byte;
        if (!read_escaped(token->text, &at, &byte) || !rdata_put(out, &byte, 1))
            return false;
    }
    return true;
}

/* Returns the value of a hexadecimal digit, or 16. */
static unsigned hex_value(uint8_t digit)
{
    if (is_digit(digit))
        return digit - '0';
    digit = name_fold_byte(digit);
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10u : 16;
}

/* Reads four groups of hexadecimal digits, with colons between them (RFC 6742 section 2.1.2). */
static bool put_locator(struct zone_rdata *out, const struct zone_token *token)
{
    struct span text = token->text;
    uint8_t bytes[8];
    size_t at = 0;
    for (size_t i = 0; i < sizeof(bytes); i += 2) {
        unsigned value = 0;
        if (i > 0 && (at == text.len || text.data[at++] != ':'))
            return false;
        size_t begin = at;
        for (; at < text.len && at < begin + 4 && hex_value(text.data[at]) < 16; at++)
            value = value << 4 | hex_value(text.data[at]);
        if (at == begin)
            return false;
        put_u16(bytes + i, (uint16_t)value);
    }
    return at == text.len && rdata_put(out, bytes, sizeof(bytes));
}

/* Reads pairs of digits; words may split them anywhere. */
static bool put_hex_tokens(struct zone_rdata *out, const struct zone_token *tokens, size_t count)
{
    unsigned high = 16;
    for (size_t i = 0; i < count; i++) {
        for (size_t at = 0; at < tokens[i].text.len; at++) {
            unsigned value = hex_value(tokens[i].text.data[at]);
            if (value == 16)
                return false;
            if (high == 16) {
                high = value;
                continue;
            }
            uint8_t byte = (uint8_t)(high << 4 | value);
            high = 16;
            if (!rdata_put(out, &byte, 1))
                return false;
        }
    }
    return high == 16;
}

static bool put_name(struct zone_rdata *out, const struct zone_token *token, struct name origin)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct name name;
    return zone_token_name(token, origin, wire, &name) && rdata_put(out, name.wire, name.len);
}

/* Reads one field. 'x' and 'S' take all tokens up to the end. */
static bool put_field(struct zone_rdata *out, char field, const struct zone_token *tokens,
                      size_t count, struct name origin)
{
    switch (field) {
    case 'n':
        return put_name(out, tokens, origin);
    case 't':
        return put_time(out, tokens);
    case 'a':
        return rdata_put_address(out, tokens, AF_INET);
    case 'A':
        return rdata_put_address(out, tokens, AF_INET6);
    case 's':
        return put_string(out, tokens);
    case 'T':
        return rdata_put_text(out, tokens);
    case 'l':
        return put_locator(out, tokens);
    case 'x':
        return put_hex_tokens(out, tokens, count);
    case 'S':
        for (size_t i = 0; i < count; i++)
            if (!put_string(out, &tokens[i]))
                return false;
        return true;
    default:
        return put_number(out, tokens, (unsigned)(field - '0'));
    }
}

static bool read_form(struct zone_rdata *out, const char *form, const struct zone_token *tokens,
                      size_t count, struct name origin)
{
    size_t at = 0;
    for (; *form; form++) {
        if (at == count || !put_field(out, *form, tokens + at, count - at, origin))
            return false;
        at = *form == 'x' || *form == 'S' ? count : at + 1;
    }
    return at == count;
}

/* ---- whole RDATA ---- */

/* Reads "\# 4 0a000001" (RFC 3597 section 5). */
static const char *read_generic(struct zone_rdata *out, const struct zone_token *tokens,
                                size_t count)
{
    uint32_t len;
    if (count < 2 || !zone_token_number(&tokens[1], ZONE_RDATA_MAX, &len))
        return "\\# needs the number of bytes";
    if (!put_hex_tokens(out, tokens + 2, count - 2))
        return "the bytes after \\# are not pairs of hexadecimal digits";
    return out->len == len ? NULL : "\\# does not have the number of bytes that it says";
}

static bool line_put(struct zone_rdata *out, size_t *at, const void *data, size_t len)
{
    if (len >= sizeof(out->text) - *at)
        return false;
    memcpy(out->text + *at, data, len);
    *at += len;
    out->text[*at] = '\0';
    return true;
}

/* Whether the quoted text continues the previous word, as in alpn="h2" (RFC 9460 section 2.1). */
static bool continues_word(const struct zone_token *tokens, size_t at)
{
    if (at == 0 || !tokens[at].is_quoted || tokens[at - 1].is_quoted)
        return false;
    const uint8_t *quote = tokens[at].text.data - 1;
    return tokens[at - 1].text.data + tokens[at - 1].text.len == quote;
}

/* ---- parameters of SVCB and HTTPS ---- */

/* Parameters whose names ldns lacks. They are written by number. */
static const char ohttp[] = "ohttp", groups[] = "tls-supported-groups";

static bool is_word(struct span text, const char *word)
{
    return text.len == strlen(word) && memcmp(text.data, word, text.len) == 0;
}

static bool line_put_key(struct zone_rdata *out, size_t *at, struct span key)
{
    if (is_word(key, ohttp))
        return line_put(out, at, "key8", 4);
    if (is_word(key, groups))
        return line_put(out, at, "key9", 4);
    return line_put(out, at, key.data, key.len);
}

/* Writes a group as the two bytes that it has in the value. */
static bool line_put_group(struct zone_rdata *out, size_t *at, struct span text)
{
    const struct zone_token token = {.text = text};
    char bytes[16];
    uint32_t group;
    if (!zone_token_number(&token, UINT16_MAX, &group))
        return false;
    int len = snprintf(bytes, sizeof(bytes), "\\%03u\\%03u", group >> 8, group & UINT8_MAX);
    return line_put(out, at, bytes, (size_t)len);
}

/* Writes the items of a list, with another comma between them. */
static bool line_put_list(struct zone_rdata *out, size_t *at, struct span list, const char *comma,
                          bool (*put)(struct zone_rdata *out, size_t *at, struct span item))
{
    for (;;) {
        const uint8_t *end = memchr(list.data, ',', list.len);
        size_t len = end ? (size_t)(end - list.data) : list.len;
        if (!put(out, at, span_of(list.data, len)))
            return false;
        if (!end)
            return true;
        if (!line_put(out, at, comma, strlen(comma)))
            return false;
        list = span_of(end + 1, list.len - len - 1);
    }
}

static bool line_put_value(struct zone_rdata *out, size_t *at, struct span key, struct span value)
{
    if (is_word(key, ohttp))
        return false; /* it has no value */
    if (is_word(key, groups))
        return line_put_list(out, at, value, "", line_put_group);
    if (is_word(key, "mandatory"))
        return line_put_list(out, at, value, ",", line_put_key);
    return line_put(out, at, value.data, value.len);
}

/* Parameters that never have a value. Written as an empty one it is the same as none (RFC 9460
 * section 2.1), and ldns takes only the latter. */
static bool lacks_value(struct span key)
{
    return is_word(key, ohttp) || is_word(key, "no-default-alpn");
}

/* Whether this token is the value "" of the parameter before it, which never has another. */
static bool is_void_value(const struct zone_token *tokens, size_t i, size_t count)
{
    if (i >= count || tokens[i].text.len > 0 || !continues_word(tokens, i))
        return false;
    struct span word = tokens[i - 1].text;
    return word.data[word.len - 1] == '=' && lacks_value(span_of(word.data, word.len - 1));
}

/* Writes a parameter. A value in quotes is the next token. */
static bool line_put_param(struct zone_rdata *out, size_t *at, const struct zone_token *tokens,
                           size_t i, size_t count)
{
    struct span text = tokens[i].text;
    if (continues_word(tokens, i)) {
        struct span key = tokens[i - 1].text;
        return line_put_value(out, at, span_of(key.data, key.len - 1), text);
    }
    const uint8_t *equals = memchr(text.data, '=', text.len);
    size_t len = equals ? (size_t)(equals - text.data) : text.len;
    struct span key = span_of(text.data, len);
    if (!line_put_key(out, at, key))
        return false;
    if (!equals)
        return !is_word(key, groups); /* it has a value */
    bool is_bare = len + 1 == text.len;
    bool is_continued = is_bare && i + 1 < count && continues_word(tokens, i + 1);
    if (is_bare && lacks_value(key) && (!is_continued || is_void_value(tokens, i + 1, count)))
        return true;
    return line_put(out, at, "=", 1) &&
           (is_continued || line_put_value(out, at, key, span_of(equals + 1, text.len - len - 1)));
}

/* ---- other types ---- */

/* Writes the record in one line, without comments and parentheses. */
static bool write_ldns_line(struct zone_rdata *out, uint16_t type, const struct zone_token *tokens,
                            size_t count)
{
    char word[RRTYPE_TEXT_MAX];
    size_t at =
        (size_t)snprintf(out->text, sizeof(out->text), ". 0 IN %s", rrtype_name(type, word));
    bool is_service = type == RRTYPE_SVCB || type == RRTYPE_HTTPS;
    for (size_t i = 0; i < count; i++) {
        if (is_service && i > 1 && is_void_value(tokens, i, count))
            continue;
        const char *quote = tokens[i].is_quoted ? "\"" : "";
        const char *gap = continues_word(tokens, i) ? "" : " ";
        if (!line_put(out, &at, gap, strlen(gap)) || !line_put(out, &at, quote, strlen(quote)) ||
            memchr(tokens[i].text.data, '\0', tokens[i].text.len) ||
            !(is_service && i > 1 ? line_put_param(out, &at, tokens, i, count)
                                  : line_put(out, &at, tokens[i].text.data, tokens[i].text.len)) ||
            !line_put(out, &at, quote, strlen(quote)))
            return false;
    }
    return true;
}

static const char *read_by_ldns(struct zone_rdata *out, uint16_t type,
                                const struct zone_token *tokens, size_t count, struct name origin)
{
    static const char fault[] = "the data do not fit the type";
    enum { HEAD = 1 + 2 + 2 + 4 + 2 }; /* owner, type, class, TTL, length */
    size_t len;
    if (!write_ldns_line(out, type, tokens, count) ||
        present_rr_from_text(out->record, sizeof(out->record), &len, out->text, origin, 0) !=
            ERR_OK ||
        len < HEAD || get_u16(out->record + 1) != type ||
        !rdata_put(out, out->record + HEAD, len - HEAD))
        return fault;
    return NULL;
}

const char *zone_rdata_read(struct zone_rdata *out, uint16_t type, const struct zone_token *tokens,
                            size_t count, struct name origin)
{
    out->len = 0;
    if (count > 0 && zone_token_is(&tokens[0], "\\#"))
        return read_generic(out, tokens, count);
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        if (forms[i].type == type)
            return read_form(out, forms[i].form, tokens, count, origin)
                       ? NULL
                       : "the data do not fit the type";
    }
    return read_by_ldns(out, type, tokens, count, origin);
}
