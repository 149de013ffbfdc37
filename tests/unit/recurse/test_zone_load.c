/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/recurse/sample.h"

#include "recurse/zone_load.h"

static struct zone_load load;

static void test_a_zone_has_a_bound_and_others_their_own(void **state)
{
    (void)state;
    uint64_t hash, other;
    zone_load_init(&load);
    load.seed = 1;
    for (unsigned i = 0; i < 5; i++)
        assert_true(zone_load_take(&load, NAME("example.com"), 5, &hash));
    assert_false(zone_load_take(&load, NAME("EXAMPLE.com"), 5, &hash));
    assert_true(zone_load_take(&load, NAME("example.net"), 5, &other));
    zone_load_give(&load, hash);
    assert_true(zone_load_take(&load, NAME("example.com"), 5, &hash));
}

static void test_every_take_can_be_given_back(void **state)
{
    (void)state;
    uint64_t hashes[2 * ZONE_LOAD_PLACES];
    char text[16];
    zone_load_init(&load);
    for (unsigned i = 0; i < ARRAY_LEN(hashes); i++) {
        snprintf(text, sizeof(text), "z%u", i);
        assert_true(zone_load_take(&load, NAME(text), UINT32_MAX, &hashes[i]));
    }
    for (unsigned i = 0; i < ARRAY_LEN(hashes); i++)
        zone_load_give(&load, hashes[i]);
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
