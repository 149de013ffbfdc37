/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Options compare by content, and every field counts. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "tls/tls_options.h"

struct two_pins {
    struct tls_pins pins;
    uint8_t room[2][TLS_PIN_BYTES];
};

static const struct tls_peer_options full = {
    .auth_name = (char *)"dns.test",
    .ca_bundle = (char *)"ca",
    .certificate = (char *)"certificate",
    .key = (char *)"key",
    .ciphers = (char *)"ciphers",
    .groups = (char *)"groups",
};

/* Compares the options. Equal options must have equal hashes. */
static bool are_equal(const struct tls_peer_options *a, const struct tls_peer_options *b)
{
    bool is_equal = tls_peer_options_equal(a, b);
    assert_int_equal(tls_peer_options_hash(a, 7) == tls_peer_options_hash(b, 7), is_equal);
    return is_equal;
}

static void test_no_text_and_empty_text_are_the_same(void **state)
{
    char empty[] = "";
    const struct tls_peer_options none = {.profile = TLS_STRICT};
    const struct tls_peer_options all = {.auth_name = empty,
                                         .ca_bundle = empty,
                                         .certificate = empty,
                                         .key = empty,
                                         .ciphers = empty,
                                         .groups = empty};
    (void)state;

    assert_true(are_equal(&none, &all));
    assert_true(tls_peer_options_same_context(&all, &none));
}

static void test_text_is_compared_by_content(void **state)
{
    struct tls_peer_options copy = full;
    char name[] = "dns.test";
    (void)state;

    copy.auth_name = name;
    assert_true(are_equal(&full, &copy));
    name[0] = 'D';
    assert_false(are_equal(&full, &copy));
    assert_true(tls_peer_options_same_context(&full, &copy));
}

static void test_the_fields_of_a_context_count_in_both_comparisons(void **state)
{
    struct tls_peer_options copy;
    char **fields[] = {&copy.ca_bundle, &copy.certificate, &copy.key, &copy.ciphers, &copy.groups};
    (void)state;

    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        copy = full;
        *fields[i] = NULL;
        assert_false(tls_peer_options_same_context(&full, &copy));
        assert_false(are_equal(&full, &copy));
    }
}

static void test_profile_and_early_data_count_but_not_for_a_context(void **state)
{
    struct tls_peer_options copy = full;
    (void)state;

    copy.profile = TLS_OPPORTUNISTIC;
    assert_false(are_equal(&full, &copy));
    assert_true(tls_peer_options_same_context(&full, &copy));
    copy = full;
    copy.early_data = true;
    assert_false(are_equal(&full, &copy));
    assert_true(tls_peer_options_same_context(&full, &copy));
}

static void test_pins_are_compared_one_by_one(void **state)
{
    struct two_pins one = {.pins.count = 2}, other = {.pins.count = 2}, none = {.pins.count = 0};
    struct tls_peer_options a = full, b = full;
    (void)state;

    a.pins = &one.pins;
    assert_false(are_equal(&a, &b));
    assert_true(tls_peer_options_same_context(&a, &b));
    b.pins = &other.pins;
    assert_true(are_equal(&a, &b));
    other.pins.sha256[1][31] = 1;
    assert_false(are_equal(&a, &b));
    other.pins.count = 1;
    assert_false(are_equal(&a, &b));
    one.pins.count = 1;
    assert_true(are_equal(&a, &b));
    b.pins = &none.pins;
    assert_false(are_equal(&a, &b));
    assert_true(are_equal(&b, &full));
}

static void test_a_copy_is_equal_and_independent(void **state)
{
    struct two_pins pins = {.pins.count = 2, .room = {{1, 2}, {3, 4}}}, kept = pins;
    struct tls_peer_options from = full, same = full, copy;
    char name[] = "dns.test", file[] = "ca";
    void *memory;
    (void)state;

    from.auth_name = name;
    from.ca_bundle = file;
    from.pins = &pins.pins;
    from.early_data = same.early_data = true;
    same.pins = &kept.pins;
    assert_true(tls_peer_options_copy(&copy, &from, &memory));
    memset(name, 'x', sizeof(name));
    memset(file, 'x', sizeof(file));
    memset(&pins, 0xff, sizeof(pins));
    assert_true(are_equal(&copy, &same));
    free(memory);
}

static void test_empty_options_can_be_copied(void **state)
{
    struct tls_peer_options none = {.profile = TLS_OPPORTUNISTIC}, copy;
    char empty[] = "";
    void *memory;
    (void)state;

    assert_true(tls_peer_options_copy(&copy, &none, &memory));
    assert_non_null(memory);
    assert_true(are_equal(&copy, &none));
    free(memory);
    none.auth_name = none.groups = empty;
    assert_true(tls_peer_options_copy(&copy, &none, &memory));
    assert_true(are_equal(&copy, &none));
    free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_text_and_empty_text_are_the_same),
        cmocka_unit_test(test_text_is_compared_by_content),
        cmocka_unit_test(test_the_fields_of_a_context_count_in_both_comparisons),
        cmocka_unit_test(test_profile_and_early_data_count_but_not_for_a_context),
        cmocka_unit_test(test_pins_are_compared_one_by_one),
        cmocka_unit_test(test_a_copy_is_equal_and_independent),
        cmocka_unit_test(test_empty_options_can_be_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
