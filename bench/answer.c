/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Composes answers. responder_udp.c and responder_tcp.c decide whether, when and how an answer
 * leaves. Each answer fits ANSWER_MAX: the largest is "big", with 4016 bytes of TXT.
 */

#include "answer.h"

#include <string.h>

#include "base/hash.h"
#include "draft.h"
#include "tree.h"
#include "wire.h"
#include "wishes.h"

enum {
    BIG_STRINGS = 16,    /* each of 250 characters */
    BIG_ADDRESSES = 200, /* each of 16 bytes as a record */
    SERVER_COOKIE_BYTES = 16,
};

static void put_text(struct draft *draft, uint32_t ttl_s, bool big, uint64_t hash)
{
    unsigned strings = big ? BIG_STRINGS : 1, chars = big ? 250 : 16;
    draft_record(draft, DRAFT_QUESTION, WIRE_TYPE_TXT, ttl_s, (uint16_t)(strings * (chars + 1)));
    for (unsigned i = 0; i < strings; i++) {
        *draft->p++ = (uint8_t)chars;
        for (unsigned j = 0; j < chars; j++)
            *draft->p++ = (uint8_t) "0123456789abcdef"[hash >> (j % 16 * 4) & 15];
    }
    draft->answers++;
}

/* Writes the name of a server below the queried name: "ns" or "mx", and a pointer. */
static void answer_put_host(struct draft *draft, const char *label, uint16_t owner, uint16_t type,
                            uint32_t ttl_s)
{
    bool is_mx = type == WIRE_TYPE_MX;
    draft_record(draft, owner, type, ttl_s, is_mx ? 7 : 5);
    if (is_mx) {
        put_u16(draft->p, 10);
        draft->p += 2;
    }
    *draft->p++ = 2;
    draft_bytes(draft, label, 2);
    put_u16(draft->p, DRAFT_QUESTION);
    draft->p += 2;
    draft->answers++;
}

/* Points the alias to "target" in the top-level domain of the name. Returns the owner of the
 * next records. */
static uint16_t answer_put_alias(struct draft *draft, uint16_t zone, uint32_t ttl_s)
{
    draft_record(draft, DRAFT_QUESTION, WIRE_TYPE_CNAME, ttl_s, 9);
    uint16_t target = (uint16_t)(0xC000 | (draft->p - draft->start));
    draft_bytes(draft, "\6target", 7);
    put_u16(draft->p, zone);
    draft->p += 2;
    draft->answers++;
    return target;
}

/* Writes the records of a positive answer. Some types have no records. */
static void put_answers(struct draft *draft, const struct wire_query *query,
                        const struct wishes *wishes, uint16_t zone, uint32_t ttl_s)
{
    uint64_t hash = hash_bytes(query->lower, query->name_len, 0);
    uint16_t owner = DRAFT_QUESTION;
    if (wishes->alias && query->type != WIRE_TYPE_CNAME)
        owner = answer_put_alias(draft, zone, ttl_s);
    switch (query->type) {
    case WIRE_TYPE_A:
    case WIRE_TYPE_AAAA:
        for (int i = 0; i < (wishes->big ? BIG_ADDRESSES : 1); i++)
            draft_address(draft, owner, query->type, ttl_s, hash + (uint64_t)i);
        break;
    case WIRE_TYPE_TXT:
        put_text(draft, ttl_s, wishes->big, hash);
        break;
    case WIRE_TYPE_CNAME:
        if (wishes->alias)
            answer_put_alias(draft, zone, ttl_s);
        break;
    case WIRE_TYPE_NS:
        answer_put_host(draft, "ns", owner, WIRE_TYPE_NS, ttl_s);
        break;
    case WIRE_TYPE_PTR:
        answer_put_host(draft, "pt", owner, WIRE_TYPE_PTR, ttl_s);
        break;
    case WIRE_TYPE_MX:
        answer_put_host(draft, "mx", owner, WIRE_TYPE_MX, ttl_s);
        break;
    case WIRE_TYPE_SOA:
        draft_soa(draft, owner, ttl_s);
        draft->answers++;
        break;
    default:
        break;
    }
}

/* RFC 7873: the cookie is a function of the client's cookie and address. Clients on loopback need
 * no secret, and a fixed function makes runs repeatable. */
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
        draft_bytes(draft, query->cookie.data, 8);
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

static enum rcode answer_judge(const struct answer_style *style, const struct wire_query *query,
                               const struct wishes *wishes, bool is_stream, const struct addr *from)
{
    if (query->edns_version != 0)
        return RCODE_BADVERS;
    if (query->flags >> 11 & 15)
        return RCODE_NOTIMP;
    if (style->cookies == ANSWER_COOKIES_REQUIRED && !is_stream && !is_cookie_right(query, from))
        return RCODE_BADCOOKIE;
    /* types 251 and 252 are transfers */
    if (query->class != WIRE_CLASS_IN || (query->type >= 251 && query->type <= 252))
        return RCODE_REFUSED;
    return wishes->rcode;
}

struct verdict_flags {
    enum rcode rcode;
    bool is_authoritative, has_recursion, is_truncated;
};

