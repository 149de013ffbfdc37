/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/resolve/sample.h"

#include "base/prefix.h"
#include "local/name_map.h"
#include "resolve/private_addrs.h"

/* 10.0.0.0/8 and fd00::/8 are private, but names in corp.example may have such addresses. */
static struct private_addrs rules;

static bool refused(const char *record)
{
    static struct response_text text;
    struct question question = QUESTION("www.example", A);
    const struct message *message =
        response_make(&text, 0, &question, &(struct sections){.answer = {record}});
    struct rr_iter iter = message_rrs(message, SECTION_ANSWER);
    struct rr rr;
    assert_true(message_rr_next(&iter, &rr));
    return private_addrs_refuse_rr(&rules, message, &rr);
}

static void test_only_private_addresses_are_refused(void **state)
{
    (void)state;
    assert_true(refused("www.example. 60 A 10.1.2.3"));
    assert_true(refused("www.example. 60 AAAA fd12::1"));
    assert_false(refused("www.example. 60 A 192.0.2.10"));
    assert_false(refused("www.example. 60 AAAA 2001:db8::10"));
    assert_false(refused("www.example. 60 AAAA ::ffff:192.0.2.10"));
    assert_false(refused("www.example. 60 TXT \"10.1.2.3\""));
    assert_false(refused("www.example. 60 CNAME www.corp.example."));
}

static void test_a_private_ipv4_address_in_ipv6_form_is_refused(void **state)
{
    (void)state;
    assert_true(refused("www.example. 60 AAAA ::ffff:10.1.2.3"));
    assert_true(refused("www.example. 60 HTTPS 1 . ipv6hint=::ffff:10.1.2.3"));
}

static void test_excepted_names_may_have_private_addresses_in_any_case(void **state)
{
    (void)state;
    assert_false(refused("corp.example. 60 A 10.1.2.3"));
    assert_false(refused("A.www.Corp.Example. 60 AAAA fd12::1"));
    assert_false(refused("corp.example. 60 SVCB 1 . ipv4hint=10.1.2.3"));
    assert_true(refused("xcorp.example. 60 A 10.1.2.3"));
    assert_true(refused("example. 60 A 10.1.2.3"));
}

static void test_hints_are_addresses_too(void **state)
{
    (void)state;
    assert_true(refused("www.example. 60 SVCB 1 foo.example. ipv4hint=10.1.2.3"));
    assert_true(refused("www.example. 60 HTTPS 1 . alpn=h2 ipv4hint=192.0.2.1,10.1.2.3"));
    assert_true(
        refused("www.example. 60 HTTPS 1 . ipv4hint=192.0.2.1 ipv6hint=2001:db8::1,fd00::1"));
    assert_false(refused("www.example. 60 HTTPS 1 . alpn=h2 ipv4hint=192.0.2.1 port=2563"));
    assert_false(refused("www.example. 60 HTTPS 0 corp.example."));
}

/* Parameters that end too early, or whose length is not a multiple of an address. */
static void test_broken_hints_are_read_up_to_the_error(void **state)
{
    (void)state;
    assert_false(refused("www.example. 60 TYPE64 \\# 7 0001 00 0004 0004"));
    assert_false(refused("www.example. 60 TYPE64 \\# 9 0001 00 0004 0004 0a01"));
    assert_false(refused("www.example. 60 TYPE64 \\# 10 0001 00 0004 0003 0a0102"));
    assert_true(refused("www.example. 60 TYPE64 \\# 12 0001 00 0004 0005 0a01020300"));
    assert_false(refused("www.example. 60 TYPE64 \\# 5 0001 00 0004"));
    assert_false(refused("www.example. 60 TYPE64 \\# 3 0001 00"));
}

static void test_without_prefixes_nothing_is_refused(void **state)
{
    (void)state;
    struct private_addrs all = rules;
    rules.prefixes = NULL;
    assert_false(private_addrs_are_set(&rules));
    assert_false(refused("www.example. 60 A 10.1.2.3"));
    rules = all;
    rules.names = NULL;
    assert_true(refused("corp.example. 60 A 10.1.2.3"));
    rules = all;
}

static void test_a_server_at_a_private_address_is_refused(void **state)
{
    (void)state;
    struct addr inside, outside;
    assert_int_equal(addr_parse(&inside, "10.1.2.3", 53), ERR_OK);
    assert_int_equal(addr_parse(&outside, "192.0.2.1", 53), ERR_OK);
    assert_true(private_addrs_refuse(&rules, NAME("ns.example"), &inside));
    assert_false(private_addrs_refuse(&rules, NAME("ns.example"), &outside));
    assert_false(private_addrs_refuse(&rules, NAME("ns.corp.example"), &inside));
}

static int set_up(void **state)
{
    (void)state;
    static const char *const texts[] = {"10.0.0.0/8", "fd00::/8"};
    struct prefix_set *set = prefix_set_new();
    struct name_map *names = name_map_new();
    uint32_t *number;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct prefix prefix;
        assert_int_equal(prefix_parse(&prefix, texts[i]), ERR_OK);
        assert_int_equal(prefix_set_add(set, &prefix, 0), ERR_OK);
    }
    assert_int_equal(prefix_set_freeze(set), ERR_OK);
    assert_int_equal(name_map_put(names, NAME("corp.example"), 0, &number), ERR_OK);
    rules = (struct private_addrs){.prefixes = set, .names = names};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    prefix_set_free((struct prefix_set *)(uintptr_t)rules.prefixes);
    name_map_free((struct name_map *)(uintptr_t)rules.names);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_private_addresses_are_refused),
        cmocka_unit_test(test_a_private_ipv4_address_in_ipv6_form_is_refused),
        cmocka_unit_test(test_excepted_names_may_have_private_addresses_in_any_case),
        cmocka_unit_test(test_hints_are_addresses_too),
        cmocka_unit_test(test_broken_hints_are_read_up_to_the_error),
        cmocka_unit_test(test_without_prefixes_nothing_is_refused),
        cmocka_unit_test(test_a_server_at_a_private_address_is_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
