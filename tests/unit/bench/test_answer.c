/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Answers of the responder. Even a broken query never makes it send more than one answer. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "answer.h"
#include "base/rand.h"
#include "wire.h"

static struct answer_style style;
static struct addr client;
static uint8_t out[ANSWER_MAX], query[WIRE_QUERY_MAX + 64];
static size_t query_len;
static struct bench_answer answer;

static int init(void **state)
{
    (void)state;
    style = (struct answer_style){
        .ttl_s = 300, .negative_ttl_s = 60, .keepalive = ANSWER_KEEPALIVE_NONE};
    return addr_parse(&client, "127.0.0.1@1000", 0);
}

static void build(const char *text, uint16_t type, uint16_t edns_bytes)
{
    uint8_t name[WIRE_NAME_MAX];
    struct wire_style wire = {.recursion_desired = true, .edns_bytes = edns_bytes};
    size_t len = wire_name_from_text(name, text);
    assert_true(len > 0);
    query_len = wire_build_query(query, name, len, type, &wire);
    put_u16(query, 0x1234);
}

static void ask(const char *text, uint16_t type, bool is_stream)
{
    build(text, type, 1232);
    answer = answer_make(&style, span_of(query, query_len), is_stream, &client, out);
}

static unsigned flags(void)
{
    return get_u16(out + 2);
}

static void expect(unsigned rcode, unsigned answers, unsigned authorities)
{
    assert_int_equal(answer.verdict, ANSWER_SEND);
    assert_int_equal(flags() & 15, rcode);
    assert_int_equal(get_u16(out + 6), answers);
    assert_int_equal(get_u16(out + 8), authorities);
}

static void test_the_same_name_in_any_case_has_the_same_address(void **state)
{
    (void)state;
    ask("WWW.Example", WIRE_TYPE_A, false);
    expect(RCODE_NOERROR, 1, 0);
    assert_memory_equal(out + 12, "\3WWW\7Example", 12);
    uint8_t address[4];
    size_t at = 12 + 13 + 4 + 12;
    memcpy(address, out + at, 4);
    ask("www.example", WIRE_TYPE_A, true);
    assert_memory_equal(out + at, address, 4);
    assert_int_equal(address[0], 10);
}

static void test_no_case_answers_with_a_question_in_lower_case(void **state)
{
    (void)state;
    style.lower_case = true;
    ask("WWW.Example", WIRE_TYPE_A, false);
    assert_memory_equal(out + 12, "\3www\7example", 12);
}

static void test_labels_choose_the_rcode(void **state)
{
    (void)state;
    ask("nx.example", WIRE_TYPE_A, false);
    expect(RCODE_NXDOMAIN, 0, 1);
    ask("servfail.example", WIRE_TYPE_A, false);
    expect(RCODE_SERVFAIL, 0, 0);
    ask("refused.example", WIRE_TYPE_A, false);
    expect(RCODE_REFUSED, 0, 0);
    ask("a.nodata.example", WIRE_TYPE_A, false);
    expect(RCODE_NOERROR, 0, 1);
    ask("nxa.example", WIRE_TYPE_A, false);
    expect(RCODE_NOERROR, 1, 0);
}

static void test_labels_ask_for_delay_and_ttl(void **state)
{
    (void)state;
    ask("x.d250.ttl7.example", WIRE_TYPE_A, false);
    assert_true(answer.has_delay);
    assert_int_equal(answer.delay_ms, 250);
    assert_int_equal(get_u32(out + answer.len - 11 - 10), 7);
    ask("d25x.example", WIRE_TYPE_A, false);
    assert_false(answer.has_delay);
    ask("d.example", WIRE_TYPE_A, false);
    assert_false(answer.has_delay);
}

static void test_silence_may_be_on_one_transport_only(void **state)
{
    (void)state;
    ask("silent7.example", WIRE_TYPE_A, false);
    assert_int_equal(answer.verdict, ANSWER_SILENT);
    ask("silentudp.example", WIRE_TYPE_A, false);
    assert_int_equal(answer.verdict, ANSWER_SILENT);
    ask("silentudp.example", WIRE_TYPE_A, true);
    assert_int_equal(answer.verdict, ANSWER_SEND);
    ask("silenttcp.example", WIRE_TYPE_A, true);
    assert_int_equal(answer.verdict, ANSWER_SILENT);
}

static void test_the_half_verdict_carries_the_whole_answer(void **state)
{
    (void)state;
    ask("half.example", WIRE_TYPE_A, true);
    assert_int_equal(answer.verdict, ANSWER_HALF);
    assert_true(answer.len > WIRE_HEADER_BYTES);
    ask("halfway.example", WIRE_TYPE_A, true);
    assert_int_equal(answer.verdict, ANSWER_SEND);
}

