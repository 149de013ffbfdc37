/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* server.user and the control socket's owner and group, which the loader looks up in the system. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "unit/config/config_text.h"

/* Loads the text as a file, with the system's accounts, as nailupd does. errors_text gets the
 * errors. */
static struct config *load_file(const char *text)
{
    char path[] = "/tmp/nailup-test-XXXXXX";
    struct config *config;
    struct buf errors;
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    assert_int_equal(dprintf(fd, "%s%s", text, ZONE), strlen(text) + strlen(ZONE));
    close(fd);
    buf_init(&errors, CONFIG_ERRORS_BYTES);
    enum err err = config_load(path, &config, &errors);
    struct span span = buf_span(&errors);
    snprintf(errors_text, sizeof(errors_text), "%.*s", (int)span.len,
             span.len ? (const char *)span.data : "");
    buf_deinit(&errors);
    unlink(path);
    assert_int_equal(err == ERR_OK, config != NULL);
    return config;
}

static struct config *load_sound_file(const char *text)
{
    struct config *config = load_file(text);

    assert_string_equal(errors_text, "");
    return config;
}

/* The expected error begins after the file's name: position and sentence. */
static void expect_file_error(const char *text, const char *error)
{
    assert_null(load_file(text));
    assert_non_null(strstr(errors_text, error));
}

static void test_without_a_user_there_is_no_account(void **state)
{
    struct config *config = load_sound_file("");

    (void)state;
    assert_int_equal(config->run_as.uid, CONFIG_NO_ID);
    assert_int_equal(config->control_account.uid, CONFIG_NO_ID);
    assert_int_equal(config->control_account.gid, CONFIG_NO_ID);
    assert_int_equal(config->control_mode, 0660);
    config_free(config);
}

static void test_a_user_is_found_with_its_group_and_has_the_socket(void **state)
{
    struct config *config = load_sound_file("server: {user: nobody}\n");

    (void)state;
    assert_int_not_equal(config->run_as.uid, CONFIG_NO_ID);
    assert_int_not_equal(config->run_as.gid, CONFIG_NO_ID);
    assert_string_equal(config->run_as.name, "nobody");
    assert_int_equal(config->control_account.uid, config->run_as.uid);
    assert_int_equal(config->control_account.gid, config->run_as.gid);
    config_free(config);
}

static void test_numbers_and_an_own_group_for_the_socket(void **state)
{
    struct config *config = load_sound_file("server: {user: \"4242424:4242425\"}\n"
                                            "control: {owner: root, group: 4242426, mode: 0600}\n");

    (void)state;
    assert_int_equal(config->run_as.uid, 4242424);
    assert_int_equal(config->run_as.gid, 4242425);
    assert_string_equal(config->run_as.name, "");
    assert_int_equal(config->control_account.uid, 0);
    assert_int_equal(config->control_account.gid, 4242426);
    assert_int_equal(config->control_mode, 0600);
    config_free(config);
}

static void test_an_unknown_user_is_an_error_with_a_remedy(void **state)
{
    (void)state;
    expect_file_error("server: {user: nobody-here}\n",
                      ":1:10: error: server.user: names the user \"nobody-here\", but there is no "
                      "such user; create one "
                      "(as root: useradd --system nobody-here) or choose another\n");
    expect_file_error("server: {user: \"nobody:no-group-here\"}\n",
                      ":1:10: error: server.user: names the group \"no-group-here\", which");
    expect_file_error("control: {owner: nobody-here}\n",
                      ":1:11: error: control.owner: names the user");
    expect_file_error("control: {group: no-group-here}\n",
                      ":1:11: error: control.group: names the group");
}

static void test_root_is_refused_as_a_user(void **state)
{
    (void)state;
    expect_file_error("server: {user: root}\n", "server.user: is root, which protects nothing");
    expect_file_error("server: {user: 0:1000}\n", "server.user: is root, which protects nothing");
    expect_file_error("server: {user: nobody:root}\n", "server.user: is in the group root");
    expect_file_error("server: {user: 4242424}\n", "must be given too: 4242424:GROUP");
}

static void test_an_error_about_a_wrong_word_says_what_is_accepted(void **state)
{
    (void)state;
    expect_file_error("server: {user: \"a b\"}\n",
                      "server.user: takes a user or user:group such as nailup");
    expect_file_error("control: {group: \"a:b\"}\n", "control.group: takes a name or number");
    expect_file_error("control: {mode: 660x}\n",
                      "control.mode: takes a mode in octal such as 0660");
    expect_file_error("control: {mode: 1777}\n", "control.mode: takes a mode in octal");
}

static void test_printed_accounts_can_be_read(void **state)
{
    struct config *config = load_fine("server: {user: \"a:b\"}\ncontrol: {mode: 600}\n" ZONE);
    struct buf text;

    (void)state;
    buf_init(&text, 1 << 20);
    assert_int_equal(config_print(config, &text), ERR_OK);
    assert_non_null(memmem(buf_span(&text).data, buf_span(&text).len, "user: \"a:b\"", 11));
    assert_non_null(memmem(buf_span(&text).data, buf_span(&text).len, "mode: 0600", 10));
    buf_deinit(&text);
    config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_a_user_there_is_no_account),
        cmocka_unit_test(test_a_user_is_found_with_its_group_and_has_the_socket),
        cmocka_unit_test(test_numbers_and_an_own_group_for_the_socket),
        cmocka_unit_test(test_an_unknown_user_is_an_error_with_a_remedy),
        cmocka_unit_test(test_root_is_refused_as_a_user),
        cmocka_unit_test(test_an_error_about_a_wrong_word_says_what_is_accepted),
        cmocka_unit_test(test_printed_accounts_can_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
