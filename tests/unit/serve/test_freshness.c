/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* HTTP caches keep a reply no longer than its records (RFC 8484 section 5.1). */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "dns/build.h"
#include "dns/rrtype.h"
#include "serve/freshness.h"

/* A reply with these TTLs. 0: no such record. */
struct wish {
    uint16_t flags;
    uint32_t answer[2], soa, minimum;
};

static uint8_t bytes[512];

static struct span make(struct wish wish)
{
    static const uint8_t addr[4], names[2], numbers[16];
    struct question question = {.name = {(const uint8_t *)"\1a", 3}, .type = RRTYPE_A, .cls = 1};
    uint8_t minimum[4];
    struct build build;
    build_init(&build, bytes, sizeof(bytes));
    build_header(&build, 0, (uint16_t)(HEADER_QR | wish.flags));
    build_question(&build, &question);
    build_section(&build, SECTION_ANSWER);
    for (int i = 0; i < 2 && wish.answer[i]; i++) {
        build_pointer(&build, HEADER_LEN);
        build_rr_begin_owned(&build, RRTYPE_A, RRCLASS_IN, wish.answer[i]);
        build_bytes(&build, addr, sizeof(addr));
        build_rr_end(&build);
    }
    if (wish.soa) {
        build_section(&build, SECTION_AUTHORITY);
        build_pointer(&build, HEADER_LEN);
        build_rr_begin_owned(&build, RRTYPE_SOA, RRCLASS_IN, wish.soa);
        put_u32(minimum, wish.minimum);
        build_bytes(&build, names, sizeof(names));
        build_bytes(&build, numbers, sizeof(numbers));
        build_bytes(&build, minimum, sizeof(minimum));
        build_rr_end(&build);
    }
    return span_of(bytes, build_finish(&build));
}

static void expect(uint32_t seconds, struct wish wish)
{
    struct span reply = make(wish);
    assert_true(reply.len > 0);
    assert_int_equal(freshness_of(reply), seconds);
}

static void test_the_smallest_ttl_of_the_answer_counts(void **state)
{
    (void)state;
    expect(60, (struct wish){.answer = {300, 60}});
    expect(60, (struct wish){.answer = {60, 300}});
    expect(300, (struct wish){.answer = {300}});
}

static void test_a_negative_answer_lives_as_long_as_its_soa_says(void **state)
{
    (void)state;
    expect(60, (struct wish){.soa = 60, .minimum = 900});
    expect(30, (struct wish){.soa = 60, .minimum = 30, .flags = RCODE_NXDOMAIN});
    expect(20, (struct wish){.answer = {20}, .soa = 60, .minimum = 30, .flags = RCODE_NXDOMAIN});
    expect(30, (struct wish){.answer = {300}, .soa = 60, .minimum = 30}); /* an alias */
}

static void test_a_reply_without_a_ttl_is_not_kept(void **state)
{
    (void)state;
    expect(0, (struct wish){.flags = 0});
    expect(0, (struct wish){.flags = RCODE_NXDOMAIN});
    expect(0, (struct wish){.answer = {60}, .flags = RCODE_NXDOMAIN});
    expect(0, (struct wish){.answer = {60}, .flags = RCODE_SERVFAIL});
    expect(0, (struct wish){.answer = {60}, .flags = HEADER_TC});
    assert_int_equal(freshness_of(span_of(bytes, 5)), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_smallest_ttl_of_the_answer_counts),
        cmocka_unit_test(test_a_negative_answer_lives_as_long_as_its_soa_says),
        cmocka_unit_test(test_a_reply_without_a_ttl_is_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