static void test_a_big_answer_is_cut_over_udp_and_whole_over_tcp(void **state)
{
    (void)state;
    ask("big.example", WIRE_TYPE_TXT, false);
    expect(RCODE_NOERROR, 0, 0);
    assert_true(flags() & WIRE_TC);
    ask("big.example", WIRE_TYPE_TXT, true);
    expect(RCODE_NOERROR, 1, 0);
    assert_false(flags() & WIRE_TC);
    assert_in_range(answer.len, 4000, ANSWER_MAX);
    ask("big.example", WIRE_TYPE_A, true);
    expect(RCODE_NOERROR, 200, 0);
}

static void test_keepalive_is_sent_on_streams_only(void **state)
{
    (void)state;
    style.keepalive = 0;
    ask("a.example", WIRE_TYPE_A, true);
    assert_memory_equal(out + answer.len - 8, "\0\6\0\13\0\2\0\0", 8);
    ask("a.example", WIRE_TYPE_A, false);
    assert_memory_equal(out + answer.len - 2, "\0\0", 2);
}

/* Puts an EDNS option with a cookie after the query. */
static void add_cookie(const uint8_t *cookie, uint16_t len)
{
    put_u16(query + query_len - 2, (uint16_t)(4 + len));
    put_u16(query + query_len, WIRE_OPTION_COOKIE);
    put_u16(query + query_len + 2, len);
    memcpy(query + query_len + 4, cookie, len);
    query_len += 4u + len;
}

static void test_a_required_cookie_is_learnt_and_then_accepted(void **state)
{
    (void)state;
    style.cookies = ANSWER_COOKIES_REQUIRED;
    build("a.example", WIRE_TYPE_A, 1232);
    add_cookie((const uint8_t *)"client_8", 8);
    answer = answer_make(&style, span_of(query, query_len), false, &client, out);
    expect(RCODE_BADCOOKIE & 15, 0, 0);
    uint8_t cookie[24];
    memcpy(cookie, out + answer.len - 24, 24);
    assert_memory_equal(cookie, "client_8", 8);
    build("a.example", WIRE_TYPE_A, 1232);
    add_cookie(cookie, 24);
    answer = answer_make(&style, span_of(query, query_len), false, &client, out);
    expect(RCODE_NOERROR, 1, 0);
    ask("a.example", WIRE_TYPE_A, true); /* a connection proves the client's address too */
    expect(RCODE_NOERROR, 1, 0);
}

static void test_the_root_has_answers_too(void **state)
{
    (void)state;
    ask(".", WIRE_TYPE_SOA, false);
    expect(RCODE_NOERROR, 1, 0);
    ask(".", WIRE_TYPE_AAAA, false);
    expect(RCODE_NOERROR, 1, 0);
}

static void test_responses_and_fragments_get_no_answer(void **state)
{
    (void)state;
    ask("a.example", WIRE_TYPE_A, false);
    query[2] |= 0x80;
    answer = answer_make(&style, span_of(query, query_len), false, &client, out);
    assert_int_equal(answer.verdict, ANSWER_SILENT);
    answer = answer_make(&style, span_of(query, 11), false, &client, out);
    assert_int_equal(answer.verdict, ANSWER_SILENT);
}

static void test_a_cut_query_is_a_format_error(void **state)
{
    (void)state;
    build("a.example", WIRE_TYPE_A, 1232);
    for (size_t len = 12; len < query_len; len++) {
        answer = answer_make(&style, span_of(query, len), false, &client, out);
        expect(RCODE_FORMERR, 0, 0);
        assert_int_equal(answer.len, 12);
    }
}

static void test_random_bytes_never_make_more_than_an_answer(void **state)
{
    (void)state;
    rand_seed_for_tests(3);
    style.cookies = ANSWER_COOKIES_ON;
    for (int i = 0; i < 200000; i++) {
        build(i % 2 ? "big.cname.example" : "nx.d1.example", WIRE_TYPE_TXT, 1232);
        for (int j = 0; j < 4; j++)
            query[rand_below(query_len)] = (uint8_t)rand_u32();
        answer = answer_make(&style, span_of(query, query_len), i & 4, &client, out);
        assert_true(answer.len <= ANSWER_MAX);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_the_same_name_in_any_case_has_the_same_address, init),
        cmocka_unit_test_setup(test_no_case_answers_with_a_question_in_lower_case, init),
        cmocka_unit_test_setup(test_labels_choose_the_rcode, init),
        cmocka_unit_test_setup(test_labels_ask_for_delay_and_ttl, init),
        cmocka_unit_test_setup(test_the_half_verdict_carries_the_whole_answer, init),
        cmocka_unit_test_setup(test_silence_may_be_on_one_transport_only, init),
        cmocka_unit_test_setup(test_a_big_answer_is_cut_over_udp_and_whole_over_tcp, init),
        cmocka_unit_test_setup(test_keepalive_is_sent_on_streams_only, init),
        cmocka_unit_test_setup(test_a_required_cookie_is_learnt_and_then_accepted, init),
        cmocka_unit_test_setup(test_the_root_has_answers_too, init),
        cmocka_unit_test_setup(test_responses_and_fragments_get_no_answer, init),
        cmocka_unit_test_setup(test_a_cut_query_is_a_format_error, init),
        cmocka_unit_test_setup(test_random_bytes_never_make_more_than_an_answer, init),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
