/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* The cable's line: lost packets, delays, order, and counters of all packets. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "base/rand.h"
#include "base/span.h"
#include "cable_line.h"

enum { LEN = 40, QUEUE = 100, NOW = 1000000 };

static const uint8_t here[4] = {198, 18, 0, 1}, there[4] = {198, 18, 0, 2};
static struct cable_line line;

static int init(void **state)
{
    (void)state;
    rand_seed_for_tests(3);
    cable_line_init(&line);
    memcpy(&line.ends.here, here, 4);
    memcpy(&line.ends.there, there, 4);
    line.mtu = CABLE_MTU_MIN;
    line.queue_max = QUEUE;
    line.settings.delay_ms = 10;
    return 0;
}

static int deinit(void **state)
{
    (void)state;
    cable_line_deinit(&line);
    return 0;
}

static void add(uint32_t number, uint64_t now_us)
{
    struct cable_packet *packet = cable_line_blank(&line);
    memset(packet->bytes, 0, LEN);
    packet->bytes[0] = 0x45;
    put_u16(packet->bytes + 2, LEN);
    memcpy(packet->bytes + 12, here, 4);
    memcpy(packet->bytes + 16, there, 4);
    put_u32(packet->bytes + 20, number);
    packet->len = LEN;
    cable_line_add(&line, packet, now_us);
}

/* Returns the number of the next packet if it is due, or -1. */
static int64_t take(uint64_t now_us)
{
    struct cable_packet *packet = cable_line_take(&line, now_us);
    if (!packet)
        return -1;
    assert_memory_equal(packet->bytes + 12, there, 4);
    int64_t number = get_u32(packet->bytes + 20);
    cable_line_give(&line, packet, true);
    return number;
}

static void assert_all_counted(void)
{
    const struct cable_counters *c = &line.counters;
    assert_int_equal(c->packets, c->delivered + c->refused + c->lost + c->dropped_full +
                                     c->foreign + delay_line_count(&line.line));
}

static void test_a_packet_takes_half_of_the_round_trip(void **state)
{
    (void)state;
    add(7, NOW);
    assert_int_equal(cable_line_next_us(&line), NOW + 5000);
    assert_int_equal(take(NOW + 4999), -1);
    assert_int_equal(take(NOW + 5000), 7);
    assert_int_equal(line.counters.delivered, 1);
    assert_all_counted();
}

static void test_a_packet_without_delay_is_due_at_once(void **state)
{
    (void)state;
    line.settings.delay_ms = 0;
    add(7, NOW);
    assert_int_equal(take(NOW), 7);
}

static void test_jitter_keeps_the_order(void **state)
{
    (void)state;
    line.settings.jitter_ms = 10;
    for (uint32_t i = 0; i < QUEUE; i++)
        add(i, NOW + i * 10);
    assert_true(cable_line_next_us(&line) >= NOW + 5000);
    for (uint32_t i = 0; i < QUEUE; i++)
        assert_int_equal(take(NOW + QUEUE * 10 + 10000), i);
}

static void test_jitter_reorders_if_configured(void **state)
{
    (void)state;
    line.settings.jitter_ms = 10;
    line.settings.reorder = true;
    bool was_overtaken = false;
    for (uint32_t i = 0; i < QUEUE; i++)
        add(i, NOW);
    for (uint32_t i = 0; i < QUEUE; i++) {
        int64_t number = take(NOW + 10000);
        assert_true(number >= 0);
        was_overtaken |= number != i;
    }
    assert_true(was_overtaken);
    assert_all_counted();
}

static void test_a_shorter_delay_keeps_the_order(void **state)
{
    (void)state;
    add(1, NOW);
    line.settings.delay_ms = 1;
    add(2, NOW);
    add(3, NOW + 6000);
    assert_int_equal(take(NOW + 4999), -1);
    assert_int_equal(take(NOW + 5000), 1);
    assert_int_equal(take(NOW + 5000), 2);
    assert_int_equal(take(NOW + 6499), -1);
    assert_int_equal(take(NOW + 6500), 3);
}

