/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Errors of OpenSSL in our words. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <openssl/err.h>

#include "tls/tls_errors.h"

static struct tls peer_that_said(const uint8_t *first, size_t len)
{
    struct tls tls = {.first_len = 0};

    tls_errors_note(&tls, span_of(first, len));
    return tls;
}

static void test_an_alert_of_the_peer_is_told_as_that(void **state)
{
    struct tls tls = peer_that_said((const uint8_t *)"\x15\x03\x03", 3);
    (void)state;

    assert_int_equal(tls_errors_of(&tls, ERR_PACK(ERR_LIB_SSL, 0, SSL_R_TLSV1_ALERT_UNKNOWN_CA)),
                     ERR_TLS_ALERT);
    assert_int_equal(
        tls_errors_of(&tls, ERR_PACK(ERR_LIB_SSL, 0, SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE)),
        ERR_TLS_ALERT);
}

static void test_errors_that_all_libraries_share_are_no_alerts(void **state)
{
    struct tls tls = peer_that_said((const uint8_t *)"\x16\x03\x03", 3);
    (void)state;

    assert_int_equal(tls_errors_of(&tls, ERR_PACK(ERR_LIB_SSL, 0, ERR_R_MALLOC_FAILURE)),
                     ERR_NO_MEMORY);
    assert_int_equal(tls_errors_of(&tls, ERR_PACK(ERR_LIB_EVP, 0, ERR_R_MALLOC_FAILURE)),
                     ERR_NO_MEMORY);
    assert_int_equal(tls_errors_of(&tls, ERR_PACK(ERR_LIB_SSL, 0, ERR_R_INTERNAL_ERROR)),
                     ERR_TLS_FAILED);
    assert_int_equal(tls_errors_of(&tls, 0), ERR_TLS_FAILED);
}

static void test_first_bytes_that_are_no_record_say_that_it_is_not_tls(void **state)
{
    struct tls dns = peer_that_said((const uint8_t *)"\0\x20", 2);
    struct tls ssh = peer_that_said((const uint8_t *)"SSH", 3);
    struct tls silent = peer_that_said(NULL, 0);
    unsigned long code = ERR_PACK(ERR_LIB_SSL, 0, SSL_R_WRONG_VERSION_NUMBER);
    (void)state;

    assert_int_equal(tls_errors_of(&dns, code), ERR_TLS_NOT_SPOKEN);
    assert_int_equal(tls_errors_of(&ssh, code), ERR_TLS_NOT_SPOKEN);
    assert_int_equal(tls_errors_of(&silent, code), ERR_TLS_FAILED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_alert_of_the_peer_is_told_as_that),
        cmocka_unit_test(test_errors_that_all_libraries_share_are_no_alerts),
        cmocka_unit_test(test_first_bytes_that_are_no_record_say_that_it_is_not_tls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
