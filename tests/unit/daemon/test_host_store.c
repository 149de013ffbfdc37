/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The file of saved addresses: sound, from another owner, not a regular file, and where it cannot
 * be written. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/host_file.h"
#include "daemon/host_store.h"
#include "unit/daemon/log_lines.h"

static const char good[] = "nailup hosts 1\na 1 ::1\nend\n";
static char directory[64], path[128];
static struct host_file file;
static struct host_store store;

static int begin(void **state)
{
    (void)state;
    strcpy(directory, "/tmp/nailup-test-XXXXXX");
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof(path), "%s/hosts", directory);
    store = (struct host_store){0};
    log_lines_begin();
    return 0;
}

static int end(void **state)
{
    (void)state;
    log_lines_end();
    host_store_deinit(&store);
    unlink(path);
    return rmdir(directory);
}

static void write_file(const char *text, mode_t mode)
{
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(chmod(path, mode), 0);
}

static void test_without_a_path_nothing_is_read_or_saved(void **state)
{
    (void)state;
    host_store_open(&store, "", &file);
    assert_false(host_store_is_open(&store));
    host_store_save(&store, &file);
    assert_string_equal(log_lines, "");
}

static void test_a_saved_file_is_private_and_is_read(void **state)
{
    struct stat status;
    (void)state;
    host_store_open(&store, path, &file);
    assert_int_equal(file.count, 0);
    assert_string_equal(log_lines, ""); /* a missing file is not a fault */
    assert_int_equal(host_file_read(&file, span_of(good, strlen(good))), ERR_OK);
    host_store_save(&store, &file);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    host_store_deinit(&store);
    host_store_open(&store, path, &file);
    assert_int_equal(file.count, 1);
    assert_non_null(strstr(log_lines, "addresses of 1 names of upstreams read from "));
}

static void test_a_file_that_others_may_write_is_not_read(void **state)
{
    (void)state;
    write_file(good, 0666);
    host_store_open(&store, path, &file);
    assert_int_equal(file.count, 0);
    assert_non_null(strstr(log_lines, "it must belong to this user and have mode 0600"));
}

static void test_a_file_above_the_bound_is_not_read(void **state)
{
    static char large[HOST_FILE_BYTES_MAX + 2];
    (void)state;
    memset(large, 'a', sizeof(large) - 1);
    memcpy(large, good, strlen(good));
    write_file(large, 0600);
    host_store_open(&store, path, &file);
    assert_int_equal(file.count, 0);
    assert_non_null(strstr(log_lines, "is not used"));
}

static void test_another_version_is_not_read_but_replaced(void **state)
{
    (void)state;
    write_file("nailup hosts 2\nend\n", 0600);
    host_store_open(&store, path, &file);
    assert_non_null(strstr(log_lines, "it is damaged or of another version"));
    assert_true(host_store_is_open(&store));
}

static void test_a_file_of_another_kind_stays_as_it_is(void **state)
{
    (void)state;
    write_file("precious\n", 0600);
    host_store_open(&store, path, &file);
    assert_false(host_store_is_open(&store));
    assert_non_null(strstr(log_lines, "neither reads nor overwrites"));
    host_store_save(&store, &file);
    char text[16] = "";
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    assert_non_null(fgets(text, sizeof(text), in));
    fclose(in);
    assert_string_equal(text, "precious\n");
}

static void test_a_file_that_cannot_be_written_is_reported_once(void **state)
{
    (void)state;
    host_store_open(&store, path, &file);
    assert_int_equal(rmdir(directory), 0);
    host_store_save(&store, &file);
    host_store_save(&store, &file);
    const char *line = strstr(log_lines, "cannot write host-file");
    assert_non_null(line);
    assert_null(strstr(line + 1, "cannot write host-file"));
    assert_int_equal(mkdir(directory, 0700), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
        TEST(test_without_a_path_nothing_is_read_or_saved),
        TEST(test_a_saved_file_is_private_and_is_read),
        TEST(test_a_file_that_others_may_write_is_not_read),
        TEST(test_a_file_above_the_bound_is_not_read),
        TEST(test_another_version_is_not_read_but_replaced),
        TEST(test_a_file_of_another_kind_stays_as_it_is),
        TEST(test_a_file_that_cannot_be_written_is_reported_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
