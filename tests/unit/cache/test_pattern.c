/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Decides which answers a pattern of names matches. */
#include "cache/pattern.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "dns/build.h"
#include "dns/rrtype.h"

static uint8_t bytes[2048];
static struct build build;

static struct name name_of(const char *text)
{
    static uint8_t wires[4][NAME_WIRE_MAX];
    static unsigned next;
    struct name name;
    assert_int_equal(name_parse(&name, wires[next++ % 4], text, strlen(text)), ERR_OK);
    return name;
}

static void question(const char *text, uint16_t type)
{
    struct question asked = {.name = name_of(text), .type = type, .cls = RRCLASS_IN};
    build_init(&build, bytes, sizeof(bytes));
    build_header(&build, 0, HEADER_QR | HEADER_RA);
    build_question(&build, &asked);
    build_section(&build, SECTION_ANSWER);
}

static void alias(const char *owner, const char *target)
{
    build_rr_begin(&build, name_of(owner), RRTYPE_CNAME, RRCLASS_IN, 60);
    build_name_compressed(&build, name_of(target));
    build_rr_end(&build);
}

static void address(const char *owner)
{
    build_rr_begin(&build, name_of(owner), RRTYPE_A, RRCLASS_IN, 60);
    build_u32(&build, 0xc0000201);
    build_rr_end(&build);
}

static bool matches(const char *name, bool below, uint16_t type)
{
    struct pattern pattern = {.name = name_of(name), .is_subtree = below, .type = type};
    struct build copy = build;
    struct answer answer = {.message = span_of(bytes, build_finish(&copy))};
    return pattern_matches(&pattern, &answer);
}

static void test_the_qname_matches_in_any_case(void **state)
{
    (void)state;
    question("www.example", RRTYPE_A);
    assert_true(matches("www.example", false, PATTERN_ANY_TYPE));
    assert_true(matches("WWW.Example", false, RRTYPE_A));
    assert_false(matches("www.example", false, RRTYPE_AAAA));
    assert_false(matches("example", false, PATTERN_ANY_TYPE));
    assert_false(matches("a.www.example", false, PATTERN_ANY_TYPE));
}

static void test_a_zone_matches_the_names_below_it(void **state)
{
    (void)state;
    question("a.www.example", RRTYPE_A);
    assert_true(matches("www.example", true, PATTERN_ANY_TYPE));
    assert_true(matches("example", true, PATTERN_ANY_TYPE));
    assert_true(matches(".", true, PATTERN_ANY_TYPE));
    assert_false(matches("ww.example", true, PATTERN_ANY_TYPE));
    assert_false(matches("b.a.www.example", true, PATTERN_ANY_TYPE));
}

static void test_every_name_of_an_alias_chain_matches(void **state)
{
    (void)state;
    question("www.example", RRTYPE_A);
    alias("www.example", "a.test");
    alias("a.test", "b.test");
    address("b.test");
    assert_true(matches("a.test", false, PATTERN_ANY_TYPE));
    assert_true(matches("b.test", false, RRTYPE_A));
    assert_true(matches("b.test", false, PATTERN_ANY_TYPE));
    assert_true(matches("a.test", false, RRTYPE_CNAME));
    assert_true(matches("test", true, PATTERN_ANY_TYPE));
    assert_false(matches("b.test", false, RRTYPE_AAAA));
    assert_false(matches("c.test", false, PATTERN_ANY_TYPE));
}

static void test_an_alias_target_without_records_matches(void **state)
{
    (void)state;
    question("www.example", RRTYPE_A);
    alias("www.example", "gone.test");
    assert_true(matches("gone.test", false, PATTERN_ANY_TYPE));
    assert_true(matches("gone.test", false, RRTYPE_A));
    assert_false(matches("gone.test", false, RRTYPE_TXT));
}

static void test_other_sections_do_not_count(void **state)
{
    (void)state;
    question("www.example", RRTYPE_A);
    build_section(&build, SECTION_ADDITIONAL);
    address("ns.test");
    assert_false(matches("ns.test", false, PATTERN_ANY_TYPE));
}

static void test_a_malformed_message_does_not_match(void **state)
{
    (void)state;
    struct pattern pattern = {.name = name_root(), .is_subtree = true};
    struct answer answer = {.message = span_of("\0\0\0", 3)};
    assert_false(pattern_matches(&pattern, &answer));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_qname_matches_in_any_case),
        cmocka_unit_test(test_a_zone_matches_the_names_below_it),
        cmocka_unit_test(test_every_name_of_an_alias_chain_matches),
        cmocka_unit_test(test_an_alias_target_without_records_matches),
        cmocka_unit_test(test_other_sections_do_not_count),
        cmocka_unit_test(test_a_malformed_message_does_not_match),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
