/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Longest match, compared with a linear search. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/prefix.h"
#include "base/rand.h"

static struct prefix parsed_prefix(const char *text)
{
    struct prefix prefix;
    assert_int_equal(prefix_parse(&prefix, text), ERR_OK);
    return prefix;
}

static int find(const struct prefix_set *set, const char *ip)
{
    struct addr addr;
    assert_int_equal(addr_parse(&addr, ip, 53), ERR_OK);
    return prefix_set_find(set, &addr);
}

/* The value of each prefix is its index in the list. */
static struct prefix_set *set_of(const char *const *texts, size_t count)
{
    struct prefix_set *set = prefix_set_new();
    assert_non_null(set);
    for (size_t i = 0; i < count; i++) {
        struct prefix prefix = parsed_prefix(texts[i]);
        assert_int_equal(prefix_set_add(set, &prefix, (int)i), ERR_OK);
    }
    assert_int_equal(prefix_set_freeze(set), ERR_OK);
    return set;
}

static void test_an_empty_set_finds_nothing(void **state)
{
    (void)state;
    struct prefix_set *set = set_of(NULL, 0);
    assert_int_equal(find(set, "0.0.0.0"), -1);
    assert_int_equal(find(set, "::"), -1);
    prefix_set_free(set);
    prefix_set_free(NULL);
}

static void test_the_longest_of_nested_prefixes_wins(void **state)
{
    (void)state;
    static const char *const texts[] = {"10.1.2.3",      "10.1.2.0/24", "10.0.0.0/8", "0.0.0.0/0",
                                        "10.1.2.128/25", "::/0",        "2001:db8::1"};
    struct prefix_set *set = set_of(texts, ARRAY_LEN(texts));
    assert_int_equal(find(set, "10.1.2.3"), 0);
    assert_int_equal(find(set, "10.1.2.2"), 1);
    assert_int_equal(find(set, "10.1.2.4"), 1);
    assert_int_equal(find(set, "10.1.2.128"), 4);
    assert_int_equal(find(set, "10.1.2.255"), 4);
    assert_int_equal(find(set, "10.1.3.0"), 2);
    assert_int_equal(find(set, "10.1.1.255"), 2);
    assert_int_equal(find(set, "11.0.0.0"), 3);
    assert_int_equal(find(set, "255.255.255.255"), 3);
    assert_int_equal(find(set, "0.0.0.0"), 3);
    assert_int_equal(find(set, "2001:db8::1"), 6);
    assert_int_equal(find(set, "2001:db8::2"), 5);
    assert_int_equal(find(set, "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"), 5);
    prefix_set_free(set);
}

static void test_the_last_addresses_of_a_family_are_inside(void **state)
{
    (void)state;
    static const char *const texts[] = {"255.255.255.255", "ffff::/16"};
    struct prefix_set *set = set_of(texts, ARRAY_LEN(texts));
    assert_int_equal(find(set, "255.255.255.255"), 0);
    assert_int_equal(find(set, "255.255.255.254"), -1);
    assert_int_equal(find(set, "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"), 1);
    assert_int_equal(find(set, "fffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff"), -1);
    prefix_set_free(set);
}

static void test_the_same_prefix_is_taken_once(void **state)
{
    (void)state;
    struct prefix_set *set = prefix_set_new();
    struct prefix a = parsed_prefix("10.50.1.64/27"), same = parsed_prefix("10.50.1.65/27");
    struct prefix longer = parsed_prefix("10.50.1.64/28");
    struct prefix all4 = parsed_prefix("0.0.0.0/0"), all6 = parsed_prefix("::/0");
    assert_int_equal(prefix_set_add(set, &a, 1), ERR_OK);
    assert_int_equal(prefix_set_add(set, &same, 2), ERR_INVALID);
    assert_int_equal(prefix_set_add(set, &longer, 3), ERR_OK);
    assert_int_equal(prefix_set_add(set, &all4, 4), ERR_OK);
    assert_int_equal(prefix_set_add(set, &all6, 5), ERR_OK);
    assert_int_equal(prefix_set_freeze(set), ERR_OK);
    assert_int_equal(find(set, "10.50.1.90"), 1);
    prefix_set_free(set);
}

static void test_every_depth_of_nesting_is_kept(void **state)
{
    (void)state;
    struct prefix_set *set = prefix_set_new();
    for (int length = 128; length >= 0; length--) {
        struct prefix prefix = parsed_prefix("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff");
        prefix.length = (uint8_t)length;
        assert_int_equal(prefix_set_add(set, &prefix, length), ERR_OK);
    }
    assert_int_equal(prefix_set_freeze(set), ERR_OK);
    assert_int_equal(find(set, "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"), 128);
    assert_int_equal(find(set, "ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe"), 127);
    assert_int_equal(find(set, "ffff:ffff::"), 32);
    assert_int_equal(find(set, "::"), 0);
    prefix_set_free(set);
}

static void test_addresses_with_a_zone_are_found_on_their_link(void **state)
{
    (void)state;
    static const char *const texts[] = {"fe80::/10",   "fe80::1%2", "fe80::1%7", "fe80::1",
                                        "fe80::9%300", "::1",       "10.0.0.0/8"};
    struct prefix_set *set = set_of(texts, ARRAY_LEN(texts));
    assert_int_equal(find(set, "fe80::1%2"), 1);
    assert_int_equal(find(set, "fe80::1%7"), 2);
    assert_int_equal(find(set, "fe80::1%3"), 3);
    assert_int_equal(find(set, "fe80::1"), 3);
    assert_int_equal(find(set, "fe80::9%300"), 4);
    assert_int_equal(find(set, "fe80::9%301"), 0); /* another zone does not match */
    assert_int_equal(find(set, "fe80::2%2"), 0);
    assert_int_equal(find(set, "::1"), 5);
    assert_int_equal(find(set, "10.1.1.1"), 6);
    assert_int_equal(find(set, "11.1.1.1"), -1);
    prefix_set_free(set);
}

