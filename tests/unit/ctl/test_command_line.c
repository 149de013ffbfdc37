/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

#include "ctl/command_line.h"

#include <getopt.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

#include "ctl/help.h"
#include "ctl/utf8.h"
#include "ctl/watch.h"
#include "nailup/control.h"

static struct command_line line;

/* Splits the text at blanks and parses the words. */
static enum command_line_wish parsed(const char *words)
{
    static char text[256];
    static char *argv[32];
    int argc = 0;
    snprintf(text, sizeof(text), "nailupctl %s", words);
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
        argv[argc++] = word;
    argv[argc] = NULL;
    optind = 0; /* makes glibc's getopt() start again */
    opterr = 0;
    return command_line_parse(&line, argc, argv);
}

static void assert_words(const char *first, const char *second)
{
    assert_int_equal(line.count, second ? 2 : 1);
    assert_string_equal(line.words[0], first);
    if (second)
        assert_string_equal(line.words[1], second);
}

static void test_options_may_come_before_or_after_the_command(void **state)
{
    (void)state;
    assert_int_equal(parsed("-s /x --json lookup example"), WISH_COMMAND);
    assert_true(line.json && !line.watch);
    assert_string_equal(line.socket, "/x");
    assert_words("lookup", "example");
    assert_int_equal(parsed("lookup --json example --socket=/y"), WISH_COMMAND);
    assert_string_equal(line.socket, "/y");
    assert_words("lookup", "example");
    assert_int_equal(parsed("status"), WISH_COMMAND);
    assert_string_equal(line.socket, help_default_socket());
}

static void test_status_check_is_the_command_check(void **state)
{
    (void)state;
    assert_int_equal(parsed("status --check"), WISH_COMMAND);
    assert_words("check", NULL);
    assert_false(line.require_upstream);
    assert_int_equal(parsed("--check --require-upstream status"), WISH_COMMAND);
    assert_words("check", NULL);
    assert_true(line.require_upstream);
    assert_int_equal(parsed("check --require-upstream"), WISH_COMMAND);
    assert_int_equal(parsed("stats --check"), WISH_WRONG);
    assert_int_equal(parsed("--check"), WISH_WRONG);
    assert_int_equal(parsed("status --require-upstream"), WISH_WRONG);
}

static void test_people_get_the_sum_of_the_workers_and_programs_get_each(void **state)
{
    (void)state;
    assert_int_equal(parsed("upstreams"), WISH_COMMAND);
    assert_string_equal(line.shape.worker, "sum");
    assert_int_equal(parsed("connections --json"), WISH_COMMAND);
    assert_string_equal(line.shape.worker, "all");
    assert_int_equal(parsed("connections --worker 3 --json"), WISH_COMMAND);
    assert_string_equal(line.shape.worker, "3");
    assert_int_equal(parsed("status"), WISH_COMMAND);
    assert_null(line.shape.worker);
    assert_int_equal(parsed("status --worker 3"), WISH_WRONG);
    assert_int_equal(parsed("upstreams --worker many"), WISH_WRONG);
}

static void test_options_of_the_output_are_read(void **state)
{
    (void)state;
    assert_int_equal(parsed("upstreams --sort -queries --rates --color never --width 80"),
                     WISH_COMMAND);
    assert_string_equal(line.shape.sort, "-queries");
    assert_string_equal(line.colour, "never");
    assert_true(line.rates);
    assert_int_equal(line.width, 80);
    assert_int_equal(parsed("upstreams"), WISH_COMMAND);
    assert_int_equal(line.width, -1);
    assert_string_equal(line.colour, "auto");
    assert_int_equal(parsed("upstreams --color red"), WISH_WRONG);
    assert_int_equal(parsed("upstreams --width wide"), WISH_WRONG);
    assert_int_equal(parsed("upstreams --width -1"), WISH_WRONG);
    assert_int_equal(parsed("upstreams --width 99999"), WISH_WRONG);
}

static void test_a_watch_takes_its_seconds_if_a_number_follows(void **state)
{
    (void)state;
    assert_int_equal(parsed("status --watch"), WISH_COMMAND);
    assert_true(line.watch && line.period_us == WATCH_PERIOD_US);
    assert_int_equal(parsed("connections --watch 5 --json"), WISH_COMMAND);
    assert_true(line.watch && line.json && line.period_us == 5000000);
    assert_words("connections", NULL);
    assert_int_equal(parsed("--watch 0.5 connections"), WISH_COMMAND);
    assert_true(line.period_us == 500000);
    assert_words("connections", NULL);
    assert_int_equal(parsed("-w lookup example"), WISH_COMMAND);
    assert_true(line.watch && line.period_us == WATCH_PERIOD_US);
    assert_words("lookup", "example");
    assert_int_equal(parsed("--watch=3600 status"), WISH_COMMAND);
    assert_true(line.period_us == WATCH_PERIOD_MAX_US);
    assert_int_equal(parsed("-w1.5 status"), WISH_COMMAND);
    assert_true(line.period_us == 1500000);
}

