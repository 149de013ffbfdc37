/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The exact bytes that clients get. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>

#include "serve/reply.h"
#include "serve/reply_tsig.h"
#include "unit/serve/canned.h"

static struct canned canned;
static uint8_t asked[4096];
static size_t asked_len;
static struct query query;
static struct query_error error;
static struct reply_rules udp, stream, tls;
static uint8_t *out; /* exactly as long as the planned reply */
static struct message parsed;

static int setup(void **state)
{
    (void)state;
    udp = reply_rules_udp(1232);
    tls = stream = reply_rules_stream(1232, 30 * 1000000);
    tls.pads = true;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    free(out);
    out = NULL;
    return 0;
}

static enum query_verdict ask(const struct canned_query *canned_query_)
{
    asked_len = canned_query(asked, canned_query_);
    return query_check(&query, &error, span_of(asked, asked_len));
}

static void write_planned(const struct reply *reply, uint64_t now_us)
{
    free(out);
    out = malloc(reply->len);
    reply_write(reply, out, now_us);
    assert_int_equal(message_parse(&parsed, span_of(out, reply->len)), MESSAGE_OK);
    assert_false(parsed.has_trailing);
    assert_true(parsed.flags & HEADER_QR);
    assert_int_equal(parsed.id, query.id);
    assert_int_equal(parsed.edns.present, query.has_edns);
}

/* Answers this query with this many records. */
static struct reply answered(const struct canned_query *asks, uint16_t flags, unsigned records,
                             uint16_t rdata_len, const struct reply_rules *rules)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct question question = canned_question(asks->name, asks->type, wire);
    assert_int_equal(ask(asks), QUERY_RESOLVE);
    canned_make(&canned, &question, flags, records, rdata_len);
    struct reply reply;
    reply_plan_answer(&reply, &query, &canned.answer, rules);
    write_planned(&reply, 0);
    return reply;
}

static struct reply refused(uint16_t rcode, uint16_t ede, const char *text)
{
    error = (struct query_error){rcode, ede, text};
    struct reply reply;
    reply_plan_error(&reply, &query, &error, true, &udp);
    write_planned(&reply, 0);
    assert_int_equal(message_rcode(&parsed), query.has_edns ? rcode : rcode & 15);
    return reply;
}

static void test_the_spelling_of_the_name_is_echoed(void **state)
{
    (void)state;
    struct canned_query asks = {"wWw.ExAmPlE.oRg", 7, RRTYPE_A, HEADER_RD, 0, false, false, false};
    answered(&asks, 0, 2, 4, &udp);
    assert_memory_equal(out + 12, asked + 12, asked_len - 12);
    assert_int_equal(parsed.counts[SECTION_ANSWER], 2);
    struct rr_iter iter = message_rrs(&parsed, SECTION_ANSWER);
    for (struct rr rr; message_rr_next(&iter, &rr);) {
        uint8_t wire[NAME_WIRE_MAX];
        assert_true(name_equal_exact(message_owner(&parsed, &rr, wire), query.question.name));
    }
}

static void test_rd_and_cd_are_copied_and_ra_is_set(void **state)
{
    (void)state;
    const uint16_t flags[] = {0, HEADER_RD, HEADER_CD, HEADER_RD | HEADER_CD};
    for (size_t i = 0; i < 4; i++) {
        struct canned_query asks = {"a.example", 7, RRTYPE_A, flags[i], 1232, true, false, false};
        answered(&asks, 0, 1, 4, &udp);
        assert_int_equal(parsed.flags, HEADER_QR | HEADER_RA | flags[i]);
    }
}

static void test_other_bits_of_the_query_are_not_echoed(void **state)
{
    (void)state;
    struct canned_query asks = {
        "a.example", 7,     RRTYPE_A, HEADER_RD | HEADER_AA | HEADER_TC | HEADER_Z | 3,
        0,           false, false,    false};
    answered(&asks, 0, 1, 4, &udp);
    assert_int_equal(parsed.flags, HEADER_QR | HEADER_RA | HEADER_RD);
}

