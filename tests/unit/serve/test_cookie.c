/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Server cookies: the examples of RFC 9018 appendix A, and forgeries. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "serve/cookie.h"

#define SECRET "e5e973e5a6b2a43f48e7dc849e37bfcf"
#define OLD_SECRET "dd3bdf9344b678b185a6f5cb60fca715"
#define NEW_SECRET "445536bcd2513298075a5d379663c962"

static struct cookie_secrets secrets;
static uint8_t cookie[COOKIE_BYTES];
static uint8_t cookie_len;
static struct addr client;

static uint8_t from_hex(const char *text, uint8_t *out)
{
    uint8_t len = 0;
    for (unsigned byte; sscanf(text + 2 * (size_t)len, "%2x", &byte) == 1; len++)
        out[len] = (uint8_t)byte;
    return len;
}

static void use_secrets(const char *first, const char *second)
{
    secrets = (struct cookie_secrets){.count = second ? 2 : 1};
    from_hex(first, secrets.list[0]);
    if (second)
        from_hex(second, secrets.list[1]);
}

static void come_from(const char *ip)
{
    assert_int_equal(addr_parse(&client, ip, 4000), ERR_OK);
}

static void send_cookie(const char *hex)
{
    memset(cookie, 0xee, sizeof(cookie));
    cookie_len = from_hex(hex, cookie);
}

static bool is_taken(uint32_t now_s)
{
    return cookie_answer(cookie, cookie_len, &secrets, &client, now_s);
}

static void expect_back(const char *hex)
{
    uint8_t wanted[COOKIE_BYTES];
    assert_int_equal(from_hex(hex, wanted), sizeof(wanted));
    assert_memory_equal(cookie, wanted, sizeof(wanted));
}

static int setup(void **state)
{
    (void)state;
    use_secrets(SECRET, NULL);
    come_from("198.51.100.100");
    return 0;
}

static void test_a_new_client_learns_its_cookie(void **state) /* appendix A.1 */
{
    (void)state;
    send_cookie("2464c4abcf10c957");
    assert_false(is_taken(1559731985));
    expect_back("2464c4abcf10c957010000005cf79f111f8130c3eee29480");
}

static void test_a_fresh_cookie_goes_back_as_it_came(void **state)
{
    (void)state;
    send_cookie("2464c4abcf10c957010000005cf79f111f8130c3eee29480");
    assert_true(is_taken(1559731985 + COOKIE_FRESH_S));
    expect_back("2464c4abcf10c957010000005cf79f111f8130c3eee29480");
}

static void test_an_older_cookie_is_accepted_and_renewed(void **state) /* appendix A.2 */
{
    (void)state;
    send_cookie("2464c4abcf10c957010000005cf79f111f8130c3eee29480");
    assert_true(is_taken(1559734385));
    expect_back("2464c4abcf10c957010000005cf7a871d4a564a1442aca77");
}

/* the cookie of appendix A.3, at the time when it was made */
static void test_reserved_bytes_are_hashed_as_they_came(void **state)
{
    (void)state;
    come_from("203.0.113.203");
    send_cookie("fc93fc62807ddb8601abcdef5cf78f71a314227b6679ebf5");
    assert_true(is_taken(0x5cf78f71));
    send_cookie("fc93fc62807ddb8601abcdef5cf78f71a314227b6679ebf5");
    assert_false(is_taken(1559734700)); /* it is more than an hour old */
    expect_back("fc93fc62807ddb86010000005cf7a9acf73a7810aca2381e");
}

static void test_secrets_roll_over(void **state) /* appendix A.4 */
{
    (void)state;
    come_from("2001:db8:220:1:59de:d0f4:8769:82b8");
    use_secrets(NEW_SECRET, OLD_SECRET);
    send_cookie("22681ab97d52c298010000005cf7c57926556bd0934c72f8");
    assert_true(is_taken(1559741961));
    expect_back("22681ab97d52c298010000005cf7c609a6bb79d16625507a");
    use_secrets(NEW_SECRET, NULL);
    send_cookie("22681ab97d52c298010000005cf7c57926556bd0934c72f8");
    assert_false(is_taken(1559741961));
    expect_back("22681ab97d52c298010000005cf7c609a6bb79d16625507a");
}

