/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "upstream/policy.h"

static struct addr addr_of(const char *text)
{
    struct addr addr;
    assert_int_equal(addr_parse(&addr, text, 53), ERR_OK);
    return addr;
}

static struct prefix_set *set_of(const char *prefix_text)
{
    struct prefix prefix;
    struct prefix_set *set = prefix_set_new();
    assert_int_equal(prefix_parse(&prefix, prefix_text), ERR_OK);
    assert_int_equal(prefix_set_add(set, &prefix, 0), ERR_OK);
    assert_int_equal(prefix_set_freeze(set), ERR_OK);
    return set;
}

struct fixture {
    struct upstream_options nailed;
    struct addr listeners[2];
    struct prefix_set *prefixes, *do_not_query, *own;
    struct policy policy;
};

/* Nails 10.0.0.0/8, excludes 127.0.0.0/8, listens on 192.0.2.1 and on every IPv6 address. */
static int set_up(void **state)
{
    static struct fixture fixture;
    struct policy *policy = &fixture.policy;
    fixture.nailed = upstream_options_default;
    fixture.nailed.transport = TRANSPORT_TLS;
    fixture.nailed.tls.profile = TLS_OPPORTUNISTIC;
    fixture.nailed.fallback_port = 5300;
    fixture.nailed.nailed = true;
    fixture.listeners[0] = addr_of("192.0.2.1@53");
    fixture.listeners[1] = addr_of("::@5300");
    fixture.prefixes = set_of("10.0.0.0/8");
    fixture.do_not_query = set_of("127.0.0.0/8");
    fixture.own = set_of("2001:db8::1");
    *policy = (struct policy){.ipv4 = upstream_options_default,
                              .ipv6 = upstream_options_default,
                              .prefixes = fixture.prefixes,
                              .by_prefix = &fixture.nailed,
                              .port = 53,
                              .do_not_query = fixture.do_not_query,
                              .own = fixture.own};
    policy->listeners[0] = (struct policy_listeners){"listen", fixture.listeners, 2};
    policy->listeners[1] = (struct policy_listeners){"listen-tls", NULL, 0};
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    prefix_set_free(fixture->prefixes);
    prefix_set_free(fixture->do_not_query);
    prefix_set_free(fixture->own);
    return 0;
}

static bool may_ask(const struct fixture *fixture, const char *ip)
{
    struct route_upstream out;
    struct addr addr = addr_of(ip);
    return policy_choose(&fixture->policy, &addr, &out);
}

static void
test_an_address_gets_the_options_of_its_prefix_and_the_port_of_its_transport(void **state)
{
    struct fixture *fixture = *state;
    struct route_upstream out;
    struct addr addr = addr_of("10.0.0.7@99");
    assert_true(policy_choose(&fixture->policy, &addr, &out));
    assert_true(out.options.nailed);
    assert_int_equal(addr_port(&out.addr), 853);
    addr = addr_of("192.0.2.7@99");
    assert_true(policy_choose(&fixture->policy, &addr, &out));
    assert_false(out.options.nailed);
    assert_int_equal(addr_port(&out.addr), 53);
}

static void test_addresses_that_no_server_can_have_are_not_asked(void **state)
{
    static const char *const ips[] = {"0.0.0.0", "0.1.2.3", "224.0.0.1", "255.255.255.255",
                                      "::",      "ff02::1", "fe80::1",   "::192.0.2.7"};
    for (size_t i = 0; i < sizeof(ips) / sizeof(ips[0]); i++)
        assert_false(may_ask(*state, ips[i]));
}

static void test_do_not_query_is_not_asked(void **state)
{
    assert_false(may_ask(*state, "127.0.0.2"));
    assert_true(may_ask(*state, "128.0.0.2"));
}

static void test_an_address_that_the_daemon_serves_is_not_asked(void **state)
{
    struct fixture *fixture = *state;
    assert_false(may_ask(fixture, "192.0.2.1"));
    fixture->policy.port = 5300;
    assert_true(may_ask(fixture, "192.0.2.1"));
    assert_false(may_ask(fixture, "::1"));
    assert_false(may_ask(fixture, "2001:db8::1"));
    assert_true(may_ask(fixture, "2001:db8::2"));
}

static void test_the_second_port_of_opportunistic_tls_may_loop_too(void **state)
{
    struct fixture *fixture = *state;
    struct addr addr;
    struct route_upstream server = {.addr = addr_of("::1@853"), .options = fixture->nailed};
    assert_string_equal(policy_find_loop(&fixture->policy, &server, &addr), "listen");
    assert_int_equal(addr_port(&addr), 5300);
    server.options.tls.profile = TLS_STRICT;
    assert_null(policy_find_loop(&fixture->policy, &server, &addr));
}

static void test_only_strict_tls_and_loopback_are_trustworthy(void **state)
{
    struct fixture *fixture = *state;
    struct route_upstream server = {.addr = addr_of("192.0.2.7"), .options = fixture->nailed};
    assert_false(policy_is_trustworthy(&server));
    server.options.tls.profile = TLS_STRICT;
    assert_true(policy_is_trustworthy(&server));
    server.options.transport = TRANSPORT_TCP;
    assert_false(policy_is_trustworthy(&server));
    server.addr = addr_of("::1");
    assert_true(policy_is_trustworthy(&server));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_an_address_gets_the_options_of_its_prefix_and_the_port_of_its_transport, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(test_addresses_that_no_server_can_have_are_not_asked,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_do_not_query_is_not_asked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_an_address_that_the_daemon_serves_is_not_asked, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_the_second_port_of_opportunistic_tls_may_loop_too,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_only_strict_tls_and_loopback_are_trustworthy, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
