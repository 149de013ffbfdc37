/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Makes a reply: one copy of the answer, then the few bytes that differ for each client. The
 * resolver makes the answer, and query.c decides which queries get one. Invariant: reply_write()
 * writes exactly the planned length, and no datagram is longer than its client takes.
 */
#include "serve/reply.h"

#include <string.h>

#include "base/check.h"
#include "dns/header.h"
#include "dns/message.h"
#include "dns/rrtype.h"
#include "dns/word.h"
#include "serve/nsid.h"
#include "serve/reply_tsig.h"
#include "serve/rotate.h"

enum {
    OPT_FIXED = 11,                     /* root, type, class, TTL, RDLENGTH */
    OPTION_FIXED = 4,                   /* code and length */
    EDE_TEXT_MAX = ANSWER_TEXT_MAX - 1, /* bytes of an extended error's text */
    STREAM_MAX = 65535,                 /* RFC 1035 section 4.2.2 */
    DATAGRAM_MIN = 512,                 /* every client takes this much */
    DATAGRAM_MAX = 4096,                /* what udp_server.h has room for */
};

struct reply_rules reply_rules_udp(uint16_t max_udp_size)
{
    return (struct reply_rules){.udp_size = MIN(MAX(max_udp_size, DATAGRAM_MIN), DATAGRAM_MAX)};
}

struct reply_rules reply_rules_stream(uint16_t max_udp_size, uint64_t idle_timeout_us)
{
    struct reply_rules rules = reply_rules_udp(max_udp_size);
    rules.stream = rules.keepalive = true;
    rules.keepalive_100ms = (uint16_t)MIN(idle_timeout_us / 100000, UINT16_MAX);
    return rules;
}

/* ---- planning ---- */

/* To a client that asked for it; and to every client that is to close (RFC 7828 section 3.3.2). */
static bool tells_idle_time(const struct reply *reply)
{
    return reply->rules->keepalive &&
           (reply->query->has_keepalive || reply->rules->keepalive_100ms == 0);
}

/* The identifier for a client that asked for it; NULL: none. */
static const char *nsid_for(const struct query *query, const struct reply_rules *rules)
{
    return query->has_nsid && rules->nsid && *rules->nsid ? rules->nsid : NULL;
}

/* Returns the text of an extended error. The first has all of it; a network error behind that one
 * has only its cause: the words behind the colon. */
static struct span reply_error_text(const struct reply *reply, uint16_t code, bool is_first)
{
    const char *text = reply->ede_text;
    if (!is_first) {
        const char *colon = code == EDE_NETWORK_ERROR ? strstr(text, ": ") : NULL;
        text = colon ? colon + 2 : "";
    }
    return span_of((const uint8_t *)text, strnlen(text, EDE_TEXT_MAX));
}

static uint16_t opt_len(const struct reply *reply)
{
    if (!reply->query->has_edns)
        return 0;
    size_t len = OPT_FIXED;
    if (tells_idle_time(reply))
        len += OPTION_FIXED + 2;
    if (reply->query->sends_cookie)
        len += OPTION_FIXED + COOKIE_BYTES;
    if (reply->nsid)
        len += OPTION_FIXED + nsid_len(reply->nsid);
    for (unsigned i = 0; i < reply->ede_count; i++)
        len += OPTION_FIXED + 2 + reply_error_text(reply, reply->ede[i], i == 0).len;
    return (uint16_t)len;
}

static size_t limit_of(const struct reply *reply)
{
    if (reply->rules->stream)
        return STREAM_MAX;
    return MIN(reply->query->udp_size, reply->rules->udp_size);
}

static size_t question_len(const struct query *query)
{
    return query->has_question ? query->question.name.len + 4u : 0;
}

/* QR, and the bits that are copied from the query (RFC 1035 section 4.1.1, RFC 4035 3.2.2). */
static uint16_t echoed_flags(const struct query *query)
{
    return HEADER_QR | (query->flags & (HEADER_OPCODE_MASK | HEADER_RD | HEADER_CD));
}

/* Leaves out records that merely save a further query: addresses, and the servers of the zone. TC
 * is for required records that do not fit (RFC 2181 section 9). With DO, authority may hold a
 * proof. */
static bool reply_leave_out(struct reply *reply)
{
    const struct answer *answer = reply->answer;
    bool has_proof = answer->kind != ANSWER_POSITIVE || reply->query->dnssec_ok;
    struct message message;
    if (message_parse(&message, answer->message) != MESSAGE_OK)
        return false;
    for (int at = SECTION_ADDITIONAL; at >= (has_proof ? SECTION_ADDITIONAL : SECTION_AUTHORITY);
         at--) {
        reply->left_out = (enum section)at;
        reply->body_len = message.offsets[at];
        reply->len = reply->body_len + reply->opt_len;
        if (reply->len <= limit_of(reply))
            return true;
    }
    return false;
}

