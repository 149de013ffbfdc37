/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/recurse/sample.h"

#include "recurse/zone_load.h"

static struct zone_load load;

static void test_a_zone_has_a_bound_and_others_their_own(void **state)
{
    (void)state;
    uint16_t place, other;
    zone_load_init(&load);
    load.seed = 1;
    for (unsigned i = 0; i < 5; i++)
        assert_true(zone_load_take(&load, NAME("example.com"), 5, &place));
    assert_false(zone_load_take(&load, NAME("EXAMPLE.com"), 5, &place));
    assert_true(zone_load_take(&load, NAME("example.net"), 5, &other));
    zone_load_give(&load, place);
    assert_true(zone_load_take(&load, NAME("example.com"), 5, &place));
}

static void test_every_take_can_be_given_back(void **state)
{
    (void)state;
    uint16_t places[2 * ZONE_LOAD_PLACES];
    char text[16];
    zone_load_init(&load);
    for (unsigned i = 0; i < ARRAY_LEN(places); i++) {
        snprintf(text, sizeof(text), "z%u", i);
        assert_true(zone_load_take(&load, NAME(text), UINT32_MAX, &places[i]));
    }
    for (unsigned i = 0; i < ARRAY_LEN(places); i++)
        zone_load_give(&load, places[i]);
    for (unsigned i = 0; i < ZONE_LOAD_PLACES; i++)
        assert_int_equal(load.counts[i], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_zone_has_a_bound_and_others_their_own),
        cmocka_unit_test(test_every_take_can_be_given_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