static void test_an_address_with_a_zone_matches_no_other_address(void **state)
{
    (void)state;
    static const char *const texts[] = {"fe80::1%2"};
    struct prefix_set *set = set_of(texts, 1);
    assert_int_equal(find(set, "fe80::1%2"), 0);
    assert_int_equal(find(set, "fe80::1%3"), -1);
    assert_int_equal(find(set, "fe80::1"), -1);
    assert_int_equal(find(set, "0.0.0.2"), -1);
    prefix_set_free(set);
}

static void test_a_set_may_be_freed_unfrozen(void **state)
{
    (void)state;
    struct prefix_set *set = prefix_set_new();
    struct prefix prefix = parsed_prefix("10.0.0.0/8");
    assert_int_equal(prefix_set_add(set, &prefix, 1), ERR_OK);
    prefix_set_free(set);
}

enum { PREFIXES = 3000, LOOKUPS = 6000 };

/* Varies only a few bits, so that prefixes nest and lookups hit. */
static struct addr random_addr(bool v6)
{
    struct sockaddr_in in = {.sin_family = AF_INET};
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};
    uint8_t *bytes = v6 ? in6.sin6_addr.s6_addr : (uint8_t *)&in.sin_addr;
    struct addr addr;
    for (int i = 0; i < (v6 ? 16 : 4); i++)
        bytes[i] = (uint8_t)(rand_below(3) == 0 ? rand_u16() : rand_below(2) * 255);
    const struct sockaddr *sa = v6 ? (struct sockaddr *)&in6 : (struct sockaddr *)&in;
    assert_int_equal(addr_from_sockaddr(&addr, sa), ERR_OK);
    return addr;
}

static int find_naively(const struct prefix *prefixes, size_t count, const struct addr *addr)
{
    int best = -1;
    for (size_t i = 0; i < count; i++)
        if (prefix_contains(&prefixes[i], addr) &&
            (best < 0 || prefixes[i].length > prefixes[best].length))
            best = (int)i;
    return best;
}

static size_t fill_randomly(struct prefix_set *set, struct prefix *prefixes, size_t tries)
{
    size_t count = 0;
    for (size_t i = 0; i < tries; i++) {
        struct prefix prefix = {.addr = random_addr(rand_below(2))};
        prefix.length = (uint8_t)rand_below(addr_family(&prefix.addr) == AF_INET ? 33 : 129);
        bool there = false;
        for (size_t j = 0; j < count; j++)
            there |= prefix_equal(&prefixes[j], &prefix);
        enum err err = prefix_set_add(set, &prefix, (int)count);
        assert_int_equal(err, there ? ERR_INVALID : ERR_OK);
        if (!there)
            prefixes[count++] = prefix;
    }
    return count;
}

/* Returns the first or the last address of the prefix, or the address next to it outside. */
static struct addr near_prefix(const struct prefix *prefix)
{
    struct addr addr = prefix->addr;
    size_t len;
    uint8_t *bytes = (uint8_t *)addr_bytes(&addr, &len);
    bool up = rand_below(2);
    for (size_t bit = prefix->length; bit < len * 8; bit++) {
        uint8_t mask = (uint8_t)(0x80 >> bit % 8);
        bytes[bit / 8] = (uint8_t)(up ? bytes[bit / 8] | mask : bytes[bit / 8] & ~mask);
    }
    for (size_t i = len; rand_below(2) && i-- > 0;) {
        bytes[i] = (uint8_t)(bytes[i] + (up ? 1 : -1));
        if (bytes[i] != (up ? 0 : 255))
            break;
    }
    return addr;
}

static void test_random_sets_agree_with_a_linear_search(void **state)
{
    (void)state;
    static struct prefix prefixes[PREFIXES];
    /* a set with few prefixes has no index */
    static const size_t sizes[] = {PREFIXES, PREFIXES, 10, 60, 70, 200};
    rand_seed_for_tests(11);
    for (size_t round = 0; round < ARRAY_LEN(sizes); round++) {
        struct prefix_set *set = prefix_set_new();
        size_t count = fill_randomly(set, prefixes, sizes[round]), found = 0;
        assert_int_equal(prefix_set_freeze(set), ERR_OK);
        for (int i = 0; i < LOOKUPS; i++) {
            struct addr addr =
                i % 2 ? random_addr(rand_below(2)) : near_prefix(&prefixes[rand_below(count)]);
            int want = find_naively(prefixes, count, &addr);
            assert_int_equal(prefix_set_find(set, &addr), want);
            found += want >= 0;
        }
        assert_true(found > LOOKUPS / 4);
        prefix_set_free(set);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses_with_a_zone_are_found_on_their_link),
        cmocka_unit_test(test_an_address_with_a_zone_matches_no_other_address),
        cmocka_unit_test(test_an_empty_set_finds_nothing),
        cmocka_unit_test(test_the_longest_of_nested_prefixes_wins),
        cmocka_unit_test(test_the_last_addresses_of_a_family_are_inside),
        cmocka_unit_test(test_the_same_prefix_is_taken_once),
        cmocka_unit_test(test_every_depth_of_nesting_is_kept),
        cmocka_unit_test(test_a_set_may_be_freed_unfrozen),
        cmocka_unit_test(test_random_sets_agree_with_a_linear_search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
