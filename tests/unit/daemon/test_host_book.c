/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "daemon/host_book.h"

#define S US_PER_S
#define NOW (1000 * S)
#define WALL_S 1795478400

static struct host_book book;
static struct host_answer answers[HOST_BOTH];

static int begin(void **state)
{
    (void)state;
    host_book_init(&book, "dns.example");
    memset(answers, 0, sizeof(answers));
    answers[1].kind = HOST_NONE;
    return 0;
}

static struct addr addr_of(const char *text)
{
    struct addr addr;
    assert_int_equal(addr_parse(&addr, text, 0), ERR_OK);
    return addr;
}

static void answer(int which, uint32_t ttl_s, size_t count, const char *const *texts)
{
    answers[which] = (struct host_answer){.kind = HOST_FOUND, .ttl_s = ttl_s, .count = count};
    for (size_t i = 0; i < count; i++)
        answers[which].addrs[i] = addr_of(texts[i]);
}

#define ANSWER(which, ttl_s, ...)                                                                  \
    answer(which, ttl_s, ARRAY_LEN(((const char *[]){__VA_ARGS__})), (const char *[]){__VA_ARGS__})

static void expect_addrs(const char *expected)
{
    char all[1024] = "", text[ADDR_TEXT_MAX];
    for (size_t i = 0; i < book.count; i++)
        sprintf(all + strlen(all), "%s%s", i ? " " : "", addr_format_ip(&book.addrs[i], text));
    assert_string_equal(all, expected);
}

static void test_a_name_is_due_at_once_and_then_after_its_ttl(void **state)
{
    (void)state;
    assert_int_equal(book.due_at, 0);
    ANSWER(0, 300, "192.0.2.1", "192.0.2.2");
    ANSWER(1, 200, "2001:db8::1");
    assert_true(host_book_take(&book, answers, NOW, WALL_S));
    expect_addrs("192.0.2.1 192.0.2.2 2001:db8::1");
    assert_int_equal(book.due_at, NOW + 200 * S);
    assert_false(host_book_take(&book, answers, NOW + 200 * S, WALL_S));
    assert_int_equal(book.answered_at, NOW + 200 * S);
    assert_int_equal(book.answered_s, WALL_S);
}

static void test_restored_addresses_count_at_once_and_the_name_is_due(void **state)
{
    (void)state;
    const struct addr addrs[] = {addr_of("192.0.2.1"), addr_of("2001:db8::1")};
    host_book_restore(&book, addrs, 2, WALL_S - 60);
    expect_addrs("192.0.2.1 2001:db8::1");
    assert_int_equal(book.due_at, 0);
    assert_int_equal(book.answered_s, WALL_S - 60);
    assert_int_equal(book.answered_at, 0);
    ANSWER(0, 300, "192.0.2.2");
    assert_true(host_book_take(&book, answers, NOW, WALL_S));
    expect_addrs("192.0.2.1 2001:db8::1 192.0.2.2");
}

static void test_a_hostile_file_leaves_room_for_answers(void **state)
{
    (void)state;
    struct addr addrs[ZONE_HOST_ADDRS_MAX];
    for (int i = 0; i < ZONE_HOST_ADDRS_MAX; i++) {
        char text[ADDR_TEXT_MAX];
        snprintf(text, sizeof(text), "192.0.2.%d", i < 2 ? 1 : i); /* one address comes twice */
        addrs[i] = addr_of(text);
    }
    host_book_restore(&book, addrs, ZONE_HOST_ADDRS_MAX, WALL_S);
    expect_addrs("192.0.2.1 192.0.2.2 192.0.2.3 192.0.2.4 192.0.2.5 192.0.2.6 192.0.2.7 "
                 "192.0.2.8");
    ANSWER(0, 300, "192.0.2.101", "192.0.2.102", "192.0.2.103", "192.0.2.104", "192.0.2.105",
           "192.0.2.106", "192.0.2.107", "192.0.2.108");
    ANSWER(1, 300, "2001:db8::1", "2001:db8::2", "2001:db8::3", "2001:db8::4", "2001:db8::5",
           "2001:db8::6", "2001:db8::7", "2001:db8::8");
    assert_true(host_book_take(&book, answers, NOW, WALL_S));
    assert_int_equal(book.count, ZONE_HOST_ADDRS_MAX);
}

static void test_the_time_between_questions_has_a_floor_and_a_ceiling(void **state)
{
    (void)state;
    ANSWER(0, 0, "192.0.2.1");
    host_book_take(&book, answers, NOW, WALL_S);
    assert_int_equal(book.due_at, NOW + HOST_TTL_MIN_S * S);
    ANSWER(0, UINT32_MAX, "192.0.2.1");
    host_book_take(&book, answers, NOW, WALL_S);
    assert_int_equal(book.due_at, NOW + HOST_TTL_MAX_S * S);
}

