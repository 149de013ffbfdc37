/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

#include "ctl/ask.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

/* Returns the exit code of the command check when the reply has this row. */
static int verdict(const char *row, bool require_upstream)
{
    struct parsed_reply answer;
    char *text = NULL;

    assert_true(asprintf(&text,
                         "ok\nrecord\tcheck\ncolumns\tstate:text\tpath:flag\tclock:flag\t"
                         "reasons:text\nrow\t%s\nend\n",
                         row) > 0);
    assert_int_equal(answer_parse(&answer, text, strlen(text)), ERR_OK);
    int code = ask_verdict(&answer, require_upstream);
    answer_deinit(&answer);
    return code;
}

static void test_a_degraded_daemon_passes_unless_an_upstream_is_required(void **state)
{
    (void)state;
    assert_int_equal(verdict("ready\tyes\tyes\t", false), EXIT_DONE);
    assert_int_equal(verdict("ready\tyes\tyes\t", true), EXIT_DONE);
    assert_int_equal(verdict("degraded\tno\tyes\tno upstream answers", false), EXIT_DONE);
    assert_int_equal(verdict("degraded\tno\tyes\tno upstream answers", true), EXIT_REFUSED);
    assert_int_equal(verdict("degraded\tyes\tno\tthe clock is wrong", true), EXIT_DONE);
    assert_int_equal(verdict("draining\tyes\tyes\tdraining", false), EXIT_REFUSED);
}

static void test_a_check_with_unknown_values_fails(void **state)
{
    (void)state;
    assert_int_equal(verdict("\t\t\t", false), EXIT_REFUSED);
    assert_int_equal(verdict("Ready\tyes\tyes\t", false), EXIT_REFUSED);
    assert_int_equal(verdict("ready\t\tyes\t", true), EXIT_REFUSED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_degraded_daemon_passes_unless_an_upstream_is_required),
        cmocka_unit_test(test_a_check_with_unknown_values_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
