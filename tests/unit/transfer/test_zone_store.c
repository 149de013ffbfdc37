/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Real files in a folder of the test. */
#include "unit/transfer/zone_sample.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "transfer/zone_store.h"

static char folder[] = "/tmp/nailup_zone_store_XXXXXX";
static char path[ZONE_STORE_PATH_MAX];

static int folder_make(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return 1;
    return zone_store_path(path, folder, NAME("example.com")) != ERR_OK;
}

static int folder_remove(void **state)
{
    (void)state;
    (void)unlink(path);
    return rmdir(folder);
}

static void test_names_of_zones_become_names_of_files(void **state)
{
    (void)state;
    static const struct {
        const char *zone, *file;
    } rows[] = {
        {".", "f/%root.zone"},
        {"root", "f/root.zone"},
        {"Example.COM", "f/example.com.zone"},
        {"_tcp.a-b.test", "f/_tcp.a-b.test.zone"},
        {"0/25.2.0.192.in-addr.arpa", "f/0%2f25.2.0.192.in-addr.arpa.zone"},
        {"\\046\\046.test", "f/%2e%2e.test.zone"},
        {"a\\000b.test", "f/a%00b.test.zone"},
    };
    char out[ZONE_STORE_PATH_MAX];
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        assert_int_equal(zone_store_path(out, "f", NAME(rows[i].zone)), ERR_OK);
        assert_string_equal(out, rows[i].file);
    }
}

static void test_long_names_have_files_of_their_own(void **state)
{
    (void)state;
    uint8_t wire[NAME_WIRE_MAX];
    char first[ZONE_STORE_PATH_MAX], second[ZONE_STORE_PATH_MAX];
    for (size_t at = 0; at < 254; at += 2) {
        wire[at] = 1;
        wire[at + 1] = '/';
    }
    wire[254] = 0;
    assert_int_equal(zone_store_path(first, "f", (struct name){wire, 255}), ERR_OK);
    wire[253] = '+';
    assert_int_equal(zone_store_path(second, "f", (struct name){wire, 255}), ERR_OK);
    assert_true(strlen(first) < 255);
    assert_string_not_equal(first, second);
    static char long_folder[ZONE_STORE_PATH_MAX];
    memset(long_folder, 'f', sizeof(long_folder) - 1);
    assert_int_equal(zone_store_path(first, long_folder, NAME("a")), ERR_TOO_LARGE);
}

static enum err load(struct zone_data **out, int64_t *confirmed_at_s)
{
    return zone_store_load(path, NAME("example.com"), ZONE_SAMPLE_BYTES, out, confirmed_at_s);
}

static void test_a_version_comes_back_with_its_age(void **state)
{
    (void)state;
    struct zone_data *zone = zone_sample(NAME("example.com"), 7, 100), *back;
    int64_t confirmed_at_s;
    const struct timespec times[2] = {{.tv_sec = 1000000}, {.tv_sec = 1000000}};
    assert_int_equal(load(&back, &confirmed_at_s), ERR_NOT_FOUND);
    assert_int_equal(zone_store_confirm(path), ERR_NOT_FOUND);
    assert_int_equal(zone_store_save(path, zone), ERR_OK);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    assert_int_equal(load(&back, &confirmed_at_s), ERR_OK);
    assert_same_zone(zone, back);
    assert_int_equal(confirmed_at_s, 1000000);
    zone_data_unref(back);
    assert_int_equal(zone_store_confirm(path), ERR_OK);
    assert_int_equal(load(&back, &confirmed_at_s), ERR_OK);
    assert_true(time(NULL) - confirmed_at_s < 1000);
    zone_data_unref(back);
    zone_data_unref(zone);
}

/* A crash leaves part of the new file beside the old file. */
static void test_a_crash_leaves_the_old_version(void **state)
{
    (void)state;
    struct zone_data *old = zone_sample(NAME("example.com"), 7, 10);
    struct zone_data *new = zone_sample(NAME("example.com"), 8, 10), *back;
    char beside[ZONE_STORE_PATH_MAX + 8];
    int64_t at;
    assert_int_equal(zone_store_save(path, old), ERR_OK);
    snprintf(beside, sizeof(beside), "%s.new", path);
    int fd = open(beside, O_WRONLY | O_CREAT, 0600);
    assert_int_equal(write(fd, "nailup zone 1\nxxx", 17), 17);
    close(fd);
    assert_int_equal(load(&back, &at), ERR_OK);
    assert_int_equal(zone_data_soa(back)->serial, 7);
    zone_data_unref(back);
    assert_int_equal(zone_store_save(path, new), ERR_OK);
    assert_int_equal(load(&back, &at), ERR_OK);
    assert_int_equal(zone_data_soa(back)->serial, 8);
    zone_data_unref(back);
    zone_data_unref(old);
    zone_data_unref(new);
}

static void test_files_of_others_stay(void **state)
{
    (void)state;
    struct zone_data *zone = zone_sample(NAME("example.com"), 7, 1), *back;
    int64_t at;
    (void)unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    assert_int_equal(write(fd, "$ORIGIN example.com.\n", 21), 21);
    close(fd);
    assert_int_equal(zone_store_save(path, zone), ERR_FOREIGN);
    assert_int_equal(load(&back, &at), ERR_FOREIGN);
    (void)unlink(path);
    assert_int_equal(zone_store_save(path, zone), ERR_OK);
    assert_int_equal(chmod(path, 0644), 0);
    assert_int_equal(load(&back, &at), ERR_PERMISSION);
    zone_data_unref(zone);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_of_zones_become_names_of_files),
        cmocka_unit_test(test_long_names_have_files_of_their_own),
        cmocka_unit_test(test_a_version_comes_back_with_its_age),
        cmocka_unit_test(test_a_crash_leaves_the_old_version),
        cmocka_unit_test(test_files_of_others_stay),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
