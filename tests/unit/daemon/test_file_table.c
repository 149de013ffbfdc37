/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The size of the kernel's table of open files, as /proc shows it. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>

#include "daemon/file_table.h"

static unsigned table_size(void)
{
    FILE *status = fopen("/proc/self/status", "r");
    unsigned size = 0;
    char line[256];

    assert_non_null(status);
    while (size == 0 && fgets(line, sizeof(line), status))
        (void)!sscanf(line, "FDSize: %u", &size);
    fclose(status);
    return size;
}

static void set_soft_limit(rlim_t files)
{
    struct rlimit limit;

    assert_return_code(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = files;
    assert_return_code(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static rlim_t hard_limit(void)
{
    struct rlimit limit;

    assert_return_code(getrlimit(RLIMIT_NOFILE, &limit), 0);
    return limit.rlim_max;
}

/* The kernel never shrinks a table, so the smallest limits come first. */
static void test_the_table_grows_to_the_limit(void **state)
{
    (void)state;
    set_soft_limit(0);
    file_table_enlarge();
    set_soft_limit(1000);
    assert_true(table_size() < 512);
    file_table_enlarge();
    assert_int_equal(table_size(), 1024); /* the kernel uses powers of two */
    assert_int_equal(fcntl(999, F_GETFD), -1);
}

static void test_the_table_grows_no_further_than_its_bound(void **state)
{
    (void)state;
    if (hard_limit() <= FILE_TABLE_MAX)
        skip();
    set_soft_limit(FILE_TABLE_MAX + 1);
    file_table_enlarge();
    assert_int_equal(table_size(), FILE_TABLE_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_table_grows_to_the_limit),
        cmocka_unit_test(test_the_table_grows_no_further_than_its_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
