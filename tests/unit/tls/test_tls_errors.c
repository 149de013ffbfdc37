/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* OpenSSL's errors become ours. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <openssl/err.h>
#include <openssl/ssl.h>

#include "tls/tls_errors.h"

static enum err error_of(int library, int reason, const char *first, size_t len)
{
    return tls_errors_of(ERR_PACK(library, 0, reason), span_of(first, len));
}

static void test_an_alert_of_the_peer_is_reported_as_an_alert(void **state)
{
    (void)state;
    assert_int_equal(error_of(ERR_LIB_SSL, SSL_R_TLSV1_ALERT_UNKNOWN_CA, "\x15\x03", 2),
                     ERR_TLS_ALERT);
    assert_int_equal(error_of(ERR_LIB_SSL, SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE, "\x15\x03", 2),
                     ERR_TLS_ALERT);
}

static void test_errors_that_all_libraries_share_are_no_alerts(void **state)
{
    (void)state;
    assert_int_equal(error_of(ERR_LIB_SSL, ERR_R_MALLOC_FAILURE, "\x16\x03", 2), ERR_NO_MEMORY);
    assert_int_equal(error_of(ERR_LIB_EVP, ERR_R_MALLOC_FAILURE, "\x16\x03", 2), ERR_NO_MEMORY);
    assert_int_equal(error_of(ERR_LIB_SSL, ERR_R_INTERNAL_ERROR, "\x16\x03", 2), ERR_TLS_FAILED);
    assert_int_equal(tls_errors_of(0, span_of("\x16\x03", 2)), ERR_TLS_FAILED);
}

static void test_first_bytes_that_begin_no_record_mean_that_the_peer_speaks_no_tls(void **state)
{
    (void)state;
    assert_int_equal(error_of(ERR_LIB_SSL, SSL_R_WRONG_VERSION_NUMBER, "\0\x20", 2),
                     ERR_TLS_NOT_SPOKEN);
    assert_int_equal(error_of(ERR_LIB_SSL, SSL_R_WRONG_VERSION_NUMBER, "SS", 2),
                     ERR_TLS_NOT_SPOKEN);
    assert_int_equal(error_of(ERR_LIB_SSL, SSL_R_WRONG_VERSION_NUMBER, "", 0), ERR_TLS_FAILED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_alert_of_the_peer_is_reported_as_an_alert),
        cmocka_unit_test(test_errors_that_all_libraries_share_are_no_alerts),
        cmocka_unit_test(test_first_bytes_that_begin_no_record_mean_that_the_peer_speaks_no_tls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
