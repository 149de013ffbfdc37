/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The log line of a query: its words, hostile names, and bounds. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "cache/answer.h"
#include "dns/edns.h"
#include "dns/header.h"
#include "dns/name.h"
#include "dns/rrtype.h"
#include "tap/query_line.h"

static char out[QUERY_LINE_MAX + 1];
static struct query_record record;
static uint8_t wire[NAME_WIRE_MAX + QUERY_LINE_VIEW_MAX + QUERY_LINE_CAUSE_MAX];

_Static_assert((int)QUERY_LINE_CAUSE_MAX == (int)ANSWER_TEXT_MAX - 1, "no text is cut");

static int set_up(void **state)
{
    struct name name;
    (void)state;
    assert_int_equal(name_parse(&name, wire, "www.Example.com", 15), ERR_OK);
    record = (struct query_record){
        .asked_at = 1000,
        .answered_at = 13345,
        .size = 88,
        .type = RRTYPE_A,
        .cls = RRCLASS_IN,
        .flags = HEADER_RD,
        .transport = TRANSPORT_UDP,
        .origin = TAP_FROM_UPSTREAM,
        .source = {.transport = TRANSPORT_TLS},
        .name_len = name.len,
        .dnssec_ok = true,
    };
    assert_int_equal(addr_parse(&record.client, "192.0.2.7@40000", 0), ERR_OK);
    assert_int_equal(addr_parse(&record.source.addr, "192.0.2.53@853", 0), ERR_OK);
    return 0;
}

static void make(enum log_format format)
{
    memset(out, 'x', sizeof(out));
    size_t len = query_line(out, format, &record, wire, 1767225599123456);
    assert_in_range(len, 1, QUERY_LINE_MAX);
    assert_int_equal(out[len], 'x');
    assert_int_equal(out[len - 1], '\n');
    out[len - 1] = '\0';
    for (size_t i = 0; i < len - 1; i++)
        assert_in_range((unsigned char)out[i], ' ', '~');
}

/* Expects a line with this text after the program's name. */
static void expect_text(const char *text)
{
    make(LOG_TEXT);
    assert_string_equal(strchr(out, ':'), text);
}

static void expect_json(const char *text)
{
    make(LOG_JSON);
    assert_string_equal(out, text);
}

static void test_a_line_ends_with_the_view_of_the_client(void **state)
{
    static const char view[] = "lab-2.example";
    (void)state;
    memcpy(wire + record.name_len, view, strlen(view));
    record.view_len = (uint8_t)strlen(view);
    expect_text(": info: query: 192.0.2.7@40000 udp www.Example.com. A IN rd,do NOERROR 88 "
                "12.345ms upstream 192.0.2.53@853 tls view=lab-2.example");
    make(LOG_JSON);
    assert_non_null(strstr(out, ",\"transport\":\"tls\",\"view\":\"lab-2.example\"}"));
    /* a query without a question has a view, too */
    memcpy(wire, view, strlen(view));
    record.name_len = 0;
    make(LOG_TEXT);
    assert_non_null(strstr(out, " view=lab-2.example"));
    /* no view has a name of this length */
    memset(wire, 'v', sizeof(wire));
    record.view_len = UINT8_MAX;
    make(LOG_TEXT);
    assert_int_equal(strlen(strstr(out, " view=")), strlen(" view=") + QUERY_LINE_VIEW_MAX);
}

static void test_a_line_has_client_question_answer_and_upstream(void **state)
{
    (void)state;
    expect_text(": info: query: 192.0.2.7@40000 udp www.Example.com. A IN rd,do NOERROR 88 "
                "12.345ms upstream 192.0.2.53@853 tls");
}

static void test_a_json_line_has_a_member_for_each_fact(void **state)
{
    (void)state;
    expect_json("{\"time\":\"2025-12-31T23:59:59.123Z\",\"level\":\"info\",\"module\":\"query\","
                "\"client\":\"192.0.2.7\",\"port\":40000,\"protocol\":\"udp\","
                "\"name\":\"www.Example.com.\",\"type\":\"A\",\"class\":\"IN\",\"rd\":true,"
                "\"cd\":false,\"do\":true,\"rcode\":\"NOERROR\",\"size\":88,\"seconds\":0.012345,"
                "\"origin\":\"upstream\",\"upstream\":\"192.0.2.53@853\",\"transport\":\"tls\"}");
}

