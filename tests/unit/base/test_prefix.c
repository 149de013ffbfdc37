/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Single prefixes: text, host bits, families. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "base/check.h"
#include "base/prefix.h"

static struct prefix parsed(const char *text)
{
    struct prefix prefix;
    if (prefix_parse(&prefix, text))
        fail_msg("no prefix: '%s'", text);
    return prefix;
}

static bool contains(const char *text, const char *ip)
{
    struct prefix prefix = parsed(text);
    struct addr addr;
    assert_int_equal(addr_parse(&addr, ip, 53), ERR_OK);
    return prefix_contains(&prefix, &addr);
}

static void test_prefixes_parse_and_format(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"10.50.1.64/27", "10.50.1.64/27"},
        {"10.50.1.65/27", "10.50.1.65/27"},
        {"192.0.2.1", "192.0.2.1"},
        {"192.0.2.1/32", "192.0.2.1"},
        {"0.0.0.0/0", "0.0.0.0/0"},
        {"::/0", "::/0"},
        {"2001:DB8::/32", "2001:db8::/32"},
        {"::1", "::1"},
        {"::1/128", "::1"},
        {"::ffff:10.0.0.0/104", "10.0.0.0/8"},
        {"::ffff:0:0/96", "0.0.0.0/0"},
        {"::ffff:10.0.0.1", "10.0.0.1"},
        {"fe80::1%lo", "fe80::1%lo"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char out[PREFIX_TEXT_MAX];
        struct prefix prefix = parsed(rows[i][0]);
        assert_string_equal(prefix_format(&prefix, out), rows[i][1]);
    }
}

static void test_a_mapped_prefix_may_keep_its_family(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"::ffff:0:0/96", "::ffff:0.0.0.0/96"}, {"::ffff:10.0.0.0/104", "::ffff:10.0.0.0/104"},
        {"::ffff:10.0.0.1", "::ffff:10.0.0.1"}, {"10.0.0.0/8", "10.0.0.0/8"},
        {"2001:db8::/32", "2001:db8::/32"},     {"::/0", "::/0"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char out[PREFIX_TEXT_MAX];
        struct prefix prefix, again;
        assert_int_equal(prefix_parse_unmapped(&prefix, rows[i][0]), ERR_OK);
        assert_string_equal(prefix_format(&prefix, out), rows[i][1]);
        assert_int_equal(prefix_parse_unmapped(&again, out), ERR_OK);
        assert_true(prefix_equal(&prefix, &again));
        assert_int_equal(prefix_is_mapped(rows[i][0]), i < 3);
    }
    struct prefix prefix;
    assert_int_equal(prefix_parse_unmapped(&prefix, "::ffff:0:0/95"), ERR_INVALID);
    assert_int_equal(prefix_parse_unmapped(&prefix, "x"), ERR_INVALID);
    assert_false(prefix_is_mapped("x"));
}

static void test_an_address_with_a_zone_matches_on_its_link_only(void **state)
{
    (void)state;
    assert_true(contains("fe80::1%lo", "fe80::1%lo"));
    assert_false(contains("fe80::1%lo", "fe80::1%77"));
    assert_false(contains("fe80::1%lo", "fe80::1"));
    assert_false(contains("fe80::1%lo", "fe80::2%lo"));
    assert_false(contains("fe80::1%lo", "127.0.0.1"));
    /* without a zone, the prefix matches on every link */
    assert_true(contains("fe80::1", "fe80::1%lo"));
    assert_true(contains("fe80::/10", "fe80::1%lo"));
    struct prefix scoped = parsed("fe80::1%lo"), same = parsed("fe80::1%lo");
    struct prefix other = parsed("fe80::1%77"), everywhere = parsed("fe80::1");
    assert_true(prefix_is_single(&scoped));
    assert_true(prefix_equal(&scoped, &same));
    assert_false(prefix_equal(&scoped, &other));
    assert_false(prefix_equal(&scoped, &everywhere));
    assert_false(prefix_equal(&everywhere, &scoped));
}

