/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "rpz/rpz_choice.h"
#include "rpz/rpz_policy.h"
#include "unit/zone/zone_make.h"

static struct rpz_zone_options item(const char *name, const char *marked_as, bool is_default)
{
    static char none[] = "";
    struct rpz_zone_options options = {.log_name = none, .is_default = is_default};
    options.mark = rpz_choice_mark(zone_make_name(marked_as));
    options.name_len = name_copy(zone_make_name(name), options.wire).len;
    return options;
}

/* Zones a and b apply to all views, and c to chosen views. */
static struct rpz_choices three_choices(void)
{
    struct rpz_choices choices = {.count = 0};
    const struct rpz_zone_options a = item("a.", "a.", true), b = item("b.", "b.", true),
                                  c = item("c.", "c.", false);
    rpz_choices_add(&choices, &a);
    rpz_choices_add(&choices, &b);
    rpz_choices_add(&choices, &c);
    return choices;
}

static uint32_t choice_of(const struct rpz_choices *choices, const char *name)
{
    uint32_t bit;
    assert_true(rpz_choices_find(choices, zone_make_name(name), &bit));
    return bit;
}

static struct rpz_choice_map map_of(const struct rpz_choices *choices,
                                    const struct rpz_zone_options *zones, size_t count)
{
    struct rpz_policy_entry entries[RPZ_ZONES_MAX] = {{0}};
    struct rpz_choice_map map;
    for (size_t i = 0; i < count; i++)
        entries[i].options = &zones[i];
    struct rpz_policy *policy = rpz_policy_new(entries, count, false);
    assert_non_null(policy);
    rpz_choice_map_make(&map, choices, policy);
    rpz_policy_unref(policy);
    return map;
}

static void test_a_choice_finds_its_zones_at_any_place(void **state)
{
    (void)state;
    struct rpz_choices choices = three_choices();
    const struct rpz_zone_options zones[] = {item("c.", "c.", false), item("b.", "b.", true),
                                             item("a.", "a.", true)};
    struct rpz_choice_map map = map_of(&choices, zones, 3);
    assert_int_equal(rpz_choice_except(&map, choices.usual), 1);
    assert_int_equal(rpz_choice_except(&map, choice_of(&choices, "c.")), 6);
    assert_int_equal(rpz_choice_except(&map, choice_of(&choices, "a.") | choice_of(&choices, "c.")),
                     2);
    assert_int_equal(rpz_choice_except(&map, 0), 7);
}

static void test_members_of_a_catalog_follow_it(void **state)
{
    (void)state;
    struct rpz_choices choices = three_choices();
    const struct rpz_zone_options zones[] = {item("a.", "a.", true), item("c.", "c.", false),
                                             item("member.", "c.", false)};
    struct rpz_choice_map map = map_of(&choices, zones, 3);
    assert_int_equal(rpz_choice_except(&map, choices.usual), 6);
    assert_int_equal(rpz_choice_except(&map, choice_of(&choices, "c.")), 1);
}

static void test_equal_choices_exclude_nothing(void **state)
{
    (void)state;
    struct rpz_choices choices = {.count = 0};
    const struct rpz_zone_options a = item("a.", "a.", true);
    rpz_choices_add(&choices, &a);
    struct rpz_choice_map map = map_of(&choices, &a, 1);
    assert_false(map.differ);
    assert_int_equal(rpz_choice_except(&map, choices.usual), 0);
}

/* During a reload, a worker may have the policy from before it or from after it. */
static void test_a_zone_for_chosen_views_never_applies_to_others_during_a_reload(void **state)
{
    (void)state;
    struct rpz_choices choices = {.count = 0};
    const struct rpz_zone_options zones[] = {item("a.", "a.", true), item("old.", "old.", false),
                                             item("new.", "new.", true)};
    rpz_choices_add(&choices, &zones[0]);
    struct rpz_choice_map map = map_of(&choices, zones, 3);
    assert_int_equal(rpz_choice_except(&map, choices.usual), 2);
    assert_int_equal(rpz_choice_except(&map, 0), 7);
}

static void test_every_place_can_be_chosen(void **state)
{
    (void)state;
    struct rpz_choices choices = {.count = 0};
    struct rpz_zone_options zones[RPZ_ZONES_MAX];
    for (size_t i = 0; i < RPZ_ZONES_MAX; i++) {
        char name[8] = {(char)('a' + i / 16), (char)('a' + i % 16), '.', '\0'};
        zones[i] = item(name, name, i % 2);
        rpz_choices_add(&choices, &zones[i]);
    }
    struct rpz_choice_map map = map_of(&choices, zones, RPZ_ZONES_MAX);
    for (size_t i = 0; i < RPZ_ZONES_MAX; i++)
        assert_int_equal(rpz_choice_except(&map, UINT32_C(1) << i), ~(UINT32_C(1) << i));
    assert_int_equal(rpz_choice_except(&map, choices.usual), 0x55555555);
    uint32_t bit;
    assert_false(rpz_choices_find(&choices, zone_make_name("zz."), &bit));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_choice_finds_its_zones_at_any_place),
        cmocka_unit_test(test_members_of_a_catalog_follow_it),
        cmocka_unit_test(test_equal_choices_exclude_nothing),
        cmocka_unit_test(test_a_zone_for_chosen_views_never_applies_to_others_during_a_reload),
        cmocka_unit_test(test_every_place_can_be_chosen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
