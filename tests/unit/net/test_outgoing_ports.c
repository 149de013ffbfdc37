/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* The set of source ports, and how ports are drawn from it. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/rand.h"
#include "net/outgoing_ports.h"

/* the ports from 1024 to 65535 make 63 slots */
enum { DRAWS = 20000, SLOTS = 63, SLOT_PORTS = 1024 };

static struct outgoing_ports ports;

static int set_up(void **state)
{
    (void)state;
    rand_seed_for_tests(1);
    outgoing_ports_init(&ports);
    return 0;
}

static void test_draws_cover_the_whole_range_evenly(void **state)
{
    unsigned slots[SLOTS] = {0};

    (void)state;
    for (int i = 0; i < DRAWS; i++) {
        uint16_t port = outgoing_ports_draw(&ports);
        assert_in_range(port, OUTGOING_PORT_FIRST, OUTGOING_PORT_LAST);
        slots[(port - OUTGOING_PORT_FIRST) / SLOT_PORTS]++;
    }
    for (int i = 0; i < SLOTS; i++) /* the mean is 317, with a deviation of 18 */
        assert_in_range(slots[i], 200, 450);
    assert_true(ports.count > 61147); /* the ports that remain give 15.9 bits */
}

static void test_ports_left_out_are_never_drawn(void **state)
{
    (void)state;
    outgoing_ports_leave_out(&ports, 0, 1500);
    outgoing_ports_leave_out(&ports, 2000, 60000);
    outgoing_ports_leave_out(&ports, 65535, 65535);
    assert_int_equal(ports.count, 499 + 5534);
    for (int i = 0; i < DRAWS; i++) {
        uint16_t port = outgoing_ports_draw(&ports);
        assert_true((port > 1500 && port < 2000) || (port > 60000 && port < 65535));
    }
}

/* Leaves so few ports that a draw from the whole range seldom hits one. */
static void test_the_last_ports_are_all_drawn(void **state)
{
    static const uint16_t last[] = {1024, 1087, 1088, 40000, 65535};
    unsigned seen[5] = {0};

    (void)state;
    outgoing_ports_leave_out(&ports, 1025, 1086);
    outgoing_ports_leave_out(&ports, 1089, 39999);
    outgoing_ports_leave_out(&ports, 40001, 65534);
    assert_int_equal(ports.count, 5);
    for (int i = 0; i < 1000; i++) {
        uint16_t port = outgoing_ports_draw(&ports);
        for (int k = 0; k < 5; k++)
            seen[k] += port == last[k];
    }
    for (int k = 0; k < 5; k++)
        assert_in_range(seen[k], 100, 300);
}

static void test_leaving_out_twice_counts_once(void **state)
{
    (void)state;
    outgoing_ports_leave_out(&ports, 5000, 5009);
    outgoing_ports_leave_out(&ports, 5005, 5014);
    assert_int_equal(ports.count, 64512 - 15);
    assert_false(outgoing_ports_have(&ports, 5014));
    assert_true(outgoing_ports_have(&ports, 5015));
    assert_false(outgoing_ports_have(&ports, 53));
}

static void test_without_ports_the_system_draws(void **state)
{
    (void)state;
    outgoing_ports_leave_out(&ports, 1024, 65535);
    assert_int_equal(ports.count, 0);
    assert_int_equal(outgoing_ports_draw(&ports), OUTGOING_PORT_SYSTEM);
}

/* The system draws as large a share as its range has of the remaining ports. */
static void test_the_system_draws_in_its_own_range(void **state)
{
    unsigned by_system = 0;

    (void)state;
    outgoing_ports_set_system(&ports, 32768, 60999);
    outgoing_ports_leave_out(&ports, 40000, 60999);
    for (int i = 0; i < DRAWS; i++) {
        uint16_t port = outgoing_ports_draw(&ports);
        by_system += port == OUTGOING_PORT_SYSTEM;
        assert_true(port < 32768 || port > 60999);
    }
    double share = (40000 - 32768) / (64512.0 - 21000);
    assert_true(by_system > DRAWS * share * 0.9 && by_system < DRAWS * share * 1.1);
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_draws_cover_the_whole_range_evenly), TEST(test_ports_left_out_are_never_drawn),
        TEST(test_the_last_ports_are_all_drawn),       TEST(test_leaving_out_twice_counts_once),
        TEST(test_without_ports_the_system_draws),     TEST(test_the_system_draws_in_its_own_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
