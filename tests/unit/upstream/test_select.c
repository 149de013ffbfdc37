/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/rand.h"
#include "upstream/select.h"

enum { DRAWS = 20000 };

static void draw(const struct select_facts *facts, size_t count, unsigned *hits)
{
    for (int i = 0; i < DRAWS; i++) {
        int index = select_next(facts, count, rand_u64());
        assert_in_range(index, 0, count - 1);
        hits[index]++;
    }
}

static void test_select_prefers_the_fastest_and_explores_the_rest(void **state)
{
    (void)state;
    struct select_facts facts[] = {{.srtt_us = 30000}, {.srtt_us = 1000}, {.srtt_us = 50000}};
    unsigned hits[3] = {0};
    draw(facts, 3, hits);
    assert_true(hits[1] > DRAWS * 9 / 10);
    assert_true(hits[0] > DRAWS / SELECT_EXPLORE / 6);
    assert_true(hits[2] > DRAWS / SELECT_EXPLORE / 6);
}

static void test_select_shares_the_load_among_equals(void **state)
{
    (void)state;
    struct select_facts facts[] = {{.srtt_us = 1000}, {.srtt_us = 1500}, {.srtt_us = 900}};
    unsigned hits[3] = {0};
    draw(facts, 3, hits);
    for (int i = 0; i < 3; i++)
        assert_in_range(hits[i], DRAWS / 4, DRAWS / 2);
}

static void test_select_shows_the_order_without_drawing(void **state)
{
    (void)state;
    struct select_facts facts[] = {{.srtt_us = 9000},
                                   {.srtt_us = 100, .ill = true},
                                   {.srtt_us = 2500},
                                   {.srtt_us = 800},
                                   {.srtt_us = 1, .bad = true}};
    const uint32_t expected[] = {2, 3, 1, 1, 0};
    uint32_t order[5];
    select_order(facts, 5, order);
    assert_memory_equal(order, expected, sizeof(order));
}

static void test_select_avoids_ill_servers_while_others_are_healthy(void **state)
{
    (void)state;
    struct select_facts facts[] = {{.srtt_us = 100, .ill = true}, {.srtt_us = 90000}};
    unsigned hits[2] = {0};
    draw(facts, 2, hits);
    assert_int_equal(hits[0], 0);
}

static void test_select_asks_ill_servers_after_the_healthy_ones(void **state)
{
    (void)state;
    struct select_facts facts[] = {{.srtt_us = 100, .ill = true}, {.srtt_us = 900, .tried = 1}};
    unsigned hits[2] = {0};
    draw(facts, 2, hits);
    assert_int_equal(hits[1], 0);
}

static void test_select_tries_the_least_tried_first(void **state)
{
    (void)state;
    struct select_facts facts[] = {{.srtt_us = 100, .tried = 2}, {.srtt_us = 90000, .tried = 1}};
    unsigned hits[2] = {0};
    draw(facts, 2, hits);
    assert_int_equal(hits[0], 0);
}

static void test_select_measures_the_unknown_first(void **state)
{
    (void)state;
    struct select_facts facts[] = {{.srtt_us = 5000}, {.srtt_us = 0}};
    unsigned hits[2] = {0};
    draw(facts, 2, hits);
    assert_true(hits[1] > hits[0]);
}

static void test_select_takes_a_second_choice_only_without_a_healthy_first(void **state)
{
    (void)state;
    struct select_facts facts[] = {{.srtt_us = 100, .second = true}, {.srtt_us = 90000}};
    unsigned hits[2] = {0};
    draw(facts, 2, hits);
    assert_int_equal(hits[0], 0);
    facts[1].ill = true;
    draw(facts, 2, hits);
    assert_int_equal(hits[0], DRAWS);
    facts[0].ill = true; /* all servers are ill, so the preferred one is chosen */
    hits[0] = 0;
    draw(facts, 2, hits);
    assert_int_equal(hits[0], 0);
    facts[1].tried = 1;
    draw(facts, 2, hits);
    assert_int_equal(hits[0], DRAWS);
}

static void test_select_takes_a_doubtful_server_after_two_tries_of_the_others(void **state)
{
    (void)state;
    struct select_facts facts[] = {{.srtt_us = 100, .doubtful = true},
                                   {.srtt_us = 90000, .tried = 1}};
    for (int i = 0; i < 1000; i++)
        assert_int_equal(select_next(facts, 2, rand_u64()), 1);
    facts[1].tried = 2;
    facts[1].second = true;
    assert_int_equal(select_next(facts, 2, rand_u64()), 0);
    facts[1].doubtful = true; /* both servers are doubtful, so doubt does not matter */
    assert_int_equal(select_next(facts, 2, rand_u64()), 0);
}

/* A dead server costs its silence only once before a doubtful server is tried. */
static void test_select_takes_a_doubtful_server_after_one_try_of_ill_ones(void **state)
{
    (void)state;
    struct select_facts facts[] = {{.srtt_us = 100, .doubtful = true},
                                   {.srtt_us = 90000, .ill = true}};
    for (int i = 0; i < 1000; i++)
        assert_int_equal(select_next(facts, 2, rand_u64()), 1);
    facts[1].tried = 1;
    for (int i = 0; i < 1000; i++)
        assert_int_equal(select_next(facts, 2, rand_u64()), 0);
    facts[0].tried = 1; /* the doubtful server has failed, so the ill one is the best hope */
    for (int i = 0; i < 1000; i++)
        assert_int_equal(select_next(facts, 2, rand_u64()), 1);
}

static void test_select_takes_a_server_that_strips_after_all_others(void **state)
{
    (void)state;
    struct select_facts facts[] = {{.srtt_us = 100, .strips = true},
                                   {.srtt_us = 90000, .ill = true, .second = true}};
    for (int i = 0; i < 1000; i++)
        assert_int_equal(select_next(facts, 2, rand_u64()), 1);
    facts[1].tried = 1;
    assert_int_equal(select_next(facts, 2, rand_u64()), 0);
}

static void test_select_never_takes_a_bad_server(void **state)
{
    (void)state;
    struct select_facts facts[] = {{.bad = true}, {.bad = true, .ill = true}, {.bad = true}};
    assert_int_equal(select_next(facts, 3, 99), -1);
    facts[1].bad = false;
    for (int i = 0; i < 1000; i++)
        assert_int_equal(select_next(facts, 3, rand_u64()), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_select_prefers_the_fastest_and_explores_the_rest),
        cmocka_unit_test(test_select_shares_the_load_among_equals),
        cmocka_unit_test(test_select_shows_the_order_without_drawing),
        cmocka_unit_test(test_select_avoids_ill_servers_while_others_are_healthy),
        cmocka_unit_test(test_select_asks_ill_servers_after_the_healthy_ones),
        cmocka_unit_test(test_select_tries_the_least_tried_first),
        cmocka_unit_test(test_select_measures_the_unknown_first),
        cmocka_unit_test(test_select_takes_a_second_choice_only_without_a_healthy_first),
        cmocka_unit_test(test_select_takes_a_doubtful_server_after_two_tries_of_the_others),
        cmocka_unit_test(test_select_takes_a_doubtful_server_after_one_try_of_ill_ones),
        cmocka_unit_test(test_select_takes_a_server_that_strips_after_all_others),
        cmocka_unit_test(test_select_never_takes_a_bad_server),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