static void test_text_that_is_no_prefix_is_not_valid(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "/",
        "/8",
        "10.0.0.0/",
        "10.0.0.0/33",
        "10.0.0.0/-1",
        "10.0.0.0/+8",
        "10.0.0.0/08",
        "10.0.0.0/8/8",
        "10.0.0.0/ 8",
        "10.0.0.0/8 ",
        "10.0.0/8",
        "10.0.0.0@53/8",
        "::/129",
        "::/1280",
        "fe80::1%lo/64",
        "::ffff:10.0.0.0/24",
        "10.0.0.0/255.0.0.0",
        "10.0.0.0#a/8",
        "10.0.0.0/99999999999999999999",
        "1111111111111111111111111111111111111111111111111111111",
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct prefix prefix;
        if (prefix_parse(&prefix, texts[i]) != ERR_INVALID)
            fail_msg("taken as a prefix: '%s'", texts[i]);
    }
}

static void test_a_prefix_contains_addresses_that_share_its_bits(void **state)
{
    (void)state;
    assert_true(contains("10.50.1.64/27", "10.50.1.64"));
    assert_true(contains("10.50.1.64/27", "10.50.1.95"));
    assert_false(contains("10.50.1.64/27", "10.50.1.63"));
    assert_false(contains("10.50.1.64/27", "10.50.1.96"));
    assert_true(contains("2001:db8::/33", "2001:db8:7fff::1"));
    assert_false(contains("2001:db8::/33", "2001:db8:8000::1"));
    assert_true(contains("192.0.2.1", "192.0.2.1@9"));
    assert_false(contains("192.0.2.1", "192.0.2.2"));
}

static void test_a_prefix_of_all_ipv4_contains_no_ipv6(void **state)
{
    (void)state;
    assert_true(contains("0.0.0.0/0", "255.1.2.3"));
    assert_true(contains("0.0.0.0/0", "::ffff:1.2.3.4"));
    assert_false(contains("0.0.0.0/0", "::1"));
    assert_true(contains("::/0", "ffff::1"));
    assert_false(contains("::/0", "1.2.3.4"));
}

static void test_host_bits_do_not_matter_to_equality(void **state)
{
    (void)state;
    struct prefix a = parsed("10.50.1.64/27"), b = parsed("10.50.1.65/27");
    struct prefix shorter = parsed("10.50.1.64/26"), other = parsed("10.50.1.96/27");
    struct prefix v4 = parsed("0.0.0.0/0"), v6 = parsed("::/0");
    assert_true(prefix_equal(&a, &b));
    assert_false(prefix_equal(&a, &shorter));
    assert_false(prefix_equal(&a, &other));
    assert_false(prefix_equal(&v4, &v6));
}

static void test_one_address_is_single(void **state)
{
    (void)state;
    struct prefix one = parsed("::1"), v4 = parsed("10.0.0.1/32"), two = parsed("10.0.0.0/31");
    struct prefix half = parsed("::/32");
    assert_true(prefix_is_single(&one));
    assert_true(prefix_is_single(&v4));
    assert_false(prefix_is_single(&two));
    assert_false(prefix_is_single(&half));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_mapped_prefix_may_keep_its_family),
        cmocka_unit_test(test_an_address_with_a_zone_matches_on_its_link_only),
        cmocka_unit_test(test_prefixes_parse_and_format),
        cmocka_unit_test(test_text_that_is_no_prefix_is_not_valid),
        cmocka_unit_test(test_a_prefix_contains_addresses_that_share_its_bits),
        cmocka_unit_test(test_a_prefix_of_all_ipv4_contains_no_ipv6),
        cmocka_unit_test(test_host_bits_do_not_matter_to_equality),
        cmocka_unit_test(test_one_address_is_single),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
