/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* A failed MUST() ends the process with a line that names it. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"

struct pair {
    int first, second;
};

static void test_a_condition_that_holds_costs_nothing(void **state)
{
    (void)state;
    int evaluated = 0;
    MUST(++evaluated == 1);
    assert_int_equal(evaluated, 1);
}

/* Sends the child's stderr into the pipe and prevents a core file. */
static void run_child(int to)
{
    signal(SIGABRT, SIG_DFL);
    dup2(to, STDERR_FILENO);
    MUST(1 + 1 == 3);
    _exit(0);
}

static void test_a_condition_that_does_not_hold_aborts_with_its_text(void **state)
{
    (void)state;
    int ends[2], status;
    char text[600] = "";
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        run_child(ends[1]);
    close(ends[1]);
    assert_true(read(ends[0], text, sizeof(text) - 1) > 0);
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
    assert_non_null(strstr(text, "MUST(1 + 1 == 3)"));
    assert_non_null(strstr(text, "test_check.c:"));
}

static void test_a_member_leads_to_its_container(void **state)
{
    (void)state;
    struct pair pair = {1, 2};
    assert_ptr_equal(CONTAINER_OF(&pair.second, struct pair, second), &pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_condition_that_holds_costs_nothing),
        cmocka_unit_test(test_a_condition_that_does_not_hold_aborts_with_its_text),
        cmocka_unit_test(test_a_member_leads_to_its_container),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
