/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* The keys that seal tickets, and their rotation under every behaviour of the clock. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tls/tls_ticket_keys.h"

enum { START = 1000000, AGE = TLS_TICKET_KEY_AGE_S };

static int set_up(void **state)
{
    *state = tls_ticket_keys_new(START);
    return *state ? 0 : -1;
}

static int tear_down(void **state)
{
    tls_ticket_keys_free(*state);
    return 0;
}

static struct tls_ticket_key seal(struct tls_ticket_keys *keys, int64_t now_s)
{
    struct tls_ticket_key key;

    memset(&key, 0, sizeof(key));
    tls_ticket_keys_seal(keys, now_s, &key);
    return key;
}

static bool same(const struct tls_ticket_key *a, const struct tls_ticket_key *b)
{
    return memcmp(a, b, sizeof(*a)) == 0;
}

/* Returns what a key does now: "new" opens and seals, "old" only opens, "gone" does nothing. */
static const char *fate(struct tls_ticket_keys *keys, int64_t now_s,
                        const struct tls_ticket_key *key)
{
    struct tls_ticket_key opened;
    bool is_old;

    if (!tls_ticket_keys_open(keys, now_s, key->name, &opened, &is_old))
        return "gone";
    assert_true(same(key, &opened));
    return is_old ? "old" : "new";
}

static void test_a_sealed_ticket_opens(void **state)
{
    struct tls_ticket_key key = seal(*state, START);

    assert_string_equal(fate(*state, START, &key), "new");
}

static void test_an_unknown_key_name_does_not_open(void **state)
{
    struct tls_ticket_key key = seal(*state, START);

    key.name[15] ^= 1;
    assert_string_equal(fate(*state, START, &key), "gone");
}

static void test_all_parts_of_a_key_are_random(void **state)
{
    struct tls_ticket_key a = seal(*state, START), b = seal(*state, START + AGE);

    assert_memory_not_equal(a.name, b.name, sizeof(a.name));
    assert_memory_not_equal(a.aes, b.aes, sizeof(a.aes));
    assert_memory_not_equal(a.hmac, b.hmac, sizeof(a.hmac));
    assert_memory_not_equal(a.aes, a.hmac, sizeof(a.aes));
}

static void test_one_key_seals_until_its_age(void **state)
{
    struct tls_ticket_key first = seal(*state, START), later = seal(*state, START + AGE - 1);
    struct tls_ticket_key next = seal(*state, START + AGE);

    assert_true(same(&first, &later));
    assert_false(same(&first, &next));
    assert_string_equal(fate(*state, START + AGE, &first), "old");
}

static void test_a_ticket_opens_for_its_whole_lifetime(void **state)
{
    int64_t sealed_at = START + AGE - 1; /* the last second in which this key seals */
    struct tls_ticket_key key = seal(*state, sealed_at);

    for (int64_t now = sealed_at; now <= sealed_at + TLS_TICKET_LIFETIME_S; now += 600) {
        seal(*state, now);
        assert_string_not_equal(fate(*state, now, &key), "gone");
    }
    assert_string_equal(fate(*state, sealed_at + TLS_TICKET_LIFETIME_S, &key), "old");
}

static void test_a_key_is_gone_after_the_last_ticket(void **state)
{
    struct tls_ticket_key key = seal(*state, START);

    assert_string_equal(fate(*state, START + TLS_TICKET_KEYS * AGE - 1, &key), "old");
    assert_string_equal(fate(*state, START + TLS_TICKET_KEYS * AGE, &key), "gone");
}

static void test_an_idle_server_does_not_use_its_last_key_again(void **state)
{
    struct tls_ticket_key key = seal(*state, START), next = seal(*state, START + 100 * AGE);

    assert_false(same(&key, &next));
    assert_string_equal(fate(*state, START + 100 * AGE, &key), "gone");
}

static void test_a_small_step_back_changes_nothing(void **state)
{
    struct tls_ticket_key key = seal(*state, START + AGE), same_key = seal(*state, START + AGE - 5);

    assert_true(same(&key, &same_key));
}

/* Two threads read the clock, and one of them is a second behind. */
static void test_different_readings_do_not_advance_the_clock(void **state)
{
    struct tls_ticket_key key = seal(*state, START);

    for (int i = 0; i < 2 * TLS_TICKET_KEYS * AGE; i++)
        seal(*state, START + i % 2);
    assert_string_equal(fate(*state, START + 1, &key), "new");
}

static void test_after_a_large_step_back_keys_age_on(void **state)
{
    struct tls_ticket_key key = seal(*state, START + 10);

    assert_string_equal(fate(*state, 10, &key), "new");
    assert_string_equal(fate(*state, 10 + AGE - 11, &key), "new");
    assert_string_equal(fate(*state, 10 + AGE, &key), "old");
    assert_string_equal(fate(*state, 10 + TLS_TICKET_KEYS * AGE, &key), "gone");
}

static void test_the_ends_of_time_do_no_harm(void **state)
{
    static const int64_t times[] = {INT64_MIN, INT64_MAX, 0, INT64_MIN, -1, INT64_MAX};

    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        struct tls_ticket_key key = seal(*state, times[i]);
        assert_string_equal(fate(*state, times[i], &key), "new");
    }
}

/* The threads' clocks drift far apart, so a key may be gone, but each key that opens is whole.
 * cmocka asserts in the first thread only. */
static void *hammer(void *keys)
{
    uintptr_t wrong = 0;

    for (int i = 0; i < 3000; i++) {
        int64_t now = START + i * 17;
        struct tls_ticket_key key = seal(keys, now), opened;
        bool is_old;
        wrong +=
            tls_ticket_keys_open(keys, now, key.name, &opened, &is_old) && !same(&key, &opened);
    }
    return (void *)wrong;
}

static void test_threads_share_the_keys(void **state)
{
    pthread_t threads[4];

    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, hammer, *state), 0);
    for (int i = 0; i < 4; i++) {
        void *wrong;
        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_null(wrong);
    }
}

static void test_free_takes_null(void **state)
{
    (void)state;
    tls_ticket_keys_free(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_sealed_ticket_opens),
        TEST(test_an_unknown_key_name_does_not_open),
        TEST(test_all_parts_of_a_key_are_random),
        TEST(test_one_key_seals_until_its_age),
        TEST(test_a_ticket_opens_for_its_whole_lifetime),
        TEST(test_a_key_is_gone_after_the_last_ticket),
        TEST(test_an_idle_server_does_not_use_its_last_key_again),
        TEST(test_a_small_step_back_changes_nothing),
        TEST(test_different_readings_do_not_advance_the_clock),
        TEST(test_after_a_large_step_back_keys_age_on),
        TEST(test_the_ends_of_time_do_no_harm),
        TEST(test_threads_share_the_keys),
        cmocka_unit_test(test_free_takes_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
