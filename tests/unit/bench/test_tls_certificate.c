/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Certificates for tests: good ones are valid, and each bad one has exactly one fault. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tls_certificate.h"

static struct tls_pair authority, leaf;
static struct addr address;

static int init(void **state)
{
    (void)state;
    assert_true(tls_authority_make(&authority));
    assert_int_equal(addr_parse(&address, "::1@853", 0), ERR_OK);
    leaf = (struct tls_pair){0};
    return 0;
}

static int deinit(void **state)
{
    (void)state;
    tls_pair_deinit(&authority);
    tls_pair_deinit(&leaf);
    return 0;
}

static void make(enum tls_identity identity, const struct tls_pair *shared)
{
    tls_pair_deinit(&leaf);
    assert_true(tls_leaf_make(&leaf, &authority, shared, identity, "ns.test", &address, 1));
}

/* Returns X509_V_OK, or the fault of the leaf as a server's certificate. */
static int verify(void)
{
    X509_STORE *store = X509_STORE_new();
    X509_STORE_CTX *context = X509_STORE_CTX_new();
    X509_STORE_add_cert(store, authority.certificate);
    X509_STORE_CTX_init(context, store, leaf.certificate, NULL);
    X509_STORE_CTX_set_default(context, "ssl_server");
    X509_verify_cert(context);
    int verdict = X509_STORE_CTX_get_error(context);
    X509_STORE_CTX_free(context);
    X509_STORE_free(store);
    return verdict;
}

static void test_a_good_certificate_is_for_its_name_and_addresses(void **state)
{
    (void)state;
    make(TLS_IDENTITY_GOOD, NULL);
    assert_int_equal(verify(), X509_V_OK);
    assert_int_equal(X509_check_host(leaf.certificate, "ns.test", 0, 0, NULL), 1);
    assert_int_equal(X509_check_host(leaf.certificate, "other.test", 0, 0, NULL), 0);
    assert_int_equal(X509_check_ip_asc(leaf.certificate, "::1", 0), 1);
    assert_int_equal(X509_check_ip_asc(leaf.certificate, "127.0.0.1", 0), 0);
}

static void test_bad_certificates_have_one_fault(void **state)
{
    (void)state;
    make(TLS_IDENTITY_EXPIRED, NULL);
    assert_int_equal(verify(), X509_V_ERR_CERT_HAS_EXPIRED);
    make(TLS_IDENTITY_FUTURE, NULL);
    assert_int_equal(verify(), X509_V_ERR_CERT_NOT_YET_VALID);
    make(TLS_IDENTITY_SELF_SIGNED, NULL);
    assert_int_equal(verify(), X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT);
    make(TLS_IDENTITY_OTHER_NAME, NULL);
    assert_int_equal(verify(), X509_V_OK);
    assert_int_equal(X509_check_host(leaf.certificate, "ns.test", 0, 0, NULL), 0);
    assert_int_equal(X509_check_ip_asc(leaf.certificate, "::1", 0), 0);
}

static void test_all_certificates_but_one_share_a_key(void **state)
{
    char pin[TLS_PIN_MAX], other[TLS_PIN_MAX];
    struct tls_pair first;
    (void)state;
    assert_true(tls_leaf_make(&first, &authority, NULL, TLS_IDENTITY_GOOD, "ns.test", &address, 1));
    assert_true(tls_pin(first.certificate, pin));
    assert_int_equal(strlen(pin), TLS_PIN_MAX - 1);
    make(TLS_IDENTITY_EXPIRED, &first);
    assert_true(tls_pin(leaf.certificate, other));
    assert_string_equal(pin, other);
    make(TLS_IDENTITY_OTHER_KEY, &first);
    assert_int_equal(verify(), X509_V_OK);
    assert_true(tls_pin(leaf.certificate, other));
    assert_string_not_equal(pin, other);
    tls_pair_deinit(&first);
}

static void test_a_client_certificate_is_not_valid_for_servers(void **state)
{
    (void)state;
    assert_true(tls_client_leaf_make(&leaf, &authority));
    assert_int_equal(verify(), X509_V_ERR_INVALID_PURPOSE);
}

static void test_a_pair_is_written_and_read(void **state)
{
    char path[] = "/tmp/nailup-test-pair-XXXXXX";
    struct tls_pair read;
    struct stat found;
    (void)state;
    make(TLS_IDENTITY_GOOD, NULL);
    close(mkstemp(path));
    unlink(path);
    assert_true(tls_pair_write(&leaf, path, true));
    assert_int_equal(stat(path, &found), 0);
    assert_int_equal(found.st_mode & 0777, 0600);
    assert_true(tls_pair_read(&read, path, path));
    assert_int_equal(X509_cmp(read.certificate, leaf.certificate), 0);
    tls_pair_deinit(&read);
    assert_true(tls_pair_write(&leaf, path, false)); /* replaces the file by one without a key */
    assert_false(tls_pair_read(&read, path, path));
    assert_null(read.key);
    unlink(path);
    assert_false(tls_pair_read(&read, path, path));
    assert_false(tls_pair_write(&leaf, "/nonexistent/file", false));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, init, deinit)
    const struct CMUnitTest tests[] = {
        TEST(test_a_good_certificate_is_for_its_name_and_addresses),
        TEST(test_bad_certificates_have_one_fault),
        TEST(test_all_certificates_but_one_share_a_key),
        TEST(test_a_client_certificate_is_not_valid_for_servers),
        TEST(test_a_pair_is_written_and_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
