/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * A client's message up to its reply: whatever comes in, what goes out parses, is a reply to it,
 * echoes its question and is no longer than allowed. The first byte of the input chooses the
 * transport and the answer, the rest is the message.
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

enum { RECORDS_MAX = 64, CHOICE_STREAM = 1, CHOICE_AD = 2, CHOICE_EDE = 4 };

static uint8_t bytes[MESSAGE_MAX];
static uint16_t offsets[RECORDS_MAX];

/* An answer as the resolver would have it, with as many records as the choice says. */
static struct answer make_answer(const struct question *question, uint8_t choice)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct question folded = *question;
    struct build build;
    struct message message;
    folded.name = name_fold(question->name, wire);
    build_init(&build, bytes, sizeof(bytes));
    build_header(&build, 0, HEADER_QR | HEADER_RA | (choice & CHOICE_AD ? HEADER_AD : 0));
    build_question(&build, &folded);
    build_section(&build, SECTION_ANSWER);
    for (int i = 0; i < choice >> 3; i++) {
        build_pointer(&build, HEADER_LEN);
        build_rr_begin_owned(&build, question->type, RRCLASS_IN, (uint32_t)i * 7);
        build_bytes(&build, wire, question->name.len);
        build_rr_end(&build);
    }
    struct answer answer = {.message = span_of(bytes, build_finish(&build)),
                            .ttl_offsets = offsets};
    MUST(message_parse(&message, answer.message) == MESSAGE_OK);
    answer.ttl_count = (uint16_t)ttl_collect(&message, offsets, RECORDS_MAX);
    answer.ede_count = choice & CHOICE_EDE ? 2 : 0;
    answer.ede[0] = EDE_STALE_ANSWER;
    answer.ede[1] = EDE_NETWORK_ERROR;
    return answer;
}

static void check_reply(const struct reply *reply, const struct query *query)
{
    uint8_t *out = malloc(reply->len);
    struct message message;
    reply_write(reply, out, 11 * 1000000);
    MUST(message_parse(&message, span_of(out, reply->len)) == MESSAGE_OK);
    MUST(message_is_answer(&message) && message.id == query->id && !message.has_trailing);
    MUST(message.has_question == query->has_question);
    MUST(message.edns.present == query->has_edns);
    MUST(!query->has_question || question_equal_exact(&message.question, &query->question));
    MUST(reply->rules->stream || reply->len <= 1232);
    MUST(reply->rules->stream || reply->len <= query->udp_size);
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct reply_rules rules =
        *data & CHOICE_STREAM ? reply_rules_stream(1232, 30000000) : reply_rules_udp(1232);
    struct query query;
    struct query_error error;
    struct reply reply;
    struct answer answer;
    switch (query_check(&query, &error, span_of(data + 1, size - 1))) {
    case QUERY_DROP:
        return 0;
    case QUERY_ERROR:
        reply_plan_error(&reply, &query, &error, true, &rules);
        break;
    case QUERY_RESOLVE:
        answer = make_answer(&query.question, *data);
        reply_plan_answer(&reply, &query, &answer, &rules);
        break;
    }
    check_reply(&reply, &query);
    return 0;
}
