/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Lines: levels, both formats, hostile bytes, and limits. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"

static char last[16384];
static int lines;
static enum log_level last_level;

static void keep(enum log_level level, const char *line)
{
    last_level = level;
    lines++;
    snprintf(last, sizeof(last), "%s", line);
}

static int set_up(void **state)
{
    (void)state;
    last[0] = '\0';
    lines = 0;
    log_set_level(LOG_INFO);
    log_set_format(LOG_TEXT);
    log_set_sink(keep);
    return 0;
}

static void test_a_text_line_names_program_level_and_module(void **state)
{
    (void)state;
    LOG(LOG_WARNING, "upstream", "%s refused %d times", "192.0.2.1@53", 3);
    const char *colon = strchr(last, ':');
    assert_non_null(colon);
    assert_string_equal(colon, ": warning: upstream: 192.0.2.1@53 refused 3 times");
    assert_int_equal(last_level, LOG_WARNING);
}

static void test_a_line_of_a_worker_names_it_and_an_event_is_logged_once(void **state)
{
    (void)state;
    log_set_worker(0);
    LOG(LOG_WARNING, "m", "the server is gone");
    assert_non_null(strstr(last, ": warning: m: worker 0: the server is gone"));
    log_set_worker(1);
    LOG(LOG_WARNING, "m", "the server is gone");
    assert_int_equal(lines, 1);
    LOG(LOG_WARNING, "m", "another server is gone");
    assert_non_null(strstr(last, "worker 1: another"));
    log_set_worker(0);
    LOG(LOG_WARNING, "m", "the server is gone"); /* again for the same worker: a new event */
    assert_int_equal(lines, 3);
    log_set_level(LOG_DEBUG);
    log_set_worker(2);
    LOG(LOG_WARNING, "m", "the server is gone");
    log_set_format(LOG_JSON);
    LOG(LOG_WARNING, "m", "json");
    assert_int_equal(lines, 5);
    assert_non_null(strstr(last, "\"module\":\"m\",\"worker\":2,\"message\":\"json\""));
    log_set_worker(-1);
    LOG(LOG_WARNING, "m", "json");
    assert_null(strstr(last, "worker"));
}

static void test_lines_on_a_terminal_begin_with_the_time(void **state)
{
    (void)state;
    log_set_stamps(true);
    LOG(LOG_INFO, "m", "a");
    assert_int_equal(last[4], '-');
    assert_int_equal(last[10], 'T');
    assert_non_null(strstr(last, "Z "));
    log_set_stamps(false);
    LOG(LOG_INFO, "m", "a");
    assert_true(last[4] != '-');
}

static void test_levels_above_the_threshold_are_not_written(void **state)
{
    (void)state;
    LOG(LOG_DEBUG, "m", "no");
    assert_int_equal(lines, 0);
    LOG(LOG_INFO, "m", "yes");
    log_set_level(LOG_ERROR);
    LOG(LOG_WARNING, "m", "no");
    LOG(LOG_ERROR, "m", "yes");
    assert_int_equal(lines, 2);
}

static void test_peers_cannot_forge_lines_or_move_the_cursor(void **state)
{
    (void)state;
    LOG(LOG_INFO, "m", "name %s", "a\nnailupd: error\r\x1b[2J\x7f\x9b \xc3\xa9 \\ \"");
    assert_non_null(
        strstr(last, "name a\\x0anailupd: error\\x0d\\x1b[2J\\x7f\\x9b \\xc3\\xa9 \\ \""));
    for (const char *p = last; *p; p++)
        assert_in_range((unsigned char)*p, 0x20, 0x7e);
}

static void test_a_json_line_is_one_object(void **state)
{
    (void)state;
    log_set_format(LOG_JSON);
    LOG(LOG_NOTICE, "serve", "listening");
    assert_memory_equal(last, "{\"time\":\"20", 11);
    const char *rest = strstr(last, "Z\",");
    assert_non_null(rest);
    assert_int_equal(rest - last, (int)strlen("{\"time\":\"2026-01-01T00:00:00.000"));
    assert_string_equal(rest,
                        "Z\",\"level\":\"notice\",\"module\":\"serve\",\"message\":\"listening\"}");
}

