/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The choice of the idle session that closes for a new client. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "serve/idle_order.h"

static struct idle_order order;
static struct idle_entry entries[6];

static int setup(void **state)
{
    (void)state;
    idle_order_init(&order);
    for (size_t i = 0; i < 6; i++)
        idle_entry_init(&entries[i]);
    return 0;
}

static void test_the_longest_idle_session_comes_first(void **state)
{
    (void)state;
    assert_null(idle_order_longest(&order, 100));
    for (size_t i = 0; i < 3; i++)
        idle_order_put(&order, &entries[i], i, 10 + i);
    assert_ptr_equal(idle_order_longest(&order, 100), &entries[0]);
    idle_order_touch(&order, &entries[0], 20);
    assert_ptr_equal(idle_order_longest(&order, 100), &entries[1]);
    idle_order_remove(&entries[1]);
    idle_order_remove(&entries[1]);
    assert_ptr_equal(idle_order_longest(&order, 100), &entries[2]);
}

static void test_a_session_that_was_busy_lately_is_spared(void **state)
{
    (void)state;
    idle_order_put(&order, &entries[0], 1, 50);
    assert_null(idle_order_longest(&order, 49));
    assert_null(idle_order_longest_of(&order, 1, 49));
    assert_ptr_equal(idle_order_longest(&order, 50), &entries[0]);
    assert_ptr_equal(idle_order_longest_of(&order, 1, 50), &entries[0]);
    idle_order_touch(&order, &entries[0],
                     60); /* the only session, so it is chosen although it was used later */
    assert_null(idle_order_longest(&order, 59));
    idle_order_remove(&entries[0]);
    idle_order_touch(&order, &entries[0], 70); /* busy from now on */
    assert_null(idle_order_longest(&order, 100));
}

static void test_each_client_has_its_own_order(void **state)
{
    (void)state;
    enum { SAME_BUCKET = IDLE_BUCKETS + 1 };
    idle_order_put(&order, &entries[0], 1, 10);
    idle_order_put(&order, &entries[1], SAME_BUCKET, 11);
    idle_order_put(&order, &entries[2], 2, 12);
    idle_order_put(&order, &entries[3], SAME_BUCKET, 13);
    assert_ptr_equal(idle_order_longest_of(&order, SAME_BUCKET, 100), &entries[1]);
    assert_ptr_equal(idle_order_longest_of(&order, 2, 100), &entries[2]);
    assert_null(idle_order_longest_of(&order, 3, 100));
    idle_order_put(&order, &entries[1], 2, 14); /* the session counts for another client now */
    assert_ptr_equal(idle_order_longest_of(&order, SAME_BUCKET, 100), &entries[3]);
    assert_ptr_equal(idle_order_longest(&order, 100), &entries[0]);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, setup)
    const struct CMUnitTest tests[] = {
        TEST(test_the_longest_idle_session_comes_first),
        TEST(test_a_session_that_was_busy_lately_is_spared),
        TEST(test_each_client_has_its_own_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
