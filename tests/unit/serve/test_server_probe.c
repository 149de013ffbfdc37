/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Whether the addresses can be had, with answers of ours in the place of the kernel's. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "base/log.h"
#include "net/acceptor.h"
#include "serve/server.h"

static struct addr listens[3];
static enum err answers[3];
static unsigned warnings;
static const struct server_options options = {
    .listen = listens, .listen_count = 2, .listen_tls = &listens[2], .listen_tls_count = 1};

enum err acceptor_probe(const struct addr *listen, bool with_udp)
{
    for (int i = 0; i < 3; i++) {
        if (listen == &listens[i])
            assert_int_equal(with_udp, i < 2); /* UDP beside TLS may be somebody else's */
        if (listen == &listens[i])
            return answers[i];
    }
    return ERR_IO;
}

static void count_warning(enum log_level level, const char *line)
{
    assert_int_equal(level, LOG_WARNING);
    assert_non_null(strstr(line, "::"));
    warnings++;
}

static int setup(void **state)
{
    (void)state;
    assert_int_equal(addr_parse(&listens[0], "::1", 53), ERR_OK);
    assert_int_equal(addr_parse(&listens[1], "::2", 53), ERR_OK);
    assert_int_equal(addr_parse(&listens[2], "::3", 53), ERR_OK);
    memset(answers, 0, sizeof(answers));
    warnings = 0;
    log_set_sink(count_warning);
    return 0;
}

static enum err probe(size_t *which)
{
    *which = 99;
    return server_probe(&options, which);
}

static void test_free_addresses_are_fine(void **state)
{
    (void)state;
    size_t which;
    assert_int_equal(probe(&which), ERR_OK);
    assert_int_equal(warnings, 0);
}

static void test_an_address_that_is_taken_is_named(void **state)
{
    (void)state;
    size_t which;
    answers[1] = ERR_ADDRESS_IN_USE;
    assert_int_equal(probe(&which), ERR_ADDRESS_IN_USE);
    assert_int_equal(which, 1);
    answers[0] = ERR_PERMISSION;
    assert_int_equal(probe(&which), ERR_PERMISSION);
    assert_int_equal(which, 0);
}

static void test_missing_addresses_are_warnings_as_long_as_one_works(void **state)
{
    (void)state;
    size_t which;
    answers[0] = answers[2] = ERR_ADDRESS_UNKNOWN;
    assert_int_equal(probe(&which), ERR_OK);
    assert_int_equal(warnings, 2);
    answers[1] = ERR_ADDRESS_UNKNOWN;
    assert_int_equal(probe(&which), ERR_ADDRESS_UNKNOWN);
    assert_in_range(which, 0, 2);
}

static void test_a_missing_address_does_not_hide_a_taken_one(void **state)
{
    (void)state;
    size_t which;
    answers[0] = ERR_ADDRESS_UNKNOWN;
    answers[2] = ERR_ADDRESS_IN_USE;
    assert_int_equal(probe(&which), ERR_ADDRESS_IN_USE);
    assert_int_equal(which, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_free_addresses_are_fine, setup),
        cmocka_unit_test_setup(test_an_address_that_is_taken_is_named, setup),
        cmocka_unit_test_setup(test_missing_addresses_are_warnings_as_long_as_one_works, setup),
        cmocka_unit_test_setup(test_a_missing_address_does_not_hide_a_taken_one, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
