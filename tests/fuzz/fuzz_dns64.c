/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Judges any sound message as an answer to AAAA and makes records from it as an answer to A. An
 * answer that it writes is sound and has no AD and no TTL above the bound.
 */
#include <string.h>

#include "base/check.h"
#include "dns/message.h"
#include "dns/rrtype.h"
#include "resolve/dns64.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TTL_S = 100 };

static struct compose_space space;

static void check_written(const struct answer *written)
{
    struct message message;
    MUST(message_parse(&message, written->message) == MESSAGE_OK);
    MUST(!(message.flags & HEADER_AD));
    struct rr_iter iter = message_rrs(&message, SECTION_ANSWER);
    for (struct rr rr; message_rr_next(&iter, &rr);)
        MUST(rr.type != RRTYPE_A && (rr.type != RRTYPE_AAAA || rr.rdata_len == 16));
}

static void check_made(const struct dns64_options *options, const struct question *question,
                       const struct answer *answer)
{
    struct answer made;
    struct message message;
    if (dns64_make(options, DNS64_SECOND, &made, &space, question, TTL_S, answer, 0) != DNS64_MADE)
        return;
    check_written(&made);
    MUST(message_parse(&message, made.message) == MESSAGE_OK);
    struct rr_iter iter = message_rrs(&message, SECTION_ANSWER);
    for (struct rr rr; message_rr_next(&iter, &rr);)
        MUST(rr.type != RRTYPE_AAAA || rr.ttl <= TTL_S);
}

/* The answer must be about the reverse name itself, and never about the next name in the message.
 */
static void check_reverse(const struct dns64_options *options, const struct question *question,
                          const struct answer *answer)
{
    struct answer made;
    struct question next;
    uint8_t wire[NAME_WIRE_MAX];
    MUST(dns64_question(options, DNS64_REVERSE, question, &next, wire) && next.name.len > 1);
    MUST(dns64_make(options, DNS64_REVERSE, &made, &space, question, TTL_S, answer, 0) ==
         DNS64_MOVED);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dns64_options options = {0};
    struct message message;
    struct addr client;
    uint8_t wire[NAME_WIRE_MAX];
    uint32_t ttl_s;
    if (size < 2 || message_parse(&message, span_of(data + 1, size - 1)) != MESSAGE_OK ||
        !message.has_question)
        return 0;
    MUST(prefix_parse(&options.prefix, "64:ff9b::/96") == ERR_OK);
    MUST(addr_parse(&client, "2001:db8::1", 53) == ERR_OK);
    struct question question = message.question;
    question.name = name_fold(question.name, wire);
    struct answer answer = {.message = message.bytes, .kind = data[0] % ANSWER_KINDS};
    (void)dns64_judge(&options, &question, &answer, 0, &ttl_s);
    MUST(ttl_s <= INT32_MAX);
    check_made(&options, &question, &answer);
    struct answer reduced;
    if (dns64_reduce(&options, &reduced, &space, &question, &answer, 0))
        check_written(&reduced);
    question.type = RRTYPE_PTR;
    if (dns64_begin(&options, &question, &client, false, false) == DNS64_REVERSE)
        check_reverse(&options, &question, &answer);
    return 0;
}