/* Whether the reply has room for this many bytes and its OPT record. Notes both lengths. */
static bool reply_fits(struct reply *reply, size_t body_len)
{
    reply->opt_len = opt_len(reply);
    reply->len = body_len + reply->opt_len;
    return reply->len <= limit_of(reply);
}

/* Leaves out the text of the extended error, if the reply is too long with it. */
static bool reply_fits_without_text(struct reply *reply, size_t body_len)
{
    if (reply_fits(reply, body_len))
        return true;
    reply->ede_text = "";
    return reply_fits(reply, body_len);
}

/* Plans a reply without records. The name, the identifier and the errors together may be too long.
 * The rest always fits. */
static void plan_bare(struct reply *reply)
{
    size_t len = HEADER_LEN + question_len(reply->query);
    if (reply_fits_without_text(reply, len))
        return;
    reply->ede_count = 0;
    if (reply_fits(reply, len))
        return;
    reply->nsid = NULL;
    (void)reply_fits(reply, len);
}

static void reply_truncate(struct reply *reply)
{
    reply->is_truncated = true;
    reply->flags |= HEADER_TC;
    plan_bare(reply);
}

/* The last step: fills the rest of the block, after TSIG. */
static void plan_padding(struct reply *reply)
{
    size_t len = reply->len + OPTION_FIXED;
    if (!reply->rules->pads || !reply->query->has_padding || reply->opt_len == 0 ||
        len > limit_of(reply))
        return;
    size_t blocks = (len + EDNS_PADDING_ANSWER - 1) / EDNS_PADDING_ANSWER;
    size_t padded = MIN(blocks * EDNS_PADDING_ANSWER, limit_of(reply));
    reply->padding_len = (uint16_t)(padded - reply->len);
    reply->opt_len += reply->padding_len;
    reply->len = padded;
}

void reply_plan_answer(struct reply *reply, const struct query *query, const struct answer *answer,
                       const struct reply_rules *rules)
{
    MUST(answer->message.len >= HEADER_LEN + question_len(query));
    MUST(answer->ede_count <= REPLY_ERRORS_MAX);
    uint16_t flags = header_flags(answer->message.data);
    if (!(query->flags & HEADER_AD) && !query->dnssec_ok)
        flags &= (uint16_t)~HEADER_AD;
    reply->query = query;
    reply->answer = answer;
    reply->rules = rules;
    reply->ede_text = reply_text_of(answer);
    reply->flags = flags | echoed_flags(query);
    reply->rcode = flags & HEADER_RCODE_MASK;
    reply->ede_count = answer->ede_count;
    reply->ede[0] = answer->ede[0];
    reply->ede[1] = answer->ede[1];
    reply->nsid = nsid_for(query, rules);
    reply->padding_len = 0;
    reply->tsig_len = 0;
    reply->is_truncated = false;
    reply->left_out = SECTION_COUNT;
    reply->body_len = answer->message.len;
    if (!reply_fits_without_text(reply, reply->body_len) && !reply_leave_out(reply))
        reply_truncate(reply);
    plan_padding(reply);
}

/* Adds TSIG if there is room. Without it the client gets the error but may not believe it. */
static void plan_tsig(struct reply *reply)
{
    size_t len = reply_tsig_len(reply->query->tsig_message);
    if (reply->len + len > limit_of(reply))
        return;
    reply->tsig_len = (uint16_t)len;
    reply->len += len;
}

/* RD, RA and CD have a meaning only for the opcode QUERY. */
static uint16_t flags_of_error(const struct query *query, uint16_t rcode, bool is_recursive)
{
    uint16_t opcode = query->flags & HEADER_OPCODE_MASK;
    if (opcode != OPCODE_QUERY << 11)
        return HEADER_QR | opcode | (rcode & HEADER_RCODE_MASK);
    return echoed_flags(query) | (rcode & HEADER_RCODE_MASK) | (is_recursive ? HEADER_RA : 0);
}

void reply_plan_error(struct reply *reply, const struct query *query,
                      const struct query_error *error, bool is_recursive,
                      const struct reply_rules *rules)
{
    *reply = (struct reply){
        .query = query,
        .rules = rules,
        .ede_text = error->text,
        .flags = flags_of_error(query, error->rcode, is_recursive),
        .rcode = error->rcode,
        .ede_count = error->ede != EDE_NONE,
        .ede = {error->ede},
        .nsid = nsid_for(query, rules),
    };
    plan_bare(reply);
    if (error->rcode == RCODE_NOTAUTH)
        plan_tsig(reply);
    plan_padding(reply);
}

void reply_plan_truncated(struct reply *reply, const struct query *query,
                          const struct reply_rules *rules)
{
    static const struct query_error none = {RCODE_NOERROR, EDE_NONE, ""};
    reply_plan_error(reply, query, &none, true, rules);
    reply->flags |= HEADER_TC;
}

/* ---- writing ---- */

