/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* A private file is always replaced as a whole. */
#include "base/private_file.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64], path[80], beside[88];

static int set_up(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/nailup-test-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/file", folder);
    snprintf(beside, sizeof(beside), "%s.new", path);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(path);
    unlink(beside);
    return rmdir(folder);
}

static void write_file(const char *text)
{
    struct private_file file;
    assert_int_equal(private_file_begin(&file, path), ERR_OK);
    assert_int_equal(private_file_write(&file, span_of(text, strlen(text))), ERR_OK);
    assert_int_equal(private_file_finish(&file), ERR_OK);
}

static void expect_text(const char *text)
{
    char found[64];
    int fd;
    assert_int_equal(private_file_open(&fd, path), ERR_OK);
    ssize_t len = read(fd, found, sizeof(found));
    assert_int_equal(len, strlen(text));
    assert_memory_equal(found, text, strlen(text));
    close(fd);
}

static void test_a_file_is_replaced_as_a_whole(void **state)
{
    (void)state;
    struct private_file file;
    write_file("the old one");
    assert_int_equal(private_file_begin(&file, path), ERR_OK);
    assert_int_equal(private_file_write(&file, span_of("the n", 5)), ERR_OK);
    expect_text("the old one");
    assert_int_equal(private_file_write(&file, span_of("ew one", 6)), ERR_OK);
    assert_int_equal(private_file_finish(&file), ERR_OK);
    expect_text("the new one");
    assert_int_equal(access(beside, F_OK), -1);
}

static void test_an_abandoned_file_leaves_the_old_one(void **state)
{
    (void)state;
    struct private_file file;
    write_file("the old one");
    assert_int_equal(private_file_begin(&file, path), ERR_OK);
    private_file_abandon(&file);
    expect_text("the old one");
    assert_int_equal(access(beside, F_OK), -1);
}

static void test_a_leftover_or_link_beside_the_file_is_not_followed(void **state)
{
    (void)state;
    char other[80];
    snprintf(other, sizeof(other), "%s/other", folder);
    assert_int_equal(symlink(other, beside), 0);
    write_file("mine");
    expect_text("mine");
    assert_int_equal(access(other, F_OK), -1);
}

static void test_only_a_regular_file_of_our_own_is_read(void **state)
{
    (void)state;
    int fd;
    assert_int_equal(private_file_open(&fd, path), ERR_NOT_FOUND);
    assert_int_equal(private_file_open(&fd, folder), ERR_INVALID);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(private_file_open(&fd, path), ERR_INVALID);
    unlink(path);
    mode_t umask_before = umask(0);
    write_file("x");
    umask(umask_before);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(private_file_open(&fd, path), ERR_PERMISSION);
}

static void put_plain(const char *text, mode_t mode)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    fclose(file);
    assert_int_equal(chmod(path, mode), 0);
}

static void test_a_file_with_other_content_is_foreign(void **state)
{
    (void)state;
    struct span magic = span_of("ours\n", 5);
    assert_false(private_file_is_foreign(path, magic));
    put_plain("", 0644);
    assert_false(private_file_is_foreign(path, magic));
    put_plain("ours\nof another version", 0600);
    assert_false(private_file_is_foreign(path, magic));
    put_plain("our", 0600);
    assert_true(private_file_is_foreign(path, magic));
    put_plain("letters of a friend", 0600);
    assert_true(private_file_is_foreign(path, magic));
    assert_int_equal(rename(path, beside), 0);
    assert_int_equal(symlink(beside, path), 0);
    assert_false(private_file_is_foreign(path, magic));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_true(private_file_is_foreign(path, magic));
    assert_true(private_file_is_foreign("/dev/null", magic));
}

static void test_a_missing_folder_is_reported(void **state)
{
    (void)state;
    struct private_file file;
    assert_int_equal(private_file_begin(&file, "/nonexistent/file"), ERR_NOT_FOUND);
}

#define SENTENCE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SENTENCE(test_a_file_is_replaced_as_a_whole),
        SENTENCE(test_an_abandoned_file_leaves_the_old_one),
        SENTENCE(test_a_leftover_or_link_beside_the_file_is_not_followed),
        SENTENCE(test_only_a_regular_file_of_our_own_is_read),
        SENTENCE(test_a_file_with_other_content_is_foreign),
        SENTENCE(test_a_missing_folder_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