static void test_ad_is_set_for_queries_with_ad_or_do(void **state)
{
    (void)state;
    struct canned_query plain = {"a.example", 7, RRTYPE_A, HEADER_RD, 1232, false, false, false};
    answered(&plain, HEADER_AD, 1, 4, &udp);
    assert_false(parsed.flags & HEADER_AD);
    struct canned_query with_ad = {"a.example", 7, RRTYPE_A, HEADER_AD, 0, false, false, false};
    answered(&with_ad, HEADER_AD, 1, 4, &udp);
    assert_true(parsed.flags & HEADER_AD);
    answered(&with_ad, 0, 1, 4, &udp);
    assert_false(parsed.flags & HEADER_AD);
    struct canned_query with_do = {"a.example", 7, RRTYPE_A, 0, 1232, true, false, false};
    answered(&with_do, HEADER_AD, 1, 4, &udp);
    assert_true(parsed.flags & HEADER_AD);
}

static void test_opt_is_ours_with_do_copied(void **state)
{
    (void)state;
    struct canned_query asks = {"a.example", 7, RRTYPE_A, HEADER_RD, 4000, true, true, false};
    answered(&asks, 0, 1, 4, &udp);
    assert_int_equal(parsed.edns.udp_size, 1232);
    assert_true(parsed.edns.dnssec_ok);
    assert_int_equal(parsed.edns.version, 0);
    assert_int_equal(parsed.edns.options.len, 0); /* keepalive is only for streams */
    asks.dnssec_ok = false;
    answered(&asks, 0, 1, 4, &udp);
    assert_int_equal(parsed.edns.flags, 0);
}

static void test_keepalive_is_answered_on_streams(void **state)
{
    (void)state;
    struct canned_query asks = {"a.example", 7, RRTYPE_A, HEADER_RD, 1232, false, true, false};
    struct edns_keepalive keepalive;
    answered(&asks, 0, 1, 4, &stream);
    assert_int_equal(edns_find_keepalive(&parsed.edns, &keepalive), EDNS_FOUND);
    assert_true(keepalive.has_timeout);
    assert_int_equal(keepalive.timeout_100ms, 300);
    asks.keepalive = false;
    answered(&asks, 0, 1, 4, &stream);
    assert_int_equal(parsed.edns.options.len, 0);
}

static void test_rules_are_clamped_to_valid_values(void **state)
{
    (void)state;
    assert_int_equal(reply_rules_udp(0).udp_size, 512);
    assert_int_equal(reply_rules_udp(65535).udp_size, 4096);
    assert_int_equal(reply_rules_stream(1232, UINT64_MAX).keepalive_100ms, 65535);
}

static void test_an_answer_that_does_not_fit_is_truncated_and_whole_over_a_stream(void **state)
{
    (void)state;
    struct canned_query asks = {"a.Example", 7, RRTYPE_A, HEADER_RD, 1232, false, false, false};
    struct reply reply = answered(&asks, 0, 100, 4, &udp);
    assert_true(parsed.flags & HEADER_TC);
    assert_int_equal(reply.len, asked_len);
    assert_int_equal(parsed.counts[SECTION_ANSWER], 0);
    assert_memory_equal(out + 12, asked + 12, 15);
    answered(&asks, 0, 100, 4, &stream);
    assert_false(parsed.flags & HEADER_TC);
    assert_int_equal(parsed.counts[SECTION_ANSWER], 100);
}

/* Answers with 20 records in each of three sections, with 16 bytes per record. */
static struct reply answered_in_full(uint16_t client_size, bool dnssec_ok, enum answer_kind kind)
{
    struct canned_query asks = {"a.Example", 7,         RRTYPE_A, HEADER_RD,
                                client_size, dnssec_ok, false,    false};
    uint8_t wire[NAME_WIRE_MAX];
    struct question question = canned_question(asks.name, asks.type, wire);
    assert_int_equal(ask(&asks), QUERY_RESOLVE);
    canned_make(&canned, &question, 0, 60, 4);
    for (enum section section = SECTION_ANSWER; section < SECTION_COUNT; section++)
        header_set_count(canned.bytes, section, 20);
    canned.answer.kind = (uint8_t)kind;
    struct reply reply;
    reply_plan_answer(&reply, &query, &canned.answer, &udp);
    write_planned(&reply, 7 * 1000000);
    assert_true(reply.len <= client_size);
    struct rr_iter iter = message_all_rrs(&parsed);
    for (struct rr rr; message_rr_next(&iter, &rr);)
        assert_true(rr.type == RRTYPE_OPT || rr.ttl == CANNED_TTL - 7);
    return reply;
}