static void put_header(struct draft *draft, const struct wire_query *query,
                       const struct wishes *wishes, struct verdict_flags is)
{
    uint8_t *p = draft->start;
    uint16_t flags = query->flags & (0x7800 | WIRE_RD | WIRE_CD);
    flags |= WIRE_QR | (is.is_authoritative ? WIRE_AA : 0) | (is.has_recursion ? WIRE_RA : 0) |
             (is.is_truncated ? WIRE_TC : 0);
    put_u16(p, wishes->wrong_id ? (uint16_t)~query->id : query->id);
    put_u16(p + 2, (uint16_t)(flags | (is.rcode & 15)));
    put_u16(p + 4, 1);
    put_u16(p + 6, draft->answers);
    put_u16(p + 8, draft->authorities);
    put_u16(p + 10, (uint16_t)(draft->additionals + query->has_edns));
}

static void put_question(struct draft *draft, struct span message, const struct wire_query *query,
                         const struct wishes *wishes, bool lower_case)
{
    draft->p = draft->start + WIRE_HEADER_BYTES;
    draft_bytes(draft, message.data + WIRE_HEADER_BYTES,
                (size_t)query->question_end - WIRE_HEADER_BYTES);
    uint8_t *name = draft->start + WIRE_HEADER_BYTES;
    if (lower_case)
        memcpy(name, query->lower, query->name_len);
    if (wishes->wrong_name)
        name[1] ^= 1;
}

/* Answers messages that do not parse, too: the header returns without a question (RFC 1035 4.1.1).
 */
static struct bench_answer make_formerr(struct span message, uint8_t *out)
{
    struct bench_answer answer = {.verdict = ANSWER_SILENT};
    if (message.len < WIRE_HEADER_BYTES || message.data[2] & 0x80)
        return answer;
    memset(out, 0, WIRE_HEADER_BYTES);
    memcpy(out, message.data, 2);
    put_u16(out + 2, (uint16_t)(WIRE_QR | (get_u16(message.data + 2) & 0x7900) | RCODE_FORMERR));
    answer.verdict = ANSWER_SEND;
    answer.len = WIRE_HEADER_BYTES;
    return answer;
}

/* Answers as the server at a place in the tree. */
static struct verdict_flags put_tree(struct draft *draft, const struct answer_style *style,
                                     const struct wire_query *query, const struct wishes *wishes)
{
    struct tree_ttls ttls = {wishes->has_ttl ? wishes->ttl_s : style->ttl_s, style->negative_ttl_s};
    struct tree_answer said = tree_put(style->place, query, &ttls, draft);
    return (struct verdict_flags){.rcode = said.rcode, .is_authoritative = said.is_authoritative};
}

static void put_body(struct draft *draft, const struct answer_style *style,
                     const struct wire_query *query, const struct wishes *wishes, enum rcode rcode)
{
    uint16_t zone = (uint16_t)(0xC000 | (WIRE_HEADER_BYTES + wishes->last_label));
    if (rcode == RCODE_NOERROR && !wishes->nodata)
        put_answers(draft, query, wishes, zone, wishes->has_ttl ? wishes->ttl_s : style->ttl_s);
    bool is_negative = rcode == RCODE_NXDOMAIN || (rcode == RCODE_NOERROR && draft->answers == 0);
    if (is_negative) {
        draft_soa(draft, zone, wishes->has_ttl ? wishes->ttl_s : style->negative_ttl_s);
        draft->authorities = 1;
    }
}

struct bench_answer answer_make(const struct answer_style *style, struct span message,
                                bool is_stream, const struct addr *from, uint8_t *out)
{
    struct wire_query query;
    struct wishes wishes;
    if (!wire_parse_query(message, &query))
        return make_formerr(message, out);
    wishes_read(&wishes, &query, is_stream);
    struct bench_answer answer = {
        .verdict = wishes.verdict, .has_delay = wishes.has_delay, .delay_ms = wishes.delay_ms};
    struct draft draft = {.start = out};
    put_question(&draft, message, &query, &wishes, style->lower_case);
    uint8_t *after_question = draft.p;
    struct verdict_flags is = {.rcode = answer_judge(style, &query, &wishes, is_stream, from),
                               .is_authoritative = style->authoritative,
                               .has_recursion = !style->authoritative};
    if (style->place && is.rcode == wishes.rcode)
        is = put_tree(&draft, style, &query, &wishes);
    else
        put_body(&draft, style, &query, &wishes, is.rcode);

    size_t edns_bytes = query.has_edns ? 11 + 28 : 0; /* the longest option is a cookie */
    bool too_long = (size_t)(draft.p - out) + edns_bytes > query.udp_size;
    is.is_truncated = !is_stream && (too_long || wishes.truncated);
    if (is.is_truncated) {
        draft.p = after_question;
        draft.answers = draft.authorities = draft.additionals = 0;
    }
    if (query.has_edns)
        put_edns(&draft, style, &query, is.rcode, is_stream, from);
    put_header(&draft, &query, &wishes, is);
    answer.len = (size_t)(draft.p - out);
    return answer;
}
