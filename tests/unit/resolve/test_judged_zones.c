/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/recurse/sample.h"

#include "resolve/judged_zones.h"

enum { NOW = 5000000, SPACE = 3 };

static struct judged_zones zones;

static int init(void **state)
{
    (void)state;
    judged_zones_init(&zones);
    return 0;
}

static bool knows(const char *zone, uint64_t now)
{
    return judged_zones_find_insecure(&zones, SPACE, NAME(zone), now) != NULL;
}

static void test_a_zone_is_remembered_with_its_reason(void **state)
{
    (void)state;
    assert_false(knows("example", NOW));
    judged_zones_add_insecure(&zones, SPACE, NAME("example"), 27, 60 * US_PER_S, NOW);
    const struct judged_zone *found =
        judged_zones_find_insecure(&zones, SPACE, NAME("example"), NOW);
    assert_non_null(found);
    assert_int_equal(found->ede, 27);
    assert_null(judged_zones_find_insecure(&zones, SPACE + 1, NAME("example"), NOW));
    assert_false(knows("examplf", NOW));
    assert_false(knows("www.example", NOW));
    assert_false(knows(".", NOW));
}

static void test_a_zone_is_forgotten_soon_and_with_its_proof(void **state)
{
    (void)state;
    judged_zones_add_insecure(&zones, SPACE, NAME("example"), 0, 60 * US_PER_S, NOW);
    assert_true(knows("example", NOW + JUDGED_ZONES_US - 1));
    assert_false(knows("example", NOW + JUDGED_ZONES_US));
    judged_zones_add_insecure(&zones, SPACE, NAME("example"), 0, 10, NOW);
    assert_true(knows("example", NOW + 9));
    assert_false(knows("example", NOW + 10));
}

static void test_a_secure_zone_is_no_insecure_one(void **state)
{
    (void)state;
    judged_zones_add_secure(&zones, SPACE, NAME("example"), NOW);
    assert_true(judged_zones_proves(&zones, SPACE, NAME("example"), NOW));
    assert_false(judged_zones_proves(&zones, SPACE + 1, NAME("example"), NOW));
    assert_false(judged_zones_proves(&zones, SPACE, NAME("example"), NOW + JUDGED_ZONES_US));
    assert_true(judged_zones_has(&zones, SPACE, NAME("example"), NOW));
    assert_false(judged_zones_has(&zones, SPACE, NAME("other.example"), NOW));
    assert_false(knows("example", NOW));
    judged_zones_add_insecure(&zones, SPACE, NAME("example"), 0, US_PER_S, NOW);
    assert_true(judged_zones_has(&zones, SPACE, NAME("example"), NOW));
    assert_false(judged_zones_proves(&zones, SPACE, NAME("example"), NOW));
    assert_true(knows("example", NOW));
    judged_zones_add_secure(&zones, SPACE, NAME("example"), NOW);
    judged_zones_clear(&zones);
    assert_false(judged_zones_proves(&zones, SPACE, NAME("example"), NOW));
}

static void test_a_secure_zone_that_refers_to_zones_below_does_not_prove_all(void **state)
{
    (void)state;
    judged_zones_note_referral(&zones, SPACE, NAME("example"), NOW);
    assert_false(judged_zones_has(&zones, SPACE, NAME("example"), NOW));
    judged_zones_add_secure(&zones, SPACE, NAME("example"), NOW);
    judged_zones_note_referral(&zones, SPACE, NAME("example"), NOW + 10);
    judged_zones_add_secure(&zones, SPACE, NAME("example"), NOW + 20);
    assert_false(judged_zones_proves(&zones, SPACE, NAME("example"), NOW + 20));
    assert_true(judged_zones_has(&zones, SPACE, NAME("example"), NOW + JUDGED_ZONES_US + 9));
    judged_zones_add_secure(&zones, SPACE, NAME("example"), NOW + JUDGED_ZONES_US + 10);
    assert_true(judged_zones_proves(&zones, SPACE, NAME("example"), NOW + JUDGED_ZONES_US + 10));
    judged_zones_add_insecure(&zones, SPACE, NAME("example"), 0, US_PER_S, NOW);
    judged_zones_note_referral(&zones, SPACE, NAME("example"), NOW);
    assert_true(knows("example", NOW));
}

static void test_other_anchors_forget_all(void **state)
{
    (void)state;
    judged_zones_add_insecure(&zones, SPACE, NAME("example"), 0, US_PER_S, NOW);
    judged_zones_clear(&zones);
    assert_false(knows("example", NOW));
}

static void test_the_places_have_a_bound(void **state)
{
    (void)state;
    unsigned known = 0;
    char text[32];
    for (unsigned i = 0; i < 4 * JUDGED_ZONES_MAX; i++) {
        snprintf(text, sizeof(text), "z%u.example", i);
        judged_zones_add_insecure(&zones, SPACE, NAME(text), 0, US_PER_S, NOW);
        assert_true(knows(text, NOW)); /* the new zone has taken the place */
    }
    for (unsigned i = 0; i < 4 * JUDGED_ZONES_MAX; i++) {
        snprintf(text, sizeof(text), "z%u.example", i);
        known += knows(text, NOW);
    }
    assert_in_range(known, JUDGED_ZONES_MAX / 2, JUDGED_ZONES_MAX);
}

/* Zones that are busy in the same second rarely displace each other. */
static void test_many_zones_have_their_own_places(void **state)
{
    (void)state;
    enum { MANY = 120 };
    unsigned known = 0;
    char text[32];
    zones.seed = 1; /* the same places in each run */
    for (unsigned turn = 0; turn < 2; turn++)
        for (unsigned i = 0; i < MANY; i++) {
            snprintf(text, sizeof(text), "z%u.example", i);
            if (turn)
                known += knows(text, NOW);
            else
                judged_zones_add_insecure(&zones, SPACE, NAME(text), 0, US_PER_S, NOW);
        }
    assert_in_range(known, MANY * 9 / 10, MANY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_a_zone_is_remembered_with_its_reason, init),
        cmocka_unit_test_setup(test_a_zone_is_forgotten_soon_and_with_its_proof, init),
        cmocka_unit_test_setup(test_a_secure_zone_is_no_insecure_one, init),
        cmocka_unit_test_setup(test_a_secure_zone_that_refers_to_zones_below_does_not_prove_all,
                               init),
        cmocka_unit_test_setup(test_other_anchors_forget_all, init),
        cmocka_unit_test_setup(test_the_places_have_a_bound, init),
        cmocka_unit_test_setup(test_many_zones_have_their_own_places, init),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
