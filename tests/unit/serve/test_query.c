/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Each kind of message that a client may send gets its verdict. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "dns/build.h"
#include "dns/message.h"
#include "dns/rrtype.h"
#include "serve/query.h"

static uint8_t bytes[4096];
static size_t len;
static struct query query;
static struct query_error error;

static void make(uint16_t type, uint16_t cls, uint16_t flags, bool edns)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct question question = {.type = type, .cls = cls};
    assert_int_equal(name_parse(&question.name, wire, "wWw.Example.", 12), ERR_OK);
    struct build build;
    build_init(&build, bytes, sizeof(bytes));
    build_header(&build, 0x1234, flags);
    build_question(&build, &question);
    if (edns) {
        build_opt_begin(&build, 1400, 0, 0, true);
        build_opt_end(&build);
    }
    len = build_finish(&build);
    assert_true(len > 0);
}

/* Checks a copy of exactly this length, so that a sanitizer detects a read beyond it. */
static enum query_verdict check_bytes(const uint8_t *data, size_t count)
{
    uint8_t *copy = malloc(count ? count : 1);
    memcpy(copy, data, count);
    enum query_verdict verdict = query_check(&query, &error, span_of(copy, count));
    free(copy);
    return verdict;
}

static enum query_verdict check(void)
{
    return query_check(&query, &error, span_of(bytes, len));
}

static void assert_error(uint16_t rcode)
{
    assert_int_equal(check(), QUERY_ERROR);
    assert_int_equal(error.rcode, rcode);
    assert_non_null(error.text);
}

static void test_a_plain_query_is_resolved(void **state)
{
    (void)state;
    make(RRTYPE_AAAA, RRCLASS_IN, HEADER_RD | HEADER_CD, false);
    assert_int_equal(check(), QUERY_RESOLVE);
    assert_int_equal(query.id, 0x1234);
    assert_int_equal(query.flags, HEADER_RD | HEADER_CD);
    assert_int_equal(query.udp_size, 512);
    assert_true(query.has_question);
    assert_false(query.has_edns);
    assert_int_equal(query.question.type, RRTYPE_AAAA);
    assert_memory_equal(query.question.name.wire, "\3wWw\7Example", 13);
}

static void test_edns_is_read(void **state)
{
    (void)state;
    make(RRTYPE_A, RRCLASS_IN, HEADER_RD, true);
    assert_int_equal(check(), QUERY_RESOLVE);
    assert_true(query.has_edns);
    assert_true(query.dnssec_ok);
    assert_false(query.has_keepalive);
    assert_int_equal(query.udp_size, 1400);
}

static void test_odd_edns_sizes_count_as_512_or_as_they_are(void **state)
{
    (void)state;
    const uint16_t sizes[] = {0, 1, 511, 512, 513, 65535};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        make(RRTYPE_A, RRCLASS_IN, HEADER_RD, true);
        put_u16(bytes + len - 8, sizes[i]);
        assert_int_equal(check(), QUERY_RESOLVE);
        assert_int_equal(query.udp_size, sizes[i] < 512 ? 512 : sizes[i]);
    }
}

static void add_option(uint16_t code, const void *data, size_t count)
{
    put_u16(bytes + len - 2, (uint16_t)(get_u16(bytes + len - 2) + 4 + count));
    put_u16(bytes + len, code);
    put_u16(bytes + len + 2, (uint16_t)count);
    memcpy(bytes + len + 4, data, count);
    len += 4 + count;
}

static void test_a_keepalive_option_is_seen(void **state)
{
    (void)state;
    make(RRTYPE_A, RRCLASS_IN, HEADER_RD, true);
    add_option(EDNS_TCP_KEEPALIVE, "", 0);
    assert_int_equal(check(), QUERY_RESOLVE);
    assert_true(query.has_keepalive);
}

static void test_padding_is_seen_among_other_options(void **state)
{
    (void)state;
    struct build build;
    uint8_t wire[NAME_WIRE_MAX];
    struct question question = {.type = RRTYPE_A, .cls = RRCLASS_IN};
    assert_int_equal(name_parse(&question.name, wire, "a.example", 9), ERR_OK);
    for (int with = 0; with < 2; with++) {
        build_init(&build, bytes, sizeof(bytes));
        build_header(&build, 1, HEADER_RD);
        build_question(&build, &question);
        build_opt_begin(&build, 1232, 0, 0, false);
        build_option(&build, EDNS_NSID, NULL, 0);
        if (with)
            build_option(&build, EDNS_PADDING, NULL, 0); /* empty padding counts, too (RFC 7830) */
        edns_add_keepalive_query(&build);
        build_opt_end(&build);
        len = build_finish(&build);
        assert_int_equal(check(), QUERY_RESOLVE);
        assert_int_equal(query.has_padding, with);
        assert_true(query.has_keepalive);
    }
}

