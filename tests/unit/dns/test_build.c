/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/dns/sample.h"

#include <stdlib.h>

#include "dns/build.h"
#include "dns/rrtype.h"

static uint8_t out[70000];

/* Writes the message of sample_answer_bytes. */
static size_t build_sample(struct build *build, uint8_t *to, size_t size)
{
    struct question question = {.name = NAME("www.example.com"), .type = 1, .cls = 1};
    build_init(build, to, size);
    build_header(build, 0x1234, HEADER_QR | HEADER_RD | HEADER_RA);
    build_question(build, &question);
    build_section(build, SECTION_ANSWER);
    build_rr_begin(build, question.name, RRTYPE_CNAME, 1, 3600);
    build_name_compressed(build, NAME("host.example.com"));
    build_rr_end(build);
    build_rr_begin(build, NAME("host.example.com"), RRTYPE_A, 1, 60);
    build_u32(build, 0xc0000201);
    build_rr_end(build);
    build_opt_begin(build, 1232, 0, 0, true);
    build_opt_end(build);
    return build_finish(build);
}

static void test_written_message_is_the_expected_bytes(void **state)
{
    (void)state;
    struct build build;
    size_t len = build_sample(&build, out, sizeof(out));
    assert_true(span_equal(span_of(out, len), SAMPLE_ANSWER));
}

static void test_overflow_is_sticky_and_writes_nothing_outside(void **state)
{
    (void)state;
    for (size_t size = 0; size < SAMPLE_ANSWER.len; size++) {
        struct build build;
        uint8_t *exact = malloc(size ? size : 1);
        assert_int_equal(build_sample(&build, exact, size), 0);
        assert_true(build.overflow);
        build_u8(&build, 1);
        assert_true(build_len(&build) <= size);
        free(exact);
    }
    struct build build;
    assert_int_equal(build_sample(&build, out, SAMPLE_ANSWER.len), SAMPLE_ANSWER.len);
}

static void test_message_ends_at_65535_bytes(void **state)
{
    (void)state;
    struct build build;
    build_init(&build, out, sizeof(out));
    build_header(&build, 1, 0);
    static const uint8_t zeros[70000];
    build_section(&build, SECTION_ANSWER);
    build_rr_begin(&build, name_root(), RRTYPE_NULL, 1, 0);
    struct build full = build;
    build_bytes(&build, zeros, 65535 - build_len(&build));
    build_rr_end(&build);
    assert_int_equal(build_finish(&build), 65535);
    assert_int_equal(sample_parse(span_of(out, 65535)).end, 65535);
    build_bytes(&full, zeros, 65536 - build_len(&full));
    build_rr_end(&full);
    assert_int_equal(build_finish(&full), 0);
}

static void test_raw_values_are_in_network_order(void **state)
{
    (void)state;
    struct build build;
    build_init(&build, out, 20);
    build_header(&build, 0, 0);
    build_u8(&build, 1);
    build_u16(&build, 0x0203);
    build_u32(&build, 0x04050607);
    build_bytes(&build, NULL, 0);
    assert_memory_equal(out + 12, "\1\2\3\4\5\6\7", 7);
    assert_int_equal(build_room(&build), 1);
}

static void test_opt_splits_the_rcode_and_counts_in_additional(void **state)
{
    (void)state;
    struct build build;
    build_init(&build, out, sizeof(out));
    build_header(&build, 0, HEADER_QR | (RCODE_BADCOOKIE & HEADER_RCODE_MASK));
    build_opt_begin(&build, 4096, RCODE_BADCOOKIE, 0, false);
    build_option(&build, 65001, "abc", 3);
    build_opt_end(&build);
    struct message message = sample_parse(span_of(out, build_finish(&build)));
    assert_int_equal(message_rcode(&message), RCODE_BADCOOKIE);
    assert_int_equal(message.counts[SECTION_ADDITIONAL], 1);
    assert_int_equal(message.edns.udp_size, 4096);
    assert_false(message.edns.dnssec_ok);
    assert_int_equal(message.edns.options.len, 7);
}

static void test_rollback_drops_everything_since_the_mark(void **state)
{
    (void)state;
    struct build build;
    struct question question = {.name = NAME("a.example"), .type = 1, .cls = 1};
    build_init(&build, out, 80);
    build_header(&build, 0, HEADER_QR);
    build_question(&build, &question);
    build_section(&build, SECTION_ANSWER);
    struct build_mark mark = build_mark(&build);
    size_t len = build_len(&build);
    build_section(&build, SECTION_ADDITIONAL);
    build_rr_begin(&build, NAME("gone.example"), RRTYPE_NULL, 1, 0);
    build_bytes(&build, out, 100);
    build_rr_end(&build);
    assert_true(build.overflow);
    build_rollback(&build, &mark);
    assert_int_equal(build_len(&build), len);
    /* a pointer to the dropped name would be wrong */
    build_rr_begin(&build, NAME("x.gone.example"), RRTYPE_NULL, 1, 0);
    build_rr_end(&build);
    struct message message = sample_parse(span_of(out, build_finish(&build)));
    assert_int_equal(message.counts[SECTION_ANSWER], 1);
    assert_int_equal(message.counts[SECTION_ADDITIONAL], 0);
    struct rr_iter iter = message_all_rrs(&message);
    struct rr rr;
    assert_true(message_rr_next(&iter, &rr));
    assert_true(message_owner_is(&message, &rr, NAME("x.gone.example")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_written_message_is_the_expected_bytes),
        cmocka_unit_test(test_overflow_is_sticky_and_writes_nothing_outside),
        cmocka_unit_test(test_message_ends_at_65535_bytes),
        cmocka_unit_test(test_raw_values_are_in_network_order),
        cmocka_unit_test(test_opt_splits_the_rcode_and_counts_in_additional),
        cmocka_unit_test(test_rollback_drops_everything_since_the_mark),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
