/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* The alias table gives each number exactly its weight: the test sums all cells instead of drawing.
 */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "base/rand.h"
#include "zipf.h"

static void check_shares(uint32_t count, double s)
{
    struct zipf zipf;
    double *shares = calloc(count, sizeof(*shares)), sum = 0;
    assert_int_equal(zipf_init(&zipf, count, s), ERR_OK);
    for (uint32_t i = 0; i < count; i++) {
        double keep = zipf.cells[i].keep / 4294967295.0;
        assert_true(zipf.cells[i].other < count);
        shares[i] += keep;
        shares[zipf.cells[i].other] += 1 - keep;
        sum += pow(i + 1.0, -s);
    }
    for (uint32_t i = 0; i < count; i++) {
        double wanted = pow(i + 1.0, -s) / sum * count;
        assert_true(fabs(shares[i] - wanted) < 1e-6 * count);
    }
    free(shares);
    zipf_deinit(&zipf);
}

static void test_shares_follow_the_law(void **state)
{
    (void)state;
    check_shares(1, 1);
    check_shares(2, 1);
    check_shares(1000, 1);
    check_shares(10000, 0.8);
    check_shares(1000, 3);
}

static void test_exponent_zero_makes_all_alike(void **state)
{
    (void)state;
    check_shares(777, 0);
}

static void test_draws_stay_in_range_and_favour_the_first(void **state)
{
    (void)state;
    struct zipf zipf;
    unsigned firsts = 0;
    rand_seed_for_tests(1);
    assert_int_equal(zipf_init(&zipf, 100, 1), ERR_OK);
    for (int i = 0; i < 10000; i++) {
        uint32_t drawn = zipf_draw(&zipf, rand_u64());
        assert_true(drawn < 100);
        firsts += drawn == 0;
    }
    assert_in_range(firsts, 1600, 2300); /* 19.3 % of the draws */
    assert_true(zipf_draw(&zipf, UINT64_MAX) < 100);
    zipf_deinit(&zipf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares_follow_the_law),
        cmocka_unit_test(test_exponent_zero_makes_all_alike),
        cmocka_unit_test(test_draws_stay_in_range_and_favour_the_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
