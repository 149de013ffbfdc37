/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Records in order: across the end of the ring, in a full ring, read again, and between two
 * threads. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>
#include <string.h>

#include "base/check.h"
#include "tap/ring.h"

enum { RING = 1024 };

static struct ring ring;

static int set_up(void **state)
{
    (void)state;
    assert_int_equal(ring_init(&ring, RING), ERR_OK);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    ring_deinit(&ring);
    return 0;
}

#define RING_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/* A record holds its number, and its length depends on the number. */
static size_t len_of(uint32_t number)
{
    return 4 + number * 37 % 200;
}

static bool put(uint32_t number)
{
    size_t len = len_of(number);
    uint8_t *out = ring_reserve(&ring, RING / 4 - 8);
    if (!out)
        return false;
    memset(out, (int)(number & 0xff), len);
    memcpy(out, &number, sizeof(number));
    ring_commit(&ring, len);
    return true;
}

static void expect_record(struct span record, uint32_t number)
{
    uint32_t found;
    assert_int_equal(record.len, len_of(number));
    memcpy(&found, record.data, sizeof(found));
    assert_int_equal(found, number);
    for (size_t i = 4; i < record.len; i++)
        assert_int_equal(record.data[i], number & 0xff);
}

static void expect(uint32_t number)
{
    struct span record;
    assert_true(ring_read(&ring, &record));
    expect_record(record, number);
}

static void test_an_empty_ring_has_nothing(void **state)
{
    struct span record;
    (void)state;
    assert_true(ring_is_empty(&ring));
    assert_false(ring_read(&ring, &record));
    assert_int_equal(ring_used(&ring), 0);
}

static void test_records_come_in_order_across_the_end_of_the_ring(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 10000; i++) {
        assert_true(put(i));
        assert_true(put(i + 1000000));
        expect(i);
        expect(i + 1000000);
        assert_true(ring_is_empty(&ring));
        ring_release(&ring);
    }
}

static void test_a_full_ring_refuses_records_and_keeps_its_own(void **state)
{
    uint32_t in = 0, out = 0;
    struct span record;
    (void)state;
    for (int round = 0; round < 50; round++) {
        while (put(in))
            in++;
        assert_false(put(in));
        assert_true(in > out);
        while (ring_read(&ring, &record))
            expect_record(record, out++);
        assert_int_equal(in, out);
        assert_false(put(in)); /* the record is read, but not released */
        ring_release(&ring);
    }
}

static void test_records_that_were_not_released_come_again(void **state)
{
    (void)state;
    assert_true(put(1) && put(2) && put(3));
    expect(1);
    ring_release(&ring);
    expect(2);
    expect(3);
    ring_rewind(&ring);
    expect(2);
    expect(3);
    ring_release(&ring);
    assert_true(ring_is_empty(&ring));
}

static void test_a_reserve_without_a_commit_is_undone(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 100; i++) {
        assert_non_null(ring_reserve(&ring, RING / 4));
        assert_true(ring_is_empty(&ring));
        assert_true(put(i));
        expect(i);
        ring_release(&ring);
    }
}

enum { MANY = 200000 };

static void *write_many(void *lost)
{
    for (uint32_t i = 0; i < MANY; i++)
        if (!put(i))
            ++*(uint32_t *)lost;
    uint8_t *out;
    while (!(out = ring_reserve(&ring, 1)))
        continue;
    ring_commit(&ring, 0);
    return NULL;
}

/* Some records are lost, and none is changed or out of order. */
static void test_two_threads_need_no_lock(void **state)
{
    uint32_t lost = 0, seen = 0, next = 0, number;
    struct span record;
    pthread_t writer;
    (void)state;
    assert_int_equal(pthread_create(&writer, NULL, write_many, &lost), 0);
    for (;;) {
        if (!ring_read(&ring, &record))
            continue;
        if (record.len == 0)
            break;
        memcpy(&number, record.data, sizeof(number));
        assert_true(number >= next);
        expect_record(record, number);
        next = number + 1;
        seen++;
        ring_release(&ring);
    }
    pthread_join(writer, NULL);
    assert_int_equal(seen + lost, MANY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RING_TEST(test_an_empty_ring_has_nothing),
        RING_TEST(test_records_come_in_order_across_the_end_of_the_ring),
        RING_TEST(test_a_full_ring_refuses_records_and_keeps_its_own),
        RING_TEST(test_records_that_were_not_released_come_again),
        RING_TEST(test_a_reserve_without_a_commit_is_undone),
        RING_TEST(test_two_threads_need_no_lock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
