/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

#include "control/local_socket.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64], path[80], why[256];
static struct local_place place = {.path = path, .mode = 0660, .uid = (uid_t)-1, .gid = (gid_t)-1};

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/nailup-test-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/socket", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static enum err open_at(struct local_socket *out)
{
    return local_socket_open(out, &place, why, sizeof(why));
}

static void test_the_file_has_its_mode_whatever_the_umask(void **state)
{
    struct local_socket local;
    struct stat found;

    (void)state;
    for (mode_t mask = 0; mask <= 0777; mask += 0777) {
        mode_t before = umask(mask);
        assert_int_equal(open_at(&local), ERR_OK);
        umask(before);
        assert_int_equal(stat(path, &found), 0);
        assert_int_equal(found.st_mode & 07777, 0660);
        local_socket_close(&local);
    }
}

static void test_closing_removes_the_file_once(void **state)
{
    struct local_socket local;

    (void)state;
    assert_int_equal(open_at(&local), ERR_OK);
    local_socket_close(&local);
    assert_int_equal(access(path, F_OK), -1);
    local_socket_close(&local);
}

static void test_the_file_of_a_dead_socket_is_replaced(void **state)
{
    struct local_socket dead, local;

    (void)state;
    assert_int_equal(open_at(&dead), ERR_OK);
    close(dead.fd); /* a killed process leaves its file in the same way */
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(open_at(&local), ERR_OK);
    local_socket_close(&local);
}

static void test_the_file_of_a_living_socket_is_left_alone(void **state)
{
    struct local_socket living, local;

    (void)state;
    assert_int_equal(open_at(&living), ERR_OK);
    assert_int_equal(open_at(&local), ERR_ADDRESS_IN_USE);
    assert_non_null(strstr(why, path));
    local_socket_close(&local);
    assert_int_equal(access(path, F_OK), 0);
    local_socket_close(&living);
}

static void test_a_file_of_another_kind_is_left_alone(void **state)
{
    struct local_socket local;
    int fd = open(path, O_CREAT | O_WRONLY, 0600);

    (void)state;
    assert_int_equal(write(fd, "x", 1), 1);
    close(fd);
    assert_int_equal(open_at(&local), ERR_INVALID);
    assert_non_null(strstr(why, "not a socket"));
    local_socket_close(&local);
    assert_int_equal(access(path, F_OK), 0);
}

static void test_a_symbolic_link_is_not_followed(void **state)
{
    struct local_socket local;

    (void)state;
    assert_int_equal(symlink("/dev/null", path), 0);
    assert_int_equal(open_at(&local), ERR_INVALID);
}

static void test_a_file_that_took_its_place_is_not_removed(void **state)
{
    struct local_socket first, second;

    (void)state;
    assert_int_equal(open_at(&first), ERR_OK);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(open_at(&second), ERR_OK);
    local_socket_close(&first);
    assert_int_equal(access(path, F_OK), 0);
    local_socket_close(&second);
}

static void test_a_path_that_is_too_long_is_refused(void **state)
{
    struct local_socket local;
    char text[300];

    (void)state;
    memset(text, 'x', sizeof(text) - 1);
    text[0] = '/';
    text[sizeof(text) - 1] = '\0';
    assert_int_equal(local_socket_open(&local, &(struct local_place){.path = text, .mode = 0660},
                                       why, sizeof(why)),
                     ERR_TOO_LARGE);
    assert_non_null(strstr(why, "too long"));
}

static void test_the_file_gets_its_owner_and_group(void **state)
{
    struct local_socket local;
    struct stat found;
    struct local_place given = place;
    bool is_root = geteuid() == 0;

    (void)state;
    given.mode = 0600;
    given.uid = is_root ? 12345 : geteuid();
    given.gid = is_root ? 23456 : getegid();
    assert_int_equal(local_socket_open(&local, &given, why, sizeof(why)), ERR_OK);
    assert_int_equal(stat(path, &found), 0);
    assert_int_equal(found.st_uid, given.uid);
    assert_int_equal(found.st_gid, given.gid);
    assert_int_equal(found.st_mode & 07777, 0600);
    local_socket_close(&local);
}

static void test_a_file_for_another_owner_needs_privileges(void **state)
{
    struct local_socket local;
    struct local_place given = place;

    (void)state;
    if (geteuid() == 0)
        skip();
    given.uid = 0;
    assert_int_equal(local_socket_open(&local, &given, why, sizeof(why)), ERR_PERMISSION);
    assert_non_null(strstr(why, "control.owner"));
    assert_int_equal(access(path, F_OK), -1);
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(test_the_file_has_its_mode_whatever_the_umask),
        WITH_FOLDER(test_closing_removes_the_file_once),
        WITH_FOLDER(test_the_file_of_a_dead_socket_is_replaced),
        WITH_FOLDER(test_the_file_of_a_living_socket_is_left_alone),
        WITH_FOLDER(test_a_file_of_another_kind_is_left_alone),
        WITH_FOLDER(test_a_symbolic_link_is_not_followed),
        WITH_FOLDER(test_a_file_that_took_its_place_is_not_removed),
        WITH_FOLDER(test_the_file_gets_its_owner_and_group),
        WITH_FOLDER(test_a_file_for_another_owner_needs_privileges),
        WITH_FOLDER(test_a_path_that_is_too_long_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
