/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * From a client's message to its reply. The reply parses, answers the message, echoes its question,
 * has only permitted flags and respects the size limit. It has the answer's records with aged TTLs,
 * or none with TC. It is padded if and only if it must be. It has a cookie that is valid the next
 * time if and only if the message had a usable cookie. The first two bytes choose the transport and
 * the answer; the rest is the message.
 */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "dns/build.h"
#include "dns/message.h"
#include "dns/rrtype.h"
#include "dns/ttl.h"
#include "serve/query.h"
#include "serve/reply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    RECORDS_MAX = 64,
    RR_FIXED = 12,    /* the bytes of a record before its data */
    OPTION_FIXED = 4, /* the bytes of an EDNS option before its data */
    AGE_S = 11,
};

/* Bits of the first byte. The other bits are the number of records. */
enum { CHOICE_STREAM = 1, CHOICE_AD = 2, CHOICE_EDE = 4 };

/* A bit of the second byte: padding over streams, and over UDP options that may be too long for a
 * datagram. Its other bits make the records longer, even longer than a message may be. */
enum { CHOICE_PADS = 1, CHOICE_EXPLAINS = 1, FILL_STEP = 17 };

static const char long_text[] =
    "ascii_a text of two hundred bytes, so that it does not fit into a small datagram together "
    "with a long name, a cookie and an extended error: its reply has to leave something out, and "
    "never what a client needs.";

static uint8_t bytes[MESSAGE_MAX];
static uint16_t offsets[RECORDS_MAX];

/* Makes an answer of the resolver with the chosen number of records. The first half is in the
 * answer section, and the others are in authority and additional. */
static struct answer make_answer(const struct question *question, uint8_t choice, uint8_t sizes)
{
    static const uint8_t fill[(UINT8_MAX >> 1) * FILL_STEP];
    size_t fill_len = (size_t)(sizes >> 1) * FILL_STEP;
    uint8_t wire[NAME_WIRE_MAX];
    struct question folded = *question;
    struct build build;
    struct message message;
    uint16_t type = question->type == RRTYPE_ANY ? RRTYPE_NULL : question->type;
    folded.name = name_fold(question->name, wire);
    build_init(&build, bytes, sizeof(bytes));
    build_header(&build, 0, HEADER_QR | HEADER_RA | (choice & CHOICE_AD ? HEADER_AD : 0));
    build_question(&build, &folded);
    build_section(&build, SECTION_ANSWER);
    for (int i = 0, records = choice >> 3; i < records; i++) {
        if (build_room(&build) < RR_FIXED + question->name.len + fill_len)
            break;
        if (i >= records / 2)
            build_section(&build, i >= records * 3 / 4 ? SECTION_ADDITIONAL : SECTION_AUTHORITY);
        build_pointer(&build, HEADER_LEN);
        build_rr_begin_owned(&build, type, RRCLASS_IN, (uint32_t)i * 7);
        build_bytes(&build, wire, question->name.len);
        build_bytes(&build, fill, fill_len);
        build_rr_end(&build);
    }
    struct answer answer = {.message = span_of(bytes, build_finish(&build)),
                            .ttl_offsets = offsets};
    MUST(message_parse(&message, answer.message) == MESSAGE_OK);
    answer.ttl_count = (uint16_t)ttl_collect(&message, offsets, RECORDS_MAX);
    answer.kind = choice & CHOICE_EDE ? ANSWER_NXDOMAIN : ANSWER_POSITIVE;
    answer.error = choice & CHOICE_EDE ? ERR_TLS_UNTRUSTED : ERR_OK;
    answer.ede_count = choice & CHOICE_EDE ? 2 : 0;
    answer.ede[0] = EDE_STALE_ANSWER;
    answer.ede[1] = EDE_NETWORK_ERROR;
    return answer;
}

/* RFC 1035 section 4.1.1 and RFC 6840 section 5.7: AA and Z are clear, and AD is set only for
 * clients that request it. RD, RA and CD belong to the opcode QUERY. */
static void check_flags(const struct message *message, const struct query *query)
{
    const uint16_t opcode = query->flags & HEADER_OPCODE_MASK, echoed = HEADER_RD | HEADER_CD;
    MUST(message->edns.dnssec_ok == query->dnssec_ok && message->edns.version == 0);
    if (opcode != OPCODE_QUERY << 11) {
        MUST((message->flags & ~HEADER_RCODE_MASK) == (HEADER_QR | opcode));
        return;
    }
    MUST(message_opcode(message) == OPCODE_QUERY);
    MUST((message->flags & echoed) == (query->flags & echoed));
    MUST(!(message->flags & (HEADER_AA | HEADER_Z)));
    MUST(message->flags & HEADER_RA);
    MUST(!(message->flags & HEADER_AD) || query->flags & HEADER_AD || query->dnssec_ok);
}

static unsigned count_of(const struct message *message)
{
    return message->counts[SECTION_ANSWER] + message->counts[SECTION_AUTHORITY] +
           message->counts[SECTION_ADDITIONAL] - message->edns.present - message->has_tsig;
}

/* With TC the reply has only the question. Otherwise it has the answer's records in order, at least
 * the required ones, each with its own TTL. */