static void check_counts(unsigned answer, unsigned authority, bool truncated)
{
    assert_int_equal(parsed.counts[SECTION_ANSWER], answer);
    assert_int_equal(parsed.counts[SECTION_AUTHORITY], authority);
    assert_int_equal(parsed.counts[SECTION_ADDITIONAL], 1);
    assert_int_equal(!!(parsed.flags & HEADER_TC), truncated);
}

static void test_optional_records_are_left_out_before_an_answer_is_truncated(void **state)
{
    (void)state;
    answered_in_full(700, false, ANSWER_POSITIVE);
    check_counts(20, 20, false);
    answered_in_full(700, true, ANSWER_NXDOMAIN);
    check_counts(20, 20, false);
    answered_in_full(600, false, ANSWER_POSITIVE);
    check_counts(20, 0, false);
    answered_in_full(600, true, ANSWER_POSITIVE); /* the record may be part of a proof */
    check_counts(0, 0, true);
    answered_in_full(600, false, ANSWER_NXDOMAIN); /* the SOA stays */
    check_counts(0, 0, true);
}

static void test_the_least_of_all_sizes_holds_to_the_byte(void **state)
{
    (void)state;
    const struct {
        uint16_t client, ours, limit;
    } rows[] = {
        {0, 1232, 512},      {1, 1232, 512},       {512, 1232, 512}, {700, 1232, 700},
        {65535, 1232, 1232}, {65535, 65535, 4096}, {4000, 512, 512},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        udp = reply_rules_udp(rows[i].ours);
        struct canned_query asks = {"a.b",          7,     RRTYPE_TXT, HEADER_RD,
                                    rows[i].client, false, false,      false};
        size_t frame = 12 + 5 + 4 + 12 + (rows[i].client ? 11 : 0);
        struct reply reply = answered(&asks, 0, 1, (uint16_t)(rows[i].limit - frame), &udp);
        assert_int_equal(reply.len, rows[i].limit);
        assert_false(parsed.flags & HEADER_TC);
        reply = answered(&asks, 0, 1, (uint16_t)(rows[i].limit - frame + 1), &udp);
        assert_true(parsed.flags & HEADER_TC);
    }
}

static void test_the_largest_message_goes_over_a_stream(void **state)
{
    (void)state;
    struct canned_query asks = {"a.b", 7, RRTYPE_TXT, HEADER_RD, 0, false, false, false};
    struct reply reply = answered(&asks, 0, 1, 65535 - 12 - 9 - 12, &stream);
    assert_int_equal(reply.len, 65535);
    assert_false(parsed.flags & HEADER_TC);
    asks.edns_size = 512; /* the OPT record no longer fits */
    answered(&asks, 0, 1, 65535 - 12 - 9 - 12, &stream);
    assert_true(parsed.flags & HEADER_TC);
}

/* ---- padding ---- */

/* Checks that padding is the last option of the reply, and consists of zeros. */
static void check_padding_is_last(void)
{
    struct span rest = parsed.edns.options;
    struct edns_option option = {0};
    while (edns_option_next(&rest, &option))
        assert_true(option.code != EDNS_PADDING || rest.len == 0);
    assert_int_equal(option.code, EDNS_PADDING);
    for (size_t i = 0; i < option.data.len; i++)
        assert_int_equal(option.data.data[i], 0);
}

static void test_a_padded_query_over_tls_gets_an_answer_of_whole_blocks(void **state)
{
    (void)state;
    struct canned_query asks = {"a.example", 7, RRTYPE_TXT, HEADER_RD, 1232, false, false, true};
    size_t bare = 12 + 15 + 12 + 11; /* header, question, one record and OPT */
    for (uint16_t rdata = 0; rdata < 2000; rdata++) {
        struct reply reply = answered(&asks, 0, 1, rdata, &tls);
        assert_int_equal(reply.len % EDNS_PADDING_ANSWER, 0);
        assert_in_range(reply.len, bare + rdata + 4, bare + rdata + 4 + EDNS_PADDING_ANSWER - 1);
        check_padding_is_last();
    }
}

