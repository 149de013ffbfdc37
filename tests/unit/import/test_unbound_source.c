/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Files of Unbound's configuration that include each other. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "unit/import/import_text.h"

#include <stdio.h>
#include <unistd.h>

static char folder[] = "/tmp/nailup-import-XXXXXX";

static void write_file(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static enum err import_file(const char *name)
{
    char path[128];
    struct buf out, messages;
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    buf_init(&out, IMPORT_BYTES_MAX);
    buf_init(&messages, IMPORT_MESSAGES_BYTES);
    enum err err = import_unbound(path, &out, &messages);
    keep(&out, printed);
    keep(&messages, said);
    buf_deinit(&messages);
    buf_deinit(&out);
    return err;
}

static void test_included_files_continue_the_clause(void **state)
{
    (void)state;
    write_file("a.conf", "server: include: \"b.conf\"\n num-threads: 2\ninclude: sub-*.inc\n");
    write_file("b.conf", "port: 5353\n");
    write_file("sub-1.inc", "cache-min-ttl: 7\n");
    write_file("sub-2.inc", ROOT);
    assert_int_equal(import_file("a.conf"), ERR_OK);
    assert_non_null(strstr(printed, "workers: 2\n"));
    assert_non_null(strstr(printed, "127.0.0.1@5353"));
    assert_non_null(strstr(printed, "min-ttl: 7s"));
    assert_string_equal(said, "");
}

static void test_a_toplevel_include_leaves_the_clause(void **state)
{
    (void)state;
    write_file("a.conf", "server:\ninclude-toplevel: b.conf\nnum-threads: 2\n" ROOT);
    write_file("b.conf", "port: 5353\n");
    assert_int_equal(import_file("a.conf"), ERR_OK);
    assert_non_null(strstr(printed, "b.conf:1: port: 5353\n"));
    assert_non_null(strstr(printed, "a.conf:3: num-threads: 2\n"));
}

static void test_a_pattern_may_match_nothing_but_a_name_must_exist(void **state)
{
    (void)state;
    write_file("a.conf", "include: \"none-*.conf\"\n" ROOT);
    assert_int_equal(import_file("a.conf"), ERR_OK);
    write_file("a.conf", "include: none.conf\n" ROOT);
    assert_int_equal(import_file("a.conf"), ERR_INVALID);
    assert_non_null(strstr(said, "none.conf:1:1: error: cannot be read: No such file"));
}

static void test_a_file_that_includes_itself_is_an_error(void **state)
{
    (void)state;
    write_file("a.conf", "include: a.conf\n");
    assert_int_equal(import_file("a.conf"), ERR_INVALID);
    assert_non_null(strstr(said, "does it include itself?"));
    write_file("a.conf", "include: \"/dev/null\"\n");
    assert_int_equal(import_file("a.conf"), ERR_INVALID);
    assert_non_null(strstr(said, "is not a regular file"));
}

static void test_missing_files_are_removed_with_everything_that_needs_them(void **state)
{
    (void)state;
    write_file("a.conf", "server: interface: 192.0.2.7 interface: 192.0.2.7@853\n"
                         "tls-service-key: none.key\ntls-service-pem: none.pem\n" ROOT);
    assert_int_equal(import_file("a.conf"), ERR_OK);
    assert_non_null(strstr(printed, "server.tls-certificate: cannot read"));
    assert_null(strstr(printed, "listen-tls:\n"));
    assert_non_null(strstr(printed, "192.0.2.7@53"));
}

static void test_patterns_with_too_many_matches_are_refused(void **state)
{
    (void)state;
    write_file("a.conf", "include: \"{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}\"\n");
    assert_int_equal(import_file("a.conf"), ERR_INVALID);
    assert_non_null(strstr(said, "a.conf:1:1: error: names no file to include"));
    write_file("a.conf", "include: \"\"\n");
    assert_int_equal(import_file("a.conf"), ERR_INVALID);
}

static void test_relative_names_start_at_the_given_directory(void **state)
{
    (void)state;
    char text[256];
    snprintf(text, sizeof(text), "server: directory: \"%s\"\ninclude: b.conf\n" ROOT, folder);
    write_file("a.conf", text);
    write_file("b.conf", "tls-cert-bundle: none.pem\n");
    assert_int_equal(import_file("a.conf"), ERR_OK);
    assert_non_null(strstr(printed, "/none.pem"));
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    static const char *const names[] = {"a.conf", "b.conf", "sub-1.inc", "sub-2.inc"};
    char path[128];
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        unlink(path);
    }
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_included_files_continue_the_clause),
        cmocka_unit_test(test_a_toplevel_include_leaves_the_clause),
        cmocka_unit_test(test_a_pattern_may_match_nothing_but_a_name_must_exist),
        cmocka_unit_test(test_a_file_that_includes_itself_is_an_error),
        cmocka_unit_test(test_missing_files_are_removed_with_everything_that_needs_them),
        cmocka_unit_test(test_patterns_with_too_many_matches_are_refused),
        cmocka_unit_test(test_relative_names_start_at_the_given_directory),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
