/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The session file at the start and at the end: sound, from another program, missing, or in a wrong
 * place. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/sessions.h"
#include "unit/daemon/log_lines.h"

static char directory[64];
static char path[128];

static int begin(void **state)
{
    (void)state;
    strcpy(directory, "/tmp/nailup-test-XXXXXX");
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof(path), "%s/sessions", directory);
    log_lines_begin();
    return 0;
}

static int end(void **state)
{
    (void)state;
    log_lines_end();
    unlink(path);
    return rmdir(directory);
}

static void write_file(const char *text, mode_t mode)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, mode), 0);
}

static void test_without_a_path_there_are_tickets_and_no_file(void **state)
{
    (void)state;
    sessions_close(sessions_open(NULL), NULL);
    sessions_close(sessions_open(""), "");
    sessions_close(NULL, path);
    assert_string_equal(log_lines, "");
}

static void test_a_file_that_was_saved_is_read_and_removed(void **state)
{
    struct stat status;

    (void)state;
    sessions_close(sessions_open(path), path);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    struct tls_tickets *tickets = sessions_open(path);
    assert_int_equal(access(path, F_OK), -1);
    assert_non_null(strstr(log_lines, "info: daemon: 0 TLS sessions read from "));
    sessions_close(tickets, path);
    assert_int_equal(access(path, F_OK), 0);
}

static void test_a_foreign_file_is_not_read_and_not_overwritten(void **state)
{
    char text[32] = "";

    (void)state;
    write_file("somebody's notes\n", 0600);
    sessions_close(sessions_open(path), path);
    assert_int_equal(log_lines_count(), 1);
    assert_non_null(strstr(log_lines, "holds no TLS sessions"));
    FILE *file = fopen(path, "r");
    assert_non_null(fgets(text, sizeof(text), file));
    fclose(file);
    assert_string_equal(text, "somebody's notes\n");
}

static void test_a_file_that_others_can_read_is_not_used(void **state)
{
    (void)state;
    sessions_close(sessions_open(path), path);
    assert_int_equal(chmod(path, 0644), 0);
    struct tls_tickets *tickets = sessions_open(path);
    assert_non_null(strstr(log_lines, "so the first handshakes are full ones"));
    assert_non_null(strstr(log_lines, "must belong to this user and have mode 0600"));
    sessions_close(tickets, NULL);
    assert_int_equal(access(path, F_OK), 0);
}

static void test_a_missing_directory_is_reported_at_the_start(void **state)
{
    char missing[160];

    (void)state;
    snprintf(missing, sizeof(missing), "%s/none/sessions", directory);
    struct tls_tickets *tickets = sessions_open(missing);
    assert_non_null(tickets);
    assert_non_null(strstr(log_lines, "cannot write session-file "));
    sessions_close(tickets, missing);
    assert_non_null(strstr(log_lines, "cannot save TLS sessions to session-file "));
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(test_without_a_path_there_are_tickets_and_no_file),
        TEST(test_a_file_that_was_saved_is_read_and_removed),
        TEST(test_a_foreign_file_is_not_read_and_not_overwritten),
        TEST(test_a_file_that_others_can_read_is_not_used),
        TEST(test_a_missing_directory_is_reported_at_the_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