static void check_records(const struct message *message, const struct answer *answer)
{
    struct message whole;
    MUST(message_parse(&whole, answer->message) == MESSAGE_OK);
    if (message->flags & HEADER_TC) {
        MUST(count_of(message) == 0);
        return;
    }
    MUST(message->counts[SECTION_ANSWER] == whole.counts[SECTION_ANSWER]);
    if (answer->kind != ANSWER_POSITIVE || message->edns.dnssec_ok)
        MUST(message->counts[SECTION_AUTHORITY] == whole.counts[SECTION_AUTHORITY]);
    struct rr_iter had = message_all_rrs(&whole), has = message_all_rrs(message);
    for (struct rr before, after; message_rr_next(&has, &after);) {
        if (after.type == RRTYPE_OPT && after.section == SECTION_ADDITIONAL)
            continue;
        MUST(message_rr_next(&had, &before) && after.section == before.section);
        uint32_t left = before.ttl > AGE_S ? before.ttl - AGE_S : 0;
        MUST(after.ttl == MAX(left, (uint32_t)ANSWER_TTL_FLOOR_S));
        MUST(span_equal(message_rdata(message, &after), message_rdata(&whole, &before)));
    }
}

/* RFC 8467 section 4.1: the reply to a padded query over TLS is padded with zeros. */
static void check_padding(const struct message *message, const struct reply *reply)
{
    bool is_due = reply->rules->pads && reply->query->has_padding;
    struct span options = message->edns.options;
    struct edns_option option;
    unsigned count = 0;
    size_t len = message->bytes.len;
    for (; edns_option_next(&options, &option); count += option.code == EDNS_PADDING)
        for (size_t i = 0; option.code == EDNS_PADDING && i < option.data.len; i++)
            MUST(option.data.data[i] == 0);
    MUST(count <= is_due);
    MUST(!is_due || len % EDNS_PADDING_ANSWER == 0 || len == MESSAGE_MAX ||
         (count == 0 && len > MESSAGE_MAX - OPTION_FIXED));
}

static const struct cookie_secrets secrets = {.count = 1, .list = {{1, 2, 3}}};
static const struct addr client = {.in = {.sin_family = AF_INET}};

enum { NOW_S = 1559731985 };

/* Decides as gate.c does. */
static void judge_cookie(struct query *query)
{
    if (!query->has_cookie || !cookie_is_sound(query->cookie_len))
        return;
    query->has_valid_cookie =
        cookie_answer(query->cookie, query->cookie_len, &secrets, &client, NOW_S);
    query->sends_cookie = true;
}

static void check_cookie(const struct message *message, const struct query *query)
{
    struct span data;
    uint8_t copy[COOKIE_BYTES];
    enum edns_found found = edns_find(&message->edns, EDNS_COOKIE, &data);
    MUST((found == EDNS_FOUND) == query->sends_cookie);
    if (found != EDNS_FOUND)
        return;
    MUST(data.len == COOKIE_BYTES);
    memcpy(copy, data.data, COOKIE_BYTES);
    MUST(cookie_answer(copy, COOKIE_BYTES, &secrets, &client, NOW_S));
}

static void check_reply(const struct reply *reply, const struct query *query)
{
    uint8_t *out = malloc(reply->len);
    struct message message;
    reply_write(reply, out, AGE_S * 1000000);
    MUST(message_parse(&message, span_of(out, reply->len)) == MESSAGE_OK);
    MUST(message_is_answer(&message) && message.id == query->id && !message.has_trailing);
    MUST(message.has_question == query->has_question);
    MUST(message.edns.present == query->has_edns);
    MUST(!query->has_question || question_equal_exact(&message.question, &query->question));
    MUST(reply->rules->stream || reply->len <= 1232);
    MUST(reply->rules->stream || reply->len <= query->udp_size);
    check_flags(&message, query);
    check_padding(&message, reply);
    check_cookie(&message, query);
    if (reply->answer)
        check_records(&message, reply->answer);
    else
        MUST(count_of(&message) == 0);
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    struct reply_rules rules =
        *data & CHOICE_STREAM ? reply_rules_stream(1232, 30000000) : reply_rules_udp(1232);
    rules.pads = rules.stream && data[1] & CHOICE_PADS;
    bool explains = !rules.stream && data[1] & CHOICE_EXPLAINS;
    rules.nsid = explains ? long_text : NULL;
    struct query query;
    struct query_error error;
    struct reply reply;
    struct answer answer;
    enum query_verdict verdict = query_check(&query, &error, span_of(data + 2, size - 2));
    if (verdict == QUERY_DROP)
        return 0;
    judge_cookie(&query);
    switch (verdict) {
    case QUERY_DROP:
    case QUERY_LIMITED:
        MUST(!"these do not come here");
        return 0;
    case QUERY_COOKIE:
        MUST(!query.has_question && query.sends_cookie);
        reply_plan_truncated(&reply, &query, &rules);
        break;
    case QUERY_ERROR:
        reply_plan_error(&reply, &query, &error, true, &rules);
        break;
    case QUERY_RESOLVE:
        answer = make_answer(&query.question, data[0], data[1]);
        answer.text = explains && answer.ede_count > 0 ? long_text : NULL;
        reply_plan_answer(&reply, &query, &answer, &rules);
        break;
    }
    check_reply(&reply, &query);
    return 0;
}
