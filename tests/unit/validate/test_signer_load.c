/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/recurse/sample.h"

#include "validate/signer_load.h"

static struct signer_load load;

static void test_a_zone_may_use_its_share_for_ever(void **state)
{
    (void)state;
    uint64_t now = 1000;
    signer_load_init(&load);
    for (unsigned i = 0; i < 10000; i++, now += 100 * US_PER_MS) {
        assert_false(signer_load_is_above(&load, NAME("a.example"), now));
        signer_load_add(&load, NAME("a.example"), 5 * US_PER_MS, now);
    }
}

static void test_a_zone_above_its_share_is_refused_until_time_has_passed(void **state)
{
    (void)state;
    uint64_t now = 1000;
    signer_load_init(&load);
    signer_load_add(&load, NAME("a.example"), SIGNER_LOAD_BURST_US, now);
    assert_false(signer_load_is_above(&load, NAME("a.example"), now));
    signer_load_add(&load, NAME("A.example"), US_PER_MS, now);
    assert_true(signer_load_is_above(&load, NAME("a.EXAMPLE"), now));
    assert_false(signer_load_is_above(&load, NAME("b.example"), now));
    now += US_PER_MS * 100 / SIGNER_LOAD_PERCENT;
    assert_false(signer_load_is_above(&load, NAME("a.example"), now));
}

/* The clocks of two loops may differ by a moment. */
static void test_a_clock_that_steps_back_changes_nothing(void **state)
{
    (void)state;
    signer_load_init(&load);
    signer_load_add(&load, NAME("a.example"), 2 * SIGNER_LOAD_BURST_US, 5000);
    signer_load_add(&load, NAME("a.example"), 1, 4000);
    assert_true(signer_load_is_above(&load, NAME("a.example"), 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_zone_may_use_its_share_for_ever),
        cmocka_unit_test(test_a_zone_above_its_share_is_refused_until_time_has_passed),
        cmocka_unit_test(test_a_clock_that_steps_back_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
