/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The log lines and replies about a reload. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>

#include "config/changes.h"
#include "control/call.h"
#include "control/view.h"
#include "daemon/reload_report.h"
#include "unit/config/config_text.h"
#include "unit/daemon/log_lines.h"

static struct changes changes;
static struct reload_report report;
static char answered[8192];

static int begin(void **state)
{
    (void)state;
    log_lines_begin();
    memset(&changes, 0, sizeof(changes));
    report = (struct reload_report){.config_file = "/etc/f.yaml",
                                    .took_us = 12345,
                                    .changes = &changes,
                                    .forgotten = 7,
                                    .zones_are_read = true};
    return 0;
}

static int end(void **state)
{
    (void)state;
    log_lines_end();
    return 0;
}

static void change(const char *path, bool needs_restart)
{
    struct change *out = &changes.list[changes.count++];

    *out = (struct change){.path = path, .needs_restart = needs_restart};
    strcpy(out->before, "1");
    strcpy(out->after, "2");
}

static void on_done(struct call *call, void *context)
{
    struct span text = buf_span(&call->reply.buf);

    (void)context;
    assert_true(text.len < sizeof(answered));
    memcpy(answered, text.data, text.len);
    answered[text.len] = '\0';
    call_free(call);
}

static struct call *new_call(void)
{
    struct call *call = call_new(NULL, NULL, on_done, NULL);

    reply_ok(&call->reply);
    return call;
}

static void test_keys_that_changed_are_listed_and_those_for_a_restart_warn(void **state)
{
    (void)state;
    change("log.level", false);
    change("server.workers", true);
    change("cache.max-ttl", false);
    reload_report_log(&report);
    assert_string_equal(
        log_lines,
        "notice: daemon: reload: /etc/f.yaml is in effect after 12 ms; changed keys: 2: "
        "log.level, cache.max-ttl\n"
        "warning: daemon: reload: server.workers needs a restart: it stays 1 until then; "
        "the file says 2\n");
}

static void test_a_reload_without_changes_names_no_key(void **state)
{
    (void)state;
    reload_report_log(&report);
    assert_string_equal(
        log_lines,
        "notice: daemon: reload: /etc/f.yaml is in effect after 12 ms; changed keys: 0\n");
}

static void test_a_list_of_keys_that_is_too_long_ends_in_dots(void **state)
{
    (void)state;
    for (int i = 0; i < 60; i++)
        change("server.default-local-zones", false);
    reload_report_log(&report);
    assert_int_equal(log_lines_count(), 1);
    assert_non_null(strstr(log_lines, "changed keys: 60: server.default-local-zones, "));
    assert_non_null(strstr(log_lines, ", ...\n"));
    assert_true(strlen(log_lines) < 700);
}

static void test_the_answer_has_the_counts_and_each_change(void **state)
{
    struct config *config = load_fine(ZONE);
    struct call *call = new_call();

    (void)state;
    report.config = config;
    change("log.level", false);
    change("server.workers", true);
    reload_report_answer(&report, call);
    call_done(call);
    assert_non_null(strstr(answered, "\nrow\t/etc/f.yaml\t12345\t1\t1\t1\t0\t"));
    assert_non_null(strstr(answered, "\t7\tyes\ntable\tchanges\n"));
    assert_non_null(strstr(answered, "\nrow\tlog.level\tnow\t1\t2\n"
                                     "row\tserver.workers\tneeds a restart\t1\t2\n"
                                     "table\tzones_to_come\n"));
    config_free(config);
}

static void fail_with(const char *errors)
{
    struct call *call = new_call();

    strcpy(report.why, "nothing was changed");
    report.errors = span_of(errors, strlen(errors));
    reload_report_log_failure(&report);
    reload_report_refuse(&report, call);
    call_done(call);
}

/* One of the two zones is served, and the other has no version yet. */
static void test_zones_that_are_still_to_come_are_named(void **state)
{
    struct config *config = load_fine(ZONE);
    struct call *call = new_call();
    struct control_zone rows[] = {
        {.wire = "\1a", .name_len = 3, .state = CONTROL_ZONE_KEPT},
        {.wire = "\1b", .name_len = 3, .state = CONTROL_ZONE_LOADING, .why = "no answer"}};
    struct control_view view = {.held = rows, .held_count = 2};

    (void)state;
    report.config = config;
    report.zones = &view;
    report.zones_are_read = false;
    reload_report_answer(&report, call);
    call_done(call);
    assert_non_null(strstr(answered, "\t7\tno\ntable\tchanges\n"));
    assert_non_null(strstr(answered, "\nrow\tb.\tanswers\tloading\tno answer\nend\n"));
    assert_null(strstr(answered, "\nrow\ta."));
    reload_report_log(&report);
    assert_non_null(strstr(log_lines, "reload: the files of some zones are still being read"));
    assert_non_null(strstr(log_lines, "reload: zones without a version: 1;"));
    config_free(config);
}

static void test_a_failure_without_errors_is_one_sentence(void **state)
{
    (void)state;
    fail_with("");
    assert_string_equal(log_lines, "error: daemon: reload failed: nothing was changed\n");
    assert_string_equal(answered, "refused\tnothing was changed\nend\n");
}

/* A path may contain control characters and percent signs, and may have any length. */
static void test_hostile_errors_keep_one_line_each(void **state)
{
    static char errors[4096];

    (void)state;
    memset(errors, 'x', 3000);
    strcpy(errors + 3000, "\n%s%n\tb\nno newline");
    fail_with(errors);
    assert_int_equal(log_lines_count(), 4);
    assert_non_null(strstr(log_lines, "error: config: %s%n"));
    assert_non_null(strstr(answered, "\nrow\t%s%n?b\nrow\tno newline\nend\n"));
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(test_keys_that_changed_are_listed_and_those_for_a_restart_warn),
        TEST(test_a_reload_without_changes_names_no_key),
        TEST(test_a_list_of_keys_that_is_too_long_ends_in_dots),
        TEST(test_the_answer_has_the_counts_and_each_change),
        TEST(test_zones_that_are_still_to_come_are_named),
        TEST(test_a_failure_without_errors_is_one_sentence),
        TEST(test_hostile_errors_keep_one_line_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
