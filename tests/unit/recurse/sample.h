/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_RECURSE_SAMPLE_H
#define NAILUP_TESTS_RECURSE_SAMPLE_H

/* Responses written as text, and answers read as text. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/addr.h"
#include "base/log.h"
#include "base/check.h"
#include "cache/answer.h"
#include "cache/cache.h"
#include "dns/message.h"
#include "dns/present.h"
#include "dns/rrtype.h"

#define NAME(text) sample_name((uint8_t[NAME_WIRE_MAX]){0}, text)
#define QUESTION(text, rrtype)                                                                     \
    ((struct question){.name = NAME(text), .type = RRTYPE_##rrtype, .cls = RRCLASS_IN})

static inline struct name sample_name(uint8_t *wire, const char *text)
{
    struct name name;
    assert_int_equal(name_parse(&name, wire, text, strlen(text)), ERR_OK);
    return name;
}

/* ---- responses ---- */

struct response_text {
    size_t len;
    struct message message;
    uint8_t bytes[65535];
};

static inline void response_begin(struct response_text *to, uint16_t flags,
                                  const struct question *question)
{
    memset(to->bytes, 0, HEADER_LEN);
    header_set_id(to->bytes, 4711);
    header_set_flags(to->bytes, (uint16_t)(HEADER_QR | HEADER_RA | HEADER_RD | flags));
    header_set_count(to->bytes, SECTION_QUESTION, 1);
    memcpy(to->bytes + HEADER_LEN, question->name.wire, question->name.len);
    to->len = HEADER_LEN + question->name.len;
    put_u16(to->bytes + to->len, question->type);
    put_u16(to->bytes + to->len + 2, question->cls);
    to->len += 4;
}

/* Appends a record written as in a zone file. The sections must come in their order. */
static inline void response_add(struct response_text *to, enum section section, const char *text)
{
    size_t len;
    assert_int_equal(present_rr_from_text(to->bytes + to->len, sizeof(to->bytes) - to->len, &len,
                                          text, name_root(), 300),
                     ERR_OK);
    to->len += len;
    header_set_count(to->bytes, section, (uint16_t)(header_count(to->bytes, section) + 1));
}

static inline const struct message *response_parse(struct response_text *from)
{
    assert_int_equal(message_parse(&from->message, span_of(from->bytes, from->len)), MESSAGE_OK);
    return &from->message;
}

/* The records of the sections answer, authority and additional. NULL ends each list. */
struct sections {
    const char *answer[40], *authority[12], *additional[12];
};

static inline const struct message *response_make(struct response_text *to, uint16_t flags,
                                                  const struct question *question,
                                                  const struct sections *from)
{
    response_begin(to, flags, question);
    for (size_t i = 0; from->answer[i]; i++)
        response_add(to, SECTION_ANSWER, from->answer[i]);
    for (size_t i = 0; from->authority[i]; i++)
        response_add(to, SECTION_AUTHORITY, from->authority[i]);
    for (size_t i = 0; from->additional[i]; i++)
        response_add(to, SECTION_ADDITIONAL, from->additional[i]);
    return response_parse(to);
}

/* ---- answers ---- */

static inline size_t show_rr(const struct message *message, const struct rr *rr, char *out,
                             size_t size)
{
    static const char *const sections[] = {"", "an", "ns", "ar"};
    uint8_t wire[NAME_WIRE_MAX];
    char owner[NAME_TEXT_MAX], target[NAME_TEXT_MAX + 1] = "", type[RRTYPE_TEXT_MAX];
    struct name name;
    struct span rdata = message_rdata(message, rr);
    name_format(message_owner(message, rr, wire), owner);
    if (rr->type == RRTYPE_A)
        snprintf(target, sizeof(target), " %d.%d.%d.%d", rdata.data[0], rdata.data[1],
                 rdata.data[2], rdata.data[3]);
    else if (rr->type == RRTYPE_RRSIG)
        snprintf(target, sizeof(target), " %s", rrtype_name(get_u16(rdata.data), type));
    else if (message_target(message, rr, wire, &name)) {
        target[0] = ' ';
        name_format(name, target + 1);
    }
    return (size_t)snprintf(out, size, "%s %s %u %s%s\n", sections[rr->section], owner, rr->ttl,
                            rrtype_name(rr->type, type), target);
}

/* Returns "an www.example. 300 A 192.0.2.1
 * " for each record, from static storage. Also checks the promises of cache/answer.h about every
 * answer. */
static inline const char *answer_show(const struct answer *answer)
{
    static char text[65536];
    struct message message;
    size_t at = 0, count = 0;
    assert_int_equal(message_parse(&message, answer->message), MESSAGE_OK);
    assert_false(message.edns.present || message.has_tsig || message.has_trailing);
    assert_int_equal(message.id, 0);
    assert_true(message.flags & HEADER_RA && message.flags & HEADER_QR);
    assert_false(message.flags & (HEADER_TC | HEADER_RD | HEADER_CD));
    assert_false(message.flags & HEADER_AA && answer->ttl_s);
    assert_true(message_check_rdata(&message));
    struct rr_iter iter = message_all_rrs(&message);
    text[0] = 0;
    for (struct rr rr; message_rr_next(&iter, &rr);) {
        assert_true(count < answer->ttl_count);
        assert_int_equal(answer->ttl_offsets[count++], message_ttl_offset(&rr));
        if (at + 2200 < sizeof(text))
            at += show_rr(&message, &rr, text + at, sizeof(text) - at);
    }
    assert_int_equal(count, answer->ttl_count);
    return text;
}

#endif