static void test_a_lookup_may_become_a_trace(void **state)
{
    (void)state;
    assert_int_equal(parsed("lookup --trace example"), WISH_COMMAND);
    assert_words("trace", "example");
    assert_int_equal(parsed("-t lookup example AAAA --fresh --json"), WISH_COMMAND);
    assert_int_equal(line.count, 4);
    assert_string_equal(line.words[0], "trace");
    assert_string_equal(line.words[2], "AAAA");
    assert_string_equal(line.words[3], "fresh");
    assert_int_equal(parsed("trace --fresh example"), WISH_COMMAND);
    assert_int_equal(line.count, 3);
    assert_string_equal(line.words[2], "fresh");
    assert_int_equal(parsed("lookup --fresh example"), WISH_WRONG);
    assert_int_equal(parsed("status --trace"), WISH_WRONG);
    assert_int_equal(parsed("--trace"), WISH_WRONG);
    assert_int_equal(parsed("lookup --trace a b c d"), WISH_WRONG);
    assert_int_equal(parsed("lookup --trace --fresh a b c"), WISH_WRONG);
}

static void test_a_lookup_may_be_for_a_client_or_a_view(void **state)
{
    (void)state;
    assert_int_equal(parsed("lookup --client 192.0.2.7 example"), WISH_COMMAND);
    assert_int_equal(line.count, 4);
    assert_string_equal(line.words[2], "A");
    assert_string_equal(line.words[3], "192.0.2.7");
    assert_int_equal(parsed("lookup --view lab example AAAA"), WISH_COMMAND);
    assert_int_equal(line.count, 5);
    assert_string_equal(line.words[2], "AAAA");
    assert_string_equal(line.words[3], "127.0.0.1");
    assert_string_equal(line.words[4], "lab");
    assert_int_equal(parsed("--view lab -A 192.0.2.7 lookup example"), WISH_COMMAND);
    assert_string_equal(line.words[3], "192.0.2.7");
    assert_string_equal(line.words[4], "lab");
    assert_int_equal(parsed("lookup --view lab"), WISH_WRONG);
    assert_int_equal(parsed("lookup --view lab a b c"), WISH_WRONG);
    assert_int_equal(parsed("status --view lab"), WISH_WRONG);
    assert_int_equal(parsed("lookup --trace --view lab a"), WISH_WRONG);
}

static void test_a_wrong_period_is_refused(void **state)
{
    (void)state;
    assert_int_equal(parsed("--watch=x status"), WISH_WRONG);
    assert_int_equal(parsed("--watch=0 status"), WISH_WRONG);
    assert_int_equal(parsed("--watch=-1 status"), WISH_WRONG);
    assert_int_equal(parsed("--watch=nan status"), WISH_WRONG);
    assert_int_equal(parsed("--watch=inf status"), WISH_WRONG);
    assert_int_equal(parsed("--watch=3601 status"), WISH_WRONG);
    assert_int_equal(parsed("--watch= status"), WISH_WRONG);
    assert_int_equal(parsed("--watch 0 status"), WISH_WRONG); /* and not the command 0 */
    assert_int_equal(parsed("--watch -1 status"), WISH_WRONG);
    assert_int_equal(parsed("status --watch 3601"), WISH_WRONG);
    assert_int_equal(parsed("-w1x status"), WISH_WRONG);
}

static void test_help_version_and_nonsense_are_distinguished(void **state)
{
    (void)state;
    assert_int_equal(parsed("--help"), WISH_HELP);
    assert_int_equal(parsed("status -V"), WISH_VERSION);
    assert_int_equal(parsed("--jason status"), WISH_WRONG);
    assert_int_equal(parsed("-s"), WISH_WRONG);
}

static void test_every_watched_verb_is_a_command(void **state)
{
    static const char *const watched[] = {CONTROL_WATCHED};
    (void)state;
    for (size_t i = 0; i < sizeof(watched) / sizeof(watched[0]); i++) {
        bool is_there = false;
#define COMMAND(verb, arguments, handler, sentence)                                                \
    is_there = is_there || strcmp(verb, watched[i]) == 0;
#include "nailup/commands.def"
        assert_true(is_there);
        assert_true(help_check_watch(watched[i]));
    }
}

static void test_untrusted_text_cannot_control_a_terminal(void **state)
{
    char text[] = "a\x1b[2Jb\x7f\xc2\x9b\xc3\xa9\x9b\xed\xa0\x80\t.";
    (void)state;
    assert_string_equal(utf8_clean(text), "a?[2Jb???\xc3\xa9?????.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options_may_come_before_or_after_the_command),
        cmocka_unit_test(test_status_check_is_the_command_check),
        cmocka_unit_test(test_people_get_the_sum_of_the_workers_and_programs_get_each),
        cmocka_unit_test(test_options_of_the_output_are_read),
        cmocka_unit_test(test_a_watch_takes_its_seconds_if_a_number_follows),
        cmocka_unit_test(test_a_lookup_may_become_a_trace),
        cmocka_unit_test(test_a_lookup_may_be_for_a_client_or_a_view),
        cmocka_unit_test(test_a_wrong_period_is_refused),
        cmocka_unit_test(test_help_version_and_nonsense_are_distinguished),
        cmocka_unit_test(test_every_watched_verb_is_a_command),
        cmocka_unit_test(test_untrusted_text_cannot_control_a_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
