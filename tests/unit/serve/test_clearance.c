/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* A worker remembers the queries and answers to which no rule applies. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "serve/clearance.h"

static struct clearance clearance;
static struct cache_key key;
static struct answer answer;
static uint8_t message[64];

static int setup(void **state)
{
    (void)state;
    key = (struct cache_key){.hash = UINT64_C(0x123456789abcdef0)};
    answer = (struct answer){.message = span_of(message, 32), .stored_at = 7000000};
    return clearance_init(&clearance) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    clearance_deinit(&clearance);
    return 0;
}

static bool knows_query(uint32_t except)
{
    return clearance_slot(&clearance, &key)->query == clearance_of_query(&clearance, &key, except);
}

static bool knows_answer(const struct answer *one)
{
    return clearance_slot(&clearance, &key)->answer ==
           clearance_of_answer(clearance_of_query(&clearance, &key, 0), one);
}

static void note(void)
{
    uint64_t query = clearance_of_query(&clearance, &key, 0);
    *clearance_slot(&clearance, &key) =
        (struct clearance_slot){query, clearance_of_answer(query, &answer)};
}

static void test_nothing_is_known_at_first(void **state)
{
    (void)state;
    assert_false(knows_query(0));
    assert_false(knows_answer(&answer));
    key.hash = 0;
    assert_false(knows_query(0));
}

static void test_a_note_holds_for_these_zones_alone(void **state)
{
    (void)state;
    note();
    assert_true(knows_query(0));
    for (unsigned bit = 0; bit < 32; bit++)
        assert_false(knows_query(UINT32_C(1) << bit));
    assert_false(knows_query(UINT32_MAX));
}

static void test_a_note_holds_for_this_answer_alone(void **state)
{
    (void)state;
    note();
    assert_true(knows_answer(&answer));
    struct answer newer = answer, moved = answer, longer = answer;
    newer.stored_at++;
    assert_false(knows_answer(&newer));
    moved.message.data++;
    assert_false(knows_answer(&moved));
    longer.message.len++;
    assert_false(knows_answer(&longer));
}

static void test_another_query_in_the_slot_displaces_the_note(void **state)
{
    (void)state;
    uint64_t hash = key.hash;
    note();
    key.hash = hash + CLEARANCE_SLOTS;
    assert_false(knows_query(0));
    note();
    assert_true(knows_query(0));
    key.hash = hash;
    assert_false(knows_query(0));
}

static void test_another_policy_forgets_all(void **state)
{
    (void)state;
    note();
    clearance_forget(&clearance);
    assert_false(knows_query(0));
    assert_false(knows_answer(&answer));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_nothing_is_known_at_first, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_note_holds_for_these_zones_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_note_holds_for_this_answer_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(test_another_query_in_the_slot_displaces_the_note, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_another_policy_forgets_all, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
