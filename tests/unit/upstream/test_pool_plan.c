/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "upstream/pool_plan.h"

static struct plan_facts nailed(void)
{
    return (struct plan_facts){
        .kept = 1,
        .max_connections = 4,
        .max_requests = 10000,
        .lead = 5,
        .full = false,
    };
}

static void test_plan_dials_the_kept_connections(void **state)
{
    (void)state;
    struct plan_facts facts = nailed();
    assert_int_equal(plan_dials(&facts), 1);
    facts.coming = 1;
    assert_int_equal(plan_dials(&facts), 0);
    facts = nailed();
    facts.kept = 3;
    assert_int_equal(plan_dials(&facts), 3);
}

static void test_plan_dials_nothing_for_an_unused_upstream(void **state)
{
    (void)state;
    struct plan_facts facts = nailed();
    facts.kept = 0;
    assert_int_equal(plan_dials(&facts), 0);
    facts.demanded = true;
    assert_int_equal(plan_dials(&facts), 1);
}

static void test_plan_dials_a_spare_for_one_that_ends(void **state)
{
    (void)state;
    struct plan_facts facts = nailed();
    facts.lasting = 1;
    facts.requests_left = 9000;
    assert_int_equal(plan_dials(&facts), 0);
    facts.lasting = 0;
    facts.ending = 1;
    assert_int_equal(plan_dials(&facts), 1);
    facts.coming = 1;
    assert_int_equal(plan_dials(&facts), 0);
}

static void test_plan_keeps_two_for_one_request_per_connection(void **state)
{
    (void)state;
    struct plan_facts facts = nailed();
    facts.max_requests = 1;
    facts.lead = PLAN_LEAD_MIN;
    facts.lasting = 1;
    facts.requests_left = 1;
    assert_int_equal(plan_dials(&facts), 1);
    facts.lasting = 2;
    facts.requests_left = 2;
    assert_int_equal(plan_dials(&facts), 0);
}

static void test_plan_adds_one_under_load_up_to_the_limit(void **state)
{
    (void)state;
    struct plan_facts facts = nailed();
    facts.lasting = 1;
    facts.full = true;
    facts.requests_left = 9000;
    assert_int_equal(plan_dials(&facts), 1);
    facts.lasting = 4;
    assert_int_equal(plan_dials(&facts), 0);
}

static void test_plan_dials_more_on_a_lossy_path(void **state)
{
    (void)state;
    struct plan_facts facts = nailed();
    facts.lasting = 1;
    facts.requests_left = 10000;
    facts.width = 3;
    assert_int_equal(plan_dials(&facts), 2);
    facts.coming = 2;
    assert_int_equal(plan_dials(&facts), 0);
    facts.width = 100;
    assert_int_equal(plan_dials(&facts), 1); /* max_connections is the limit */
}

static void test_plan_spares_have_a_bound(void **state)
{
    (void)state;
    struct plan_facts facts = nailed();
    facts.max_requests = 1;
    facts.lead = PLAN_LEAD_MAX;
    uint32_t open = 0;
    for (int i = 0; i < 100; i++) {
        uint32_t dials = plan_dials(&facts);
        open += dials;
        facts.coming += dials;
    }
    assert_true(open <= facts.max_connections + PLAN_SPARES_MAX);
    assert_true(open >= PLAN_SPARES_MAX);
}

static void test_plan_a_connection_of_few_requests_ends_at_half_its_life(void **state)
{
    (void)state;
    assert_false(plan_ends_soon(1, 1, 100));
    assert_true(plan_ends_soon(1, 2, 100));
    assert_false(plan_ends_soon(2, 2, 100));
    assert_true(plan_ends_soon(100, 10000, 100));
    assert_false(plan_ends_soon(101, 10000, 100));
}

static void test_plan_lead_covers_a_burst_and_the_rate(void **state)
{
    (void)state;
    assert_int_equal(plan_lead(0, 0, 0), PLAN_LEAD_MIN);
    assert_int_equal(plan_lead(32, 0, 0), PLAN_LEAD_MIN + 32);
    assert_int_equal(plan_lead(0, 10000, 20000), PLAN_LEAD_MIN + 400);
    assert_int_equal(plan_lead(UINT32_MAX / 2, UINT32_MAX, 1000000), PLAN_LEAD_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plan_dials_the_kept_connections),
        cmocka_unit_test(test_plan_dials_nothing_for_an_unused_upstream),
        cmocka_unit_test(test_plan_dials_a_spare_for_one_that_ends),
        cmocka_unit_test(test_plan_keeps_two_for_one_request_per_connection),
        cmocka_unit_test(test_plan_adds_one_under_load_up_to_the_limit),
        cmocka_unit_test(test_plan_dials_more_on_a_lossy_path),
        cmocka_unit_test(test_plan_spares_have_a_bound),
        cmocka_unit_test(test_plan_a_connection_of_few_requests_ends_at_half_its_life),
        cmocka_unit_test(test_plan_lead_covers_a_burst_and_the_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