static void test_json_strings_are_escaped(void **state)
{
    (void)state;
    log_set_format(LOG_JSON);
    LOG(LOG_INFO, "m\"", "%s", "\"}\n\\\t\x01\x7f\xff");
    assert_non_null(strstr(last, "\"module\":\"m\\\"\""));
    assert_non_null(strstr(last, "\"message\":\"\\\"}\\u000a\\\\\\u0009\\u0001\\u007f\\\\xff\"}"));
}

static void test_an_endless_sentence_is_cut_and_its_line_stays_whole(void **state)
{
    (void)state;
    static char endless[5000];
    memset(endless, '\n', sizeof(endless) - 1);
    log_set_format(LOG_JSON);
    LOG(LOG_INFO, "m", "%s", endless);
    size_t len = strlen(last);
    assert_in_range(len, 6000, 6500);
    assert_string_equal(last + len - 8, "\\u000a\"}");
    log_set_format(LOG_TEXT);
    memset(endless, 'x', sizeof(endless) - 1);
    LOG(LOG_INFO, "m", "%s", endless);
    assert_in_range(strlen(last), 1000, 1200);
}

static void test_a_line_on_stderr_is_one_write_with_its_newline(void **state)
{
    (void)state;
    int ends[2], old = dup(STDERR_FILENO);
    char text[200] = "";
    assert_int_equal(pipe(ends), 0);
    dup2(ends[1], STDERR_FILENO);
    log_set_sink(NULL);
    LOG(LOG_INFO, "m", "hello");
    dup2(old, STDERR_FILENO);
    ssize_t got = read(ends[0], text, sizeof(text) - 1);
    close(ends[0]);
    close(ends[1]);
    close(old);
    assert_true(got > 8);
    assert_string_equal(text + got - 10, " m: hello\n");
}

static void repeat(int times)
{
    for (int i = 0; i < times; i++)
        LOG_LIMITED(LOG_WARNING, "m", "again %d", i);
}

static void test_a_place_writes_five_lines_and_counts_the_rest(void **state)
{
    (void)state;
    repeat(100);
    assert_int_equal(lines, 5);
    assert_non_null(strstr(last, "again 4"));
}

static void fill(int worker, int times)
{
    log_set_worker(worker);
    for (int i = 0; i < times; i++)
        LOG_SHARED(LOG_WARNING, "m", "the table is full");
}

/* The minute counts for all workers together, however far apart they notice the fault. */
static void test_a_shared_line_is_written_once_a_minute_for_all_workers(void **state)
{
    (void)state;
    fill(0, 1);
    log_pass_for_tests(LOG_SHARED_US - 1000000);
    fill(1, 10);
    fill(0, 10);
    assert_int_equal(lines, 1);
    LOG_SHARED(LOG_WARNING, "m", "another table is full");
    assert_int_equal(lines, 2);
    log_pass_for_tests(1000000);
    fill(1, 2);
    assert_int_equal(lines, 3);
    assert_non_null(strstr(last, ": warning: m: worker 1: the table is full (20 more like this)"));
    log_set_level(LOG_DEBUG);
    fill(0, 1);
    assert_int_equal(lines, 4);
    log_set_level(LOG_INFO);
    fill(-1, 1);
    assert_int_equal(lines, 5);
}

static void test_only_the_last_shared_lines_are_remembered(void **state)
{
    (void)state;
    log_set_worker(0);
    for (int i = 0; i < 2; i++)
        for (int line = 0; line <= LOG_SHARED_MAX; line++) {
            struct log_limit limit = {0};
            log_write_shared(&limit, LOG_WARNING, "m", "table %d is full", line);
            log_pass_for_tests(1);
        }
    assert_int_equal(lines, 2 * (LOG_SHARED_MAX + 1));
    log_set_worker(-1);
}