static void test_a_cached_answer_names_no_upstream(void **state)
{
    (void)state;
    record.origin = TAP_FROM_CACHE;
    record.asked_at = record.answered_at + 1; /* the clocks of two turns may differ */
    record.source.addr.sa.sa_family = 0;
    record.transport = TRANSPORT_TLS;
    record.flags = HEADER_CD;
    record.dnssec_ok = false;
    assert_int_equal(addr_parse(&record.client, "2001:db8::7@853", 0), ERR_OK);
    expect_text(": info: query: 2001:db8::7@853 tls www.Example.com. A IN cd NOERROR 88 0.000ms "
                "cache");
}

static void test_a_dropped_query_has_no_rcode(void **state)
{
    (void)state;
    record.origin = TAP_FROM_LIMIT;
    record.size = 0;
    record.flags = 0;
    record.dnssec_ok = false;
    expect_text(": info: query: 192.0.2.7@40000 udp www.Example.com. A IN - - 0 12.345ms limited");
    make(LOG_JSON);
    assert_null(strstr(out, "rcode"));
}

static void test_a_query_without_a_question_has_no_name(void **state)
{
    (void)state;
    record.origin = TAP_FROM_REFUSAL;
    record.name_len = 0;
    record.rcode = RCODE_FORMERR;
    expect_text(": info: query: 192.0.2.7@40000 udp - - - rd,do FORMERR 88 12.345ms refused");
    make(LOG_JSON);
    assert_null(strstr(out, "name"));
}

/* Gives the record a failure with this text. */
static void fail_with(const uint8_t *text, size_t len)
{
    record.origin = TAP_FROM_NO_ANSWER;
    record.rcode = RCODE_SERVFAIL;
    record.ede_count = 2;
    record.ede[0] = EDE_NO_REACHABLE_AUTHORITY;
    record.ede[1] = EDE_NETWORK_ERROR;
    record.cause_len = (uint8_t)len;
    memcpy(wire + record.name_len + record.view_len, text, len);
}

static void fail_with_text(const char *text)
{
    fail_with((const uint8_t *)text, strlen(text));
}

static void test_a_failure_ends_with_its_errors_and_their_cause(void **state)
{
    (void)state;
    fail_with_text("no server of the zone a. answers: timeout");
    expect_text(": info: query: 192.0.2.7@40000 udp www.Example.com. A IN rd,do SERVFAIL 88 "
                "12.345ms failed ede=22,23 cause=\"no server of the zone a. answers: timeout\"");
    make(LOG_JSON);
    assert_non_null(strstr(out, ",\"origin\":\"failed\",\"ede\":[22,23],"
                                "\"cause\":\"no server of the zone a. answers: timeout\"}"));
    memcpy(wire + record.name_len, "lab", 3);
    record.view_len = 3;
    record.omitted = 4711;
    record.ede_count = 1;
    fail_with_text("x");
    record.ede_count = 1;
    make(LOG_TEXT);
    assert_non_null(strstr(out, " failed view=lab ede=22 omitted=4711 cause=\"x\""));
    make(LOG_JSON);
    assert_non_null(
        strstr(out, ",\"view\":\"lab\",\"ede\":[22],\"omitted\":4711,\"cause\":\"x\"}"));
}

static void test_an_error_without_text_has_its_name_for_a_cause(void **state)
{
    (void)state;
    fail_with_text("");
    record.ede[0] = EDE_DNSSEC_BOGUS;
    make(LOG_TEXT);
    assert_non_null(strstr(out, " failed ede=6,23 cause=\"DNSSEC Bogus\""));
    record.ede[0] = 49152;
    make(LOG_TEXT);
    assert_string_equal(strstr(out, " failed"), " failed ede=49152,23");
    make(LOG_JSON);
    assert_string_equal(strstr(out, ",\"ede\""), ",\"ede\":[49152,23]}");
    record.ede_count = 0; /* then there is no cause */
    record.cause_len = 3;
    make(LOG_TEXT);
    assert_null(strstr(out, "cause"));
}

/* A server may choose the text of an extended error. */
static void test_no_cause_forges_a_line_or_a_member(void **state)
{
    (void)state;
    for (unsigned byte = 0; byte < 256; byte++) {
        uint8_t text[3] = {'a', (uint8_t)byte, 'z'};
        char escaped[8];
        bool is_quoted = byte == '"' || byte == '\\';
        fail_with(text, sizeof(text));
        if (byte >= ' ' && byte <= '~')
            snprintf(escaped, sizeof(escaped), "a%s%cz\"", is_quoted ? "\\" : "", (int)byte);
        else
            snprintf(escaped, sizeof(escaped), "a\\%03uz\"", byte);
        make(LOG_TEXT);
        assert_string_equal(strstr(out, "cause=\"") + 7, escaped);
        make(LOG_JSON);
        unsigned quotes = 0;
        for (const char *at = out; *at; at++) {
            if (*at == '\\') {
                at++;
                assert_true(*at == '\\' || *at == '"');
            } else {
                quotes += *at == '"';
            }
        }
        assert_int_equal(quotes, 58);
    }
}