static void test_unknown_options_are_ignored(void **state)
{
    (void)state;
    make(RRTYPE_A, RRCLASS_IN, HEADER_RD, true);
    add_option(65001, "anything", 8);
    assert_int_equal(check(), QUERY_RESOLVE);
    assert_false(query.has_cookie);
}

/* RFC 7873 section 5.2.2. */
static void test_cookies_of_impossible_lengths_are_malformed(void **state)
{
    (void)state;
    static const uint8_t cookie[300] = "12345678server";
    for (uint16_t count = 0; count <= sizeof(cookie); count++) {
        make(RRTYPE_A, RRCLASS_IN, HEADER_RD, true);
        add_option(EDNS_COOKIE, cookie, count);
        if (count != 8 && (count < 16 || count > 40)) {
            assert_error(RCODE_FORMERR);
            continue;
        }
        assert_int_equal(check_bytes(bytes, len), QUERY_RESOLVE);
        assert_true(query.has_cookie);
        assert_false(query.sends_cookie); /* the cookie has not been judged yet */
        assert_int_equal(query.cookie_len, count);
        assert_memory_equal(query.cookie, cookie, count < 24 ? count : 24);
    }
}

static void make_with_cookies(const char *first, const char *second)
{
    struct build build;
    build_init(&build, bytes, sizeof(bytes));
    build_header(&build, 1, HEADER_RD);
    build_question(&build, &(struct question){{(const uint8_t *)"", 1}, RRTYPE_A, RRCLASS_IN});
    build_opt_begin(&build, 1232, 0, 0, false);
    build_option(&build, EDNS_COOKIE, first, strlen(first));
    build_option(&build, EDNS_COOKIE, second, strlen(second));
    build_opt_end(&build);
    len = build_finish(&build);
}

static void test_the_first_cookie_counts(void **state)
{
    (void)state;
    make_with_cookies("12345678", "123");
    assert_int_equal(check(), QUERY_RESOLVE);
    assert_int_equal(query.cookie_len, 8);
    assert_memory_equal(query.cookie, "12345678", 8);
    make_with_cookies("", "12345678");
    assert_error(RCODE_FORMERR);
}

/* RFC 7873 section 5.4. */
static void test_a_query_may_contain_only_a_cookie(void **state)
{
    (void)state;
    struct build build;
    for (int i = 0; i < 8; i++) {
        bool has_cookie = i & 1, is_sound = i & 2;
        build_init(&build, bytes, sizeof(bytes));
        build_header(&build, 1, HEADER_RD);
        build_opt_begin(&build, 1232, 0, 0, false);
        if (has_cookie)
            build_option(&build, EDNS_COOKIE, "12345678", is_sound ? 8 : 7);
        build_opt_end(&build);
        len = build_finish(&build);
        put_u16(bytes + 6, i & 4 ? 1 : 0); /* the header counts an answer record that is missing */
        if (i == 3)
            assert_int_equal(check(), QUERY_COOKIE);
        else
            assert_error(RCODE_FORMERR);
    }
}

static void test_options_with_a_wrong_length_are_malformed(void **state)
{
    (void)state;
    make(RRTYPE_A, RRCLASS_IN, HEADER_RD, true);
    add_option(EDNS_COOKIE, "12345678", 8);
    put_u16(bytes + len - 10, 9);
    assert_error(RCODE_FORMERR);
}

/* RFC 6891 section 7: the error has an OPT record, too. The query's options have no effect. */
static void test_a_malformed_query_with_edns_gets_edns(void **state)
{
    (void)state;
    struct build build;
    build_init(&build, bytes, sizeof(bytes));
    build_header(&build, 1, HEADER_RD);
    build_question(&build, &(struct question){{(const uint8_t *)"", 1}, RRTYPE_A, RRCLASS_IN});
    build_opt_begin(&build, 1232, 0, 0, false);
    for (int i = 0; i <= EDNS_OPTIONS_MAX; i++)
        build_option(&build, EDNS_COOKIE, "12345678", 8);
    build_opt_end(&build);
    len = build_finish(&build);
    assert_error(RCODE_FORMERR);
    assert_true(query.has_edns);
    assert_false(query.has_cookie);
    make(RRTYPE_A, RRCLASS_IN, HEADER_RD, false);
    put_u16(bytes + 10, 1); /* the header counts a record that is missing */
    assert_error(RCODE_FORMERR);
    assert_false(query.has_edns);
}

static void test_an_answer_is_never_answered(void **state)
{
    (void)state;
    for (unsigned opcode = 0; opcode < 16; opcode++) {
        make(RRTYPE_A, RRCLASS_IN, (uint16_t)(HEADER_QR | opcode << 11), false);
        assert_int_equal(check(), QUERY_DROP);
    }
    put_u16(bytes + 4, 2); /* malformed, too */
    assert_int_equal(check(), QUERY_DROP);
}

