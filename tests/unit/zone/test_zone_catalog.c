/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/zone/zone_make.h"

#include <stdlib.h>

#include "zone/zone_catalog.h"

#define START "@ 60 SOA . . 1 60 60 60 60\n@ 60 NS invalid.\n"
#define VERSION "version 60 TXT 2\n"

/* Returns the members as "node zone" in one line, or the fault. */
static const char *read_catalog(const char *text)
{
    static char out[4096];
    char name[NAME_TEXT_MAX];
    struct zone_catalog catalog;
    struct zone_data *data = zone_make("cat.example", text);
    const char *fault = zone_catalog_read(&catalog, data);
    size_t len = (size_t)snprintf(out, sizeof(out), "%s", fault ? fault : "");
    for (size_t i = 0; i < catalog.count; i++) {
        assert_null(fault);
        assert_true(name_is_below(catalog.members[i].node, zone_data_origin(data)));
        len += (size_t)snprintf(out + len, sizeof(out) - len, "%s ",
                                name_format(catalog.members[i].zone, name));
    }
    zone_catalog_deinit(&catalog);
    zone_data_unref(data);
    return out;
}

static void test_members_are_listed_in_the_order_of_their_nodes(void **state)
{
    (void)state;
    assert_string_equal(read_catalog(START VERSION "b.zones 60 PTR one.example.\n"
                                                   "a.zones 60 PTR two.example.\n"),
                        "two.example. one.example. ");
    assert_string_equal(read_catalog(START VERSION), "");
}

static void test_properties_and_other_records_are_ignored(void **state)
{
    (void)state;
    assert_string_equal(read_catalog(START VERSION "a.zones 60 PTR one.example.\n"
                                                   "a.zones 60 TXT other\n"
                                                   "group.a.zones 60 TXT fast\n"
                                                   "coo.a.zones 60 PTR old.example.\n"
                                                   "serial.ext.a.zones 60 PTR odd.example.\n"
                                                   "zones 60 PTR odd.example.\n"
                                                   "a.other 60 PTR odd.example.\n"
                                                   "@ 60 PTR odd.example.\n"),
                        "one.example. ");
}

static void test_a_catalog_needs_version_2(void **state)
{
    (void)state;
    static const char members[] = "a.zones 60 PTR one.example.\n";
    static const struct {
        const char *version, *fault;
    } rows[] = {
        {"", "it has no TXT record named version"},
        {"version 60 A 192.0.2.1\n", "it has no TXT record named version"},
        {"version 60 TXT 1\n", "its version is not 2"},
        {"version 60 TXT 22\n", "its version is not 2"},
        {"version 60 TXT \"\"\n", "its version is not 2"},
        {"version 60 TXT 2 2\n", "its version is not 2"},
        {"version 60 TXT 2\nversion 60 TXT 3\n", "it has several versions"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char text[512];
        snprintf(text, sizeof(text), "%s%s%s", START, rows[i].version, members);
        assert_string_equal(read_catalog(text), rows[i].fault);
    }
}

static void test_a_broken_list_is_refused(void **state)
{
    (void)state;
    assert_string_equal(read_catalog(START VERSION "a.zones 60 PTR one.example.\n"
                                                   "a.zones 60 PTR two.example.\n"),
                        "a node has several PTR records");
    assert_string_equal(read_catalog(START VERSION "a.zones 60 PTR one.example.\n"
                                                   "b.zones 60 PTR ONE.example.\n"),
                        "a zone is listed twice");
    assert_string_equal(read_catalog(START VERSION "a.zones 60 PTR one.example.\n"
                                                   "b.zones 60 PTR two.example.\n"
                                                   "c.zones 60 PTR three.example.\n"
                                                   "d.zones 60 PTR one.example.\n"),
                        "a zone is listed twice");
}

/* Reads a catalog with this many members. */
static const char *read_many(unsigned count)
{
    enum { ROW = 48 };
    struct zone_builder *builder = zone_builder_new(zone_make_name("cat.example"), 64 << 20);
    struct zone_file_fault fault;
    struct zone_data *data;
    struct zone_catalog catalog;
    char *text = malloc(sizeof(START VERSION) + (size_t)count * ROW);
    assert_non_null(text);
    size_t len = (size_t)sprintf(text, START VERSION);
    for (unsigned i = 0; i < count; i++)
        len += (size_t)snprintf(text + len, ROW, "n%u.zones 60 PTR z%u.\n", i, i);
    assert_int_equal(zone_file_read(builder, span_of(text, len), &fault), ERR_OK);
    assert_int_equal(zone_builder_finish(&builder, &data), ERR_OK);
    free(text);
    const char *said = zone_catalog_read(&catalog, data);
    assert_int_equal(catalog.count, said ? 0 : count);
    zone_catalog_deinit(&catalog);
    zone_data_unref(data);
    return said;
}

static void test_too_many_members_break_the_catalog(void **state)
{
    (void)state;
    assert_null(read_many(ZONE_CATALOG_MEMBERS_MAX));
    assert_string_equal(read_many(ZONE_CATALOG_MEMBERS_MAX + 1), "it lists too many zones");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_members_are_listed_in_the_order_of_their_nodes),
        cmocka_unit_test(test_properties_and_other_records_are_ignored),
        cmocka_unit_test(test_a_catalog_needs_version_2),
        cmocka_unit_test(test_a_broken_list_is_refused),
        cmocka_unit_test(test_too_many_members_break_the_catalog),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