static void test_every_origin_has_a_word(void **state)
{
    (void)state;
    for (unsigned i = 0; i < TAP_ORIGIN_COUNT; i++) {
        record.origin = (uint8_t)i;
        make(LOG_TEXT);
        assert_null(strstr(out, "(null)"));
    }
}

/* Makes labels from every byte value in turn. */
static void test_no_name_forges_a_line_a_word_or_a_member(void **state)
{
    (void)state;
    for (unsigned byte = 0; byte < 256; byte++) {
        wire[0] = 3;
        wire[1] = wire[2] = wire[3] = (uint8_t)byte;
        wire[4] = 0;
        record.name_len = 5;
        make(LOG_TEXT);
        unsigned blanks = 0;
        for (const char *at = strstr(out, "query: "); *at; at++)
            blanks += *at == ' ';
        assert_int_equal(blanks, 12);
        make(LOG_JSON);
        unsigned quotes = 0;
        for (const char *at = out; *at; at++) {
            if (*at == '\\')
                at++; /* skips the escaped character */
            else
                quotes += *at == '"';
        }
        assert_int_equal(quotes, 60);
    }
}

static void test_the_longest_name_fits_escaped(void **state)
{
    (void)state;
    for (unsigned at = 0; at < 255;) {
        unsigned len = at + 64 < 255 ? 63 : 254 - at - 1;
        wire[at] = (uint8_t)len;
        memset(wire + at + 1, at ? '"' : 1, len);
        at += len + 1;
        if (at == 254) {
            wire[at] = 0;
            break;
        }
    }
    record.name_len = 255;
    record.type = record.cls = record.rcode = 65535;
    assert_int_equal(addr_parse(&record.client, "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff@65535", 0),
                     ERR_OK);
    record.source.addr = record.client;
    record.asked_at = 0;
    record.answered_at = UINT64_MAX;
    record.size = UINT32_MAX;
    make(LOG_TEXT);
    assert_string_equal(out + strlen(out) - 3, "tls");
    make(LOG_JSON);
    assert_string_equal(out + strlen(out) - 6, "\"tls\"}");
    /* with all that a line may have */
    uint8_t cause[QUERY_LINE_CAUSE_MAX];
    memset(cause, 255, sizeof(cause));
    memset(wire + record.name_len, 'v', QUERY_LINE_VIEW_MAX);
    record.view_len = QUERY_LINE_VIEW_MAX;
    fail_with(cause, sizeof(cause));
    record.origin = TAP_FROM_UPSTREAM;
    record.rcode = record.ede[0] = record.ede[1] = 65535;
    record.omitted = UINT32_MAX;
    make(LOG_TEXT);
    assert_int_equal(strlen(strstr(out, " cause=")), 8 + 4 * sizeof(cause) + 1);
    assert_int_equal(out[strlen(out) - 1], '"');
    make(LOG_JSON);
    assert_int_equal(strlen(strstr(out, ",\"cause\":")), 10 + 5 * sizeof(cause) + 2);
    assert_string_equal(out + strlen(out) - 2, "\"}");
    record.cause_len = UINT8_MAX; /* no error has a text of this length */
    make(LOG_TEXT);
    assert_int_equal(strlen(strstr(out, " cause=")), 8 + 4 * sizeof(cause) + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_a_line_has_client_question_answer_and_upstream, set_up),
        cmocka_unit_test_setup(test_a_line_ends_with_the_view_of_the_client, set_up),
        cmocka_unit_test_setup(test_a_json_line_has_a_member_for_each_fact, set_up),
        cmocka_unit_test_setup(test_a_cached_answer_names_no_upstream, set_up),
        cmocka_unit_test_setup(test_a_dropped_query_has_no_rcode, set_up),
        cmocka_unit_test_setup(test_a_query_without_a_question_has_no_name, set_up),
        cmocka_unit_test_setup(test_a_failure_ends_with_its_errors_and_their_cause, set_up),
        cmocka_unit_test_setup(test_an_error_without_text_has_its_name_for_a_cause, set_up),
        cmocka_unit_test_setup(test_no_cause_forges_a_line_or_a_member, set_up),
        cmocka_unit_test_setup(test_every_origin_has_a_word, set_up),
        cmocka_unit_test_setup(test_no_name_forges_a_line_a_word_or_a_member, set_up),
        cmocka_unit_test_setup(test_the_longest_name_fits_escaped, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
