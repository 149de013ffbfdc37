/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/dns/sample.h"

#include <stdlib.h>

#include "dns/copy.h"
#include "dns/rrtype.h"
#include "unit/dns/raw.h"

static struct raw raw;
static uint8_t out[65535];

/* Copies the message without its OPT record to out. Returns the length, or 0 if a record is
 * refused. */
static size_t rebuild(const struct message *message, bool with_question)
{
    struct build build;
    struct copy copy;
    build_init(&build, out, sizeof(out));
    build_header(&build, message->id, message->flags);
    if (with_question)
        build_question(&build, &message->question);
    copy_init(&copy, &build, message);
    struct rr_iter iter = message_all_rrs(message);
    for (struct rr rr; message_rr_next(&iter, &rr);) {
        if (rr.type == RRTYPE_OPT)
            continue;
        build_section(&build, rr.section);
        if (!copy_rr(&copy, &rr, rr.ttl))
            return 0;
    }
    return build_finish(&build);
}

static struct span rdata_of_first(const struct message *message)
{
    struct rr_iter iter = message_all_rrs(message);
    struct rr rr;
    assert_true(message_rr_next(&iter, &rr));
    return message_rdata(message, &rr);
}

static void test_copy_of_a_compressed_answer_is_the_same_bytes(void **state)
{
    (void)state;
    struct message message = sample_parse(SAMPLE_ANSWER);
    size_t len = rebuild(&message, true);
    assert_int_equal(len, SAMPLE_ANSWER.len - 11);
    header_set_count(out, SECTION_ADDITIONAL, 1);
    assert_memory_equal(out, SAMPLE_ANSWER.data, len);
}

static void test_copy_without_question_has_whole_names(void **state)
{
    (void)state;
    struct message message = sample_parse(SAMPLE_ANSWER);
    size_t len = rebuild(&message, false);
    struct message copied = sample_parse(span_of(out, len));
    struct rr_iter iter = message_all_rrs(&copied);
    struct rr rr;
    uint8_t wire[NAME_WIRE_MAX];
    struct name target;
    assert_true(message_rr_next(&iter, &rr));
    assert_true(message_owner_is(&copied, &rr, NAME("www.example.com")));
    assert_true(message_target(&copied, &rr, wire, &target));
    assert_true(name_equal_exact(target, NAME("host.example.com")));
    assert_true(message_rr_next(&iter, &rr));
    assert_true(message_owner_is(&copied, &rr, NAME("host.example.com")));
    assert_false(message_rr_next(&iter, &rr));
}

static void test_other_question_is_not_pointed_to(void **state)
{
    (void)state;
    struct message message = sample_parse(SAMPLE_ANSWER);
    struct build build;
    struct copy copy;
    struct question other = {.name = NAME("xxx.example.org"), .type = 1, .cls = 1};
    build_init(&build, out, sizeof(out));
    build_header(&build, 0, 0);
    build_question(&build, &other);
    copy_init(&copy, &build, &message);
    struct rr_iter iter = message_all_rrs(&message);
    struct rr rr;
    assert_true(message_rr_next(&iter, &rr));
    build_section(&build, SECTION_ANSWER);
    assert_true(copy_rr(&copy, &rr, 5));
    struct message copied = sample_parse(span_of(out, build_finish(&build)));
    iter = message_all_rrs(&copied);
    assert_true(message_rr_next(&iter, &rr));
    assert_int_equal(rr.ttl, 5);
    assert_true(message_owner_is(&copied, &rr, NAME("www.example.com")));
}

static void test_names_in_other_types_are_written_whole(void **state)
{
    (void)state;
    raw_start(&raw, HEADER_QR);
    raw_rr(&raw, SECTION_ANSWER, BYTES("\xc0\x0c"), RRTYPE_SRV, 1, 0,
           BYTES("\0\1\0\2\0\3\1a\xc0\x0c"));
    struct message message = sample_parse(raw_span(&raw));
    size_t len = rebuild(&message, true);
    struct message copied = sample_parse(span_of(out, len));
    assert_true(span_equal(rdata_of_first(&copied), BYTES("\0\1\0\2\0\3\1a\1q\0")));
}

static void test_parts_around_names_are_kept(void **state)
{
    (void)state;
    raw_start(&raw, HEADER_QR);
    raw_rr(&raw, SECTION_ANSWER, BYTES("\xc0\x0c"), RRTYPE_SOA, 1, 0,
           BYTES("\1m\xc0\x0c\1r\xc0\x0c"
                 "01234567890123456789"));
    raw_rr(&raw, SECTION_AUTHORITY, BYTES("\xc0\x0c"), RRTYPE_NAPTR, 1, 0,
           BYTES("\0\1\0\1\1u\0\2!!\xc0\x0c"));
    struct message message = sample_parse(raw_span(&raw));
    size_t len = rebuild(&message, true);
    struct message copied = sample_parse(span_of(out, len));
    assert_true(message_check_rdata(&copied));
    assert_true(span_equal(rdata_of_first(&copied), BYTES("\1m\xc0\x0c\1r\xc0\x0c"
                                                          "01234567890123456789")));
    struct rr_iter iter = message_rrs(&copied, SECTION_AUTHORITY);
    struct rr rr;
    assert_true(message_rr_next(&iter, &rr));
    assert_true(span_equal(message_rdata(&copied, &rr), BYTES("\0\1\0\1\1u\0\2!!\1q\0")));
}

