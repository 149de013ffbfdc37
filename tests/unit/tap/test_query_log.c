/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Replies pass from taps to a pipe: whole lines in order, also with readers that do not read. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/stats.h"
#include "tap/query_log.h"
#include "unit/tap/replies.h"

static struct stats stats;
static struct query_log *query_log;
static int pipe_fds[2];
static FILE *reader;

static int set_up(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    stats = (struct stats){0};
    log_set_format(LOG_TEXT);
    assert_int_equal(pipe(pipe_fds), 0);
    query_log = query_log_new(2, pipe_fds[1]);
    assert_non_null(query_log);
    reader = fdopen(pipe_fds[0], "r");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    query_log_free(query_log);
    if (reader)
        fclose(reader);
    close(pipe_fds[1]);
    return 0;
}

/* Returns the number in the name of the next line. The line must be whole. */
static unsigned next_number(void)
{
    static char line[4096];
    assert_non_null(fgets(line, sizeof(line), reader));
    const char *at = strstr(line, " udp n");
    assert_non_null(at);
    char *end;
    unsigned number = (unsigned)strtoul(at + 6, &end, 10);
    assert_string_equal(end, ".example. A IN - NOERROR 64 0.000ms cache\n");
    return number;
}

static void test_each_reply_is_a_line_in_its_order(void **state)
{
    struct tap *tap = query_log_tap(query_log, 0, &stats);
    (void)state;
    assert_int_equal(query_log_start(query_log), ERR_OK);
    assert_int_equal(query_log_start(query_log), ERR_OK); /* the log already runs */
    for (unsigned round = 0; round < 20; round++) {
        for (unsigned i = 0; i < 50; i++)
            show(tap, round * 50 + i);
        for (unsigned i = 0; i < 50; i++)
            assert_int_equal(next_number(), round * 50 + i);
    }
    assert_int_equal(stats.query_log_dropped, 0);
}

static void test_each_worker_has_its_own_order(void **state)
{
    struct tap *first = query_log_tap(query_log, 0, &stats);
    struct tap *second = query_log_tap(query_log, 1, &stats);
    unsigned next[2] = {0, 100000};
    (void)state;
    assert_int_equal(query_log_start(query_log), ERR_OK);
    for (unsigned i = 0; i < 100; i++) {
        show(first, i);
        show(second, 100000 + i);
    }
    for (unsigned i = 0; i < 200; i++) {
        unsigned number = next_number();
        assert_int_equal(number, next[number >= 100000]++);
    }
}

/* The lines exceed ring and pipe: lost lines are counted, and the others come whole and in order.
 */
static void test_lines_for_a_reader_that_never_reads_are_lost_and_counted(void **state)
{
    enum { MANY = 30000 };
    struct tap *tap = query_log_tap(query_log, 0, &stats);
    unsigned next = 0;
    (void)state;
    assert_int_equal(query_log_start(query_log), ERR_OK);
    for (unsigned i = 0; i < MANY; i++)
        show(tap, i);
    assert_in_range(stats.query_log_dropped, 1, MANY - 1);
    for (unsigned left = MANY - (unsigned)stats.query_log_dropped; left > 0; left--) {
        unsigned number = next_number();
        assert_true(number >= next);
        next = number + 1;
    }
    show(tap, MANY);
    assert_int_equal(next_number(), MANY);
}

static void test_a_reader_that_never_reads_does_not_delay_the_end(void **state)
{
    struct tap *tap = query_log_tap(query_log, 0, &stats);
    (void)state;
    assert_int_equal(query_log_start(query_log), ERR_OK);
    while (stats.query_log_dropped == 0)
        show(tap, 7);
    query_log_free(query_log);
    query_log = NULL;
}

static void test_the_last_lines_are_written_at_the_end(void **state)
{
    struct tap *tap = query_log_tap(query_log, 1, &stats);
    (void)state;
    assert_int_equal(query_log_start(query_log), ERR_OK);
    for (unsigned i = 0; i < 100; i++)
        show(tap, i);
    query_log_free(query_log);
    query_log = NULL;
    for (unsigned i = 0; i < 100; i++)
        assert_int_equal(next_number(), i);
}

static void test_without_a_reader_only_lines_are_lost(void **state)
{
    struct tap *tap = query_log_tap(query_log, 0, &stats);
    (void)state;
    fclose(reader);
    reader = NULL;
    assert_int_equal(query_log_start(query_log), ERR_OK);
    for (unsigned i = 0; i < 30000; i++)
        show(tap, i);
}

static void test_lines_lost_on_a_full_disk_are_counted(void **state)
{
    FILE *full = fopen("/dev/full", "w");
    struct query_log *on_disk = query_log_new(1, fileno(full));
    struct tap *tap = query_log_tap(on_disk, 0, &stats);
    (void)state;
    assert_int_equal(query_log_start(on_disk), ERR_OK);
    for (unsigned i = 0; i < 1000; i++)
        show(tap, i);
    for (int i = 0; i < 2000 && query_log_lost(on_disk) + stats.query_log_dropped < 1000; i++)
        nanosleep(&(struct timespec){.tv_nsec = 10 * 1000 * 1000}, NULL);
    assert_int_equal(query_log_lost(on_disk) + stats.query_log_dropped, 1000);
    assert_int_equal(query_log_lost(query_log), 0);
    query_log_free(on_disk);
    fclose(full);
}

static void test_a_log_that_was_never_started_can_be_freed(void **state)
{
    (void)state;
    query_log_free(query_log);
    query_log = NULL;
    query_log_free(NULL);
}

#define LOG_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOG_TEST(test_each_reply_is_a_line_in_its_order),
        LOG_TEST(test_each_worker_has_its_own_order),
        LOG_TEST(test_lines_for_a_reader_that_never_reads_are_lost_and_counted),
        LOG_TEST(test_a_reader_that_never_reads_does_not_delay_the_end),
        LOG_TEST(test_the_last_lines_are_written_at_the_end),
        LOG_TEST(test_without_a_reader_only_lines_are_lost),
        LOG_TEST(test_lines_lost_on_a_full_disk_are_counted),
        LOG_TEST(test_a_log_that_was_never_started_can_be_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