static void test_only_padded_queries_over_tls_get_padded_answers(void **state)
{
    (void)state;
    struct canned_query asks = {"a.example", 7, RRTYPE_A, HEADER_RD, 1232, false, false, true};
    answered(&asks, 0, 1, 4, &udp);
    assert_int_equal(parsed.edns.options.len, 0);
    answered(&asks, 0, 1, 4, &stream);
    assert_int_equal(parsed.edns.options.len, 0);
    asks.padding = false;
    answered(&asks, 0, 1, 4, &tls);
    assert_int_equal(parsed.edns.options.len, 0);
    asks.edns_size = 0;
    answered(&asks, 0, 1, 4, &tls);
    assert_false(parsed.edns.present);
}

static void test_padding_ends_where_a_message_must(void **state)
{
    (void)state;
    struct canned_query asks = {"a.b", 7, RRTYPE_TXT, HEADER_RD, 512, false, false, true};
    size_t bare = 12 + 9 + 12 + 11;
    for (size_t len = 65000; len <= 65535; len++) {
        struct reply reply = answered(&asks, 0, 1, (uint16_t)(len - bare), &tls);
        assert_false(parsed.flags & HEADER_TC);
        size_t blocks = (len + 4 + 467) / 468 * 468;
        assert_int_equal(reply.len, len + 4 > 65535 ? len : MIN(blocks, 65535));
    }
    struct reply reply = answered(&asks, 0, 1, (uint16_t)(65536 - bare), &tls);
    assert_true(parsed.flags & HEADER_TC); /* the next query has room again */
    assert_int_equal(reply.len, EDNS_PADDING_ANSWER);
}

static void test_errors_are_padded_with_all_their_options(void **state)
{
    (void)state;
    struct canned_query asks = {"a.example", 7, RRTYPE_A, HEADER_RD, 1232, false, true, true};
    struct edns_keepalive keepalive;
    struct edns_ede ede;
    ask(&asks);
    error = (struct query_error){RCODE_REFUSED, EDE_PROHIBITED, "who are you?"};
    struct reply reply;
    reply_plan_error(&reply, &query, &error, true, &tls);
    write_planned(&reply, 0);
    assert_int_equal(reply.len, EDNS_PADDING_ANSWER);
    assert_int_equal(edns_find_keepalive(&parsed.edns, &keepalive), EDNS_FOUND);
    assert_int_equal(edns_find_ede(&parsed.edns, &ede), EDNS_FOUND);
    assert_int_equal(ede.text.len, strlen("who are you?"));
    check_padding_is_last();
}

static uint32_t first_ttl(void)
{
    struct rr rr;
    struct rr_iter iter = message_rrs(&parsed, SECTION_ANSWER);
    assert_true(message_rr_next(&iter, &rr));
    return rr.ttl;
}

static void test_ttls_are_aged_in_the_copy(void **state)
{
    (void)state;
    struct canned_query asks = {"a.example", 7, RRTYPE_A, HEADER_RD, 0, false, false, false};
    struct reply reply = answered(&asks, 0, 3, 4, &udp);
    const struct {
        uint64_t now_us;
        uint32_t ttl;
    } rows[] = {
        {0, 300},
        {5000000, 300},
        {5999999, 300},
        {6000000, 299},
        {304999999, 1},
        {305000000, 1}, /* ANSWER_TTL_FLOOR_S */
        {5000000 + (UINT64_C(1) << 32) * 1000000, 1},
        {UINT64_MAX, 1},
    };
    canned.answer.stored_at = 5000000;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        write_planned(&reply, rows[i].now_us);
        assert_int_equal(first_ttl(), rows[i].ttl);
    }
    assert_int_equal(get_u32(canned.bytes + canned.offsets[0]), 300);
}