static void test_malformed_rdata_is_refused_and_nothing_is_written(void **state)
{
    (void)state;
    raw_start(&raw, HEADER_QR);
    raw_rr(&raw, SECTION_ANSWER, BYTES("\xc0\x0c"), RRTYPE_A, 1, 0, BYTES("\1\2\3"));
    struct message message = sample_parse(raw_span(&raw));
    struct build build;
    struct copy copy;
    build_init(&build, out, sizeof(out));
    build_header(&build, 0, 0);
    build_question(&build, &message.question);
    build_section(&build, SECTION_ANSWER);
    copy_init(&copy, &build, &message);
    size_t before = build_len(&build);
    struct rr_iter iter = message_all_rrs(&message);
    struct rr rr;
    assert_true(message_rr_next(&iter, &rr));
    assert_false(copy_rr(&copy, &rr, 0));
    assert_int_equal(build_len(&build), before);
    assert_int_equal(build.counts[SECTION_ANSWER], 0);
}

static void test_overflow_can_be_rolled_back(void **state)
{
    (void)state;
    struct message message = sample_parse(SAMPLE_ANSWER);
    for (size_t size = 33; size < SAMPLE_ANSWER.len - 11; size++) {
        uint8_t *exact = malloc(size);
        struct build build;
        struct copy copy;
        build_init(&build, exact, size);
        build_header(&build, 0, 0);
        build_question(&build, &message.question);
        build_section(&build, SECTION_ANSWER);
        copy_init(&copy, &build, &message);
        struct rr_iter iter = message_all_rrs(&message);
        unsigned kept = 0;
        for (struct rr rr; message_rr_next(&iter, &rr) && rr.type != RRTYPE_OPT;) {
            struct build_mark mark = build_mark(&build);
            assert_true(copy_rr(&copy, &rr, rr.ttl));
            if (build.overflow)
                build_rollback(&build, &mark);
            else
                kept++;
        }
        struct message copied = sample_parse(span_of(exact, build_finish(&build)));
        assert_int_equal(copied.counts[SECTION_ANSWER], kept);
        assert_true(message_check_rdata(&copied));
        free(exact);
    }
}

static void test_owner_of_a_dropped_record_is_written_again(void **state)
{
    (void)state;
    raw_start(&raw, HEADER_QR);
    for (int i = 0; i < 2; i++)
        raw_rr(&raw, SECTION_ANSWER, i ? BYTES("\xc0\x13") : BYTES("\5other\0"), RRTYPE_A, 1, 0,
               BYTES("\1\2\3\4"));
    struct message message = sample_parse(raw_span(&raw));
    struct build build;
    struct copy copy;
    build_init(&build, out, sizeof(out));
    build_header(&build, 0, 0);
    build_question(&build, &message.question);
    build_section(&build, SECTION_ANSWER);
    copy_init(&copy, &build, &message);
    struct rr_iter iter = message_all_rrs(&message);
    struct rr rr;
    struct build_mark mark = build_mark(&build);
    assert_true(message_rr_next(&iter, &rr) && copy_rr(&copy, &rr, 0));
    build_rollback(&build, &mark);
    assert_true(message_rr_next(&iter, &rr) && copy_rr(&copy, &rr, 0));
    struct message copied = sample_parse(span_of(out, build_finish(&build)));
    iter = message_all_rrs(&copied);
    assert_true(message_rr_next(&iter, &rr));
    assert_true(message_owner_is(&copied, &rr, NAME("other")));
}

static void test_more_owners_than_places_are_copied(void **state)
{
    (void)state;
    raw_start(&raw, HEADER_QR);
    size_t first = raw.len;
    for (uint8_t i = 0; i < 40; i++) {
        uint8_t owner[] = {1, (uint8_t)('a' + i % 20), 0xc0, 0x0c};
        raw_rr(&raw, SECTION_ANSWER, span_of(owner, 4), RRTYPE_A, 1, i, BYTES("\1\2\3\4"));
        put_u16(owner, (uint16_t)(0xc000 | (first + (size_t)(i / 2) * 34)));
        raw_rr(&raw, SECTION_ANSWER, span_of(owner, 2), RRTYPE_A, 1, i, BYTES("\1\2\3\4"));
        raw.bytes[raw.len - 1] = i;
    }
    struct message message = sample_parse(raw_span(&raw));
    struct message copied = sample_parse(span_of(out, rebuild(&message, true)));
    struct rr_iter ours = message_all_rrs(&copied), theirs = message_all_rrs(&message);
    struct rr a, b;
    for (int i = 0; i < 80; i++) {
        uint8_t wire[NAME_WIRE_MAX];
        assert_true(message_rr_next(&ours, &a) && message_rr_next(&theirs, &b));
        assert_true(message_owner_is(&copied, &a, message_owner(&message, &b, wire)));
        assert_int_equal(a.ttl, b.ttl);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copy_of_a_compressed_answer_is_the_same_bytes),
        cmocka_unit_test(test_copy_without_question_has_whole_names),
        cmocka_unit_test(test_other_question_is_not_pointed_to),
        cmocka_unit_test(test_names_in_other_types_are_written_whole),
        cmocka_unit_test(test_parts_around_names_are_kept),
        cmocka_unit_test(test_malformed_rdata_is_refused_and_nothing_is_written),
        cmocka_unit_test(test_overflow_can_be_rolled_back),
        cmocka_unit_test(test_owner_of_a_dropped_record_is_written_again),
        cmocka_unit_test(test_more_owners_than_places_are_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
