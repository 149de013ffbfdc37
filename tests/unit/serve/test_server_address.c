/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Two lists of addresses are numbered together. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "serve/server_address.h"

static void test_those_of_tls_come_after_the_others(void **state)
{
    (void)state;
    struct addr plain[2], tls[1];
    const struct server_options options = {
        .listen = plain, .listen_count = 2, .listen_tls = tls, .listen_tls_count = 1};
    assert_int_equal(server_address_count(&options), 3);
    assert_ptr_equal(server_address_at(&options, 1).addr, &plain[1]);
    assert_false(server_address_at(&options, 1).is_tls);
    assert_ptr_equal(server_address_at(&options, 2).addr, &tls[0]);
    assert_true(server_address_at(&options, 2).is_tls);
}

static void test_either_list_may_be_empty(void **state)
{
    (void)state;
    struct addr tls[1];
    const struct server_options none = {0};
    const struct server_options only_tls = {.listen_tls = tls, .listen_tls_count = 1};
    assert_int_equal(server_address_count(&none), 0);
    assert_true(server_address_at(&only_tls, 0).is_tls);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_those_of_tls_come_after_the_others),
        cmocka_unit_test(test_either_list_may_be_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