static uint8_t *reply_write_option(uint8_t *at, uint16_t code, uint16_t len)
{
    put_u16(at, code);
    put_u16(at + 2, len);
    return at + OPTION_FIXED;
}

static uint8_t *write_errors(const struct reply *reply, uint8_t *at)
{
    for (unsigned i = 0; i < reply->ede_count; i++) {
        struct span text = reply_error_text(reply, reply->ede[i], i == 0);
        at = reply_write_option(at, EDNS_EDE, (uint16_t)(2 + text.len));
        put_u16(at, reply->ede[i]);
        memcpy(at + 2, text.data, text.len);
        at += 2 + text.len;
    }
    return at;
}

/* Padding is zeros (RFC 7830 section 3). */
static uint8_t *write_padding(const struct reply *reply, uint8_t *at)
{
    if (reply->padding_len == 0)
        return at;
    size_t len = reply->padding_len - (size_t)OPTION_FIXED;
    at = reply_write_option(at, EDNS_PADDING, (uint16_t)len);
    memset(at, 0, len);
    return at + len;
}

/* RFC 6891 section 6.1.2; DO is copied (RFC 3225 section 3). */
static uint8_t *reply_write_opt(const struct reply *reply, uint8_t *at)
{
    at[0] = 0;
    put_u16(at + 1, RRTYPE_OPT);
    put_u16(at + 3, reply->rules->udp_size);
    at[5] = (uint8_t)(reply->rcode >> 4);
    at[6] = 0;
    put_u16(at + 7, reply->query->dnssec_ok ? EDNS_FLAG_DO : 0);
    put_u16(at + 9, (uint16_t)(reply->opt_len - OPT_FIXED));
    at += OPT_FIXED;
    if (tells_idle_time(reply)) {
        at = reply_write_option(at, EDNS_TCP_KEEPALIVE, 2);
        put_u16(at, reply->rules->keepalive_100ms);
        at += 2;
    }
    if (reply->query->sends_cookie) {
        at = reply_write_option(at, EDNS_COOKIE, COOKIE_BYTES);
        memcpy(at, reply->query->cookie, COOKIE_BYTES);
        at += COOKIE_BYTES;
    }
    if (reply->nsid) {
        size_t len = nsid_len(reply->nsid);
        at = reply_write_option(at, EDNS_NSID, (uint16_t)len);
        nsid_write(reply->nsid, at);
        at += len;
    }
    return write_padding(reply, write_errors(reply, at));
}

/* Header with counts of zero, and the question. */
static uint8_t *write_start(const struct query *query, uint8_t *out)
{
    memset(out, 0, HEADER_LEN);
    if (!query->has_question)
        return out + HEADER_LEN;
    struct name name = query->question.name;
    uint8_t *at = out + HEADER_LEN;
    header_set_count(out, SECTION_QUESTION, 1);
    word_copy(at, name.wire, name.len);
    put_u16(at + name.len, query->question.type);
    put_u16(at + name.len + 2, query->question.cls);
    return at + name.len + 4;
}

/* Rotates by the query's id, which is random, and the instant, so workers share no counter. */
static __attribute__((noinline)) void reply_rotate(const struct reply *reply, uint8_t *out,
                                                   uint64_t now_us)
{
    rotate_addresses(reply->answer, out, reply->body_len, HEADER_LEN + question_len(reply->query),
                     reply->query->id + (uint32_t)now_us);
}

/* The answer's bytes with the client's spelling of the name (0x20) and current TTLs. */
static uint8_t *write_answer(const struct reply *reply, uint8_t *out, uint64_t now_us)
{
    const struct answer *answer = reply->answer;
    struct name name = reply->query->question.name;
    answer_copy(answer, reply->body_len, now_us, out);
    if (reply->rules->rotates)
        reply_rotate(reply, out, now_us);
    word_copy(out + HEADER_LEN, name.wire, name.len);
    for (int at = reply->left_out; at < SECTION_COUNT; at++)
        header_set_count(out, (enum section)at, 0);
    return out + reply->body_len;
}

static bool has_body(const struct reply *reply)
{
    return reply->answer && !reply->is_truncated;
}

void reply_write(const struct reply *reply, uint8_t *out, uint64_t now_us)
{
    const struct query *query = reply->query;
    uint8_t *at = has_body(reply) ? write_answer(reply, out, now_us) : write_start(query, out);
    uint16_t additional = header_count(out, SECTION_ADDITIONAL);
    if (reply->opt_len > 0) {
        at = reply_write_opt(reply, at);
        additional++;
    }
    if (reply->tsig_len > 0) {
        at = reply_tsig_write(query->tsig_message, at);
        additional++;
    }
    header_set_id(out, query->id);
    header_set_flags(out, reply->flags);
    header_set_count(out, SECTION_ADDITIONAL, additional);
    MUST((size_t)(at - out) == reply->len);
}
