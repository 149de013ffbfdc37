/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Composes answers. Whether, when and how they are sent is for responder_udp.c and
 * responder_tcp.c. Every byte fits ANSWER_MAX: the largest is "big" with 4016 bytes of TXT.
 */

#include "answer.h"

#include <string.h>

#include "base/check.h"
#include "base/hash.h"
#include "wire.h"

enum {
    BIG_STRINGS = 16,    /* of 250 characters */
    BIG_ADDRESSES = 200, /* of 16 bytes each as a record */
    DELAY_MAX_MS = 600000,
    POINTER_TO_QUESTION = 0xC00C,
    SERVER_COOKIE_BYTES = 16,
};

/* What the labels of a name ask for. */
struct wishes {
    enum answer_verdict verdict;
    enum rcode rcode;
    bool nodata, big, alias, truncated, wrong_id, wrong_name;
    bool has_delay, has_ttl;
    uint32_t delay_ms, ttl_s;
    uint16_t last_label; /* offset in the name of its top-level label, 0 in the root's */
};

/* The answer being written. */
struct draft {
    uint8_t *start, *p;
    uint16_t answers, authorities;
};

/* label is not terminated. */
static bool is_label(const uint8_t *label, size_t len, const char *word)
{
    return strlen(word) == len && memcmp(label, word, len) == 0;
}

/* The number behind a prefix such as "d" or "ttl", and nothing else. */
static bool label_number(const uint8_t *label, size_t len, const char *prefix, uint32_t *out)
{
    size_t at = strlen(prefix);
    if (len <= at || len > at + 6 || memcmp(label, prefix, at) != 0)
        return false;
    uint32_t value = 0;
    for (; at < len; at++) {
        if (label[at] < '0' || label[at] > '9')
            return false;
        value = value * 10 + (uint32_t)(label[at] - '0');
    }
    *out = value;
    return true;
}

static void read_silence(struct wishes *wishes, const uint8_t *label, size_t len, bool is_stream)
{
    bool other_transport = is_label(label, len, is_stream ? "silentudp" : "silenttcp");
    if (len >= 6 && memcmp(label, "silent", 6) == 0 && !other_transport)
        wishes->verdict = ANSWER_SILENT;
}

static void read_verdict(struct wishes *wishes, const uint8_t *label, size_t len)
{
    if (is_label(label, len, "close"))
        wishes->verdict = ANSWER_CLOSE;
    else if (is_label(label, len, "reset"))
        wishes->verdict = ANSWER_RESET;
    else if (is_label(label, len, "stall"))
        wishes->verdict = ANSWER_STALL;
}

static void read_content(struct wishes *wishes, const uint8_t *label, size_t len)
{
    static const struct {
        const char *word;
        size_t flag;
    } words[] = {
        {"nodata", offsetof(struct wishes, nodata)},
        {"big", offsetof(struct wishes, big)},
        {"cname", offsetof(struct wishes, alias)},
        {"tc", offsetof(struct wishes, truncated)},
        {"wrongid", offsetof(struct wishes, wrong_id)},
        {"wrongname", offsetof(struct wishes, wrong_name)},
    };
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (is_label(label, len, words[i].word))
            *(bool *)((char *)wishes + words[i].flag) = true;
}

static void read_rcode(struct wishes *wishes, const uint8_t *label, size_t len)
{
    if (is_label(label, len, "nx"))
        wishes->rcode = RCODE_NXDOMAIN;
    else if (is_label(label, len, "servfail"))
        wishes->rcode = RCODE_SERVFAIL;
    else if (is_label(label, len, "refused"))
        wishes->rcode = RCODE_REFUSED;
}

static void read_label(struct wishes *wishes, const uint8_t *label, size_t len, bool is_stream)
{
    switch (label[0]) { /* so that ordinary names cost nothing */
    case 'd':
        if (label_number(label, len, "d", &wishes->delay_ms)) {
            wishes->has_delay = true;
            wishes->delay_ms = MIN(wishes->delay_ms, DELAY_MAX_MS);
        }
        break;
    case 't':
        if (label_number(label, len, "ttl", &wishes->ttl_s))
            wishes->has_ttl = true;
        read_content(wishes, label, len);
        break;
    case 's':
        read_silence(wishes, label, len, is_stream);
        /* fall through */
    case 'n':
    case 'r':
    case 'c':
    case 'b':
    case 'w':
        read_verdict(wishes, label, len);
        read_content(wishes, label, len);
        read_rcode(wishes, label, len);
        break;
    default:
        break;
    }
}