static void test_extended_errors_go_along(void **state)
{
    (void)state;
    struct canned_query asks = {"a.example", 7, RRTYPE_A, HEADER_RD, 1232, false, false, false};
    struct reply reply = answered(&asks, RCODE_SERVFAIL, 0, 0, &udp);
    canned.answer.ede_count = 2;
    canned.answer.ede[0] = EDE_NO_REACHABLE_AUTHORITY;
    canned.answer.ede[1] = EDE_CACHED_ERROR;
    reply_plan_answer(&reply, &query, &canned.answer, &udp);
    write_planned(&reply, 0);
    assert_int_equal(message_rcode(&parsed), RCODE_SERVFAIL);
    assert_int_equal(parsed.edns.options.len, 12);
    struct span rest = parsed.edns.options;
    struct edns_option option;
    assert_true(edns_option_next(&rest, &option));
    assert_int_equal(get_u16(option.data.data), EDE_NO_REACHABLE_AUTHORITY);
    assert_true(edns_option_next(&rest, &option));
    assert_int_equal(get_u16(option.data.data), EDE_CACHED_ERROR);
}

static void test_extended_errors_need_edns(void **state)
{
    (void)state;
    struct canned_query asks = {"a.example", 7, RRTYPE_A, HEADER_RD, 0, false, false, false};
    ask(&asks);
    struct reply reply = refused(RCODE_REFUSED, EDE_PROHIBITED, "who are you?");
    assert_int_equal(reply.len, asked_len);
}

static void test_an_error_says_why_in_words(void **state)
{
    (void)state;
    struct canned_query asks = {"a.example", 7, RRTYPE_A, HEADER_RD, 1232, true, false, false};
    ask(&asks);
    refused(RCODE_REFUSED, EDE_PROHIBITED, "who are you?");
    struct edns_ede ede;
    assert_int_equal(edns_find_ede(&parsed.edns, &ede), EDNS_FOUND);
    assert_int_equal(ede.code, EDE_PROHIBITED);
    assert_int_equal(ede.text.len, 12);
    assert_memory_equal(ede.text.data, "who are you?", 12);
    assert_true(parsed.edns.dnssec_ok);
}

static void test_a_failure_says_why_in_words(void **state)
{
    (void)state;
    struct canned_query asks = {"a.example", 7, RRTYPE_A, HEADER_RD, 1232, false, false, false};
    struct reply reply = answered(&asks, RCODE_SERVFAIL, 0, 0, &udp);
    struct edns_ede ede;
    canned.answer.ede_count = 1;
    canned.answer.ede[0] = EDE_SIGNATURE_EXPIRED;
    canned.answer.text = "a signature has expired, zone example";
    reply_plan_answer(&reply, &query, &canned.answer, &udp);
    write_planned(&reply, 0);
    assert_int_equal(edns_find_ede(&parsed.edns, &ede), EDNS_FOUND);
    assert_int_equal(ede.code, EDE_SIGNATURE_EXPIRED);
    assert_int_equal(ede.text.len, strlen(canned.answer.text));
    assert_memory_equal(ede.text.data, canned.answer.text, ede.text.len);
}

static void test_a_network_error_behind_another_has_the_cause(void **state)
{
    (void)state;
    struct canned_query asks = {"a.example", 7, RRTYPE_A, HEADER_RD, 1232, false, false, false};
    struct reply reply = answered(&asks, RCODE_SERVFAIL, 0, 0, &udp);
    struct edns_option option;
    canned.answer.ede_count = 2;
    canned.answer.ede[0] = EDE_NO_REACHABLE_AUTHORITY;
    canned.answer.ede[1] = EDE_NETWORK_ERROR;
    canned.answer.text = "no server of the zone . answers: connection refused";
    reply_plan_answer(&reply, &query, &canned.answer, &udp);
    write_planned(&reply, 0);
    struct span rest = parsed.edns.options;
    assert_true(edns_option_next(&rest, &option));
    assert_int_equal(option.data.len, 2 + strlen(canned.answer.text));
    assert_true(edns_option_next(&rest, &option));
    assert_int_equal(get_u16(option.data.data), EDE_NETWORK_ERROR);
    assert_int_equal(option.data.len, 2 + strlen("connection refused"));
    assert_memory_equal(option.data.data + 2, "connection refused", option.data.len - 2);
}

