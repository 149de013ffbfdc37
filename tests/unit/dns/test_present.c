/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/dns/sample.h"

#include <stdlib.h>

#include "dns/build.h"
#include "dns/present.h"
#include "dns/rrtype.h"
#include "unit/dns/raw.h"

static struct raw raw;
static char text[8192];

static void assert_shows(const char *part)
{
    if (!strstr(text, part))
        fail_msg("\"%s\" is not in:\n%s", part, text);
}

static void test_an_answer_is_printed_like_dig(void **state)
{
    (void)state;
    assert_int_equal(present_message(SAMPLE_ANSWER, text, sizeof(text)), ERR_OK);
    assert_shows("opcode: QUERY, status: NOERROR, id: 4660\n");
    assert_shows("flags: qr rd ra; QUERY: 1, ANSWER: 2, AUTHORITY: 0, ADDITIONAL: 1\n");
    assert_shows("; EDNS: version: 0, flags: do; udp: 1232\n");
    assert_shows(";www.example.com.\t\tIN\tA\n");
    assert_shows(";; ANSWER SECTION:\nwww.example.com.\t3600\tIN\tCNAME\thost.example.com.\n"
                 "host.example.com.\t60\tIN\tA\t192.0.2.1\n");
}

static void test_options_are_shown(void **state)
{
    (void)state;
    struct build build;
    build_init(&build, raw.bytes, sizeof(raw.bytes));
    build_header(&build, 1, HEADER_QR);
    build_opt_begin(&build, 1232, RCODE_BADVERS, 0, false);
    edns_add_cookie(&build, (const uint8_t *)"\1\2\3\4\5\6\7\x08", span_of(NULL, 0));
    edns_add_keepalive_answer(&build, 305);
    edns_add_ede(&build, EDE_BLOCKED, "by\033[2J law");
    build_option(&build, 65001, "\xab", 1);
    edns_add_padding(&build, 128);
    build_opt_end(&build);
    struct span bytes = span_of(raw.bytes, build_finish(&build));
    assert_int_equal(present_message(bytes, text, sizeof(text)), ERR_OK);
    assert_shows("status: BADVERS");
    assert_shows("; COOKIE: 0102030405060708\n");
    assert_shows("; TCP-KEEPALIVE: 30.5 s\n");
    assert_shows("; EDE: 15 (Blocked): by?[2J law\n");
    assert_shows("; OPT=65001: ab\n");
    assert_shows("; PADDING: ");
}

static void test_malformed_messages_are_not_shown(void **state)
{
    (void)state;
    struct span cut = span_of(SAMPLE_ANSWER.data, 50);
    assert_int_equal(present_message(cut, text, sizeof(text)), ERR_INVALID);
    assert_shows("malformed");
    raw_start(&raw, HEADER_QR);
    raw_rr(&raw, SECTION_ANSWER, BYTES("\xc0\x0c"), RRTYPE_A, 1, 0, BYTES("\1"));
    assert_int_equal(present_message(raw_span(&raw), text, sizeof(text)), ERR_INVALID);
}

static void test_text_is_truncated_to_the_buffer(void **state)
{
    (void)state;
    assert_int_equal(present_message(SAMPLE_ANSWER, text, sizeof(text)), ERR_OK);
    size_t whole = strlen(text);
    for (size_t size = 1; size <= whole + 1; size++) {
        char *exact = malloc(size);
        assert_int_equal(present_message(SAMPLE_ANSWER, exact, size), ERR_OK);
        assert_int_equal(strlen(exact), size - 1);
        assert_memory_equal(exact, text, size - 1);
        free(exact);
    }
}

static void test_records_that_are_no_data_are_shown_as_bytes(void **state)
{
    (void)state;
    raw_start(&raw, 0);
    raw_rr(&raw, SECTION_ADDITIONAL, BYTES("\1k\0"), RRTYPE_TSIG, 255, 0, BYTES("\1\2"));
    assert_int_equal(present_message(raw_span(&raw), text, sizeof(text)), ERR_OK);
    assert_shows("k.\t0\tANY\tTYPE250\t\\# 2 0102\n");
}

static void test_many_records_end_with_a_remark(void **state)
{
    (void)state;
    raw_start(&raw, HEADER_QR);
    for (int i = 0; i <= PRESENT_RRS_MAX; i++)
        raw_rr(&raw, SECTION_ANSWER, BYTES("\xc0\x0c"), RRTYPE_A, 1, 0, BYTES("\1\2\3\4"));
    size_t size = 1 << 20;
    char *large = malloc(size);
    assert_int_equal(present_message(raw_span(&raw), large, size), ERR_OK);
    assert_non_null(strstr(large, ";; and more\n"));
    free(large);
}

static void assert_record(const char *line, struct span expected)
{
    uint8_t wire[512];
    size_t len;
    assert_int_equal(present_rr_from_text(wire, sizeof(wire), &len, line, NAME("example.com"), 77),
                     ERR_OK);
    assert_true(span_equal(span_of(wire, len), expected));
}

static void test_zone_file_lines_become_records(void **state)
{
    (void)state;
    assert_record("a.b. 60 IN A 192.0.2.1", BYTES("\1a\1b\0\0\1\0\1\0\0\0\x3c\0\4\xc0\0\2\1"));
    assert_record("w A 192.0.2.1", BYTES("\1w\7example\3com\0\0\1\0\1\0\0\0\x4d\0\4"
                                         "\xc0\0\2\1"));
    assert_record("x. 0 IN MX 5 y.", BYTES("\1x\0\0\x0f\0\1\0\0\0\0\0\5\0\5\1y\0"));
}

static void test_lines_without_a_record_are_refused(void **state)
{
    (void)state;
    const char *const lines[] = {
        "", "a", "a. IN A", "a. IN A 1.2.3", "a. IN NOTYPE x", "a. 60 IN AAAA 192.0.2.1"};
    uint8_t wire[512];
    size_t len;
    for (int i = 0; i < 6; i++)
        assert_int_equal(present_rr_from_text(wire, sizeof(wire), &len, lines[i], name_root(), 60),
                         ERR_INVALID);
    assert_int_equal(present_rr_from_text(wire, 10, &len, "a. IN A 1.2.3.4", name_root(), 60),
                     ERR_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_answer_is_printed_like_dig),
        cmocka_unit_test(test_options_are_shown),
        cmocka_unit_test(test_malformed_messages_are_not_shown),
        cmocka_unit_test(test_text_is_truncated_to_the_buffer),
        cmocka_unit_test(test_records_that_are_no_data_are_shown_as_bytes),
        cmocka_unit_test(test_many_records_end_with_a_remark),
        cmocka_unit_test(test_zone_file_lines_become_records),
        cmocka_unit_test(test_lines_without_a_record_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
