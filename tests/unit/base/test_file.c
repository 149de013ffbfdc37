/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "base/file.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <unistd.h>

static char text[8];

static void test_a_file_is_read_up_to_the_bound(void **state)
{
    FILE *file = tmpfile();
    (void)state;

    assert_non_null(file);
    fputs("abcdef", file);
    rewind(file);
    assert_int_equal(file_read(fileno(file), text, 4), 4);
    assert_memory_equal(text, "abcd", 4);
    assert_int_equal(file_read(fileno(file), text, sizeof(text)), 2);
    assert_memory_equal(text, "ef", 2);
    assert_int_equal(file_read(fileno(file), text, sizeof(text)), 0);
    fclose(file);
}

/* A pipe returns fewer bytes than the reader requests. */
static void test_reads_go_on_until_the_end(void **state)
{
    int ends[2];
    (void)state;

    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "abc", 3), 3);
    close(ends[1]);
    assert_int_equal(file_read(ends[0], text, sizeof(text)), 3);
    close(ends[0]);
}

static void test_a_failed_read_is_minus_one(void **state)
{
    (void)state;
    assert_int_equal(file_read(-1, text, sizeof(text)), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_file_is_read_up_to_the_bound),
        cmocka_unit_test(test_reads_go_on_until_the_end),
        cmocka_unit_test(test_a_failed_read_is_minus_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
