/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Bounds on the files that a loop uses for dials and UDP queries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "net/file_count.h"

static unsigned take_all(struct file_count *count, enum file_use use, unsigned wanted)
{
    unsigned taken = 0;
    while (taken < wanted && file_count_take(count, use))
        taken++;
    return taken;
}

static void test_udp_queries_leave_a_quarter_to_dials(void **state)
{
    (void)state;
    struct file_count count;
    file_count_init(&count);
    file_count_limit(&count, 100);
    assert_int_equal(take_all(&count, FILE_UDP, 1000), 75);
    assert_int_equal(take_all(&count, FILE_DIAL, 1000), 25);
    file_count_give(&count, FILE_UDP);
    assert_true(file_count_take(&count, FILE_UDP));
}

static void test_udp_queries_have_a_bound_where_files_abound(void **state)
{
    (void)state;
    struct file_count count;
    file_count_init(&count);
    assert_int_equal(take_all(&count, FILE_UDP, 2 * FILE_UDP_MAX), FILE_UDP_MAX);
    assert_true(file_count_take(&count, FILE_DIAL));
    file_count_give(&count, FILE_UDP);
    assert_true(file_count_take(&count, FILE_UDP));
    file_count_init(&count);
    file_count_limit(&count, 1000000);
    assert_int_equal(take_all(&count, FILE_UDP, 2 * FILE_UDP_MAX), FILE_UDP_MAX);
}

static void test_a_single_file_serves_dials_and_queries(void **state)
{
    (void)state;
    struct file_count count;
    file_count_init(&count);
    file_count_limit(&count, 1);
    assert_int_equal(take_all(&count, FILE_UDP, 2), 1);
    assert_false(file_count_take(&count, FILE_DIAL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_udp_queries_leave_a_quarter_to_dials),
        cmocka_unit_test(test_udp_queries_have_a_bound_where_files_abound),
        cmocka_unit_test(test_a_single_file_serves_dials_and_queries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
