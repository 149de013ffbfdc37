/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_UNIT_SERVE_CANNED_H
#define NAILUP_TESTS_UNIT_SERVE_CANNED_H

/* Answers as the resolver returns them, and queries as clients send them, for the tests of serve.
 */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "cache/answer.h"
#include "dns/build.h"
#include "dns/message.h"
#include "dns/rrtype.h"
#include "dns/ttl.h"

enum { CANNED_TTL = 300, CANNED_RRS_MAX = 4096 };

struct canned {
    struct answer answer;
    uint16_t offsets[CANNED_RRS_MAX];
    uint8_t bytes[MESSAGE_MAX];
};

static inline struct question canned_question(const char *name, uint16_t type, uint8_t *wire)
{
    struct question question = {.type = type, .cls = RRCLASS_IN};
    MUST(name_parse(&question.name, wire, name, strlen(name)) == ERR_OK);
    return question;
}

/* Makes an answer with records of rdata_len bytes each for the name, in lower case as in a real
 * answer. */
static inline void canned_make(struct canned *canned, const struct question *question,
                               uint16_t flags, unsigned records, uint16_t rdata_len)
{
    static const uint8_t zeros[65535];
    uint8_t wire[NAME_WIRE_MAX];
    struct question folded = *question;
    folded.name = name_fold(question->name, wire);
    struct build build;
    build_init(&build, canned->bytes, sizeof(canned->bytes));
    build_header(&build, 0, (uint16_t)(HEADER_QR | HEADER_RA | flags));
    build_question(&build, &folded);
    build_section(&build, SECTION_ANSWER);
    for (unsigned i = 0; i < records; i++) {
        build_pointer(&build, HEADER_LEN);
        build_rr_begin_owned(&build, question->type, RRCLASS_IN, CANNED_TTL);
        build_bytes(&build, zeros, rdata_len);
        build_rr_end(&build);
    }
    size_t len = build_finish(&build);
    MUST(len > 0);
    struct message message;
    MUST(message_parse(&message, span_of(canned->bytes, len)) == MESSAGE_OK);
    canned->answer = (struct answer){
        .message = span_of(canned->bytes, len),
        .ttl_offsets = canned->offsets,
        .ttl_count = (uint16_t)ttl_collect(&message, canned->offsets, CANNED_RRS_MAX),
        .kind = ANSWER_POSITIVE,
        .ttl_s = CANNED_TTL,
    };
}

struct canned_query {
    const char *name;
    uint16_t id, type;
    uint16_t flags;
    uint16_t edns_size; /* 0: no OPT record */
    bool dnssec_ok, keepalive, padding;
};

static inline size_t canned_query(uint8_t *out, const struct canned_query *query)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct question question = canned_question(query->name, query->type, wire);
    struct build build;
    build_init(&build, out, 512);
    build_header(&build, query->id, query->flags);
    build_question(&build, &question);
    if (query->edns_size) {
        build_opt_begin(&build, query->edns_size, 0, 0, query->dnssec_ok);
        if (query->keepalive)
            edns_add_keepalive_query(&build);
        if (query->padding)
            edns_add_padding(&build, EDNS_PADDING_QUERY);
        build_opt_end(&build);
    }
    size_t len = build_finish(&build);
    MUST(len > 0);
    return len;
}

#endif