static void test_the_returned_cookie_is_accepted_the_next_time(void **state)
{
    (void)state;
    const char *const clients[] = {"192.0.2.1", "2001:db8::1", "fe80::1", "0.0.0.0"};
    for (size_t i = 0; i < 4; i++) {
        come_from(clients[i]);
        send_cookie("0102030405060708");
        assert_false(is_taken(77));
        cookie_len = COOKIE_BYTES;
        assert_true(is_taken(77));
        assert_true(is_taken(77 + COOKIE_LIFE_S));
    }
}

static void test_every_changed_bit_is_seen(void **state)
{
    (void)state;
    for (int bit = 0; bit < 8 * COOKIE_BYTES; bit++) {
        send_cookie("2464c4abcf10c957010000005cf79f111f8130c3eee29480");
        cookie[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_false(is_taken(1559731985));
        cookie_len = COOKIE_BYTES;
        assert_true(is_taken(1559731985)); /* the client has got a good cookie in return */
    }
}

static void test_another_address_cannot_use_it(void **state)
{
    (void)state;
    const char *const others[] = {"198.51.100.101", "199.51.100.100", "2001:db8::1"};
    for (size_t i = 0; i < 3; i++) {
        come_from(others[i]);
        send_cookie("2464c4abcf10c957010000005cf79f111f8130c3eee29480");
        assert_false(is_taken(1559731985));
    }
}

static void test_time_limits_hold_to_the_second(void **state)
{
    (void)state;
    const struct {
        int64_t age_s;
        bool taken;
    } rows[] = {
        {0, true},
        {COOKIE_LIFE_S, true},
        {COOKIE_LIFE_S + 1, false},
        {-COOKIE_AHEAD_S, true},
        {-COOKIE_AHEAD_S - 1, false},
        {INT32_MAX, false},
        {INT32_MIN, false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        send_cookie("2464c4abcf10c957010000005cf79f111f8130c3eee29480");
        assert_int_equal(is_taken((uint32_t)(1559731985 + rows[i].age_s)), rows[i].taken);
    }
}

/* RFC 9018 section 4.3: the seconds wrap around in 2106. */
static void test_seconds_may_wrap_around(void **state)
{
    (void)state;
    send_cookie("0102030405060708");
    assert_false(is_taken(UINT32_MAX - 10));
    cookie_len = COOKIE_BYTES;
    assert_true(is_taken(100));
}

static void test_a_cookie_of_another_length_is_not_ours(void **state)
{
    (void)state;
    for (uint8_t len = 16; len <= 40; len++) {
        send_cookie("2464c4abcf10c957010000005cf79f111f8130c3eee29480");
        cookie_len = len;
        assert_int_equal(is_taken(1559731985), len == COOKIE_BYTES);
    }
}

static void test_impossible_lengths_are_recognised(void **state)
{
    (void)state;
    for (unsigned len = 0; len <= 255; len++)
        assert_int_equal(cookie_is_sound((uint8_t)len), len == 8 || (len >= 16 && len <= 40));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, setup)
    const struct CMUnitTest tests[] = {
        TEST(test_a_new_client_learns_its_cookie),
        TEST(test_a_fresh_cookie_goes_back_as_it_came),
        TEST(test_an_older_cookie_is_accepted_and_renewed),
        TEST(test_reserved_bytes_are_hashed_as_they_came),
        TEST(test_secrets_roll_over),
        TEST(test_the_returned_cookie_is_accepted_the_next_time),
        TEST(test_every_changed_bit_is_seen),
        TEST(test_another_address_cannot_use_it),
        TEST(test_time_limits_hold_to_the_second),
        TEST(test_seconds_may_wrap_around),
        TEST(test_a_cookie_of_another_length_is_not_ours),
        TEST(test_impossible_lengths_are_recognised),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
