/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Signals arrive as events of a loop, one per turn. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <signal.h>

#include "daemon/signals.h"
#include "loop/loop.h"
#include "support/fake_fd_watch.h"

static struct loop *loop;
static struct signals *signals;
static int numbers[8];
static int count;
static bool closes_on_signal;

static void on_signal(void *context, int number)
{
    (void)context;
    numbers[count++] = number;
    if (closes_on_signal)
        signals_close(&signals);
}

static int begin(void **state)
{
    (void)state;
    count = 0;
    closes_on_signal = false;
    loop = loop_new();
    signals_block();
    return 0;
}

static int end(void **state)
{
    (void)state;
    signals_close(&signals);
    signals_close(&signals);
    assert_int_equal(fake_fd_watch_count(), 0);
    loop_free(loop);
    return 0;
}

static void open_signals(void)
{
    assert_int_equal(signals_open(&signals, loop, on_signal, NULL), ERR_OK);
}

static void test_a_signal_before_the_open_is_kept(void **state)
{
    (void)state;
    raise(SIGHUP);
    open_signals();
    fake_fd_watch_settle();
    assert_int_equal(count, 1);
    assert_int_equal(numbers[0], SIGHUP);
}

static void test_each_kind_arrives_and_equal_ones_merge(void **state)
{
    (void)state;
    open_signals();
    raise(SIGTERM);
    raise(SIGHUP);
    raise(SIGHUP);
    raise(SIGINT);
    fake_fd_watch_settle();
    assert_int_equal(count, 3);
    assert_int_equal(numbers[0] + numbers[1] + numbers[2], SIGTERM + SIGHUP + SIGINT);
}

static void test_the_callee_may_close_while_another_signal_waits(void **state)
{
    (void)state;
    closes_on_signal = true;
    open_signals();
    raise(SIGTERM);
    raise(SIGINT);
    fake_fd_watch_settle();
    assert_int_equal(count, 1);
    assert_null(signals);
    closes_on_signal = false;
    open_signals(); /* the kernel still holds the other signal */
    fake_fd_watch_settle();
    assert_int_equal(count, 2);
}

static void test_a_broken_pipe_is_ignored(void **state)
{
    (void)state;
    open_signals();
    raise(SIGPIPE);
    fake_fd_watch_settle();
    assert_int_equal(count, 0);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(test_a_signal_before_the_open_is_kept),
        TEST(test_each_kind_arrives_and_equal_ones_merge),
        TEST(test_the_callee_may_close_while_another_signal_waits),
        TEST(test_a_broken_pipe_is_ignored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
