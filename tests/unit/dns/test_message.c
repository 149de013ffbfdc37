/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/dns/sample.h"

#include <stdlib.h>

#include "dns/message.h"
#include "dns/rrtype.h"
#include "unit/dns/raw.h"

#define QUESTION_NAME BYTES("\xc0\x0c")
#define ROOT BYTES("\0")
#define NOTHING span_of("", 0)

static struct raw raw;

/* Parses a copy of exactly that size, so that a sanitizer detects every overrun. */
static enum message_check check(struct span bytes)
{
    uint8_t *exact = malloc(bytes.len ? bytes.len : 1);
    struct message message;
    if (bytes.len)
        memcpy(exact, bytes.data, bytes.len);
    enum message_check result = message_parse(&message, span_of(exact, bytes.len));
    if (result == MESSAGE_OK)
        message_check_rdata(&message);
    free(exact);
    return result;
}

static void test_real_answer_is_parsed_completely(void **state)
{
    (void)state;
    struct message message = sample_parse(SAMPLE_ANSWER);
    assert_int_equal(message.id, 0x1234);
    assert_true(message_is_answer(&message));
    assert_int_equal(message_opcode(&message), OPCODE_QUERY);
    assert_int_equal(message_rcode(&message), RCODE_NOERROR);
    assert_true(message.has_question);
    assert_true(name_equal_exact(message.question.name, NAME("www.example.com")));
    assert_int_equal(message.question.type, RRTYPE_A);
    assert_int_equal(message.question.cls, RRCLASS_IN);
    assert_int_equal(message.counts[SECTION_ANSWER], 2);
    assert_int_equal(message.offsets[SECTION_ANSWER], 33);
    assert_int_equal(message.end, SAMPLE_ANSWER.len);
    assert_false(message.has_trailing);
    assert_true(message.edns.present && message.edns.dnssec_ok);
    assert_int_equal(message.edns.udp_size, 1232);
    assert_int_equal(message.edns.end - message.edns.offset, 11);
    assert_true(message_check_rdata(&message));
}

/* The copied message borrows nothing from the original. */
static void test_a_parsed_message_moves_to_a_copy_of_its_bytes(void **state)
{
    (void)state;
    struct message message = sample_parse(SAMPLE_ANSWER), moved;
    uint8_t *copy = malloc(message.bytes.len);
    memcpy(copy, message.bytes.data, message.bytes.len);
    message_move(&moved, &message, copy);
    assert_ptr_equal(moved.bytes.data, copy);
    assert_ptr_equal(moved.question.name.wire,
                     copy + (message.question.name.wire - message.bytes.data));
    assert_ptr_equal(moved.edns.options.data,
                     copy + (message.edns.options.data - message.bytes.data));
    assert_int_equal(moved.counts[SECTION_ANSWER], 2);
    message.question.name = name_root();
    message.edns.options = span_of(NULL, 0);
    message_move(&moved, &message, copy);
    assert_ptr_equal(moved.question.name.wire, name_root().wire);
    assert_null(moved.edns.options.data);
    free(copy);
}

static void test_records_come_in_order_with_their_section(void **state)
{
    (void)state;
    struct message message = sample_parse(SAMPLE_ANSWER);
    struct rr_iter iter = message_all_rrs(&message);
    struct rr rr;
    uint8_t wire[NAME_WIRE_MAX];
    struct name target;
    assert_true(message_rr_next(&iter, &rr));
    assert_int_equal(rr.section, SECTION_ANSWER);
    assert_int_equal(rr.type, RRTYPE_CNAME);
    assert_int_equal(rr.ttl, 3600);
    assert_int_equal(get_u32(message.bytes.data + message_ttl_offset(&rr)), 3600);
    assert_true(message_target(&message, &rr, wire, &target));
    assert_true(name_equal_exact(target, NAME("host.example.com")));
    assert_true(message_rr_next(&iter, &rr));
    assert_int_equal(rr.type, RRTYPE_A);
    assert_true(message_owner_is(&message, &rr, NAME("HOST.example.com")));
    assert_true(name_equal_exact(message_owner(&message, &rr, wire), NAME("host.example.com")));
    assert_true(span_equal(message_rdata(&message, &rr), BYTES("\xc0\0\2\1")));
    assert_false(message_target(&message, &rr, wire, &target));
    assert_true(message_rr_next(&iter, &rr));
    assert_int_equal(rr.section, SECTION_ADDITIONAL);
    assert_int_equal(rr.type, RRTYPE_OPT);
    assert_false(message_rr_next(&iter, &rr));
    assert_false(message_rr_next(&iter, &rr));
}

