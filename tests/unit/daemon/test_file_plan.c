/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* How clients and upstreams share the files of the process. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "daemon/file_plan.h"
#include "transfer/xfr_gate.h"

static uint64_t all_files(const struct file_facts *facts, const struct file_plan *plan)
{
    return facts->open + FILE_PLAN_MAIN + FILE_PLAN_ZONES + FILE_PLAN_SPARE +
           facts->workers * FILE_PLAN_WORKER + plan->visits + plan->bootstrap + plan->clients +
           facts->workers * (uint64_t)plan->upstream_each;
}

static void test_limits_that_fit_stay_as_configured(void **state)
{
    (void)state;
    struct file_facts facts = {.limit = 262144, .open = 20, .workers = 8, .max_nailed = 1000};
    struct file_plan plan = file_plan_make(&facts);
    assert_in_range(plan.clients, 130000, 131072);
    assert_int_equal(plan.nailed, 1000);
    assert_int_equal(plan.visits, XFR_GATE_VISITS_MAX);
    assert_int_equal(plan.bootstrap, FILE_PLAN_BOOTSTRAP_MAX);
    assert_in_range(plan.upstream_each, 16000, 16384);
}

static void test_clients_get_half_of_the_rest(void **state)
{
    (void)state;
    struct file_facts facts = {.limit = 1024, .open = 7, .workers = 2, .max_nailed = 1000};
    struct file_plan plan = file_plan_make(&facts);
    assert_in_range(plan.clients, 450, 500);
    assert_in_range(plan.upstream_each, 220, 250);
    assert_in_range(plan.nailed, 220, 250);
    assert_true(all_files(&facts, &plan) <= facts.limit);
}

/* Whenever the limit covers the daemon's own files, each side gets a share and all shares fit. */
static void test_every_share_fits_and_none_is_empty(void **state)
{
    (void)state;
    for (uint64_t limit = 0; limit < 3000; limit++) {
        size_t workers = file_plan_workers(limit, 4, 4);
        struct file_facts facts = {.limit = limit,
                                   .open = 3 + 4 * workers,
                                   .workers = workers,

                                   .max_nailed = 1000};
        struct file_plan plan = file_plan_make(&facts);
        assert_in_range(plan.visits, 1, XFR_GATE_VISITS_MAX);
        assert_in_range(plan.bootstrap, 1, FILE_PLAN_BOOTSTRAP_MAX);
        assert_true(plan.clients >= 1 && plan.upstream_each >= 1 && plan.nailed >= workers);
        if (limit >= 64)
            assert_true(all_files(&facts, &plan) <= limit);
    }
}

static void test_no_limit_counts_as_a_large_one(void **state)
{
    (void)state;
    struct file_facts facts = {.limit = UINT64_MAX, .open = 7, .workers = 2, .max_nailed = 100000};
    struct file_plan plan = file_plan_make(&facts);
    assert_true(plan.clients > 1000000);
    assert_int_equal(plan.nailed, 100000);
    assert_int_equal(file_plan_workers(UINT64_MAX, 1024, 4), 1024);
}

static void test_only_as_many_workers_start_as_have_enough_files(void **state)
{
    (void)state;
    assert_int_equal(file_plan_workers(64, 2, 2), 2);
    assert_int_equal(file_plan_workers(64, 8, 2), 2);
    assert_int_equal(file_plan_workers(64, 8, 100), 1);
    assert_int_equal(file_plan_workers(0, 8, 2), 1);
    assert_int_equal(file_plan_workers(1024, 8, 4), 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limits_that_fit_stay_as_configured),
        cmocka_unit_test(test_clients_get_half_of_the_rest),
        cmocka_unit_test(test_every_share_fits_and_none_is_empty),
        cmocka_unit_test(test_no_limit_counts_as_a_large_one),
        cmocka_unit_test(test_only_as_many_workers_start_as_have_enough_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
