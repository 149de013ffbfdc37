/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/zone/zone_make.h"

#include "zone/zone_set.h"

static struct zone_held held(const char *name)
{
    struct zone_held zone = {.use = ZONE_FOR_BOTH};
    zone.name_len = name_fold(zone_make_name(name), zone.wire).len;
    return zone;
}

static struct zone_set *set_of(const char *const *names, size_t count)
{
    struct zone_held zones[8];
    for (size_t i = 0; i < count; i++)
        zones[i] = held(names[i]);
    struct zone_set *set = zone_set_new(zones, count);
    assert_non_null(set);
    return set;
}

static void assert_finds(const struct zone_set *set, const char *name, uint16_t type,
                         const char *expected)
{
    const struct zone_held *zone = zone_set_find(set, zone_make_name(name), type);
    if (!expected)
        assert_null(zone);
    else if (!zone || !name_equal(zone_held_name(zone), zone_make_name(expected)))
        fail_msg("%s is not in %s", name, expected);
}

static void test_the_longest_name_decides(void **state)
{
    (void)state;
    static const char *const names[] = {"sub.corp.example", "corp.example", "a.corp.example",
                                        "other"};
    struct zone_set *set = set_of(names, 4);
    assert_finds(set, "corp.example", RRTYPE_A, "corp.example");
    assert_finds(set, "WWW.Corp.Example", RRTYPE_A, "corp.example");
    assert_finds(set, "x.y.sub.corp.example", RRTYPE_A, "sub.corp.example");
    assert_finds(set, "b.corp.example", RRTYPE_A, "corp.example");
    assert_finds(set, "zz.corp.example", RRTYPE_A, "corp.example");
    assert_finds(set, "example", RRTYPE_A, NULL);
    assert_finds(set, "xcorp.example", RRTYPE_A, NULL);
    assert_finds(set, "zone", RRTYPE_A, NULL);
    assert_finds(set, ".", RRTYPE_A, NULL);
    zone_set_unref(set);
}

static void test_the_longest_zone_says_whether_it_is_for_clients(void **state)
{
    (void)state;
    struct zone_held zones[2] = {held("corp.example"), held("up.corp.example")};
    zones[1].use = ZONE_FOR_UPSTREAM;
    struct zone_set *set = zone_set_new(zones, 2);
    assert_non_null(set);
    assert_true(zone_set_is_for_clients(set, zone_make_name("www.corp.example")));
    assert_false(zone_set_is_for_clients(set, zone_make_name("www.up.corp.example")));
    assert_false(zone_set_is_for_clients(set, zone_make_name("example")));
    assert_false(zone_set_is_for_clients(NULL, zone_make_name("corp.example")));
    zone_set_unref(set);
}

static void test_a_root_zone_has_all_other_names(void **state)
{
    (void)state;
    static const char *const names[] = {".", "corp.example"};
    struct zone_set *set = set_of(names, 2);
    assert_finds(set, "www.example", RRTYPE_A, ".");
    assert_finds(set, ".", RRTYPE_NS, ".");
    assert_finds(set, "www.corp.example", RRTYPE_A, "corp.example");
    zone_set_unref(set);
}

static void test_a_ds_record_is_in_the_zone_above(void **state)
{
    (void)state;
    static const char *const names[] = {"corp.example", "sub.corp.example"};
    struct zone_set *set = set_of(names, 2);
    assert_finds(set, "sub.corp.example", RRTYPE_DS, "corp.example");
    assert_finds(set, "x.sub.corp.example", RRTYPE_DS, "sub.corp.example");
    assert_finds(set, "corp.example", RRTYPE_DS, NULL);
    zone_set_unref(set);
}

static void test_a_zone_is_found_by_its_name_alone(void **state)
{
    (void)state;
    static const char *const names[] = {"corp.example"};
    struct zone_set *set = set_of(names, 1);
    assert_non_null(zone_set_find_exact(set, zone_make_name("CORP.example")));
    assert_null(zone_set_find_exact(set, zone_make_name("www.corp.example")));
    assert_null(zone_set_find_exact(set, zone_make_name("example")));
    zone_set_unref(set);
}

static void test_a_set_keeps_its_versions(void **state)
{
    (void)state;
    struct zone_held zone = held("n");
    zone.data = zone_make("n", "@ 1 SOA . . 9 2 3 4 5\n");
    struct zone_set *set = zone_set_new(&zone, 1);
    zone_data_unref(zone.data);
    zone_set_unref(zone_set_ref(set));
    const struct zone_held *found = zone_set_find_exact(set, zone_make_name("n"));
    assert_int_equal(zone_data_soa(found->data)->serial, 9);
    zone_set_unref(set);
    zone_set_unref(NULL);
    assert_null(zone_set_ref(NULL));
}

static void test_an_empty_set_has_no_zone(void **state)
{
    (void)state;
    struct zone_set *set = zone_set_new(NULL, 0);
    assert_null(zone_set_find(set, zone_make_name("n"), RRTYPE_A));
    assert_null(zone_set_find_exact(set, zone_make_name("n")));
    zone_set_unref(set);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_longest_name_decides),
        cmocka_unit_test(test_the_longest_zone_says_whether_it_is_for_clients),
        cmocka_unit_test(test_a_root_zone_has_all_other_names),
        cmocka_unit_test(test_a_ds_record_is_in_the_zone_above),
        cmocka_unit_test(test_a_zone_is_found_by_its_name_alone),
        cmocka_unit_test(test_a_set_keeps_its_versions),
        cmocka_unit_test(test_an_empty_set_has_no_zone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