static void test_one_section_is_iterated_alone(void **state)
{
    (void)state;
    struct message message = sample_parse(SAMPLE_ANSWER);
    const int expected[] = {0, 2, 0, 1};
    for (int section = SECTION_ANSWER; section < SECTION_COUNT; section++) {
        struct rr_iter iter = message_rrs(&message, (enum section)section);
        int count = 0;
        for (struct rr rr; message_rr_next(&iter, &rr); count++)
            assert_int_equal(rr.section, section);
        assert_int_equal(count, expected[section]);
    }
}

static void test_answer_truncated_anywhere_is_refused(void **state)
{
    (void)state;
    for (size_t len = 0; len < SAMPLE_ANSWER.len; len++) {
        enum message_check expected = len < HEADER_LEN ? MESSAGE_SHORT : MESSAGE_MALFORMED;
        assert_int_equal(check(span_of(SAMPLE_ANSWER.data, len)), expected);
    }
}

static void test_parsing_survives_any_changed_byte(void **state)
{
    (void)state;
    for (size_t at = 0; at < SAMPLE_ANSWER.len; at++) {
        for (int value = 0; value < 256; value++) {
            uint8_t bytes[sizeof(sample_answer_bytes)];
            memcpy(bytes, SAMPLE_ANSWER.data, SAMPLE_ANSWER.len);
            bytes[at] = (uint8_t)value;
            check(span_of(bytes, SAMPLE_ANSWER.len));
        }
    }
}

static void test_malformed_message_still_has_id_and_question(void **state)
{
    (void)state;
    struct message message;
    struct span cut = span_of(SAMPLE_ANSWER.data, 40);
    assert_int_equal(message_parse(&message, cut), MESSAGE_MALFORMED);
    assert_int_equal(message.id, 0x1234);
    assert_int_equal(message.flags, 0x8180);
    assert_true(message.has_question);
    assert_true(name_equal(message.question.name, NAME("www.example.com")));
    struct rr_iter iter = message_all_rrs(&message);
    struct rr rr;
    assert_false(message_rr_next(&iter, &rr));
}

static void test_counts_that_are_too_high_fail_at_the_end_of_the_bytes(void **state)
{
    (void)state;
    for (int section = SECTION_ANSWER; section < SECTION_COUNT; section++) {
        raw_start(&raw, HEADER_QR);
        raw_rr(&raw, SECTION_ANSWER, QUESTION_NAME, RRTYPE_A, 1, 60, BYTES("\1\2\3\4"));
        assert_int_equal(check(raw_span(&raw)), MESSAGE_OK);
        header_set_count(raw.bytes, (enum section)section, 65535);
        assert_int_equal(check(raw_span(&raw)), MESSAGE_MALFORMED);
    }
}

static void test_message_without_question_is_accepted(void **state)
{
    (void)state;
    struct message message = sample_parse(BYTES("\0\1\0\0\0\0\0\0\0\0\0\0"));
    assert_false(message.has_question);
    assert_true(name_is_root(message.question.name));
}

static void test_two_questions_are_refused(void **state)
{
    (void)state;
    raw_start(&raw, 0);
    raw_add(&raw, "\1q\0\0\1\0\1", 7);
    header_set_count(raw.bytes, SECTION_QUESTION, 2);
    struct message message;
    assert_int_equal(message_parse(&message, raw_span(&raw)), MESSAGE_MALFORMED);
    assert_false(message.has_question);
}

static void test_compressed_question_is_refused(void **state)
{
    (void)state;
    assert_int_equal(check(BYTES("\0\1\0\0\0\1\0\0\0\0\0\0\xc0\x0c\0\1\0\1")), MESSAGE_MALFORMED);
    assert_int_equal(check(BYTES("\0\1\0\0\0\1\0\0\0\0\0\0\1q\xc0\x04\0\1\0\1")),
                     MESSAGE_MALFORMED);
}

static void test_trailing_bytes_are_flagged(void **state)
{
    (void)state;
    raw_start(&raw, 0);
    raw_add(&raw, "x", 1);
    struct message message = sample_parse(raw_span(&raw));
    assert_true(message.has_trailing);
    assert_int_equal(message.end, raw.len - 1);
}

static void test_longest_message_is_accepted_and_longer_ones_are_dropped(void **state)
{
    (void)state;
    raw_start(&raw, 0);
    size_t start = raw.len;
    memset(raw.bytes + start, 0, sizeof(raw.bytes) - start);
    assert_int_equal(check(span_of(raw.bytes, MESSAGE_MAX)), MESSAGE_OK);
    assert_int_equal(check(span_of(raw.bytes, MESSAGE_MAX + 1)), MESSAGE_SHORT);

    uint16_t rdlen = (uint16_t)(MESSAGE_MAX - start - 12);
    raw_rr(&raw, SECTION_ANSWER, QUESTION_NAME, RRTYPE_NULL, 1, 0, span_of(raw.bytes, 0));
    put_u16(raw.bytes + raw.len - 2, rdlen);
    struct message message = sample_parse(span_of(raw.bytes, MESSAGE_MAX));
    assert_int_equal(message.end, MESSAGE_MAX);
    assert_int_equal(check(span_of(raw.bytes, MESSAGE_MAX - 1)), MESSAGE_MALFORMED);
}

