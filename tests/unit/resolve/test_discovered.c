/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Discovered addresses become upstreams, which the table holds. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <limits.h>
#include <string.h>

#include "resolve/discovered.h"
#include "resolve/route_options.h"
#include "upstream/upstreams.h"
#include "unit/resolve/fake_upstreams.h"

enum { GROUP = 4 };

static size_t unproven; /* how many of the servers held last are unproven */

static struct addr ip(const char *text)
{
    struct addr addr;
    assert_int_equal(addr_parse(&addr, text, 0), ERR_OK);
    return addr;
}

/* Like config: 10.0.0.0/8 is nailed and 127.0.0.0/8 must not be asked; the port is the last byte,
 * which tells upstreams apart. */
static bool options_by_address(const void *context, const struct addr *addr,
                               struct route_upstream *out)
{
    size_t len;
    const uint8_t *bytes = addr_bytes(addr, &len);
    assert_ptr_equal(context, options_by_address);
    out->addr = *addr;
    addr_set_port(&out->addr, bytes[len - 1]);
    out->options = upstream_options_default;
    out->options.nailed = bytes[0] == 10;
    return bytes[0] != 127;
}

static const struct recursion_options recursion = {
    .server_options = options_by_address, .server_context = (const void *)options_by_address};

static void test_a_group_has_each_permitted_server_once(void **state)
{
    (void)state;
    struct upstream *group[GROUP];
    const struct addr ips[] = {ip("192.0.2.1"), ip("127.0.0.2"), ip("192.0.2.3@99"),
                               ip("192.0.2.1@7"), ip("192.0.2.5")};
    assert_int_equal(discovered_hold(&recursion, NULL, ips, 5, group, GROUP, &unproven), 3);
    assert_int_equal((uintptr_t)group[0], 2);
    assert_int_equal((uintptr_t)group[1], 4);
    assert_int_equal((uintptr_t)group[2], 6);
    assert_int_equal(upstreams_held, 3);
    discovered_drop(group, 3);
    assert_int_equal(upstreams_held, 0);
}

static void test_a_group_has_a_bound(void **state)
{
    (void)state;
    struct upstream *group[GROUP];
    struct addr ips[100];
    for (size_t i = 0; i < 100; i++) {
        char text[32];
        snprintf(text, sizeof(text), "192.0.2.%zu", i + 1);
        ips[i] = ip(text);
    }
    assert_int_equal(discovered_hold(&recursion, NULL, ips, 100, group, GROUP, &unproven), GROUP);
    discovered_drop(group, GROUP);
    assert_int_equal(upstreams_held, 0);
}

/* A hostile zone names many silent servers, and must not crowd out the others. */
static void test_a_group_has_fewer_unproven_servers_and_draws_from_all(void **state)
{
    (void)state;
    struct upstream *group[2 * DISCOVERED_UNPROVEN_MAX];
    struct addr ips[2 * DISCOVERED_UNPROVEN_MAX];
    uint64_t seen = 0;
    for (size_t i = 0; i < ARRAY_LEN(ips); i++) {
        char text[32];
        snprintf(text, sizeof(text), "192.0.2.%zu", i + 1);
        ips[i] = ip(text);
    }
    upstreams_are_unproven = true;
    for (unsigned round = 0; round < 1000; round++) {
        size_t count = discovered_hold(&recursion, NULL, ips, ARRAY_LEN(ips), group,
                                       ARRAY_LEN(group), &unproven);
        assert_int_equal(count, DISCOVERED_UNPROVEN_MAX);
        for (size_t i = 0; i < count; i++)
            seen |= UINT64_C(1) << (uintptr_t)group[i];
        discovered_drop(group, count);
    }
    upstreams_are_unproven = false;
    assert_int_equal(__builtin_popcountll(seen), ARRAY_LEN(ips));
}

static void test_a_server_without_room_is_left_out(void **state)
{
    (void)state;
    struct upstream *group[GROUP];
    const struct addr ips[] = {ip("192.0.2.1"), ip("192.0.2.2")};
    upstreams_left = 1;
    assert_int_equal(discovered_hold(&recursion, NULL, ips, 2, group, GROUP, &unproven), 1);
    discovered_drop(group, 1);
    assert_int_equal(discovered_hold(&recursion, NULL, ips, 2, group, GROUP, &unproven), 0);
    upstreams_left = UINT_MAX;
}

static void test_options_made_by_hand_discover_no_server(void **state)
{
    (void)state;
    static const struct recursion_options none;
    struct upstream *group[GROUP];
    const struct addr ips[] = {ip("192.0.2.1")};
    assert_int_equal(discovered_hold(&none, NULL, ips, 1, group, GROUP, &unproven), 0);
    assert_false(discovered_keeps((void *)&none, &ips[0], &upstream_options_default));
}

static void test_a_reload_keeps_servers_whose_options_stay_the_same(void **state)
{
    (void)state;
    struct recursion_options now = recursion;
    struct upstream_options options = upstream_options_default;
    struct addr addr = ip("192.0.2.7@7"), plant = ip("10.1.1.7@7"), never = ip("127.0.0.7@7");
    assert_true(discovered_keeps(&now, &addr, &options));
    assert_false(discovered_keeps(&now, &plant, &options)); /* the prefix is nailed now */
    assert_false(discovered_keeps(&now, &never, &options));
    options.nailed = true;
    assert_true(discovered_keeps(&now, &plant, &options));
    assert_false(discovered_keeps(&now, &addr, &options));
    options.nailed = false;
    addr_set_port(&addr, 8); /* the reload changes the port of all servers */
    assert_false(discovered_keeps(&now, &addr, &options));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_group_has_each_permitted_server_once),
        cmocka_unit_test(test_a_group_has_a_bound),
        cmocka_unit_test(test_a_group_has_fewer_unproven_servers_and_draws_from_all),
        cmocka_unit_test(test_a_server_without_room_is_left_out),
        cmocka_unit_test(test_options_made_by_hand_discover_no_server),
        cmocka_unit_test(test_a_reload_keeps_servers_whose_options_stay_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