static void test_bad_version_uses_the_upper_bits_of_the_rcode(void **state)
{
    (void)state;
    struct canned_query asks = {"a.example", 7, RRTYPE_A, HEADER_RD, 1232, false, false, false};
    ask(&asks);
    refused(RCODE_BADVERS, EDE_NONE, "");
    assert_int_equal(parsed.edns.version, 0);
    assert_int_equal(parsed.edns.ext_rcode, 1);
    assert_int_equal(parsed.edns.options.len, 0);
}

static void test_an_error_without_a_question_is_a_header(void **state)
{
    (void)state;
    static const uint8_t header[12] = {1, 2, 1, 0};
    assert_int_equal(query_check(&query, &error, span_of(header, 12)), QUERY_ERROR);
    struct reply reply = refused(error.rcode, error.ede, error.text);
    assert_int_equal(reply.len, 12);
}

/* These bits have a meaning in queries only. */
static void test_a_reply_to_another_opcode_has_no_rd_no_ra_and_no_cd(void **state)
{
    (void)state;
    struct canned_query asks = {
        "a.example", 7,     RRTYPE_SOA, OPCODE_NOTIFY << 11 | HEADER_RD | HEADER_CD,
        0,           false, false,      false};
    assert_int_equal(ask(&asks), QUERY_ERROR);
    refused(error.rcode, error.ede, error.text);
    assert_int_equal(parsed.flags, HEADER_QR | OPCODE_NOTIFY << 11 | RCODE_NOTIMP);
    refused(RCODE_REFUSED, EDE_NONE, "");
    assert_int_equal(parsed.flags, HEADER_QR | OPCODE_NOTIFY << 11 | RCODE_REFUSED);
}

static void test_a_refused_query_gets_its_rd_and_cd_back(void **state)
{
    (void)state;
    struct canned_query asks = {"a.example", 7,     RRTYPE_MAILA, HEADER_RD | HEADER_CD,
                                0,           false, false,        false};
    assert_int_equal(ask(&asks), QUERY_ERROR);
    refused(error.rcode, error.ede, error.text);
    assert_int_equal(parsed.flags, HEADER_QR | HEADER_RD | HEADER_RA | HEADER_CD | RCODE_NOTIMP);
}

static struct span nsid_sent(const char *nsid, bool is_wanted)
{
    struct canned_query asks = {"a.example", 7, RRTYPE_A, HEADER_RD, 1232, false, false, false};
    assert_int_equal(ask(&asks), QUERY_RESOLVE);
    query.has_nsid = is_wanted;
    struct reply_rules rules = udp;
    rules.nsid = nsid;
    struct reply reply;
    error = (struct query_error){RCODE_REFUSED, EDE_PROHIBITED, "text"};
    reply_plan_error(&reply, &query, &error, true, &rules);
    write_planned(&reply, 0);
    struct span options = parsed.edns.options;
    for (struct edns_option option; edns_option_next(&options, &option);)
        if (option.code == EDNS_NSID)
            return option.data;
    return (struct span){0};
}

static void test_the_identifier_goes_to_queries_that_ask_for_it(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {0, 0xaf, 0x10};
    assert_true(span_equal(nsid_sent("ascii_ns7", true), span_of("ns7", 3)));
    assert_true(span_equal(nsid_sent("00aF10", true), span_of(bytes, 3)));
    assert_int_equal(nsid_sent("ascii_ns7", false).len, 0);
    assert_int_equal(nsid_sent("", true).len, 0);
    assert_int_equal(nsid_sent(NULL, true).len, 0);
}

/* A reply with this name and all options has more than 512 bytes. */
#define LONG_LABEL "a23456789012345678901234567890123456789012345678901234567890123"
static const char long_name[] =
    LONG_LABEL "." LONG_LABEL "." LONG_LABEL ".a234567890123456789012345678901234567890123456789"
               "01234567890";

static unsigned errors_sent(size_t *text_len)
{
    struct span options = parsed.edns.options;
    unsigned count = 0;
    *text_len = 0;
    for (struct edns_option option; edns_option_next(&options, &option);) {
        count += option.code == EDNS_EDE;
        if (option.code == EDNS_EDE)
            *text_len += option.data.len - 2;
    }
    return count;
}