static void read_wishes(struct wishes *wishes, const struct wire_query *query, bool is_stream)
{
    memset(wishes, 0, sizeof(*wishes));
    for (uint16_t at = 0; query->lower[at]; at = (uint16_t)(at + query->lower[at] + 1)) {
        read_label(wishes, query->lower + at + 1, query->lower[at], is_stream);
        wishes->last_label = at;
    }
}

static void put_bytes(struct draft *draft, const void *bytes, size_t len)
{
    memcpy(draft->p, bytes, len);
    draft->p += len;
}

/* Owner is a compression pointer; the data is written by the caller. */
static void put_record(struct draft *draft, uint16_t owner, uint16_t type, uint32_t ttl_s,
                       uint16_t data_len)
{
    put_u16(draft->p, owner);
    put_u16(draft->p + 2, type);
    put_u16(draft->p + 4, WIRE_CLASS_IN);
    put_u32(draft->p + 6, ttl_s);
    put_u16(draft->p + 10, data_len);
    draft->p += 12;
}

static void put_address(struct draft *draft, uint16_t owner, uint16_t type, uint32_t ttl_s,
                        uint64_t hash)
{
    uint8_t ip4[4] = {10, (uint8_t)(hash >> 16), (uint8_t)(hash >> 8), (uint8_t)hash};
    uint8_t ip6[16] = {0x20, 0x01, 0x0d, 0xb8};
    bool is_ip6 = type == WIRE_TYPE_AAAA;
    memcpy(ip6 + 8, &hash, sizeof(hash));
    put_record(draft, owner, type, ttl_s, is_ip6 ? 16 : 4);
    put_bytes(draft, is_ip6 ? ip6 : ip4, is_ip6 ? 16 : 4);
    draft->answers++;
}

static void put_text(struct draft *draft, uint32_t ttl_s, bool big, uint64_t hash)
{
    unsigned strings = big ? BIG_STRINGS : 1, chars = big ? 250 : 16;
    put_record(draft, POINTER_TO_QUESTION, WIRE_TYPE_TXT, ttl_s, (uint16_t)(strings * (chars + 1)));
    for (unsigned i = 0; i < strings; i++) {
        *draft->p++ = (uint8_t)chars;
        for (unsigned j = 0; j < chars; j++)
            *draft->p++ = "0123456789abcdef"[hash >> (j % 16 * 4) & 15];
    }
    draft->answers++;
}

/* The name of a server below the queried name: "ns" or "mx" and a pointer. */
static void put_host(struct draft *draft, const char *label, uint16_t owner, uint16_t type,
                     uint32_t ttl_s)
{
    bool is_mx = type == WIRE_TYPE_MX;
    put_record(draft, owner, type, ttl_s, is_mx ? 7 : 5);
    if (is_mx) {
        put_u16(draft->p, 10);
        draft->p += 2;
    }
    *draft->p++ = 2;
    put_bytes(draft, label, 2);
    put_u16(draft->p, POINTER_TO_QUESTION);
    draft->p += 2;
    draft->answers++;
}

/* RFC 1035 3.3.13, with both names the zone itself. */
static void put_soa(struct draft *draft, uint16_t zone, uint32_t ttl_s)
{
    static const uint32_t numbers[] = {1, 3600, 600, 86400}; /* serial, refresh, retry, expire */
    put_record(draft, zone, WIRE_TYPE_SOA, ttl_s, 4 + 20);
    put_u16(draft->p, zone);
    put_u16(draft->p + 2, zone);
    for (int i = 0; i < 4; i++)
        put_u32(draft->p + 4 + 4 * i, numbers[i]);
    put_u32(draft->p + 20, ttl_s); /* RFC 2308: the negative TTL */
    draft->p += 24;
}

/* The alias points to "target" in the top-level domain of the name; returns the owner of what
 * follows. */
static uint16_t put_alias(struct draft *draft, uint16_t zone, uint32_t ttl_s)
{
    put_record(draft, POINTER_TO_QUESTION, WIRE_TYPE_CNAME, ttl_s, 9);
    uint16_t target = (uint16_t)(0xC000 | (draft->p - draft->start));
    put_bytes(draft, "\6target", 7);
    put_u16(draft->p, zone);
    draft->p += 2;
    draft->answers++;
    return target;
}

