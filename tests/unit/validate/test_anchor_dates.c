/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/dns/sample.h"

#include "validate/anchor_dates.h"

enum { NOW_S = 1800000000 };

static struct stats stats;

static int clear(void **state)
{
    (void)state;
    memset(&stats, 0, sizeof(stats));
    return 0;
}

static void note(const char *zone, uint32_t at_s, bool is_expired)
{
    anchor_dates_note(&stats, &(struct anchor_dates){.zone_hash = anchor_dates_hash(NAME(zone)),
                                                     .space = 7,
                                                     .at_s = at_s,
                                                     .is_expired = is_expired});
}

static bool is_noted(const char *zone)
{
    struct anchor_dates dates;
    return anchor_dates_read(&stats, &dates) && dates.zone_hash == anchor_dates_hash(NAME(zone));
}

static void test_a_noted_zone_is_read_until_it_is_forgotten(void **state)
{
    (void)state;
    struct anchor_dates dates;
    assert_false(anchor_dates_read(&stats, &dates));
    note("example", NOW_S, true);
    assert_true(anchor_dates_read(&stats, &dates));
    assert_int_equal(dates.space, 7);
    assert_int_equal(dates.at_s, NOW_S);
    assert_true(dates.is_expired);
    assert_true(is_noted("eXample"));
    anchor_dates_forget(&stats, NAME("test"));
    assert_true(is_noted("example"));
    anchor_dates_forget(&stats, NAME("EXAMPLE"));
    assert_false(anchor_dates_read(&stats, &dates));
}

/* There is one place. The zone noted last stays, and the root always does. */
static void test_one_zone_is_noted_and_the_root_above_all(void **state)
{
    (void)state;
    struct anchor_dates dates;
    note("example", NOW_S, true);
    note("test", NOW_S, true);
    assert_true(is_noted("test"));
    note(".", NOW_S, true);
    note("test", NOW_S, true);
    assert_true(is_noted("."));
    note(".", NOW_S + 1, false);
    assert_true(anchor_dates_read(&stats, &dates));
    assert_int_equal(dates.at_s, NOW_S + 1);
    assert_false(dates.is_expired);
    anchor_dates_forget(&stats, name_root());
    note("test", NOW_S, true);
    assert_true(is_noted("test"));
}

static void test_a_clock_that_was_set_contradicts_no_longer(void **state)
{
    (void)state;
    struct anchor_dates ended = {.at_s = NOW_S, .is_expired = true}, begins = {.at_s = NOW_S};
    assert_true(anchor_dates_contradict(&ended, NOW_S + 60 * 86400));
    assert_false(anchor_dates_contradict(&ended, NOW_S - 1));
    assert_true(anchor_dates_contradict(&begins, NOW_S - 60 * 86400));
    assert_false(anchor_dates_contradict(&begins, NOW_S));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_a_noted_zone_is_read_until_it_is_forgotten, clear),
        cmocka_unit_test_setup(test_one_zone_is_noted_and_the_root_above_all, clear),
        cmocka_unit_test_setup(test_a_clock_that_was_set_contradicts_no_longer, clear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