/* Options that only explain the answer are left out one by one. */
static void test_a_datagram_with_a_long_name_and_many_options_is_not_too_long(void **state)
{
    (void)state;
    static const struct {
        size_t nsid_len;
        unsigned errors;
        bool has_text, has_nsid;
    } cases[] = {
        {20, 1, true, true}, {180, 1, false, true}, {195, 0, false, true}, {240, 0, false, false}};
    struct canned_query asks = {long_name, 7, RRTYPE_AXFR, HEADER_RD, 512, false, false, false};
    char nsid[256] = "ascii_";
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        size_t text_len;
        assert_int_equal(ask(&asks), QUERY_ERROR);
        query.has_nsid = query.sends_cookie = true;
        memset(nsid + 6, 'x', cases[i].nsid_len);
        nsid[6 + cases[i].nsid_len] = 0;
        udp.nsid = nsid;
        struct reply reply = refused(RCODE_REFUSED, EDE_OTHER, "a text of some length for humans");
        assert_true(reply.len <= 512);
        assert_int_equal(errors_sent(&text_len), cases[i].errors);
        assert_int_equal(text_len > 0, cases[i].has_text);
        assert_int_equal(reply.nsid != NULL, cases[i].has_nsid);
    }
}

static void test_an_answer_loses_the_text_of_its_error_before_its_records(void **state)
{
    (void)state;
    struct canned_query asks = {"a.example", 7, RRTYPE_A, HEADER_RD, 512, false, false, false};
    uint8_t wire[NAME_WIRE_MAX];
    size_t text_len;
    struct question question = canned_question(asks.name, asks.type, wire);
    assert_int_equal(ask(&asks), QUERY_RESOLVE);
    canned_make(&canned, &question, 0, 1, 430);
    canned.answer.ede_count = 1;
    canned.answer.ede[0] = EDE_STALE_ANSWER;
    canned.answer.text = "a text of some length for humans";
    struct reply reply;
    reply_plan_answer(&reply, &query, &canned.answer, &udp);
    write_planned(&reply, 0);
    assert_true(reply.len <= 512);
    assert_false(parsed.flags & HEADER_TC);
    assert_int_equal(parsed.counts[SECTION_ANSWER], 1);
    assert_int_equal(errors_sent(&text_len), 1);
    assert_int_equal(text_len, 0);
}

static void test_the_opcode_is_echoed(void **state)
{
    (void)state;
    struct canned_query asks = {"a.example", 7,     RRTYPE_SOA, OPCODE_NOTIFY << 11,
                                0,           false, false,      false};
    assert_int_equal(ask(&asks), QUERY_ERROR);
    refused(error.rcode, error.ede, error.text);
    assert_int_equal(message_opcode(&parsed), OPCODE_NOTIFY);
    assert_int_equal(message_rcode(&parsed), RCODE_NOTIMP);
}

/* Sends a query with a TSIG record that has this RDATA. */
static void ask_signed(const void *rdata, uint16_t count, bool edns)
{
    struct canned_query asks = {"a.example",     7,     RRTYPE_A, HEADER_RD,
                                edns ? 1232 : 0, false, false,    false};
    asked_len = canned_query(asked, &asks);
    static const uint8_t owner[] = "\3key\7example";
    memcpy(asked + asked_len, owner, sizeof(owner));
    uint8_t *at = asked + asked_len + sizeof(owner);
    put_u16(at, RRTYPE_TSIG);
    put_u16(at + 2, RRCLASS_ANY);
    put_u32(at + 4, 0);
    put_u16(at + 8, count);
    memcpy(at + 10, rdata, count);
    asked_len += sizeof(owner) + 10 + count;
    header_set_count(asked, SECTION_ADDITIONAL, edns ? 2 : 1);
    assert_int_equal(query_check(&query, &error, span_of(asked, asked_len)), QUERY_ERROR);
    assert_int_equal(error.rcode, RCODE_NOTAUTH);
}