/* The records of a positive answer, none where the type has none. */
static void put_answers(struct draft *draft, const struct wire_query *query,
                        const struct wishes *wishes, uint16_t zone, uint32_t ttl_s)
{
    uint64_t hash = hash_bytes(query->lower, query->name_len, 0);
    uint16_t owner = POINTER_TO_QUESTION;
    if (wishes->alias && query->type != WIRE_TYPE_CNAME)
        owner = put_alias(draft, zone, ttl_s);
    switch (query->type) {
    case WIRE_TYPE_A:
    case WIRE_TYPE_AAAA:
        for (int i = 0; i < (wishes->big ? BIG_ADDRESSES : 1); i++)
            put_address(draft, owner, query->type, ttl_s, hash + (uint64_t)i);
        break;
    case WIRE_TYPE_TXT:
        put_text(draft, ttl_s, wishes->big, hash);
        break;
    case WIRE_TYPE_CNAME:
        if (wishes->alias)
            put_alias(draft, zone, ttl_s);
        break;
    case WIRE_TYPE_NS:
        put_host(draft, "ns", owner, WIRE_TYPE_NS, ttl_s);
        break;
    case WIRE_TYPE_PTR:
        put_host(draft, "pt", owner, WIRE_TYPE_PTR, ttl_s);
        break;
    case WIRE_TYPE_MX:
        put_host(draft, "mx", owner, WIRE_TYPE_MX, ttl_s);
        break;
    case WIRE_TYPE_SOA:
        put_soa(draft, owner, ttl_s);
        draft->answers++;
        break;
    default:
        break;
    }
}

/* RFC 7873: a function of the client's cookie and address. No secret is needed against loopback
 * clients, and a fixed one keeps runs repeatable. */
static void make_server_cookie(const struct addr *from, const uint8_t *client, uint8_t *out)
{
    size_t len;
    const uint8_t *ip = addr_bytes(from, &len);
    uint64_t hash = hash_bytes(client, 8, hash_bytes(ip, len, 7873));
    memcpy(out, &hash, 8);
    hash = hash_bytes(out, 8, hash);
    memcpy(out + 8, &hash, 8);
}

static bool is_cookie_right(const struct wire_query *query, const struct addr *from)
{
    uint8_t wanted[SERVER_COOKIE_BYTES];
    if (query->cookie.len != 8 + SERVER_COOKIE_BYTES)
        return false;
    make_server_cookie(from, query->cookie.data, wanted);
    return memcmp(wanted, query->cookie.data + 8, SERVER_COOKIE_BYTES) == 0;
}

static void put_option(struct draft *draft, uint16_t code, uint16_t len)
{
    put_u16(draft->p, code);
    put_u16(draft->p + 2, len);
    draft->p += 4;
}

static void put_edns(struct draft *draft, const struct answer_style *style,
                     const struct wire_query *query, enum rcode rcode, bool is_stream,
                     const struct addr *from)
{
    *draft->p++ = 0;
    put_u16(draft->p, WIRE_TYPE_OPT);
    put_u16(draft->p + 2, 1232);
    put_u32(draft->p + 4, (uint32_t)rcode >> 4 << 24 | (query->dnssec_ok ? 0x8000 : 0));
    uint8_t *len = draft->p + 8;
    draft->p += 10;
    if (style->cookies != ANSWER_COOKIES_OFF && query->cookie.len >= 8) {
        put_option(draft, WIRE_OPTION_COOKIE, 8 + SERVER_COOKIE_BYTES);
        put_bytes(draft, query->cookie.data, 8);
        make_server_cookie(from, query->cookie.data, draft->p);
        draft->p += SERVER_COOKIE_BYTES;
    }
    if (is_stream && style->keepalive != ANSWER_KEEPALIVE_NONE) {
        put_option(draft, WIRE_OPTION_KEEPALIVE, 2);
        put_u16(draft->p, (uint16_t)style->keepalive);
        draft->p += 2;
    }
    put_u16(len, (uint16_t)(draft->p - len - 2));
}

static enum rcode judge(const struct answer_style *style, const struct wire_query *query,
                        const struct wishes *wishes, bool is_stream, const struct addr *from)
{
    if (query->edns_version != 0)
        return RCODE_BADVERS;
    if (query->flags >> 11 & 15)
        return RCODE_NOTIMP;
    if (style->cookies == ANSWER_COOKIES_REQUIRED && !is_stream && !is_cookie_right(query, from))
        return RCODE_BADCOOKIE;
    if (query->class != WIRE_CLASS_IN || (query->type >= 251 && query->type <= 252)) /* transfers */
        return RCODE_REFUSED;
    return wishes->rcode;
}

