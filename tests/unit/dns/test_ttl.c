/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/dns/sample.h"

#include "dns/rrtype.h"
#include "dns/ttl.h"
#include "unit/dns/raw.h"

#define OWNER BYTES("\xc0\x0c")
#define ADDRESS BYTES("\1\2\3\4")

static struct raw raw;

/* Makes a negative answer whose SOA has this TTL and MINIMUM. */
static struct message negative(uint32_t ttl, uint32_t minimum)
{
    uint8_t rdata[22] = {0};
    put_u32(rdata + 18, minimum);
    raw_start(&raw, HEADER_QR | RCODE_NXDOMAIN);
    raw_rr(&raw, SECTION_AUTHORITY, OWNER, RRTYPE_SOA, 1, ttl, span_of(rdata, 22));
    return sample_parse(raw_span(&raw));
}

static void test_smallest_ttl_of_the_answer_counts(void **state)
{
    (void)state;
    struct message message = sample_parse(SAMPLE_ANSWER);
    assert_int_equal(ttl_of_answer(&message), 60);
    raw_start(&raw, HEADER_QR);
    message = sample_parse(raw_span(&raw));
    assert_true(ttl_of_answer(&message) == TTL_NONE);
    raw_rr(&raw, SECTION_ANSWER, OWNER, RRTYPE_A, 1, 0xffffffff, ADDRESS);
    message = sample_parse(raw_span(&raw));
    assert_int_equal(ttl_of_answer(&message), 0);
}

static void test_opt_is_no_data(void **state)
{
    (void)state;
    raw_start(&raw, HEADER_QR);
    raw_rr(&raw, SECTION_ADDITIONAL, BYTES("\0"), RRTYPE_OPT, 512, 0, span_of("", 0));
    struct message message = sample_parse(raw_span(&raw));
    assert_true(ttl_of_all(&message) == TTL_NONE);
    assert_int_equal(ttl_collect(&message, NULL, 0), 0);
}

static void test_all_sections_count_when_asked(void **state)
{
    (void)state;
    raw_start(&raw, HEADER_QR);
    raw_rr(&raw, SECTION_ANSWER, OWNER, RRTYPE_A, 1, 100, ADDRESS);
    raw_rr(&raw, SECTION_AUTHORITY, OWNER, RRTYPE_NS, 1, 90, BYTES("\0"));
    raw_rr(&raw, SECTION_ADDITIONAL, OWNER, RRTYPE_A, 1, 80, ADDRESS);
    struct message message = sample_parse(raw_span(&raw));
    assert_int_equal(ttl_of_answer(&message), 100);
    assert_int_equal(ttl_of_all(&message), 80);
}

static void test_negative_ttl_is_the_smaller_of_ttl_and_minimum(void **state)
{
    (void)state;
    uint32_t ttl;
    struct rr soa;
    struct message message = negative(100, 200);
    assert_true(ttl_of_negative(&message, &ttl, &soa));
    assert_int_equal(ttl, 100);
    assert_int_equal(soa.type, RRTYPE_SOA);
    message = negative(100, 50);
    assert_true(ttl_of_negative(&message, &ttl, NULL));
    assert_int_equal(ttl, 50);
    message = negative(100, 0x80000000);
    assert_true(ttl_of_negative(&message, &ttl, NULL));
    assert_int_equal(ttl, 0);
}

static void test_negative_answer_without_sound_soa_has_no_ttl(void **state)
{
    (void)state;
    uint32_t ttl;
    raw_start(&raw, HEADER_QR);
    raw_rr(&raw, SECTION_AUTHORITY, OWNER, RRTYPE_NS, 1, 9, BYTES("\0"));
    struct message message = sample_parse(raw_span(&raw));
    assert_false(ttl_of_negative(&message, &ttl, NULL));
    raw_rr(&raw, SECTION_AUTHORITY, OWNER, RRTYPE_SOA, 1, 9,
           BYTES("\0\0"
                 "short"));
    message = sample_parse(raw_span(&raw));
    assert_false(ttl_of_negative(&message, &ttl, NULL));
    raw_start(&raw, HEADER_QR);
    raw_rr(&raw, SECTION_ANSWER, OWNER, RRTYPE_SOA, 1, 9,
           BYTES("\0\0"
                 "01234567890123456789"));
    message = sample_parse(raw_span(&raw));
    assert_false(ttl_of_negative(&message, &ttl, NULL));
}

static void test_clamp_stays_within_bounds_and_max_wins(void **state)
{
    (void)state;
    assert_int_equal(ttl_clamp(5, 10, 100), 10);
    assert_int_equal(ttl_clamp(50, 10, 100), 50);
    assert_int_equal(ttl_clamp(500, 10, 100), 100);
    assert_int_equal(ttl_clamp(5, 100, 10), 10);
}

static void test_ageing_stops_at_the_floor(void **state)
{
    (void)state;
    uint8_t bytes[sizeof(sample_answer_bytes)];
    memcpy(bytes, SAMPLE_ANSWER.data, SAMPLE_ANSWER.len);
    struct message message = sample_parse(span_of(bytes, SAMPLE_ANSWER.len));
    uint16_t offsets[4];
    assert_int_equal(ttl_collect(&message, offsets, 4), 2);
    ttl_age(bytes, offsets, 2, 59, 0);
    assert_int_equal(get_u32(bytes + offsets[0]), 3600 - 59);
    assert_int_equal(get_u32(bytes + offsets[1]), 1);
    ttl_age(bytes, offsets, 2, 2, 0);
    assert_int_equal(get_u32(bytes + offsets[1]), 0);
    ttl_age(bytes, offsets, 2, 4000, 30);
    assert_int_equal(get_u32(bytes + offsets[0]), 30);
    assert_int_equal(get_u32(bytes + offsets[1]), 30);
    ttl_age(bytes, offsets, 2, UINT32_MAX, 0);
    assert_int_equal(get_u32(bytes + offsets[0]), 0);
    assert_memory_equal(bytes + SAMPLE_ANSWER.len - 11, SAMPLE_ANSWER.data + SAMPLE_ANSWER.len - 11,
                        11);
}

static void test_offsets_are_written_up_to_their_number(void **state)
{
    (void)state;
    struct message message = sample_parse(SAMPLE_ANSWER);
    uint16_t offsets[2] = {0, 0xffff};
    assert_int_equal(ttl_collect(&message, offsets, 1), 2);
    assert_int_equal(get_u32(SAMPLE_ANSWER.data + offsets[0]), 3600);
    assert_int_equal(offsets[1], 0xffff);
}

static void test_set_writes_every_ttl(void **state)
{
    (void)state;
    uint8_t bytes[8] = {0};
    ttl_set(bytes, (uint16_t[]){0, 4}, 2, 7);
    assert_memory_equal(bytes, "\0\0\0\7\0\0\0\7", 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_smallest_ttl_of_the_answer_counts),
        cmocka_unit_test(test_opt_is_no_data),
        cmocka_unit_test(test_all_sections_count_when_asked),
        cmocka_unit_test(test_negative_ttl_is_the_smaller_of_ttl_and_minimum),
        cmocka_unit_test(test_negative_answer_without_sound_soa_has_no_ttl),
        cmocka_unit_test(test_clamp_stays_within_bounds_and_max_wins),
        cmocka_unit_test(test_ageing_stops_at_the_floor),
        cmocka_unit_test(test_offsets_are_written_up_to_their_number),
        cmocka_unit_test(test_set_writes_every_ttl),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
