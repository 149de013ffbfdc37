/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Byte queues: order, bound, and when memory is freed. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "base/buf.h"
#include "base/rand.h"

static void assert_holds(const struct buf *buf, const char *text)
{
    assert_int_equal(buf_len(buf), strlen(text));
    assert_memory_equal(buf_span(buf).data, text, strlen(text));
}

static void test_bytes_come_out_in_the_order_they_went_in(void **state)
{
    (void)state;
    struct buf buf;
    buf_init(&buf, 100);
    assert_int_equal(buf_append(&buf, "hello ", 6), ERR_OK);
    assert_int_equal(buf_append(&buf, "world", 5), ERR_OK);
    assert_holds(&buf, "hello world");
    buf_consume(&buf, 6);
    assert_holds(&buf, "world");
    buf_consume(&buf, 5);
    assert_int_equal(buf_len(&buf), 0);
    buf_deinit(&buf);
}

static void test_no_memory_is_taken_before_the_first_byte(void **state)
{
    (void)state;
    struct buf buf;
    buf_init(&buf, 100);
    assert_int_equal(buf_append(&buf, NULL, 0), ERR_OK);
    assert_null(buf.data);
    assert_int_equal(buf_span(&buf).len, 0);
    buf_deinit(&buf);
}

static void test_the_bound_is_exact_and_a_refusal_changes_nothing(void **state)
{
    (void)state;
    struct buf buf;
    buf_init(&buf, 8);
    assert_int_equal(buf_append(&buf, "12345678", 8), ERR_OK);
    assert_int_equal(buf_append(&buf, "9", 1), ERR_LIMIT);
    assert_null(buf_reserve(&buf, 1));
    assert_null(buf_reserve(&buf, SIZE_MAX));
    assert_holds(&buf, "12345678");
    buf_consume(&buf, 1);
    assert_int_equal(buf_append(&buf, "9", 1), ERR_OK);
    assert_holds(&buf, "23456789");
    buf_deinit(&buf);
}

static void test_a_bound_of_zero_takes_nothing(void **state)
{
    (void)state;
    struct buf buf;
    buf_init(&buf, 0);
    assert_int_equal(buf_append(&buf, "1", 1), ERR_LIMIT);
    buf_deinit(&buf);
}

static void test_reserved_room_counts_only_when_committed(void **state)
{
    (void)state;
    struct buf buf;
    buf_init(&buf, 1000);
    uint8_t *room = buf_reserve(&buf, 600);
    assert_non_null(room);
    memcpy(room, "abc", 3);
    assert_int_equal(buf_len(&buf), 0);
    buf_commit(&buf, 3);
    assert_holds(&buf, "abc");
    buf_deinit(&buf);
}

static void test_an_empty_large_queue_frees_its_memory(void **state)
{
    (void)state;
    static uint8_t big[100000];
    struct buf buf;
    buf_init(&buf, sizeof(big));
    assert_int_equal(buf_append(&buf, big, sizeof(big)), ERR_OK);
    buf_consume(&buf, sizeof(big));
    assert_null(buf.data);
    assert_int_equal(buf_append(&buf, big, 10), ERR_OK);
    buf_clear(&buf);
    assert_non_null(buf.data);
    assert_int_equal(buf_len(&buf), 0);
    buf_deinit(&buf);
}

/* Over a long life, memory stays within a small factor of the bytes in the queue. */
static void test_a_long_random_life_keeps_order_and_size(void **state)
{
    (void)state;
    enum { MAX_HELD = 3000 };
    struct buf buf;
    uint8_t in = 0, out = 0, part[200];
    buf_init(&buf, MAX_HELD);
    rand_seed_for_tests(1);
    for (int i = 0; i < 20000; i++) {
        size_t len = (size_t)rand_below(sizeof(part));
        for (size_t j = 0; j < len; j++)
            part[j] = (uint8_t)(in + j);
        if (buf_append(&buf, part, len) == ERR_OK)
            in = (uint8_t)(in + len);
        len = (size_t)rand_below(buf_len(&buf) + 1);
        len = len > 220 ? 220 : len;
        for (size_t j = 0; j < len; j++)
            assert_int_equal(buf_span(&buf).data[j], out++);
        buf_consume(&buf, len);
        assert_in_range(buf.cap, 0, 4 * MAX_HELD);
        assert_in_range(buf_len(&buf), 0, MAX_HELD);
    }
    buf_deinit(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_come_out_in_the_order_they_went_in),
        cmocka_unit_test(test_no_memory_is_taken_before_the_first_byte),
        cmocka_unit_test(test_the_bound_is_exact_and_a_refusal_changes_nothing),
        cmocka_unit_test(test_a_bound_of_zero_takes_nothing),
        cmocka_unit_test(test_reserved_room_counts_only_when_committed),
        cmocka_unit_test(test_an_empty_large_queue_frees_its_memory),
        cmocka_unit_test(test_a_long_random_life_keeps_order_and_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
