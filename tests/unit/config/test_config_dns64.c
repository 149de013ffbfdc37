/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The options of DNS64. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "unit/config/config_text.h"

static void test_there_is_no_dns64_by_default(void **state)
{
    (void)state;
    struct config *config = load_fine("");
    assert_null(config->server.dns64);
    config_free(config);
    config = load_fine("dns64: {clients: [192.0.2.0/24]}\n");
    assert_null(config->server.dns64);
    config_free(config);
}

static void test_a_prefix_begins_it(void **state)
{
    (void)state;
    struct addr mapped = {.in6 = {.sin6_family = AF_INET6}};
    struct addr v4 = {.in = {.sin_family = AF_INET}};
    struct config *config = load_fine("dns64: {prefix: 64:ff9b::/96}\n");
    const struct dns64_options *dns64 = config->server.dns64;
    assert_non_null(dns64);
    assert_int_equal(dns64->prefix.length, 96);
    assert_null(dns64->clients);
    assert_null(dns64->ignored);
    mapped.in6.sin6_addr.s6_addr[10] = mapped.in6.sin6_addr.s6_addr[11] = 0xff;
    assert_true(prefix_set_find(dns64->exclude, &mapped) >= 0);
    assert_true(prefix_set_find(dns64->exclude, &v4) < 0);
    config_free(config);
}

static void test_all_of_it_is_read(void **state)
{
    (void)state;
    struct config *config =
        load_fine("dns64: {prefix: \"2001:db8::/32\", clients: [\"2001:db8:1::/48\"], "
                  "exclude: [], ignore-aaaa: [corp.example]}\n");
    const struct dns64_options *dns64 = config->server.dns64;
    assert_int_equal(dns64->prefix.length, 32);
    assert_non_null(dns64->clients);
    assert_null(dns64->exclude);
    assert_non_null(dns64->ignored);
    config_free(config);
}

#define TAKES                                                                                      \
    "takes an IPv6 prefix of 32, 40, 48, 56, 64 or 96 bits such as 64:ff9b::/96, whose bits 64 "   \
    "to 71 are zero, or \"\" for none, not "

static void test_wrong_prefixes_are_errors(void **state)
{
    (void)state;
    expect_errors("dns64: {prefix: \"64:ff9b::/95\"}\n",
                  "f:1:17: error: dns64.prefix: " TAKES "\"64:ff9b::/95\"\n");
    expect_errors("dns64: {prefix: \"64:ff9b::\"}\n",
                  "f:1:17: error: dns64.prefix: " TAKES "\"64:ff9b::\"\n");
    expect_errors("dns64: {prefix: 192.0.2.0/32}\n",
                  "f:1:17: error: dns64.prefix: " TAKES "\"192.0.2.0/32\"\n");
    expect_errors("dns64: {prefix: \"2001:db8::ff00:0:0:0/96\"}\n",
                  "f:1:17: error: dns64.prefix: " TAKES "\"2001:db8::ff00:0:0:0/96\"\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_there_is_no_dns64_by_default),
        cmocka_unit_test(test_a_prefix_begins_it),
        cmocka_unit_test(test_all_of_it_is_read),
        cmocka_unit_test(test_wrong_prefixes_are_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