static void test_an_address_that_is_missing_goes_after_three_answers(void **state)
{
    (void)state;
    ANSWER(0, 60, "192.0.2.1", "192.0.2.2");
    host_book_take(&book, answers, NOW, WALL_S);
    ANSWER(0, 60, "192.0.2.2", "192.0.2.3");
    assert_true(host_book_take(&book, answers, NOW, WALL_S));
    expect_addrs("192.0.2.1 192.0.2.2 192.0.2.3");
    assert_false(host_book_take(&book, answers, NOW, WALL_S));
    assert_true(host_book_take(&book, answers, NOW, WALL_S));
    expect_addrs("192.0.2.2 192.0.2.3");
}

static void test_an_address_that_comes_back_in_time_stays(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        if (i % 2)
            ANSWER(0, 60, "192.0.2.1");
        else
            ANSWER(0, 60, "192.0.2.2");
        assert_int_equal(host_book_take(&book, answers, NOW, WALL_S), i < 2);
    }
    expect_addrs("192.0.2.2 192.0.2.1");
}

static void test_failures_keep_the_addresses_and_back_off(void **state)
{
    static const unsigned waits_s[] = {1, 2, 4, 8, 16, 32, 60, 60, 60};
    (void)state;
    ANSWER(0, 60, "192.0.2.1");
    host_book_take(&book, answers, NOW, WALL_S);
    answers[0].kind = answers[1].kind = HOST_FAILED;
    for (size_t i = 0; i < ARRAY_LEN(waits_s); i++) {
        assert_false(host_book_take(&book, answers, NOW, WALL_S));
        assert_int_equal(book.due_at, NOW + waits_s[i] * S);
    }
    expect_addrs("192.0.2.1");
    assert_string_equal(book.error, "the name could not be resolved");
    host_book_retry(&book, NOW + 5 * S);
    assert_int_equal(book.due_at, NOW + 5 * S);
    ANSWER(0, 60, "192.0.2.1");
    assert_false(host_book_take(&book, answers, NOW, WALL_S));
    assert_string_equal(book.error, "");
    host_book_retry(&book, NOW + 5 * S); /* a name that resolves is not queried early */
    assert_int_equal(book.due_at, NOW + 60 * S);
}

static void test_a_name_that_loses_all_addresses_keeps_the_last_ones(void **state)
{
    (void)state;
    ANSWER(0, 60, "192.0.2.1");
    host_book_take(&book, answers, NOW, WALL_S);
    answers[0].kind = answers[1].kind = HOST_NONE;
    for (int i = 0; i < 10; i++)
        assert_false(host_book_take(&book, answers, NOW, WALL_S));
    expect_addrs("192.0.2.1");
    assert_string_equal(book.error, "the name has no address");
}

static void test_half_an_answer_changes_one_family_and_is_completed_soon(void **state)
{
    (void)state;
    ANSWER(0, 3000, "192.0.2.1");
    ANSWER(1, 3000, "2001:db8::1");
    host_book_take(&book, answers, NOW, WALL_S);
    ANSWER(0, 3000, "192.0.2.2");
    answers[1] = (struct host_answer){.kind = HOST_FAILED};
    for (int i = 0; i < HOST_MISSES_MAX; i++)
        host_book_take(&book, answers, NOW, WALL_S);
    expect_addrs("2001:db8::1 192.0.2.2");
    assert_int_equal(book.due_at, NOW + HOST_HALF_TTL_MAX_S * S);
    answers[1] = (struct host_answer){.kind = HOST_NONE};
    for (int i = 0; i < HOST_MISSES_MAX; i++)
        host_book_take(&book, answers, NOW, WALL_S);
    expect_addrs("192.0.2.2");
}

/* Each answer has new addresses, and the book stays within its bound. */
static void test_addresses_are_bounded(void **state)
{
    (void)state;
    for (int round = 0; round < 50; round++) {
        for (int which = 0; which < HOST_BOTH; which++) {
            answers[which] =
                (struct host_answer){.kind = HOST_FOUND, .ttl_s = 60, .count = HOST_ANSWER_MAX};
            for (int i = 0; i < HOST_ANSWER_MAX; i++) {
                char text[64];
                sprintf(text, which ? "2001:db8::%x:%x" : "10.0.%d.%d", round, i);
                answers[which].addrs[i] = addr_of(text);
            }
        }
        assert_true(host_book_take(&book, answers, NOW, WALL_S));
        assert_int_equal(book.count, ZONE_HOST_ADDRS_MAX);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, begin)
        TEST(test_a_name_is_due_at_once_and_then_after_its_ttl),
        TEST(test_restored_addresses_count_at_once_and_the_name_is_due),
        TEST(test_a_hostile_file_leaves_room_for_answers),
        TEST(test_the_time_between_questions_has_a_floor_and_a_ceiling),
        TEST(test_an_address_that_is_missing_goes_after_three_answers),
        TEST(test_an_address_that_comes_back_in_time_stays),
        TEST(test_failures_keep_the_addresses_and_back_off),
        TEST(test_a_name_that_loses_all_addresses_keeps_the_last_ones),
        TEST(test_half_an_answer_changes_one_family_and_is_completed_soon),
        TEST(test_addresses_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