static void put_header(struct draft *draft, const struct answer_style *style,
                       const struct wire_query *query, const struct wishes *wishes,
                       enum rcode rcode, bool truncated)
{
    uint8_t *p = draft->start;
    uint16_t flags = query->flags & (0x7800 | WIRE_RD | WIRE_CD);
    flags |= WIRE_QR | (style->authoritative ? WIRE_AA : WIRE_RA) | (truncated ? WIRE_TC : 0);
    put_u16(p, wishes->wrong_id ? (uint16_t)~query->id : query->id);
    put_u16(p + 2, (uint16_t)(flags | (rcode & 15)));
    put_u16(p + 4, 1);
    put_u16(p + 6, draft->answers);
    put_u16(p + 8, draft->authorities);
    put_u16(p + 10, query->has_edns);
}

static void put_question(struct draft *draft, struct span message, const struct wire_query *query,
                         const struct wishes *wishes, bool lower_case)
{
    draft->p = draft->start + WIRE_HEADER_BYTES;
    put_bytes(draft, message.data + WIRE_HEADER_BYTES,
              (size_t)query->question_end - WIRE_HEADER_BYTES);
    uint8_t *name = draft->start + WIRE_HEADER_BYTES;
    if (lower_case)
        memcpy(name, query->lower, query->name_len);
    if (wishes->wrong_name)
        name[1] ^= 1;
}

/* Also for what does not parse: the header comes back, with no question (RFC 1035 4.1.1). */
static struct answer make_formerr(struct span message, uint8_t *out)
{
    struct answer answer = {.verdict = ANSWER_SILENT};
    if (message.len < WIRE_HEADER_BYTES || message.data[2] & 0x80)
        return answer;
    memset(out, 0, WIRE_HEADER_BYTES);
    memcpy(out, message.data, 2);
    put_u16(out + 2, (uint16_t)(WIRE_QR | (get_u16(message.data + 2) & 0x7900) | RCODE_FORMERR));
    answer.verdict = ANSWER_SEND;
    answer.len = WIRE_HEADER_BYTES;
    return answer;
}

static void put_body(struct draft *draft, const struct answer_style *style,
                     const struct wire_query *query, const struct wishes *wishes, enum rcode rcode)
{
    uint16_t zone = (uint16_t)(0xC000 | (WIRE_HEADER_BYTES + wishes->last_label));
    if (rcode == RCODE_NOERROR && !wishes->nodata)
        put_answers(draft, query, wishes, zone, wishes->has_ttl ? wishes->ttl_s : style->ttl_s);
    bool is_negative = rcode == RCODE_NXDOMAIN || (rcode == RCODE_NOERROR && draft->answers == 0);
    if (is_negative) {
        put_soa(draft, zone, wishes->has_ttl ? wishes->ttl_s : style->negative_ttl_s);
        draft->authorities = 1;
    }
}

struct answer answer_make(const struct answer_style *style, struct span message, bool is_stream,
                          const struct addr *from, uint8_t *out)
{
    struct wire_query query;
    struct wishes wishes;
    if (!wire_parse_query(message, &query))
        return make_formerr(message, out);
    read_wishes(&wishes, &query, is_stream);
    struct answer answer = {
        .verdict = wishes.verdict, .has_delay = wishes.has_delay, .delay_ms = wishes.delay_ms};
    struct draft draft = {.start = out};
    put_question(&draft, message, &query, &wishes, style->lower_case);
    uint8_t *after_question = draft.p;
    enum rcode rcode = judge(style, &query, &wishes, is_stream, from);
    put_body(&draft, style, &query, &wishes, rcode);

    size_t edns_bytes = query.has_edns ? 11 + 28 : 0; /* with a cookie at most */
    bool too_long = (size_t)(draft.p - out) + edns_bytes > query.udp_size;
    bool truncated = !is_stream && (too_long || wishes.truncated);
    if (truncated) {
        draft.p = after_question;
        draft.answers = draft.authorities = 0;
    }
    if (query.has_edns)
        put_edns(&draft, style, &query, rcode, is_stream, from);
    put_header(&draft, style, &query, &wishes, rcode, truncated);
    answer.len = (size_t)(draft.p - out);
    return answer;
}
