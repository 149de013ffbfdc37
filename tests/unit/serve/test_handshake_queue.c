/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The order in which handshakes proceed. */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/rand.h"
#include "loop/loop.h"
#include "serve/handshake_queue.h"
#include "support/fake_loop.h"

enum { MOST = HANDSHAKES_WAITING_MAX + 16 };

static struct loop *loop;
static struct handshake_queue queue;
static struct handshake handshakes[MOST];
static size_t admitted[MOST * 2]; /* the indices, in the order of admission */
static size_t admitted_count;
static size_t displaced; /* the index of the last displaced handshake */
static unsigned displaced_count;
static bool are_late; /* an admitted handshake does not proceed at once */

static size_t index_of(const struct handshake *handshake)
{
    return (size_t)(handshake - handshakes);
}

static void on_admitted(struct handshake *handshake)
{
    assert_in_range(admitted_count, 0, MOST * 2 - 1);
    admitted[admitted_count++] = index_of(handshake);
    if (!are_late)
        assert_int_equal(handshake_queue_ask(&queue, handshake, handshake->client), HANDSHAKE_GO);
}

static void on_displaced(struct handshake *handshake)
{
    displaced = index_of(handshake);
    displaced_count++;
}

static int setup(void **state)
{
    (void)state;
    loop = loop_new();
    handshake_queue_init(&queue, loop, on_admitted, on_displaced);
    for (size_t i = 0; i < MOST; i++)
        handshake_init(&handshakes[i]);
    admitted_count = 0;
    displaced_count = 0;
    are_late = false;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (size_t i = 0; i < MOST; i++)
        handshake_queue_leave(&queue, &handshakes[i]);
    handshake_queue_deinit(&queue);
    loop_free(loop);
    return 0;
}

static enum handshake_verdict ask(size_t i, uint64_t client)
{
    return handshake_queue_ask(&queue, &handshakes[i], client);
}

/* Queues handshakes of one client, from the first index on. */
static void wait_from(size_t first, size_t count, uint64_t client)
{
    for (size_t i = 0; i < count; i++)
        assert_int_equal(ask(first + i, client), HANDSHAKE_WAIT);
}

/* Uses up all steps of this turn, with handshakes at the end of the array. */
static void use_up_turn(void)
{
    for (size_t i = 0; i < HANDSHAKE_STEPS_PER_TURN; i++)
        assert_int_equal(ask(MOST - 1 - i, 999), HANDSHAKE_GO);
}

static void test_handshakes_go_on_at_once_while_there_are_few(void **state)
{
    (void)state;
    use_up_turn();
    fake_loop_settle(loop);
    use_up_turn();
    assert_int_equal(admitted_count, 0);
}

static void test_a_turn_has_few_steps(void **state)
{
    (void)state;
    use_up_turn();
    wait_from(0, 3 * HANDSHAKE_STEPS_PER_TURN, 1);
    for (size_t turn = 1; turn <= 3; turn++) {
        assert_true(fake_loop_step(loop));
        assert_int_equal(admitted_count, turn * HANDSHAKE_STEPS_PER_TURN);
    }
}

static void test_few_are_admitted_before_they_read(void **state)
{
    (void)state;
    are_late = true;
    use_up_turn();
    wait_from(0, 2 * HANDSHAKES_ADMITTED_MAX, 1);
    fake_loop_settle(loop);
    assert_int_equal(admitted_count, HANDSHAKES_ADMITTED_MAX);
    assert_int_equal(ask(0, 1), HANDSHAKE_GO);
    handshake_queue_leave(&queue, &handshakes[1]);
    fake_loop_settle(loop);
    assert_int_equal(admitted_count, HANDSHAKES_ADMITTED_MAX + 2);
}

static void test_an_admitted_handshake_goes_on(void **state)
{
    (void)state;
    are_late = true;
    use_up_turn();
    wait_from(0, 1, 1);
    fake_loop_settle(loop);
    assert_int_equal(admitted_count, 1);
    assert_int_equal(ask(0, 1), HANDSHAKE_GO);
    assert_int_equal(handshakes[0].state, HANDSHAKE_IDLE);
}

static void test_no_handshake_overtakes_those_that_wait(void **state)
{
    (void)state;
    use_up_turn();
    wait_from(0, HANDSHAKE_STEPS_PER_TURN + 1, 1);
    assert_true(fake_loop_step(loop));
    wait_from(100, 1, 2);
    fake_loop_settle(loop);
    assert_int_equal(admitted_count, HANDSHAKE_STEPS_PER_TURN + 2);
    assert_int_equal(admitted[admitted_count - 1], 100);
}

static void test_one_client_is_served_in_order(void **state)
{
    (void)state;
    use_up_turn();
    wait_from(0, 100, 1);
    fake_loop_settle(loop);
    assert_int_equal(admitted_count, 100);
    for (size_t i = 0; i < 100; i++)
        assert_int_equal(admitted[i], i);
}

static void test_clients_take_turns(void **state)
{
    (void)state;
    use_up_turn();
    wait_from(0, 100, 1);
    wait_from(100, 100, 2);
    wait_from(200, 2, 3);
    fake_loop_settle(loop);
    assert_int_equal(admitted_count, 202);
    const size_t begin[] = {0, 100, 200, 1, 101, 201, 2, 102, 3, 103};
    for (size_t i = 0; i < ARRAY_LEN(begin); i++)
        assert_int_equal(admitted[i], begin[i]);
}

