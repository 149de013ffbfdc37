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
#include "dns/edns.h"
#include "tap/query_line.h"
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
    struct tap *tap = query_log_tap(query_log, 0, &stats, QUERY_LOG_ALL);
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
    struct tap *first = query_log_tap(query_log, 0, &stats, QUERY_LOG_ALL);
    struct tap *second = query_log_tap(query_log, 1, &stats, QUERY_LOG_ALL);
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
    struct tap *tap = query_log_tap(query_log, 0, &stats, QUERY_LOG_ALL);
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
    struct tap *tap = query_log_tap(query_log, 0, &stats, QUERY_LOG_ALL);
    (void)state;
    assert_int_equal(query_log_start(query_log), ERR_OK);
    while (stats.query_log_dropped == 0)
        show(tap, 7);
    query_log_free(query_log);
    query_log = NULL;
}

static void test_the_last_lines_are_written_at_the_end(void **state)
{
    struct tap *tap = query_log_tap(query_log, 1, &stats, QUERY_LOG_ALL);
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
    struct tap *tap = query_log_tap(query_log, 0, &stats, QUERY_LOG_ALL);
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
    struct tap *tap = query_log_tap(on_disk, 0, &stats, QUERY_LOG_ALL);
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

static void show_failure(struct tap *tap, unsigned number, uint64_t now)
{
    struct tap_reply reply = reply_of(number);
    reply.message.answered_at = reply.message.asked_at = now;
    reply.rcode = RCODE_SERVFAIL;
    reply.origin = TAP_FROM_NO_ANSWER;
    reply.ede_count = 1;
    reply.ede[0] = EDE_NETWORK_ERROR;
    reply.ede_text = "a cause";
    tap->on_reply(tap, &reply);
}

/* Expects the line of this failure next, with this end. */
static void expect_failure(unsigned number, const char *end)
{
    char line[4096], text[256];
    assert_non_null(fgets(line, sizeof(line), reader));
    snprintf(text, sizeof(text), " udp n%u.example. A IN - SERVFAIL 64 0.000ms failed %s\n", number,
             end);
    assert_non_null(strstr(line, text));
}

static const char plain_end[] = "ede=23 cause=\"a cause\"";

static void test_failures_alone_have_a_line_that_ends_with_the_cause(void **state)
{
    struct tap *tap = query_log_tap(query_log, 0, &stats, QUERY_LOG_FAILED);
    (void)state;
    assert_int_equal(query_log_start(query_log), ERR_OK);
    show(tap, 1);
    show_failure(tap, 2, 1000);
    show(tap, 3);
    show_failure(tap, 4, 1000);
    expect_failure(2, plain_end);
    expect_failure(4, plain_end);
}

static void test_the_choice_of_a_tap_may_change(void **state)
{
    struct tap *tap = query_log_tap(query_log, 0, &stats, QUERY_LOG_FAILED);
    (void)state;
    assert_int_equal(query_log_start(query_log), ERR_OK);
    show(tap, 1);
    assert_ptr_equal(query_log_tap(query_log, 0, &stats, QUERY_LOG_ALL), tap);
    show(tap, 2);
    show_failure(tap, 3, 1000);
    assert_null(query_log_tap(query_log, 0, &stats, QUERY_LOG_NONE));
    assert_ptr_equal(query_log_tap(query_log, 0, &stats, QUERY_LOG_FAILED), tap);
    show(tap, 4);
    show_failure(tap, 5, 1000);
    assert_int_equal(next_number(), 2);
    expect_failure(3, plain_end);
    expect_failure(5, plain_end);
}

static void test_a_zone_that_fails_for_all_does_not_flood_the_log(void **state)
{
    enum { MORE = 50, NOW = 1000000 };
    struct tap *tap = query_log_tap(query_log, 0, &stats, QUERY_LOG_FAILED);
    struct tap *other = query_log_tap(query_log, 1, &stats, QUERY_LOG_FAILED);
    (void)state;
    assert_int_equal(query_log_start(query_log), ERR_OK);
    for (unsigned i = 0; i < QUERY_LOG_FAILURES + MORE; i++)
        show_failure(tap, i, NOW);
    for (unsigned i = 0; i < QUERY_LOG_FAILURES; i++)
        expect_failure(i, plain_end);
    show_failure(other, 500, NOW);                          /* the workers share the bound */
    show_failure(tap, 501, NOW + QUERY_LOG_FAILURE_US - 1); /* the 52nd without a line */
    show_failure(other, 502, NOW + QUERY_LOG_FAILURE_US);
    expect_failure(502, "ede=23 omitted=52 cause=\"a cause\"");
    show_failure(tap, 503, NOW + QUERY_LOG_FAILURE_US);
    show_failure(tap, 504, NOW + 3 * QUERY_LOG_FAILURE_US);
    show_failure(tap, 505, NOW + 3 * QUERY_LOG_FAILURE_US);
    show_failure(tap, 506, NOW + 3 * QUERY_LOG_FAILURE_US);
    expect_failure(504, "ede=23 omitted=1 cause=\"a cause\"");
    expect_failure(505, plain_end);
    /* a quiet time saves up QUERY_LOG_FAILURES lines and no more */
    for (unsigned i = 0; i < QUERY_LOG_FAILURES + MORE; i++)
        show_failure(tap, 1000 + i, NOW + (uint64_t)3600 * 1000000);
    expect_failure(1000, "ede=23 omitted=1 cause=\"a cause\"");
    for (unsigned i = 1; i < QUERY_LOG_FAILURES; i++)
        expect_failure(1000 + i, plain_end);
    assert_int_equal(stats.query_log_dropped, 0);
}

static void test_all_queries_have_no_bound_of_failures(void **state)
{
    struct tap *tap = query_log_tap(query_log, 0, &stats, QUERY_LOG_ALL);
    (void)state;
    assert_int_equal(query_log_start(query_log), ERR_OK);
    for (unsigned i = 0; i < QUERY_LOG_FAILURES + 50; i++)
        show_failure(tap, i, 1000);
    for (unsigned i = 0; i < QUERY_LOG_FAILURES + 50; i++)
        expect_failure(i, plain_end);
}

static void test_a_longer_cause_is_cut(void **state)
{
    struct tap *tap = query_log_tap(query_log, 0, &stats, QUERY_LOG_FAILED);
    struct tap_reply reply = reply_of(1);
    char cause[QUERY_LINE_CAUSE_MAX + 10], line[4096];
    (void)state;
    memset(cause, 'c', sizeof(cause));
    cause[sizeof(cause) - 1] = '\0';
    reply.rcode = RCODE_SERVFAIL;
    reply.ede_count = 1;
    reply.ede_text = cause;
    reply.message.view = "lab";
    assert_int_equal(query_log_start(query_log), ERR_OK);
    tap->on_reply(tap, &reply);
    assert_non_null(fgets(line, sizeof(line), reader));
    cause[QUERY_LINE_CAUSE_MAX] = '\0';
    const char *at = strstr(line, " view=lab ede=0 cause=\"ccc");
    assert_non_null(at);
    assert_memory_equal(strchr(at, '"') + 1, cause, QUERY_LINE_CAUSE_MAX);
    assert_string_equal(strchr(at, '"') + 1 + QUERY_LINE_CAUSE_MAX, "\"\n");
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
        LOG_TEST(test_failures_alone_have_a_line_that_ends_with_the_cause),
        LOG_TEST(test_the_choice_of_a_tap_may_change),
        LOG_TEST(test_a_zone_that_fails_for_all_does_not_flood_the_log),
        LOG_TEST(test_all_queries_have_no_bound_of_failures),
        LOG_TEST(test_a_longer_cause_is_cut),
        LOG_TEST(test_a_log_that_was_never_started_can_be_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