static void test_a_limit_refills_one_line_a_period(void **state)
{
    (void)state;
    struct log_limit limit = {0};
    uint32_t suppressed;
    for (int i = 0; i < 5; i++)
        assert_true(log_limit_take(&limit, &suppressed));
    for (int i = 0; i < 7; i++)
        assert_false(log_limit_take(&limit, &suppressed));
    limit.refilled_at -= 10000000; /* ten seconds pass */
    assert_true(log_limit_take(&limit, &suppressed));
    assert_int_equal(suppressed, 7);
    assert_false(log_limit_take(&limit, &suppressed));
}

static void test_a_limit_never_holds_more_than_its_burst(void **state)
{
    (void)state;
    struct log_limit limit = {0};
    uint32_t suppressed;
    int taken = 0;
    assert_true(log_limit_take(&limit, &suppressed));
    limit.refilled_at = 1; /* as if the last refill was long ago */
    while (taken < 100 && log_limit_take(&limit, &suppressed))
        taken++;
    assert_int_equal(taken, 5);
}

static void test_a_key_is_the_first_once_and_within_the_bound(void **state)
{
    (void)state;
    assert_true(log_is_first(7));
    assert_false(log_is_first(7));
    assert_true(log_is_first(7 + LOG_FIRST_MAX)); /* the same place */
    assert_false(log_is_first(7 + LOG_FIRST_MAX));
    unsigned firsts = 2;
    for (uint64_t key = 1000000; key < 1000000 + 2 * LOG_FIRST_MAX; key++)
        firsts += log_is_first(key);
    assert_int_equal(firsts, LOG_FIRST_MAX);
    assert_false(log_is_first(5));
    assert_false(log_is_first(7));
}

static void test_level_names_are_words_of_the_configuration(void **state)
{
    (void)state;
    enum log_level level;
    for (int i = LOG_ERROR; i <= LOG_DEBUG; i++) {
        assert_int_equal(log_level_parse(&level, log_level_name((enum log_level)i)), ERR_OK);
        assert_int_equal(level, i);
    }
    assert_int_equal(log_level_parse(&level, "INFO"), ERR_INVALID);
    assert_int_equal(log_level_parse(&level, ""), ERR_INVALID);
    assert_string_equal(log_level_name((enum log_level)99), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_a_text_line_names_program_level_and_module, set_up),
        cmocka_unit_test_setup(test_a_line_of_a_worker_names_it_and_an_event_is_logged_once,
                               set_up),
        cmocka_unit_test_setup(test_lines_on_a_terminal_begin_with_the_time, set_up),
        cmocka_unit_test_setup(test_levels_above_the_threshold_are_not_written, set_up),
        cmocka_unit_test_setup(test_peers_cannot_forge_lines_or_move_the_cursor, set_up),
        cmocka_unit_test_setup(test_a_json_line_is_one_object, set_up),
        cmocka_unit_test_setup(test_json_strings_are_escaped, set_up),
        cmocka_unit_test_setup(test_an_endless_sentence_is_cut_and_its_line_stays_whole, set_up),
        cmocka_unit_test_setup(test_a_line_on_stderr_is_one_write_with_its_newline, set_up),
        cmocka_unit_test_setup(test_a_place_writes_five_lines_and_counts_the_rest, set_up),
        cmocka_unit_test_setup(test_a_shared_line_is_written_once_a_minute_for_all_workers, set_up),
        cmocka_unit_test_setup(test_only_the_last_shared_lines_are_remembered, set_up),
        cmocka_unit_test_setup(test_a_limit_refills_one_line_a_period, set_up),
        cmocka_unit_test_setup(test_a_limit_never_holds_more_than_its_burst, set_up),
        cmocka_unit_test_setup(test_a_key_is_the_first_once_and_within_the_bound, set_up),
        cmocka_unit_test_setup(test_level_names_are_words_of_the_configuration, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