static void test_ttl_with_its_top_bit_counts_as_zero(void **state)
{
    (void)state;
    raw_start(&raw, HEADER_QR);
    raw_rr(&raw, SECTION_ANSWER, QUESTION_NAME, RRTYPE_A, 1, 0x80000001, BYTES("\1\2\3\4"));
    raw_rr(&raw, SECTION_ANSWER, QUESTION_NAME, RRTYPE_A, 1, 0x7fffffff, BYTES("\1\2\3\4"));
    struct message message = sample_parse(raw_span(&raw));
    struct rr_iter iter = message_all_rrs(&message);
    struct rr rr;
    assert_true(message_rr_next(&iter, &rr));
    assert_int_equal(rr.ttl, 0);
    assert_true(message_rr_next(&iter, &rr));
    assert_int_equal(rr.ttl, 0x7fffffff);
}

/* ---- OPT, TSIG, SIG(0) ---- */

static enum message_check check_opt(enum section section, struct span owner, struct span options)
{
    raw_start(&raw, 0);
    raw_rr(&raw, section, owner, RRTYPE_OPT, 1232, 0, options);
    return check(raw_span(&raw));
}

static void test_opt_occurs_once_in_additional_and_is_owned_by_the_root(void **state)
{
    (void)state;
    assert_int_equal(check_opt(SECTION_ADDITIONAL, ROOT, NOTHING), MESSAGE_OK);
    assert_int_equal(check_opt(SECTION_ANSWER, ROOT, NOTHING), MESSAGE_MALFORMED);
    assert_int_equal(check_opt(SECTION_AUTHORITY, ROOT, NOTHING), MESSAGE_MALFORMED);
    assert_int_equal(check_opt(SECTION_ADDITIONAL, BYTES("\1x\0"), NOTHING), MESSAGE_MALFORMED);
    assert_int_equal(check_opt(SECTION_ADDITIONAL, BYTES("\xc0\x0e"), NOTHING), MESSAGE_MALFORMED);
    check_opt(SECTION_ADDITIONAL, ROOT, NOTHING);
    raw_rr(&raw, SECTION_ADDITIONAL, ROOT, RRTYPE_OPT, 1232, 0, NOTHING);
    assert_int_equal(check(raw_span(&raw)), MESSAGE_MALFORMED);
}

static void test_opt_fields_are_read(void **state)
{
    (void)state;
    raw_start(&raw, 7);
    raw_rr(&raw, SECTION_ADDITIONAL, ROOT, RRTYPE_OPT, 4096, 0x12348001, BYTES("\0\3\0\0"));
    struct message message = sample_parse(raw_span(&raw));
    assert_int_equal(message.edns.ext_rcode, 0x12);
    assert_int_equal(message.edns.version, 0x34);
    assert_int_equal(message.edns.flags, 0x8001);
    assert_true(message.edns.dnssec_ok);
    assert_int_equal(message_rcode(&message), 0x127);
    assert_int_equal(message.edns.options.len, 4);
}

static void test_options_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    assert_int_equal(check_opt(SECTION_ADDITIONAL, ROOT, BYTES("\0\3\0\1")), MESSAGE_MALFORMED);
    assert_int_equal(check_opt(SECTION_ADDITIONAL, ROOT, BYTES("\0\3\0")), MESSAGE_MALFORMED);
    assert_int_equal(check_opt(SECTION_ADDITIONAL, ROOT, BYTES("\0\3\xff\xff\0")),
                     MESSAGE_MALFORMED);
}

static void test_options_are_accepted_up_to_their_limit(void **state)
{
    (void)state;
    static const uint8_t zeros[4 * 16000];
    assert_int_equal(check_opt(SECTION_ADDITIONAL, ROOT, span_of(zeros, 4 * EDNS_OPTIONS_MAX)),
                     MESSAGE_OK);
    assert_int_equal(
        check_opt(SECTION_ADDITIONAL, ROOT, span_of(zeros, 4 * (EDNS_OPTIONS_MAX + 1))),
        MESSAGE_MALFORMED);
    assert_int_equal(check_opt(SECTION_ADDITIONAL, ROOT, span_of(zeros, sizeof(zeros))),
                     MESSAGE_MALFORMED);
}

