/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/resolve/fake_upstreams.h"
#include "unit/resolve/sample.h"

#include "resolve/strategy_forward.h"

static uintptr_t found(const struct routes *routes, const char *name, uint16_t type)
{
    const struct zone *zone = route_find(routes, NAME(name), type);
    return zone ? (uintptr_t)zone->group[0] : 0;
}

static void test_the_longest_suffix_wins(void **state)
{
    (void)state;
    struct zone_set set;
    struct routes *routes =
        routes_new(ZONES(&set, ".", "example", "corp.example", "a.b.corp.example"), NULL,
                   &(struct route_strategies){.forward = &forward_strategy});
    assert_int_equal(found(routes, "www.com", RRTYPE_A), 1000);
    assert_int_equal(found(routes, ".", RRTYPE_NS), 1000);
    assert_int_equal(found(routes, "example", RRTYPE_A), 1001);
    assert_int_equal(found(routes, "xcorp.example", RRTYPE_A), 1001);
    assert_int_equal(found(routes, "corp.example", RRTYPE_A), 1002);
    assert_int_equal(found(routes, "b.corp.example", RRTYPE_A), 1002);
    assert_int_equal(found(routes, "x.a.b.corp.example", RRTYPE_A), 1003);
    routes_free(routes);
}

static void test_a_name_without_a_matching_zone_has_no_route(void **state)
{
    (void)state;
    struct zone_set set;
    struct routes *routes = routes_new(ZONES(&set, "example"), NULL,
                                       &(struct route_strategies){.forward = &forward_strategy});
    assert_int_equal(found(routes, "com", RRTYPE_A), 0);
    assert_int_equal(found(routes, ".", RRTYPE_A), 0);
    assert_int_equal(found(routes, "notexample", RRTYPE_A), 0);
    assert_int_equal(found(routes, "a.example", RRTYPE_A), 1000);
    routes_free(routes);
    struct route_options none = {0};
    routes = routes_new(&none, NULL, &(struct route_strategies){.forward = &forward_strategy});
    assert_int_equal(found(routes, "a.example", RRTYPE_A), 0);
    routes_free(routes);
}

static void test_a_ds_record_is_asked_of_the_parent_zone(void **state)
{
    (void)state;
    struct zone_set set;
    struct routes *routes = routes_new(ZONES(&set, ".", "corp.example"), NULL,
                                       &(struct route_strategies){.forward = &forward_strategy});
    assert_int_equal(found(routes, "corp.example", RRTYPE_DS), 1000);
    assert_int_equal(found(routes, "x.corp.example", RRTYPE_DS), 1001);
    assert_int_equal(found(routes, ".", RRTYPE_DS), 1000);
    routes_free(routes);
    routes = routes_new(ZONES(&set, "corp.example"), NULL,
                        &(struct route_strategies){.forward = &forward_strategy});
    assert_int_equal(found(routes, "corp.example", RRTYPE_DS), 1000);
    routes_free(routes);
}

static void test_a_zone_owns_no_name_of_an_inner_zone(void **state)
{
    (void)state;
    struct zone_set set;
    struct routes *routes = routes_new(ZONES(&set, "example", "corp.example"), NULL,
                                       &(struct route_strategies){.forward = &forward_strategy});
    const struct zone *outer = route_find(routes, NAME("example"), RRTYPE_A);
    const struct zone *inner = route_find(routes, NAME("corp.example"), RRTYPE_A);
    assert_true(outer->has_inner);
    assert_false(inner->has_inner);
    assert_true(route_owns(outer, NAME("WWW.Example")));
    assert_false(route_owns(outer, NAME("www.CORP.example")));
    assert_false(route_owns(outer, NAME("com")));
    assert_true(route_owns(inner, NAME("www.CORP.example")));
    assert_false(route_owns(inner, NAME("example")));
    routes_free(routes);
}

static void test_the_first_of_two_equal_zones_counts(void **state)
{
    (void)state;
    struct zone_set set;
    struct routes *routes = routes_new(ZONES(&set, "example", "example", ".", "."), NULL,
                                       &(struct route_strategies){.forward = &forward_strategy});
    assert_int_equal(found(routes, "a.example", RRTYPE_A), 1000);
    assert_int_equal(found(routes, "a", RRTYPE_A), 1002);
    routes_free(routes);
}

static void test_routes_want_every_upstream_including_prewarmed_ones(void **state)
{
    (void)state;
    struct zone_set set;
    struct route_options options = *ZONES(&set, ".", "example");
    options.prewarmed = set.upstreams;
    options.prewarmed_count = 2;
    upstreams_made = 0;
    struct routes *routes =
        routes_new(&options, NULL, &(struct route_strategies){.forward = &forward_strategy});
    assert_int_equal(upstreams_made, 4);
    assert_int_equal(upstreams_wanted, 4);
    routes_free(routes);
    for (unsigned i = 0; i < 4; i++) {
        upstreams_left = i;
        assert_null(
            routes_new(&options, NULL, &(struct route_strategies){.forward = &forward_strategy}));
        assert_int_equal(upstreams_wanted + upstreams_held, 0);
    }
    upstreams_left = UINT_MAX;
}

