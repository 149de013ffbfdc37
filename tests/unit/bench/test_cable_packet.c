/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* The cable swaps source and destination: a packet that we send there comes back as if the other
 * side had sent it. Other packets stay unchanged. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/rand.h"
#include "base/span.h"
#include "cable_packet.h"

static const uint8_t here[4] = {198, 18, 0, 1}, there[4] = {198, 18, 0, 2},
                     other[4] = {192, 0, 2, 1};
static uint8_t packet[256], before[256];
static struct cable_ends ends;

static int init(void **state)
{
    (void)state;
    memcpy(&ends.here, here, 4);
    memcpy(&ends.there, there, 4);
    memset(packet, 0, sizeof(packet));
    return 0;
}

static void put_header(uint8_t *at, const uint8_t *from, const uint8_t *to, size_t len,
                       uint8_t protocol)
{
    at[0] = 0x45;
    put_u16(at + 2, (uint16_t)len);
    at[9] = protocol;
    memcpy(at + 12, from, 4);
    memcpy(at + 16, to, 4);
}

static uint16_t sum_of(const uint8_t *bytes, size_t len)
{
    uint32_t sum = 0;
    for (size_t i = 0; i + 1 < len; i += 2)
        sum += get_u16(bytes + i);
    while (sum >> 16)
        sum = (sum & 0xFFFF) + (sum >> 16);
    return (uint16_t)sum;
}

static bool turn(size_t len)
{
    /* A copy of the exact size, so that a sanitizer detects a read beyond it. */
    uint8_t *copy = malloc(len ? len : 1);
    memcpy(before, packet, sizeof(packet));
    memcpy(copy, packet, len);
    bool turned = cable_packet_turn(&ends, copy, len);
    memcpy(packet, copy, len);
    free(copy);
    return turned;
}

static void assert_untouched(size_t len)
{
    assert_false(turn(len));
    assert_memory_equal(packet, before, sizeof(packet));
}

static void test_the_addresses_change_places_and_nothing_else(void **state)
{
    (void)state;
    put_header(packet, here, there, 40, 17);
    packet[30] = 7;
    assert_true(turn(40));
    assert_memory_equal(packet + 12, there, 4);
    assert_memory_equal(packet + 16, here, 4);
    assert_memory_equal(packet, before, 12);
    assert_memory_equal(packet + 20, before + 20, 20);
    assert_int_equal(sum_of(packet, 20), sum_of(before, 20));
}

static void test_a_header_with_options_is_turned(void **state)
{
    (void)state;
    put_header(packet, here, there, 60, 6);
    packet[0] = 0x4F;
    assert_true(turn(60));
    assert_memory_equal(packet + 12, there, 4);
}

static void test_the_quote_of_an_icmp_error_is_turned_with_it(void **state)
{
    (void)state;
    put_header(packet, here, there, 56, 1);
    packet[20] = 3; /* port unreachable */
    packet[21] = 3;
    put_header(packet + 28, there, here, 28, 17);
    assert_true(turn(56));
    assert_memory_equal(packet + 28 + 12, here, 4);
    assert_memory_equal(packet + 28 + 16, there, 4);
    assert_int_equal(sum_of(packet + 20, 36), sum_of(before + 20, 36));
}

static void test_an_icmp_error_about_another_flow_keeps_its_quote(void **state)
{
    (void)state;
    put_header(packet, here, there, 56, 1);
    packet[20] = 3;
    put_header(packet + 28, other, here, 28, 17);
    assert_true(turn(56));
    assert_memory_equal(packet + 28, before + 28, 28);
}

static void test_a_ping_that_looks_like_a_quote_keeps_its_content(void **state)
{
    (void)state;
    put_header(packet, here, there, 56, 1);
    packet[20] = 8;
    put_header(packet + 28, there, here, 28, 17);
    assert_true(turn(56));
    assert_memory_equal(packet + 28, before + 28, 28);
}

static void test_a_quote_that_is_cut_off_is_left_alone(void **state)
{
    (void)state;
    for (size_t len = 20; len < 48; len++) {
        put_header(packet, here, there, len, 1);
        packet[20] = 3;
        put_header(packet + 28, there, here, 28, 17);
        assert_true(turn(len));
        assert_memory_equal(packet + 20, before + 20, sizeof(packet) - 20);
    }
}

static void test_a_later_fragment_has_no_icmp_header(void **state)
{
    (void)state;
    put_header(packet, here, there, 56, 1);
    put_u16(packet + 6, 5);
    packet[20] = 3;
    put_header(packet + 28, there, here, 28, 17);
    assert_true(turn(56));
    assert_memory_equal(packet + 28, before + 28, 28);
}

static void test_a_short_packet_is_foreign(void **state)
{
    (void)state;
    put_header(packet, here, there, 40, 17);
    for (size_t len = 0; len < 20; len++)
        assert_untouched(len);
}

static void test_a_packet_with_a_wrong_length_is_foreign(void **state)
{
    (void)state;
    put_header(packet, here, there, 40, 17);
    assert_untouched(39);
    assert_untouched(41);
}

static void test_a_header_longer_than_the_packet_is_foreign(void **state)
{
    (void)state;
    put_header(packet, here, there, 40, 17);
    packet[0] = 0x4F;
    assert_untouched(40);
    packet[0] = 0x44; /* a length below that of a header */
    assert_untouched(40);
}

static void test_ipv6_is_foreign(void **state)
{
    (void)state;
    put_header(packet, here, there, 40, 17);
    packet[0] = 0x60;
    assert_untouched(40);
}

static void test_other_addresses_are_foreign(void **state)
{
    (void)state;
    put_header(packet, other, there, 40, 17);
    assert_untouched(40);
    put_header(packet, here, other, 40, 17);
    assert_untouched(40);
    put_header(packet, there, here, 40, 17); /* this packet would go round for ever */
    assert_untouched(40);
}

static void test_garbage_of_any_length_is_survived(void **state)
{
    (void)state;
    rand_seed_for_tests(5);
    for (int i = 0; i < 100000; i++) {
        size_t len = rand_below(sizeof(packet));
        rand_bytes(packet, sizeof(packet));
        if (i % 2) { /* half of the packets have a sound header */
            put_header(packet, here, there, len, 1);
            packet[6] = packet[7] = 0;
            packet[20] = 3;
        }
        assert_int_equal(turn(len), i % 2 && len >= 20);
    }
}

#define CASE(name) cmocka_unit_test_setup(name, init)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_the_addresses_change_places_and_nothing_else),
        CASE(test_a_header_with_options_is_turned),
        CASE(test_the_quote_of_an_icmp_error_is_turned_with_it),
        CASE(test_an_icmp_error_about_another_flow_keeps_its_quote),
        CASE(test_a_ping_that_looks_like_a_quote_keeps_its_content),
        CASE(test_a_quote_that_is_cut_off_is_left_alone),
        CASE(test_a_later_fragment_has_no_icmp_header),
        CASE(test_a_short_packet_is_foreign),
        CASE(test_a_packet_with_a_wrong_length_is_foreign),
        CASE(test_a_header_longer_than_the_packet_is_foreign),
        CASE(test_ipv6_is_foreign),
        CASE(test_other_addresses_are_foreign),
        CASE(test_garbage_of_any_length_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