static void test_tsig_is_the_last_record_or_refused(void **state)
{
    (void)state;
    raw_start(&raw, 0);
    raw_rr(&raw, SECTION_ADDITIONAL, BYTES("\1k\0"), RRTYPE_TSIG, 255, 0, NOTHING);
    assert_true(sample_parse(raw_span(&raw)).has_tsig);
    raw_rr(&raw, SECTION_ADDITIONAL, BYTES("\1k\0"), RRTYPE_TSIG, 255, 0, NOTHING);
    assert_int_equal(check(raw_span(&raw)), MESSAGE_MALFORMED);
    raw_start(&raw, 0);
    raw_rr(&raw, SECTION_ANSWER, BYTES("\1k\0"), RRTYPE_TSIG, 255, 0, NOTHING);
    assert_int_equal(check(raw_span(&raw)), MESSAGE_MALFORMED);
}

static void test_transaction_signature_is_flagged_and_others_are_not(void **state)
{
    (void)state;
    raw_start(&raw, 0);
    raw_rr(&raw, SECTION_ADDITIONAL, ROOT, RRTYPE_SIG, 255, 0, BYTES("\0\1rest"));
    assert_false(sample_parse(raw_span(&raw)).has_sig0);
    raw_rr(&raw, SECTION_ADDITIONAL, ROOT, RRTYPE_SIG, 255, 0, BYTES("\0\0rest"));
    assert_true(sample_parse(raw_span(&raw)).has_sig0);
}

/* ---- owners ---- */

static void test_owner_pointers_must_lead_backwards(void **state)
{
    (void)state;
    raw_start(&raw, HEADER_QR);
    raw_rr(&raw, SECTION_ANSWER, BYTES("\xc0\x19"), RRTYPE_A, 1, 0, BYTES("\1\2\3\4"));
    assert_int_equal(check(raw_span(&raw)), MESSAGE_MALFORMED);
    raw_start(&raw, HEADER_QR);
    raw_rr(&raw, SECTION_ANSWER, BYTES("\xc0\xff"), RRTYPE_A, 1, 0, BYTES("\1\2\3\4"));
    assert_int_equal(check(raw_span(&raw)), MESSAGE_MALFORMED);
    raw_start(&raw, HEADER_QR);
    raw_rr(&raw, SECTION_ANSWER, BYTES("\xc0\x00"), RRTYPE_A, 1, 0, BYTES("\1\2\3\4"));
    assert_int_equal(check(raw_span(&raw)), MESSAGE_MALFORMED);
}

static void test_pointer_to_the_question_needs_a_question(void **state)
{
    (void)state;
    raw.len = 0;
    raw_add(&raw, "\0\1\x80\0\0\0\0\0\0\0\0\0", 12);
    raw_rr(&raw, SECTION_ANSWER, QUESTION_NAME, RRTYPE_A, 1, 0, BYTES("\1\2\3\4"));
    assert_int_equal(check(raw_span(&raw)), MESSAGE_MALFORMED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_real_answer_is_parsed_completely),
        cmocka_unit_test(test_a_parsed_message_moves_to_a_copy_of_its_bytes),
        cmocka_unit_test(test_records_come_in_order_with_their_section),
        cmocka_unit_test(test_one_section_is_iterated_alone),
        cmocka_unit_test(test_answer_truncated_anywhere_is_refused),
        cmocka_unit_test(test_parsing_survives_any_changed_byte),
        cmocka_unit_test(test_malformed_message_still_has_id_and_question),
        cmocka_unit_test(test_counts_that_are_too_high_fail_at_the_end_of_the_bytes),
        cmocka_unit_test(test_message_without_question_is_accepted),
        cmocka_unit_test(test_two_questions_are_refused),
        cmocka_unit_test(test_compressed_question_is_refused),
        cmocka_unit_test(test_trailing_bytes_are_flagged),
        cmocka_unit_test(test_longest_message_is_accepted_and_longer_ones_are_dropped),
        cmocka_unit_test(test_ttl_with_its_top_bit_counts_as_zero),
        cmocka_unit_test(test_opt_occurs_once_in_additional_and_is_owned_by_the_root),
        cmocka_unit_test(test_opt_fields_are_read),
        cmocka_unit_test(test_options_that_do_not_fit_are_refused),
        cmocka_unit_test(test_options_are_accepted_up_to_their_limit),
        cmocka_unit_test(test_tsig_is_the_last_record_or_refused),
        cmocka_unit_test(test_transaction_signature_is_flagged_and_others_are_not),
        cmocka_unit_test(test_owner_pointers_must_lead_backwards),
        cmocka_unit_test(test_pointer_to_the_question_needs_a_question),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