static void test_every_other_opcode_is_not_implemented(void **state)
{
    (void)state;
    for (unsigned opcode = 1; opcode < 16; opcode++) {
        make(RRTYPE_A, RRCLASS_IN, (uint16_t)(opcode << 11), true);
        assert_error(RCODE_NOTIMP);
        assert_true(query.has_edns);
        assert_int_equal(query.flags >> 11, opcode);
    }
}

static void test_a_malformed_message_of_another_opcode_is_not_implemented(void **state)
{
    (void)state;
    make(RRTYPE_A, RRCLASS_IN, OPCODE_UPDATE << 11, false);
    put_u16(bytes + 4, 3);
    assert_error(RCODE_NOTIMP);
    assert_false(query.has_question);
}

static void test_no_question_or_several_are_malformed(void **state)
{
    (void)state;
    make(RRTYPE_A, RRCLASS_IN, HEADER_RD, false);
    put_u16(bytes + 4, 0);
    assert_error(RCODE_FORMERR);
    put_u16(bytes + 4, 2);
    assert_error(RCODE_FORMERR);
    put_u16(bytes + 4, 65535);
    assert_error(RCODE_FORMERR);
}

static void test_a_bare_header_is_malformed(void **state)
{
    (void)state;
    static const uint8_t header[12] = {1, 2, 1, 0};
    assert_int_equal(check_bytes(header, 12), QUERY_ERROR);
    assert_int_equal(error.rcode, RCODE_FORMERR);
    assert_false(query.has_question);
}

static void test_edns_of_the_future_is_a_bad_version(void **state)
{
    (void)state;
    for (unsigned version = 1; version < 256; version += 127) {
        make(RRTYPE_A, RRCLASS_IN, HEADER_RD, true);
        bytes[len - 5] = (uint8_t)version;
        assert_error(RCODE_BADVERS);
        assert_true(query.has_edns);
    }
}

static void test_transfers_are_refused(void **state)
{
    (void)state;
    make(RRTYPE_AXFR, RRCLASS_IN, 0, false);
    assert_error(RCODE_REFUSED);
    make(RRTYPE_IXFR, RRCLASS_IN, 0, false);
    put_u16(bytes + 8, 0);
    assert_error(RCODE_REFUSED);
}

static void test_meta_types_are_no_questions(void **state)
{
    (void)state;
    const struct {
        uint16_t type, rcode;
    } rows[] = {
        {0, RCODE_FORMERR},           {RRTYPE_OPT, RCODE_FORMERR},  {RRTYPE_TSIG, RCODE_FORMERR},
        {128, RCODE_FORMERR},         {129, RCODE_NOTIMP},          {RRTYPE_TKEY, RCODE_NOTIMP},
        {RRTYPE_MAILA, RCODE_NOTIMP}, {RRTYPE_MAILB, RCODE_NOTIMP},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        make(rows[i].type, RRCLASS_IN, HEADER_RD, false);
        assert_error(rows[i].rcode);
    }
}

static void test_any_and_unknown_types_are_questions(void **state)
{
    (void)state;
    const uint16_t types[] = {RRTYPE_ANY, RRTYPE_HTTPS, 127, 256, 65280, 65535};
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        make(types[i], RRCLASS_IN, HEADER_RD, false);
        assert_int_equal(check(), QUERY_RESOLVE);
    }
}

static void test_other_classes_are_refused(void **state)
{
    (void)state;
    const uint16_t classes[] = {0, 2, RRCLASS_CH, RRCLASS_HS, RRCLASS_NONE, RRCLASS_ANY, 65535};
    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
        make(RRTYPE_TXT, classes[i], HEADER_RD, false);
        assert_error(RCODE_REFUSED);
    }
}

static void add_record(uint16_t type, uint16_t cls, const void *rdata, uint16_t count)
{
    put_u16(bytes + len, 0xc000 | HEADER_LEN);
    put_u16(bytes + len + 2, type);
    put_u16(bytes + len + 4, cls);
    put_u32(bytes + len + 6, 0);
    put_u16(bytes + len + 10, count);
    memcpy(bytes + len + 12, rdata, count);
    len += 12u + count;
}

static void test_records_before_the_additional_section_are_malformed(void **state)
{
    (void)state;
    for (int section = SECTION_ANSWER; section <= SECTION_AUTHORITY; section++) {
        make(RRTYPE_A, RRCLASS_IN, HEADER_RD, false);
        add_record(RRTYPE_A, RRCLASS_IN, "\1\2\3\4", 4);
        header_set_count(bytes, (enum section)section, 1);
        assert_error(RCODE_FORMERR);
    }
}

