/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The commands that nailupctl knows without a daemon. Complaints go to stderr. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "ctl/help.h"
#include "nailup/control.h"
#include "unit/ctl/given.h"

static const struct {
    const char *verb, *arguments;
} rows[] = {
#define COMMAND(verb, arguments, handler, sentence) {verb, arguments},
#include "nailup/commands.def"
};

static bool check(int count, const char *const *words)
{
    char *copies[CONTROL_WORDS_MAX + 4] = {NULL};
    bool is_right;

    for (int i = 0; i < count; i++)
        copies[i] = strdup(words[i]);
    is_right = help_check(count, copies);
    for (int i = 0; i < count; i++)
        free(copies[i]);
    return is_right;
}

#define CHECK(...)                                                                                 \
    check((int)(sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)),                           \
          (const char *[]){__VA_ARGS__})

static void test_every_command_takes_the_numbers_of_words_of_its_row(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *words[CONTROL_WORDS_MAX + 4];
        int least, most;
        control_argument_counts(rows[i].arguments, &least, &most);
        for (int count = 0; count <= CONTROL_WORDS_MAX; count++) {
            words[0] = rows[i].verb;
            words[count + 1] = "a";
            for (int k = 1; k <= count; k++)
                words[k] = "a";
            assert_int_equal(check(count + 1, words), count >= least && count <= most);
        }
    }
}

static void test_wrong_commands_are_refused(void **state)
{
    (void)state;
    assert_false(check(0, NULL));
    assert_false(CHECK(""));
    assert_false(CHECK("stauts"));
    assert_false(CHECK("status\t"));
    assert_false(CHECK("STATUS"));
}

/* A line break or a tab in a word would change the request on the wire. */
static void test_words_that_would_change_the_request_are_refused(void **state)
{
    (void)state;
    assert_true(CHECK("flush", "example.com"));
    assert_false(CHECK("flush", ""));
    assert_false(CHECK("flush", "example.com\nreload"));
    assert_false(CHECK("flush", "example.com\tA"));
    assert_false(CHECK("flush", "a\x7f"));
    assert_false(CHECK("flush", "a\033"));
}

static void test_only_commands_that_show_what_changes_can_be_watched(void **state)
{
    (void)state;
    assert_true(help_check_watch("status"));
    assert_true(help_check_watch("connections"));
    assert_false(help_check_watch("reload"));
    assert_false(help_check_watch("drain"));
    assert_false(help_check_watch(""));
}

static void test_the_reply_has_a_row_for_each_command(void **state)
{
    struct parsed_reply answer;

    (void)state;
    assert_int_equal(parse(&answer, help_reply), ERR_OK);
    assert_int_equal(answer.table_count, 1);
    assert_int_equal(answer.tables[0].row_count, sizeof(rows) / sizeof(rows[0]));
    answer_deinit(&answer);
}

static void test_help_fits_eighty_columns_and_names_every_command(void **state)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);

    (void)state;
    help_print(out);
    fclose(out);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_non_null(strstr(text, rows[i].verb));
    assert_non_null(strstr(text, help_default_socket()));
    for (const char *line = strstr(text, "\nCommands:"); *line; line += strcspn(line, "\n")) {
        line += *line == '\n';
        assert_true(strcspn(line, "\n") < 80);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_command_takes_the_numbers_of_words_of_its_row),
        cmocka_unit_test(test_wrong_commands_are_refused),
        cmocka_unit_test(test_words_that_would_change_the_request_are_refused),
        cmocka_unit_test(test_only_commands_that_show_what_changes_can_be_watched),
        cmocka_unit_test(test_the_reply_has_a_row_for_each_command),
        cmocka_unit_test(test_help_fits_eighty_columns_and_names_every_command),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