static void test_a_group_is_cut_at_its_bound(void **state)
{
    (void)state;
    struct zone_set set;
    struct route_options options = *ZONES(&set, ".");
    struct route_upstream many[EXCHANGE_GROUP_MAX + 3];
    for (size_t i = 0; i < ARRAY_LEN(many); i++)
        many[i] = set.upstreams[0];
    set.zones[0].upstreams = many;
    set.zones[0].upstream_count = ARRAY_LEN(many);
    log_set_level(LOG_ERROR);
    struct routes *routes =
        routes_new(&options, NULL, &(struct route_strategies){.forward = &forward_strategy});
    assert_int_equal(route_find(routes, NAME("a"), RRTYPE_A)->group_len, EXCHANGE_GROUP_MAX);
    routes_free(routes);
}

static void test_thousands_of_zones_are_all_found(void **state)
{
    (void)state;
    enum { COUNT = 5000 };
    struct zone_set set;
    ZONES(&set, ".");
    struct route_zone *zones = calloc(COUNT, sizeof(*zones));
    for (int i = 0; i < COUNT; i++) {
        char text[64];
        snprintf(text, sizeof(text), i % 3 ? "z%d.example" : "deep.z%d.in.example", i);
        zones[i] = set.zones[0];
        zones[i].name_len = sample_name(zones[i].wire, text).len;
    }
    struct route_options options = {.zones = zones, .zone_count = COUNT};
    struct routes *routes =
        routes_new(&options, NULL, &(struct route_strategies){.forward = &forward_strategy});
    for (int i = 0; i < COUNT; i++) {
        char text[64];
        snprintf(text, sizeof(text), i % 3 ? "www.z%d.example" : "www.deep.z%d.in.example", i);
        const struct zone *zone = route_find(routes, NAME(text), RRTYPE_A);
        assert_non_null(zone);
        struct name name = {zones[i].wire, zones[i].name_len};
        assert_true(name_equal_exact(zone->name, name));
    }
    assert_null(route_find(routes, NAME("www.z5000.example"), RRTYPE_A));
    routes_free(routes);
    free(zones);
}

static bool is_validated(const struct routes *routes, const char *name)
{
    return route_find(routes, NAME(name), RRTYPE_A)->validates;
}

static void test_zones_are_validated_unless_they_say_otherwise(void **state)
{
    (void)state;
    struct zone_set set;
    const struct route_strategies strategies = {.forward = &forward_strategy,
                                                .iterate = &forward_strategy};
    ZONES(&set, "plain", "off", "trusting");
    set.zones[1].validate = false;
    set.zones[2].trust_ad = true;
    set.options.recursion.enabled = true;
    for (enum validate_mode mode = VALIDATE_NO; mode <= VALIDATE_YES; mode++) {
        set.options.validation.mode = mode;
        struct routes *routes = routes_new(&set.options, NULL, &strategies);
        assert_int_equal(is_validated(routes, "x.plain"), mode != VALIDATE_NO);
        assert_false(is_validated(routes, "x.off"));
        assert_false(is_validated(routes, "x.trusting"));
        assert_int_equal(is_validated(routes, "com"), mode != VALIDATE_NO);
        routes_free(routes);
    }
}

static void test_a_substitute_is_validated_like_the_zone_above(void **state)
{
    (void)state;
    struct zone_set set;
    const struct route_strategies strategies = {.forward = &forward_strategy,
                                                .iterate = &forward_strategy};
    ZONES(&set, "example", "off.example", "off");
    set.zones[1].validate = set.zones[2].validate = false;
    set.zones[1].first = set.zones[2].first = true;
    set.options.recursion.enabled = true;
    set.options.validation.mode = VALIDATE_YES;
    struct routes *routes = routes_new(&set.options, NULL, &strategies);
    const struct zone *inner = route_find(routes, NAME("x.off.example"), RRTYPE_A);
    const struct zone *outer = route_find(routes, NAME("x.off"), RRTYPE_A);
    assert_false(inner->validates || outer->validates);
    assert_true(inner->above->validates && outer->above->validates);
    routes_free(routes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_longest_suffix_wins),
        cmocka_unit_test(test_a_name_without_a_matching_zone_has_no_route),
        cmocka_unit_test(test_a_ds_record_is_asked_of_the_parent_zone),
        cmocka_unit_test(test_a_zone_owns_no_name_of_an_inner_zone),
        cmocka_unit_test(test_the_first_of_two_equal_zones_counts),
        cmocka_unit_test(test_routes_want_every_upstream_including_prewarmed_ones),
        cmocka_unit_test(test_a_group_is_cut_at_its_bound),
        cmocka_unit_test(test_thousands_of_zones_are_all_found),
        cmocka_unit_test(test_zones_are_validated_unless_they_say_otherwise),
        cmocka_unit_test(test_a_substitute_is_validated_like_the_zone_above),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
