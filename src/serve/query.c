/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Decides what kind of message a client sent. message_parse() parses it, and reply.c answers.
 * Invariant: a QUERY_RESOLVE message has one sound question of class IN for a type that may be
 * asked for. A message with QR set is never answered.
 */
#include "serve/query.h"

#include <string.h>

#include "base/check.h"
#include "dns/message.h"
#include "dns/rrtype.h"
#include "serve/proxy_header.h"

/* NXNAME (RFC 9824 section 5.1) exists in denials only. A query for it is malformed. */
enum { TYPE_NXNAME = 128 };

static enum query_verdict query_refuse(struct query_error *error, uint16_t rcode, uint16_t ede,
                                       const char *text)
{
    *error = (struct query_error){.rcode = rcode, .ede = ede, .text = text};
    return QUERY_ERROR;
}

/* Only the first COOKIE option counts (RFC 7873 section 5.2). */
static void take_cookie(struct query *query, struct span data)
{
    if (query->has_cookie)
        return;
    query->has_cookie = true;
    query->cookie_len = (uint8_t)MIN(data.len, UINT8_MAX);
    memcpy(query->cookie, data.data, MIN(data.len, COOKIE_BYTES));
}

/* One walk for all options: most clients send none of these. */
static void take_options(struct query *query, struct span options)
{
    struct edns_option option;
    while (edns_option_next(&options, &option)) {
        query->has_keepalive |= option.code == EDNS_TCP_KEEPALIVE;
        query->has_padding |= option.code == EDNS_PADDING;
        query->has_nsid |= option.code == EDNS_NSID;
        if (option.code == EDNS_COOKIE)
            take_cookie(query, option.data);
    }
}

/* Sets each member separately: most queries have no cookie, and clearing its bytes would cost time.
 */
static void take_facts(struct query *query, const struct message *message)
{
    const struct edns *edns = &message->edns;
    query->id = message->id;
    query->flags = message->flags;
    query->udp_size = edns_udp_size(edns);
    query->has_question = message->has_question;
    query->has_trailing = message->has_trailing;
    query->has_edns = edns->present;
    query->dnssec_ok = edns->dnssec_ok;
    query->has_keepalive = query->has_padding = query->has_nsid = false;
    query->has_cookie = query->has_valid_cookie = query->sends_cookie = false;
    query->cookie_len = 0;
    query->question = message->question;
    query->tsig_message = message->has_tsig ? message->bytes : (struct span){0};
    take_options(query, edns->options);
}

static enum query_verdict check_type(struct query_error *error, uint16_t type)
{
    if (!rrtype_is_meta(type) || type == RRTYPE_ANY)
        return QUERY_RESOLVE;
    switch (type) {
    case RRTYPE_AXFR:
    case RRTYPE_IXFR:
        return query_refuse(error, RCODE_REFUSED, EDE_NOT_SUPPORTED, "no zone transfers");
    case 0:
    case RRTYPE_OPT:
    case RRTYPE_TSIG:
    case TYPE_NXNAME:
        return query_refuse(error, RCODE_FORMERR, EDE_NONE, "");
    default:
        return query_refuse(error, RCODE_NOTIMP, EDE_NOT_SUPPORTED, "");
    }
}

/* Accepts a message that consists of one OPT record with a cookie. */
static enum query_verdict check_no_question(const struct message *message,
                                            const struct query *query, struct query_error *error)
{
    bool is_empty = !message->counts[SECTION_QUESTION] && !message->counts[SECTION_ANSWER] &&
                    !message->counts[SECTION_AUTHORITY];
    if (query->has_cookie && is_empty && !message->has_tsig)
        return QUERY_COOKIE;
    return query_refuse(error, RCODE_FORMERR, EDE_NONE, "");
}

/* Judges a well-formed message with one question. */
static enum query_verdict check_question(const struct message *message, struct query_error *error)
{
    const struct question *question = &message->question;
    enum query_verdict verdict = check_type(error, question->type);
    if (verdict != QUERY_RESOLVE)
        return verdict;
    if (question->cls != RRCLASS_IN)
        return query_refuse(error, RCODE_REFUSED, EDE_NOT_SUPPORTED, "class IN only");
    if (message->counts[SECTION_ANSWER] || message->counts[SECTION_AUTHORITY])
        return query_refuse(error, RCODE_FORMERR, EDE_NONE, "");
    return QUERY_RESOLVE;
}

enum query_verdict query_check(struct query *query, struct query_error *error, struct span bytes)
{
    struct message message;
    enum message_check check = message_parse(&message, bytes);
    if (check == MESSAGE_SHORT || message_is_answer(&message))
        return QUERY_DROP;
    take_facts(query, &message);
    if (message_opcode(&message) != OPCODE_QUERY && proxy_header_has_signature(bytes))
        return QUERY_DROP; /* the sender is not one of our proxies, or put a second header */
    if (message_opcode(&message) != OPCODE_QUERY)
        return query_refuse(error, RCODE_NOTIMP, EDE_NOT_SUPPORTED, "");
    if (check == MESSAGE_MALFORMED)
        return query_refuse(error, RCODE_FORMERR, EDE_NONE, "");
    if (message.edns.version > 0)
        return query_refuse(error, RCODE_BADVERS, EDE_NONE, "");
    if (query->has_cookie && !cookie_is_sound(query->cookie_len))
        return query_refuse(error, RCODE_FORMERR, EDE_NONE, "");
    if (!message.has_question)
        return check_no_question(&message, query, error);
    if (message.has_tsig)
        return query_refuse(error, RCODE_NOTAUTH, EDE_NONE, "");
    return check_question(&message, error);
}

void query_keep(struct query *query, uint8_t name[NAME_WIRE_MAX])
{
    MUST(query->tsig_message.len == 0);
    query->question.name = name_copy(query->question.name, name);
}