static void test_a_handshake_may_leave_from_anywhere(void **state)
{
    (void)state;
    use_up_turn();
    wait_from(0, 5, 1);
    wait_from(10, 2, 2);
    handshake_queue_leave(&queue, &handshakes[0]);
    handshake_queue_leave(&queue, &handshakes[2]);
    handshake_queue_leave(&queue, &handshakes[4]);
    handshake_queue_leave(&queue, &handshakes[11]);
    handshake_queue_leave(&queue, &handshakes[11]);
    assert_int_equal(queue.waiting, 3);
    fake_loop_settle(loop);
    const size_t rest[] = {1, 10, 3};
    assert_int_equal(admitted_count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(admitted[i], rest[i]);
}

static void test_an_admitted_handshake_that_leaves_delays_no_other(void **state)
{
    (void)state;
    are_late = true;
    use_up_turn();
    wait_from(0, 10, 1);
    while (admitted_count < 10) {
        size_t before = admitted_count;
        assert_true(fake_loop_step(loop));
        for (size_t i = before; i < admitted_count; i++)
            handshake_queue_leave(&queue, &handshakes[admitted[i]]);
    }
    fake_loop_settle(loop);
    use_up_turn();
}

static void test_a_full_queue_takes_no_more_of_the_client_that_fills_it(void **state)
{
    (void)state;
    use_up_turn();
    wait_from(0, HANDSHAKES_WAITING_MAX, 1);
    assert_int_equal(ask(HANDSHAKES_WAITING_MAX, 1), HANDSHAKE_FULL);
    assert_int_equal(displaced_count, 0);
}

static void test_a_client_with_fewer_displaces_the_newest_of_the_greediest(void **state)
{
    (void)state;
    enum { FEW = 100, MANY = HANDSHAKES_WAITING_MAX - FEW };
    use_up_turn();
    wait_from(0, FEW, 1);
    wait_from(FEW, MANY, 2);
    wait_from(FEW + MANY, 1, 3);
    assert_int_equal(displaced_count, 1);
    assert_int_equal(displaced, FEW + MANY - 1);
    assert_int_equal(queue.waiting, HANDSHAKES_WAITING_MAX);
    wait_from(FEW + MANY + 1, 1, 1);
    assert_int_equal(displaced_count, 2);
    assert_int_equal(displaced, FEW + MANY - 2);
}

static void test_a_full_queue_of_equals_takes_no_newcomer(void **state)
{
    (void)state;
    use_up_turn();
    for (size_t i = 0; i < HANDSHAKES_WAITING_MAX; i++)
        wait_from(i, 1, i);
    assert_int_equal(ask(HANDSHAKES_WAITING_MAX, HANDSHAKES_WAITING_MAX), HANDSHAKE_FULL);
    assert_int_equal(displaced_count, 0);
}

/* In any order of events, the counts stay right, and every handshake that waits is admitted in the
 * end. */
static void test_a_newcomer_takes_a_place_from_a_client_with_more(void **state)
{
    (void)state;
    assert_false(handshake_queue_displace(&queue, 1));
    for (size_t i = 0; i < HANDSHAKE_STEPS_PER_TURN + 3; i++)
        (void)handshake_queue_ask(&queue, &handshakes[i], 7);
    assert_false(handshake_queue_displace(&queue, 7));
    assert_true(handshake_queue_displace(&queue, 1));
    assert_int_equal(displaced, HANDSHAKE_STEPS_PER_TURN + 2);
    assert_int_equal(displaced_count, 1);
}

static void test_nothing_is_lost(void **state)
{
    (void)state;
    enum { HANDSHAKES = 50, ROUNDS = 20000 };
    rand_seed_for_tests(5);
    are_late = true;
    for (int round = 0; round < ROUNDS; round++) {
        size_t i = rand_below(HANDSHAKES);
        if (rand_below(3) == 0)
            handshake_queue_leave(&queue, &handshakes[i]);
        else if (handshakes[i].state != HANDSHAKE_WAITING)
            ask(i, rand_below(7));
        if (rand_below(20) == 0)
            fake_loop_step(loop);
        admitted_count = 0;
        uint32_t waiting = 0, may_read = 0;
        for (size_t k = 0; k < HANDSHAKES; k++)
            may_read += handshakes[k].state == HANDSHAKE_ADMITTED;
        for (size_t k = 0; k < HANDSHAKES; k++)
            waiting += handshakes[k].state == HANDSHAKE_WAITING;
        assert_int_equal(queue.waiting, waiting);
        assert_int_equal(queue.admitted, may_read);
    }
    are_late = false;
    for (size_t i = 0; i < HANDSHAKES; i++)
        if (handshakes[i].state == HANDSHAKE_ADMITTED)
            ask(i, 1);
    fake_loop_settle(loop);
    assert_int_equal(queue.waiting, 0);
    assert_true(list_is_empty(&queue.clients));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_handshakes_go_on_at_once_while_there_are_few),
        TEST(test_a_turn_has_few_steps),
        TEST(test_few_are_admitted_before_they_read),
        TEST(test_an_admitted_handshake_goes_on),
        TEST(test_no_handshake_overtakes_those_that_wait),
        TEST(test_one_client_is_served_in_order),
        TEST(test_clients_take_turns),
        TEST(test_a_handshake_may_leave_from_anywhere),
        TEST(test_an_admitted_handshake_that_leaves_delays_no_other),
        TEST(test_a_full_queue_takes_no_more_of_the_client_that_fills_it),
        TEST(test_a_client_with_fewer_displaces_the_newest_of_the_greediest),
        TEST(test_a_full_queue_of_equals_takes_no_newcomer),
        TEST(test_a_newcomer_takes_a_place_from_a_client_with_more),
        TEST(test_nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
