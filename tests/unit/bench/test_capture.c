/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Captures: each address becomes a client, and the times decide the order of events. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>

#include "capture.h"

static struct capture capture;

static struct addr client(const char *text)
{
    struct addr addr;
    assert_int_equal(addr_parse(&addr, text, 0), ERR_OK);
    return addr;
}

/* Adds a query for the root with these flags. */
static void add(const char *from, uint64_t at_ns, uint16_t flags)
{
    uint8_t message[] = "\x12\x34\0\0\0\1\0\0\0\0\0\0\0\0\1\0\1";
    struct addr addr = client(from);
    put_u16(message + 2, flags);
    struct span bytes = span_of(message, sizeof(message) - 1);
    assert_int_equal(capture_add(&capture, bytes, &addr, at_ns), ERR_OK);
}

static int clean(void **state)
{
    (void)state;
    capture_deinit(&capture);
    return 0;
}

static void test_a_client_is_an_address_without_its_port(void **state)
{
    (void)state;
    add("192.0.2.1@4000", 1, WIRE_RD);
    add("2001:db8::1@4000", 2, WIRE_RD);
    add("192.0.2.1@5000", 3, WIRE_RD);
    assert_int_equal(capture.client_count, 2);
    assert_int_equal(capture.events[0].client, 0);
    assert_int_equal(capture.events[1].client, 1);
    assert_int_equal(capture.events[2].client, 0);
    assert_int_equal(addr_port(&capture.clients[0]), 0);
}

static void test_ten_thousand_clients_keep_their_numbers(void **state)
{
    (void)state;
    char text[32];
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 10000; i++) {
            snprintf(text, sizeof(text), "10.0.%d.%d", i / 250, i % 250);
            add(text, 0, WIRE_RD);
            assert_int_equal(capture.events[round * 10000 + i].client, i);
        }
    assert_int_equal(capture.client_count, 10000);
}

static void test_events_are_put_in_the_order_of_time(void **state)
{
    (void)state;
    static const uint64_t times[] = {7, 3, 7, UINT64_C(1) << 60, 0};
    static const uint32_t order[] = {4, 1, 0, 2, 3};
    for (size_t i = 0; i < 5; i++)
        add("192.0.2.1", times[i], WIRE_RD);
    capture_sort(&capture);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(capture.events[i].query, order[i]);
    assert_false(capture.lacks_times);
    add("192.0.2.1", CAPTURE_NO_TIME, WIRE_RD);
    assert_true(capture.lacks_times);
}

static void test_flags_of_the_client_stay(void **state)
{
    (void)state;
    static const uint16_t flags[] = {0, WIRE_RD, WIRE_CD, WIRE_RD | WIRE_CD};
    for (size_t i = 0; i < 4; i++) {
        struct wire_query query;
        add("192.0.2.1", 0, flags[i]);
        assert_true(wire_parse_query(query_file_at(&capture.queries, i), &query));
        assert_int_equal(query.flags, flags[i]);
        assert_int_equal(query.id, 0);
    }
}

static void test_an_answer_and_an_empty_capture_are_no_events(void **state)
{
    (void)state;
    capture_sort(&capture);
    add("192.0.2.1", 0, WIRE_QR);
    assert_int_equal(capture.queries.count, 0);
    assert_int_equal(capture.client_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_a_client_is_an_address_without_its_port, clean),
        cmocka_unit_test_teardown(test_ten_thousand_clients_keep_their_numbers, clean),
        cmocka_unit_test_teardown(test_events_are_put_in_the_order_of_time, clean),
        cmocka_unit_test_teardown(test_flags_of_the_client_stay, clean),
        cmocka_unit_test_teardown(test_an_answer_and_an_empty_capture_are_no_events, clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
