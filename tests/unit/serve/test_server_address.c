/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Two lists of addresses are numbered together. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "serve/server_address.h"

static void expect_address(struct server_address address, const struct addr *addr,
                           enum transport stream, const char *key)
{
    assert_ptr_equal(address.addr, addr);
    assert_int_equal(address.stream, stream);
    assert_string_equal(server_address_key(address), key);
    assert_int_equal(server_address_has_udp(address), stream == TRANSPORT_TCP);
}

static void test_the_lists_follow_each_other(void **state)
{
    (void)state;
    struct addr plain[2], tls[1], https[2];
    const struct server_options options = {.listen = plain,
                                           .listen_count = 2,
                                           .listen_tls = tls,
                                           .listen_tls_count = 1,
                                           .listen_https = https,
                                           .listen_https_count = 2};
    assert_int_equal(server_address_count(&options), 5);
    expect_address(server_address_at(&options, 1), &plain[1], TRANSPORT_TCP, "server.listen");
    expect_address(server_address_at(&options, 2), &tls[0], TRANSPORT_TLS, "server.listen-tls");
    expect_address(server_address_at(&options, 3), &https[0], TRANSPORT_HTTPS,
                   "server.listen-https");
    expect_address(server_address_at(&options, 4), &https[1], TRANSPORT_HTTPS,
                   "server.listen-https");
}

static void test_each_list_may_be_empty(void **state)
{
    (void)state;
    struct addr tls[1];
    const struct server_options none = {0};
    const struct server_options only_tls = {.listen_tls = tls, .listen_tls_count = 1};
    assert_int_equal(server_address_count(&none), 0);
    assert_true(server_address_at(&only_tls, 0).stream == TRANSPORT_TLS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_lists_follow_each_other),
        cmocka_unit_test(test_each_list_may_be_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
