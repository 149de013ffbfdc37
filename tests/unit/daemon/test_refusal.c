/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Messages and exit codes of a start that fails. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "daemon/exit_code.h"
#include "daemon/refusal.h"
#include "unit/daemon/log_lines.h"

static int begin(void **state)
{
    (void)state;
    log_lines_begin();
    log_set_format(LOG_JSON); /* with the text format, a refusal goes to stderr directly */
    return 0;
}

static int end(void **state)
{
    (void)state;
    log_lines_end();
    log_set_format(LOG_TEXT);
    return 0;
}

static void listen_says(const char *address, enum transport stream, enum err err,
                        const char *wanted)
{
    struct addr addr;
    char text[REFUSAL_TEXT_MAX];

    assert_int_equal(addr_parse(&addr, address, 53), ERR_OK);
    refusal_listen((struct server_address){&addr, stream}, err, text);
    assert_non_null(strstr(text, wanted));
}

static void test_each_failure_to_listen_comes_with_advice_and_its_key(void **state)
{
    (void)state;
    listen_says("127.0.0.1@53", TRANSPORT_TCP, ERR_ADDRESS_IN_USE, "stop the other server");
    listen_says("127.0.0.1@53", TRANSPORT_TCP, ERR_PERMISSION, "above 1023");
    listen_says("192.0.2.1@53", TRANSPORT_TCP, ERR_ADDRESS_UNKNOWN, "an address of this machine");
    listen_says("192.0.2.1@53", TRANSPORT_TCP, ERR_NO_FILES, "raise the limit");
    listen_says("192.0.2.1@53", TRANSPORT_TCP, ERR_IO, "choose another address (server.listen)");
    listen_says("::1@853", TRANSPORT_TLS, ERR_IO, "cannot listen on ::1@853: ");
    listen_says("::1@853", TRANSPORT_TLS, ERR_IO, "(server.listen-tls)");
}

static void test_the_longest_address_fits_its_sentence(void **state)
{
    (void)state;
    listen_says("2001:db8:ffff:ffff:ffff:ffff:ffff:ffff@65535", TRANSPORT_HTTPS, ERR_PERMISSION,
                "(server.listen-https)");
}

static void test_each_refusal_has_its_exit_code(void **state)
{
    struct addr addr;

    (void)state;
    assert_int_equal(addr_parse(&addr, "127.0.0.1@9953", 53), ERR_OK);
    assert_int_equal(refusal_print("out of memory"), EXIT_CANNOT_START);
    assert_int_equal(refusal_metrics(&addr, ERR_ADDRESS_IN_USE), EXIT_CANNOT_START);
    assert_int_equal(refusal_certificate("no key"), EXIT_CONFIG);
    assert_int_equal(log_lines_count(), 3);
    assert_non_null(strstr(log_lines, "127.0.0.1@9953"));
    assert_non_null(strstr(log_lines, "(metrics.listen)"));
    assert_non_null(strstr(log_lines, "no key; correct server.tls-certificate"));
}

static void test_a_sentence_that_is_too_long_is_cut_and_written_once(void **state)
{
    static char path[8192];

    (void)state;
    memset(path, 'a', sizeof(path) - 1);
    assert_int_equal(refusal_print("control.socket: %s", path), EXIT_CANNOT_START);
    assert_int_equal(log_lines_count(), 1);
    assert_true(strlen(log_lines) < sizeof(path));
}

static void test_a_percent_sign_in_a_path_is_text(void **state)
{
    (void)state;
    assert_int_equal(refusal_print("%s", "/etc/%s%n%d"), EXIT_CANNOT_START);
    assert_non_null(strstr(log_lines, "/etc/%s%n%d"));
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(test_each_failure_to_listen_comes_with_advice_and_its_key),
        TEST(test_the_longest_address_fits_its_sentence),
        TEST(test_each_refusal_has_its_exit_code),
        TEST(test_a_sentence_that_is_too_long_is_cut_and_written_once),
        TEST(test_a_percent_sign_in_a_path_is_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
