/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The IP versions that recursion uses on a machine without a route to some servers. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "resolve/iterate_world.h"

static bool lacks_ipv4, lacks_ipv6;

static bool lacks(void *context, int family)
{
    (void)context;
    return family == AF_INET ? lacks_ipv4 : lacks_ipv6;
}

/* Returns the rules of a configuration on a machine with these routes. */
static struct iterate_rules rules(bool ipv4, bool ipv6, bool has_ipv4, bool has_ipv6)
{
    static struct iterate_world world;
    world = (struct iterate_world){.rules = {.ipv4 = ipv4, .ipv6 = ipv6}, .lacks = lacks};
    lacks_ipv4 = !has_ipv4;
    lacks_ipv6 = !has_ipv6;
    return iterate_world_rules(&world);
}

static void test_a_version_without_a_route_is_not_used(void **state)
{
    (void)state;
    struct iterate_rules only_4 = rules(true, true, true, false);
    struct iterate_rules only_6 = rules(true, true, false, true);
    assert_true(only_4.ipv4 && !only_4.ipv6);
    assert_true(!only_6.ipv4 && only_6.ipv6);
}

static void test_rules_stay_where_both_versions_or_none_have_a_route(void **state)
{
    (void)state;
    struct iterate_rules both = rules(true, false, true, true);
    struct iterate_rules none = rules(true, true, false, false);
    assert_true(both.ipv4 && !both.ipv6);
    assert_true(none.ipv4 && none.ipv6);
}

static void test_a_route_does_not_turn_a_version_on(void **state)
{
    (void)state;
    struct iterate_rules found = rules(true, false, false, true);
    assert_false(found.ipv4);
    assert_false(found.ipv6);
}

static void test_a_worker_without_recursion_excludes_no_version(void **state)
{
    (void)state;
    struct iterate_rules found = iterate_world_rules(NULL);
    assert_true(found.ipv4 && found.ipv6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_version_without_a_route_is_not_used),
        cmocka_unit_test(test_rules_stay_where_both_versions_or_none_have_a_route),
        cmocka_unit_test(test_a_route_does_not_turn_a_version_on),
        cmocka_unit_test(test_a_worker_without_recursion_excludes_no_version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
