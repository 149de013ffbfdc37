/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* OpenSSL's own configuration file may make TLS stricter than our minimum, but not laxer. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <openssl/conf.h>
#include <stdio.h>

#include <openssl/ssl.h>
#include "tls/tls.h"
#include "tls_ends.h"

static struct ends here;

/* Replaces the content of /etc/ssl/openssl.cnf for this process. */
static void set_policy(const char *lines)
{
    char text[512];

    snprintf(text, sizeof(text),
             "openssl_conf = init\n[init]\nssl_conf = ssl\n[ssl]\nsystem_default = policy\n"
             "[policy]\n%s",
             lines);
    char *path = tls_certs_file(text);
    CONF_modules_unload(0);
    assert_int_equal(CONF_modules_load_file(path, NULL, 0), 1);
    unlink(path);
    free(path);
}

static int set_up(void **state)
{
    (void)state;
    ends_init(&here, NULL);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    set_policy("Options = ServerPreference\n");
    ends_deinit(&here);
    return 0;
}

static void check_contexts(int min_version, int level)
{
    struct tls_context *both[] = {new_client_context(&here.options),
                                  new_server_context(here.cert, NULL)};

    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(SSL_CTX_get_min_proto_version(both[i]->ctx), min_version);
        assert_int_equal(SSL_CTX_get_security_level(both[i]->ctx), level);
        tls_context_free(both[i]);
    }
}

static void test_a_system_that_wants_tls_13_gets_it(void **state)
{
    (void)state;
    set_policy("MinProtocol = TLSv1.3\n");
    check_contexts(TLS1_3_VERSION, 2);
}

static void test_a_system_that_allows_old_versions_gets_tls_12(void **state)
{
    (void)state;
    set_policy("MinProtocol = TLSv1\n");
    check_contexts(TLS1_2_VERSION, 2);
}

static void test_a_system_that_allows_weak_keys_does_not_change_our_floor(void **state)
{
    (void)state;
    set_policy("CipherString = DEFAULT@SECLEVEL=0\n");
    check_contexts(TLS1_2_VERSION, 2);
    set_policy("CipherString = DEFAULT@SECLEVEL=3\n");
    check_contexts(TLS1_2_VERSION, 3);
}

static void test_our_own_words_allow_weak_keys(void **state)
{
    struct tls_peer_options options = here.options;
    (void)state;

    options.ciphers = (char *)"ECDHE+AESGCM:@SECLEVEL=1";
    struct tls_context *context = new_client_context(&options);
    assert_int_equal(SSL_CTX_get_security_level(context->ctx), 1);
    tls_context_free(context);
}

static void test_a_system_without_tls_12_is_reported(void **state)
{
    char why[TLS_WHY_MAX];
    struct tls_context *context;
    (void)state;

    set_policy("MaxProtocol = TLSv1.1\n");
    assert_int_equal(tls_context_client(&context, &here.options, why), ERR_INVALID);
    assert_null(context);
    assert_non_null(strstr(why, "TLS 1.2"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_system_that_wants_tls_13_gets_it),
        cmocka_unit_test(test_a_system_that_allows_old_versions_gets_tls_12),
        cmocka_unit_test(test_a_system_that_allows_weak_keys_does_not_change_our_floor),
        cmocka_unit_test(test_our_own_words_allow_weak_keys),
        cmocka_unit_test(test_a_system_without_tls_12_is_reported),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