static void test_a_signed_query_meets_no_key(void **state)
{
    (void)state;
    make(RRTYPE_A, RRCLASS_IN, HEADER_RD, false);
    add_record(RRTYPE_TSIG, RRCLASS_ANY, "\4hmac\0TTTTTT\1\1\0\0\x12\x34\0\0\0\0", 22);
    header_set_count(bytes, SECTION_ADDITIONAL, 1);
    assert_error(RCODE_NOTAUTH);
    assert_int_equal(query.tsig_message.len, len);
}

static void test_counts_that_lie_are_malformed(void **state)
{
    (void)state;
    for (int section = SECTION_ANSWER; section < SECTION_COUNT; section++) {
        make(RRTYPE_A, RRCLASS_IN, HEADER_RD, true);
        header_set_count(bytes, (enum section)section, 65535);
        assert_error(RCODE_FORMERR);
    }
}

static void test_every_truncation_is_dropped_or_malformed(void **state)
{
    (void)state;
    make(RRTYPE_A, RRCLASS_IN, HEADER_RD, true);
    for (size_t cut = 0; cut < len; cut++) {
        enum query_verdict verdict = check_bytes(bytes, cut);
        assert_int_equal(verdict, cut < HEADER_LEN ? QUERY_DROP : QUERY_ERROR);
        if (verdict == QUERY_ERROR)
            assert_int_equal(error.rcode, RCODE_FORMERR);
    }
}

static void test_a_compressed_question_is_malformed(void **state)
{
    (void)state;
    static const uint8_t self[] = {0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0xc0, 0x0c, 0, 1, 0, 1};
    assert_int_equal(check_bytes(self, sizeof(self)), QUERY_ERROR);
    assert_int_equal(error.rcode, RCODE_FORMERR);
    assert_false(query.has_question);
}

static void test_every_flipped_bit_ends_in_a_verdict(void **state)
{
    (void)state;
    for (size_t bit = 0; bit < 8 * 43; bit++) {
        make(RRTYPE_A, RRCLASS_IN, HEADER_RD, true);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        enum query_verdict verdict = check_bytes(bytes, len);
        assert_in_range(verdict, QUERY_DROP, QUERY_RESOLVE);
    }
}

static void test_a_kept_query_outlives_its_message(void **state)
{
    (void)state;
    uint8_t name[NAME_WIRE_MAX];
    make(RRTYPE_A, RRCLASS_IN, HEADER_RD, false);
    assert_int_equal(check(), QUERY_RESOLVE);
    query_keep(&query, name);
    memset(bytes, 0xff, sizeof(bytes));
    assert_ptr_equal(query.question.name.wire, name);
    assert_memory_equal(name, "\3wWw\7Example", 13);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_plain_query_is_resolved),
        cmocka_unit_test(test_edns_is_read),
        cmocka_unit_test(test_odd_edns_sizes_count_as_512_or_as_they_are),
        cmocka_unit_test(test_a_keepalive_option_is_seen),
        cmocka_unit_test(test_padding_is_seen_among_other_options),
        cmocka_unit_test(test_unknown_options_are_ignored),
        cmocka_unit_test(test_cookies_of_impossible_lengths_are_malformed),
        cmocka_unit_test(test_the_first_cookie_counts),
        cmocka_unit_test(test_a_query_may_contain_only_a_cookie),
        cmocka_unit_test(test_options_with_a_wrong_length_are_malformed),
        cmocka_unit_test(test_a_malformed_query_with_edns_gets_edns),
        cmocka_unit_test(test_an_answer_is_never_answered),
        cmocka_unit_test(test_every_other_opcode_is_not_implemented),
        cmocka_unit_test(test_a_malformed_message_of_another_opcode_is_not_implemented),
        cmocka_unit_test(test_no_question_or_several_are_malformed),
        cmocka_unit_test(test_a_bare_header_is_malformed),
        cmocka_unit_test(test_edns_of_the_future_is_a_bad_version),
        cmocka_unit_test(test_transfers_are_refused),
        cmocka_unit_test(test_meta_types_are_no_questions),
        cmocka_unit_test(test_any_and_unknown_types_are_questions),
        cmocka_unit_test(test_other_classes_are_refused),
        cmocka_unit_test(test_records_before_the_additional_section_are_malformed),
        cmocka_unit_test(test_a_signed_query_meets_no_key),
        cmocka_unit_test(test_counts_that_lie_are_malformed),
        cmocka_unit_test(test_every_truncation_is_dropped_or_malformed),
        cmocka_unit_test(test_a_compressed_question_is_malformed),
        cmocka_unit_test(test_every_flipped_bit_ends_in_a_verdict),
        cmocka_unit_test(test_a_kept_query_outlives_its_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
