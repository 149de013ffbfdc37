/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/zone/zone_make.h"

#include "daemon/zone_trust.h"
#include "resolve/route_options.h"
#include "validate/anchors.h"

static const uint8_t one_ds[] = "\x12\x34\x08\x02"
                                "0123456789abcdef0123456789abcdef";
static const uint8_t other_ds[] = "\x43\x21\x08\x02"
                                  "0123456789abcdef0123456789abcdef";

static struct zone_trust *trust_in(const char *zone, const uint8_t *ds, enum validate_mode mode,
                                   const struct view_set *views)
{
    struct anchors *anchors = anchors_new();
    assert_non_null(anchors);
    if (zone)
        assert_int_equal(
            anchors_add(anchors, zone_make_name(zone), RRTYPE_DS, span_of(ds, sizeof(one_ds) - 1)),
            ERR_OK);
    struct route_options options = {
        .validation = {.mode = mode, .clock_min_s = 1000, .anchors = anchors}, .views = views};
    struct zone_trust *trust = zone_trust_new(&options);
    anchors_free(anchors); /* the copy does not depend on the original */
    assert_non_null(trust);
    return trust;
}

static struct zone_trust *trust_of(const char *zone, const uint8_t *ds, enum validate_mode mode)
{
    return trust_in(zone, ds, mode, NULL);
}

static void test_rules_are_those_of_the_options_at_this_time(void **state)
{
    (void)state;
    struct zone_trust *trust = trust_of("a.test", one_ds, VALIDATE_YES);
    const struct apex_rules *rules = zone_trust_rules(trust, 2000);
    assert_int_equal(rules->clock.now_s, 2000);
    assert_false(rules->clock.is_behind);
    assert_non_null(anchors_find(rules->anchors, zone_make_name("a.test")));
    assert_true(zone_trust_rules(trust, 999)->clock.is_behind);
    zone_trust_free(trust);
}

static void test_nothing_is_judged_unless_answers_are_validated(void **state)
{
    (void)state;
    struct zone_trust *trust = trust_of("a.test", one_ds, VALIDATE_LOG);
    assert_null(zone_trust_rules(trust, 2000));
    zone_trust_free(trust);
    trust = trust_of("a.test", one_ds, VALIDATE_NO);
    assert_null(zone_trust_rules(trust, 2000));
    zone_trust_free(trust);
    assert_null(zone_trust_rules(NULL, 2000));
}

static void test_a_view_that_validates_is_enough_to_judge(void **state)
{
    (void)state;
    struct space_options spaces[] = {{.mode = VALIDATE_LOG}, {.mode = VALIDATE_YES}};
    const struct view_set logs = {.spaces = spaces, .space_count = 1};
    const struct view_set validates = {.spaces = spaces, .space_count = 2};
    struct zone_trust *trust = trust_in("a.test", one_ds, VALIDATE_NO, &logs);
    assert_null(zone_trust_rules(trust, 2000));
    zone_trust_free(trust);
    trust = trust_in("a.test", one_ds, VALIDATE_NO, &validates);
    assert_non_null(zone_trust_rules(trust, 2000));
    zone_trust_free(trust);
}

static void test_only_anchors_of_the_zone_itself_make_a_difference(void **state)
{
    (void)state;
    struct name zone = zone_make_name("a.test");
    struct zone_trust *one = trust_of("a.test", one_ds, VALIDATE_YES);
    struct zone_trust *same = trust_of("A.test", one_ds, VALIDATE_YES);
    struct zone_trust *other = trust_of("a.test", other_ds, VALIDATE_YES);
    struct zone_trust *above = trust_of("test", one_ds, VALIDATE_YES);
    struct zone_trust *none = trust_of(NULL, NULL, VALIDATE_YES);
    assert_false(zone_trust_differs(one, same, zone));
    assert_true(zone_trust_differs(one, other, zone));
    assert_true(zone_trust_differs(one, above, zone));
    assert_true(zone_trust_differs(NULL, one, zone));
    assert_false(zone_trust_differs(above, none, zone));
    assert_false(zone_trust_differs(NULL, none, zone));
    zone_trust_free(one);
    zone_trust_free(same);
    zone_trust_free(other);
    zone_trust_free(above);
    zone_trust_free(none);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules_are_those_of_the_options_at_this_time),
        cmocka_unit_test(test_nothing_is_judged_unless_answers_are_validated),
        cmocka_unit_test(test_a_view_that_validates_is_enough_to_judge),
        cmocka_unit_test(test_only_anchors_of_the_zone_itself_make_a_difference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
