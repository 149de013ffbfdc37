/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The proxies that may name clients. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "unit/config/config_text.h"

static void test_there_are_no_proxies_by_default(void **state)
{
    (void)state;
    struct config *config = load_fine("");
    assert_null(config->server.proxies);
    assert_int_equal(config->server.proxy_tls, PROXY_OUTSIDE_TLS);
    config_free(config);
    config = load_fine("server: {proxy-from: []}\n");
    assert_null(config->server.proxies);
    config_free(config);
}

static void test_proxies_are_prefixes(void **state)
{
    (void)state;
    struct config *config =
        load_fine("server: {proxy-from: [192.0.2.0/24, \"2001:db8::53\"], proxy-tls: inside}\n");
    struct addr inside = addr_of("192.0.2.7"), other = addr_of("192.0.3.7");
    struct addr six = addr_of("2001:db8::53"), other_six = addr_of("2001:db8::54");
    assert_true(prefix_set_find(config->server.proxies, &inside) >= 0);
    assert_true(prefix_set_find(config->server.proxies, &six) >= 0);
    assert_true(prefix_set_find(config->server.proxies, &other) < 0);
    assert_true(prefix_set_find(config->server.proxies, &other_six) < 0);
    assert_int_equal(config->server.proxy_tls, PROXY_INSIDE_TLS);
    config_free(config);
}

static void test_wrong_proxies_are_errors(void **state)
{
    (void)state;
    expect_errors("server: {proxy-from: [192.0.2.1, 192.0.2.1/32]}\n",
                  "f:1:34: error: server.proxy-from[1]: 192.0.2.1 is given twice; keep one of "
                  "them\n");
    expect_errors("server: {proxy-from: [dnsdist.example]}\n",
                  "f:1:23: error: server.proxy-from[0]: takes an address or a prefix such as "
                  "10.1.1.1, 10.50.1.64/27 or \"2001:db8::/32\", without a port, not "
                  "\"dnsdist.example\"\n");
    expect_errors("server: {proxy-tls: before}\n",
                  "f:1:21: error: server.proxy-tls: takes outside or inside, not \"before\"\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_there_are_no_proxies_by_default),
        cmocka_unit_test(test_proxies_are_prefixes),
        cmocka_unit_test(test_wrong_proxies_are_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
