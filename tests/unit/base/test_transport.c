/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "base/transport.h"

static void test_transport_words_are_in_the_order_of_the_rows(void **state)
{
    (void)state;
    const char *word = UPSTREAM_TRANSPORT_WORDS;
    for (unsigned i = 0; *word; i++, word += strlen(word) + 1)
        assert_string_equal(word, transport_word((enum transport)i));
}

static void test_transport_that_is_secure_never_falls_back(void **state)
{
    (void)state;
    for (enum transport i = TRANSPORT_UDP; i <= TRANSPORT_HTTPS; i++) {
        assert_int_equal(transport_can_fall_back(i), !transport_is_secure(i));
        assert_true(transport_is_stream(i) || !transport_is_secure(i));
        assert_int_equal(*transport_alpn(i) != '\0', transport_is_secure(i));
    }
}

static void test_transport_ports_are_the_registered_ones(void **state)
{
    (void)state;
    assert_int_equal(transport_port(TRANSPORT_UDP), 53);
    assert_int_equal(transport_port(TRANSPORT_TCP), 53);
    assert_int_equal(transport_port(TRANSPORT_TLS), 853);
    assert_int_equal(transport_port(TRANSPORT_HTTPS), 443);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_transport_words_are_in_the_order_of_the_rows),
        cmocka_unit_test(test_transport_that_is_secure_never_falls_back),
        cmocka_unit_test(test_transport_ports_are_the_registered_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
