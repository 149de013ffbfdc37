/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/recurse/sample.h"

#include "recurse/large_zones.h"

enum { ZONE = 7, OTHER_ZONE = 8 };

static struct large_zones large;

static void note(uint64_t zone, bool is_large, unsigned times)
{
    for (unsigned i = 0; i < times; i++)
        large_zones_note(&large, zone, is_large);
}

static int clear(void **state)
{
    (void)state;
    large = (struct large_zones){0};
    return 0;
}

static void test_one_large_answer_counts_for_one_query(void **state)
{
    (void)state;
    assert_false(large_zones_has(&large, ZONE));
    assert_false(large_zones_has(&large, 0));
    note(ZONE, false, 3);
    note(ZONE, true, 1);
    assert_true(large_zones_has(&large, ZONE));
    assert_false(large_zones_has(&large, OTHER_ZONE));
    note(ZONE, false, 1);
    assert_false(large_zones_has(&large, ZONE));
}

static void test_a_flood_of_large_answers_is_soon_forgotten(void **state)
{
    (void)state;
    note(ZONE, true, 100000);
    note(ZONE, false, 12);
    assert_true(large_zones_has(&large, ZONE));
    note(ZONE, false, 1);
    assert_false(large_zones_has(&large, ZONE));
    note(ZONE, false, 100000);
    note(ZONE, true, 1);
    assert_true(large_zones_has(&large, ZONE));
}

/* Returns the number of queries at which the zone was remembered. */
static unsigned remembered(unsigned rounds, unsigned fitting_in_each)
{
    unsigned count = 0;
    for (unsigned i = 0; i < rounds; i++) {
        for (unsigned j = 0; j < fitting_in_each; j++) {
            count += large_zones_has(&large, ZONE);
            note(ZONE, false, 1);
        }
        count += large_zones_has(&large, ZONE);
        note(ZONE, true, 1);
    }
    return count;
}

static void test_one_large_answer_in_four_is_many(void **state)
{
    (void)state;
    assert_in_range(remembered(1000, 3), 3900, 4000);
}

static void test_one_large_answer_in_seven_is_not_many(void **state)
{
    (void)state;
    assert_in_range(remembered(1000, 6), 0, 1000);
}

static void test_zones_with_one_place_replace_each_other(void **state)
{
    (void)state;
    uint64_t rival = ZONE + LARGE_ZONES_PLACES;
    note(ZONE, true, 4);
    note(rival, false, 100); /* the place is another zone's */
    assert_false(large_zones_has(&large, rival));
    assert_true(large_zones_has(&large, ZONE));
    note(rival, true, 1);
    assert_true(large_zones_has(&large, rival));
    assert_false(large_zones_has(&large, ZONE));
    note(rival, false, 1); /* it has no share in the score of the other zone */
    assert_false(large_zones_has(&large, rival));
}

static void test_many_zones_are_remembered_at_once(void **state)
{
    (void)state;
    for (uint64_t zone = 1; zone <= 10 * LARGE_ZONES_PLACES; zone++)
        note(zone, true, 1);
    unsigned known = 0;
    for (uint64_t zone = 1; zone <= 10 * LARGE_ZONES_PLACES; zone++)
        known += large_zones_has(&large, zone);
    assert_int_equal(known, LARGE_ZONES_PLACES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_one_large_answer_counts_for_one_query, clear),
        cmocka_unit_test_setup(test_a_flood_of_large_answers_is_soon_forgotten, clear),
        cmocka_unit_test_setup(test_one_large_answer_in_four_is_many, clear),
        cmocka_unit_test_setup(test_one_large_answer_in_seven_is_not_many, clear),
        cmocka_unit_test_setup(test_zones_with_one_place_replace_each_other, clear),
        cmocka_unit_test_setup(test_many_zones_are_remembered_at_once, clear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