static void test_full_loss_loses_all_and_none_loses_nothing(void **state)
{
    (void)state;
    line.settings.loss_percent = 100;
    for (uint32_t i = 0; i < 1000; i++)
        add(i, NOW);
    assert_int_equal(line.counters.lost, 1000);
    assert_int_equal(cable_line_next_us(&line), UINT64_MAX);
    line.settings.loss_percent = 0;
    for (uint32_t i = 0; i < QUEUE; i++)
        add(i, NOW);
    assert_int_equal(line.counters.lost, 1000);
    assert_int_equal(delay_line_count(&line.line), QUEUE);
    assert_all_counted();
}

static void test_partial_loss_loses_about_its_share(void **state)
{
    (void)state;
    line.settings.loss_percent = 20;
    line.settings.delay_ms = 0;
    for (uint32_t i = 0; i < 100000; i++) {
        add(i, NOW);
        take(NOW);
    }
    assert_in_range(line.counters.lost, 19000, 21000);
    assert_all_counted();
}

static void test_beyond_the_queue_the_newest_are_dropped(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < QUEUE + 5; i++)
        add(i, NOW);
    assert_int_equal(line.counters.dropped_full, 5);
    for (uint32_t i = 0; i < QUEUE; i++)
        assert_int_equal(take(UINT64_MAX), i);
    assert_int_equal(take(UINT64_MAX), -1);
    assert_all_counted();
}

static void test_foreign_packets_are_counted_and_go_nowhere(void **state)
{
    (void)state;
    struct cable_packet *packet = cable_line_blank(&line);
    memset(packet->bytes, 0x60, LEN);
    packet->len = LEN;
    cable_line_add(&line, packet, NOW);
    packet = cable_line_blank(&line);
    packet->len = 0;
    cable_line_add(&line, packet, NOW);
    assert_int_equal(line.counters.foreign, 2);
    assert_int_equal(line.counters.bytes, LEN);
    assert_int_equal(take(UINT64_MAX), -1);
    assert_all_counted();
}

static void test_packets_that_the_kernel_refuses_are_counted(void **state)
{
    (void)state;
    add(1, NOW);
    cable_line_give(&line, cable_line_take(&line, UINT64_MAX), false);
    assert_int_equal(line.counters.refused, 1);
    assert_int_equal(line.counters.delivered, 0);
    assert_all_counted();
}

static size_t count_spare(void)
{
    size_t count = 0;
    for (struct cable_packet *packet = line.spare; packet; packet = packet->next_spare)
        count++;
    return count;
}

static void test_a_warm_line_has_no_more_packets_than_were_under_way_at_once(void **state)
{
    (void)state;
    for (int round = 0; round < 100; round++) {
        for (uint32_t i = 0; i < QUEUE + 5; i++)
            add(i, NOW);
        while (take(UINT64_MAX) >= 0)
            continue;
    }
    assert_int_equal(count_spare(), QUEUE + 1);
    assert_all_counted();
}

static void test_packets_under_way_at_the_end_are_freed(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 10; i++)
        add(i, NOW); /* LeakSanitizer reports a packet that is not freed */
    assert_int_equal(delay_line_count(&line.line), 10);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, init, deinit)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_a_packet_takes_half_of_the_round_trip),
        CASE(test_a_packet_without_delay_is_due_at_once),
        CASE(test_jitter_keeps_the_order),
        CASE(test_jitter_reorders_if_configured),
        CASE(test_a_shorter_delay_keeps_the_order),
        CASE(test_full_loss_loses_all_and_none_loses_nothing),
        CASE(test_partial_loss_loses_about_its_share),
        CASE(test_beyond_the_queue_the_newest_are_dropped),
        CASE(test_foreign_packets_are_counted_and_go_nowhere),
        CASE(test_packets_that_the_kernel_refuses_are_counted),
        CASE(test_a_warm_line_has_no_more_packets_than_were_under_way_at_once),
        CASE(test_packets_under_way_at_the_end_are_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