static const char tsig_rdata[] = "\13hmac-sha256\0TTTTTT\1\54\0\4MMMM\0\7\0\0\0";

static void test_a_signed_query_gets_a_bad_key(void **state)
{
    (void)state;
    for (int edns = 0; edns < 2; edns++) {
        ask_signed(tsig_rdata, sizeof(tsig_rdata) - 1, edns);
        refused(RCODE_NOTAUTH, EDE_NONE, "");
        assert_true(parsed.has_tsig);
        struct rr rr = {0};
        struct rr_iter iter = message_rrs(&parsed, SECTION_ADDITIONAL);
        while (message_rr_next(&iter, &rr))
            ;
        struct span rdata = message_rdata(&parsed, &rr);
        assert_int_equal(rdata.len, 13 + 16);
        assert_memory_equal(rdata.data, tsig_rdata, 13 + 8);
        assert_memory_equal(rdata.data + 21, "\0\0\0\7\0\21\0\0", 8);
    }
}

/* No known client both signs and pads. If one does, the whole message must have the padded length.
 */
static void test_padding_counts_the_records_after_it(void **state)
{
    (void)state;
    struct reply reply;
    ask_signed(tsig_rdata, sizeof(tsig_rdata) - 1, true);
    query.has_padding = true;
    error = (struct query_error){RCODE_NOTAUTH, EDE_NONE, ""};
    reply_plan_error(&reply, &query, &error, true, &tls);
    write_planned(&reply, 0);
    assert_true(parsed.has_tsig);
    assert_int_equal(reply.len, EDNS_PADDING_ANSWER);
    check_padding_is_last();
}

static void test_a_malformed_tsig_gets_no_tsig_back(void **state)
{
    (void)state;
    for (uint16_t count = 0; count < 21; count++) {
        ask_signed(tsig_rdata, count, false);
        assert_int_equal(reply_tsig_len(span_of(asked, asked_len)), 0);
        refused(RCODE_NOTAUTH, EDE_NONE, "");
        assert_false(parsed.has_tsig);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_the_spelling_of_the_name_is_echoed),
        TEST(test_rd_and_cd_are_copied_and_ra_is_set),
        TEST(test_other_bits_of_the_query_are_not_echoed),
        TEST(test_ad_is_set_for_queries_with_ad_or_do),
        TEST(test_opt_is_ours_with_do_copied),
        TEST(test_keepalive_is_answered_on_streams),
        TEST(test_rules_are_clamped_to_valid_values),
        TEST(test_an_answer_that_does_not_fit_is_truncated_and_whole_over_a_stream),
        TEST(test_optional_records_are_left_out_before_an_answer_is_truncated),
        TEST(test_the_least_of_all_sizes_holds_to_the_byte),
        TEST(test_the_largest_message_goes_over_a_stream),
        TEST(test_a_padded_query_over_tls_gets_an_answer_of_whole_blocks),
        TEST(test_only_padded_queries_over_tls_get_padded_answers),
        TEST(test_padding_ends_where_a_message_must),
        TEST(test_errors_are_padded_with_all_their_options),
        TEST(test_padding_counts_the_records_after_it),
        TEST(test_ttls_are_aged_in_the_copy),
        TEST(test_a_failure_says_why_in_words),
        TEST(test_a_network_error_behind_another_has_the_cause),
        TEST(test_extended_errors_go_along),
        TEST(test_extended_errors_need_edns),
        TEST(test_an_error_says_why_in_words),
        TEST(test_bad_version_uses_the_upper_bits_of_the_rcode),
        TEST(test_an_error_without_a_question_is_a_header),
        TEST(test_a_reply_to_another_opcode_has_no_rd_no_ra_and_no_cd),
        TEST(test_a_refused_query_gets_its_rd_and_cd_back),
        TEST(test_the_identifier_goes_to_queries_that_ask_for_it),
        TEST(test_a_datagram_with_a_long_name_and_many_options_is_not_too_long),
        TEST(test_an_answer_loses_the_text_of_its_error_before_its_records),
        TEST(test_the_opcode_is_echoed),
        TEST(test_a_signed_query_gets_a_bad_key),
        TEST(test_a_malformed_tsig_gets_no_tsig_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
