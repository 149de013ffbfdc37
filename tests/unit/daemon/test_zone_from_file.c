/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/zone/zone_make.h"

#include <stdlib.h>
#include <unistd.h>

#include "daemon/zone_from_file.h"

#define SOA "@ 60 SOA . . 7 2 3 4 5\n"

static char path[] = "/tmp/nailup-zone-XXXXXX";

static void write_zone(const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int begin(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int end(void **state)
{
    (void)state;
    return unlink(path);
}

static void test_a_zone_is_read(void **state)
{
    (void)state;
    struct zone_data *data;
    char why[ZONE_FROM_FILE_WHY_MAX];
    write_zone(SOA "a A 192.0.2.1\n");
    assert_int_equal(zone_from_file(path, zone_make_name("n"), 1 << 20,
                                    &(struct zone_checks){.zonemd = ZONEMD_CHECK}, &data, why),
                     ERR_OK);
    assert_int_equal(zone_data_records(data), 2);
    zone_data_unref(data);
}

static void assert_refused(const char *text, size_t max_bytes, enum zonemd_mode zonemd,
                           const char *sentence)
{
    struct zone_data *data;
    char why[ZONE_FROM_FILE_WHY_MAX], expected[ZONE_FROM_FILE_WHY_MAX];
    write_zone(text);
    assert_int_not_equal(zone_from_file(path, zone_make_name("n"), max_bytes,
                                        &(struct zone_checks){.zonemd = zonemd}, &data, why),
                         ERR_OK);
    assert_null(data);
    snprintf(expected, sizeof(expected), "%s%s", path, sentence);
    assert_string_equal(why, expected);
}

static void test_sentences_name_file_and_line(void **state)
{
    (void)state;
    assert_refused(SOA "a BOGUS x\n", 1 << 20, ZONEMD_CHECK,
                   ":2: \"BOGUS\" is not a type, and IN is the only class that is served");
    assert_refused(SOA "a A 192.0.2\n", 1 << 20, ZONEMD_CHECK, ":2: the data do not fit the type");
    assert_refused("a 60 A 192.0.2.1\n", 1 << 20, ZONEMD_CHECK,
                   ": the zone needs exactly one SOA record at its origin");
    assert_refused(SOA, 30, ZONEMD_CHECK, ":1: the zone exceeds its bound");
    assert_refused(SOA, 1 << 20, ZONEMD_REQUIRE, ": the zone has no ZONEMD record");
    assert_refused(SOA "@ ZONEMD 7 9 1 00112233\n", 1 << 20, ZONEMD_REQUIRE,
                   ": the zone has no ZONEMD record of a known scheme and algorithm");
    assert_refused(SOA "@ ZONEMD 7 1 1 00112233\n", 1 << 20, ZONEMD_CHECK,
                   ": the zone does not match the digest of its ZONEMD record");
}

static void test_a_missing_file_is_named(void **state)
{
    (void)state;
    struct zone_data *data;
    char why[ZONE_FROM_FILE_WHY_MAX];
    assert_int_not_equal(zone_from_file("/nonexistent/z", zone_make_name("n"), 100,
                                        &(struct zone_checks){.zonemd = ZONEMD_CHECK}, &data, why),
                         ERR_OK);
    assert_non_null(strstr(why, "/nonexistent/z"));
}

static void test_a_digest_may_be_ignored(void **state)
{
    (void)state;
    struct zone_data *data;
    char why[ZONE_FROM_FILE_WHY_MAX];
    write_zone(SOA "@ ZONEMD 7 1 1 00112233\n");
    assert_int_equal(zone_from_file(path, zone_make_name("n"), 1 << 20,
                                    &(struct zone_checks){.zonemd = ZONEMD_IGNORE}, &data, why),
                     ERR_OK);
    zone_data_unref(data);
}

static void test_stamps_tell_contents_apart(void **state)
{
    (void)state;
    struct zone_file_stamp before, after;
    write_zone(SOA);
    assert_true(zone_from_file_stamp(path, &before));
    assert_true(zone_from_file_stamp(path, &after));
    assert_true(zone_from_file_is_same(&before, &after));
    write_zone(SOA SOA);
    assert_true(zone_from_file_stamp(path, &after));
    assert_false(zone_from_file_is_same(&before, &after));
    assert_false(zone_from_file_stamp("/nonexistent/z", &after));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_zone_is_read),
        cmocka_unit_test(test_sentences_name_file_and_line),
        cmocka_unit_test(test_a_missing_file_is_named),
        cmocka_unit_test(test_a_digest_may_be_ignored),
        cmocka_unit_test(test_stamps_tell_contents_apart),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
