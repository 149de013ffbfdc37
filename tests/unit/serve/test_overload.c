/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The datagrams that are dropped under overload: the rules alone, and a simulated worker with a
 * queue. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/check.h"
#include "base/hash.h"
#include "base/rand.h"
#include "serve/overload.h"

static struct overload overload;
static uint64_t now;

static int setup(void **state)
{
    (void)state;
    rand_seed_for_tests(7); /* of the load */
    overload_init(&overload);
    now = US_PER_S;
    return 0;
}

static uint64_t client_of(unsigned number)
{
    return hash_word(number, 12345);
}

/* Windows with a read of this age every millisecond, of a client that asks as often each time. */
static void pass_windows(unsigned windows, uint64_t age_us, unsigned client, unsigned queries)
{
    for (uint64_t ms = 0; ms < windows * OVERLOAD_WINDOW_US / US_PER_MS; ms++) {
        now += US_PER_MS;
        overload_note_read(&overload, now, age_us);
        for (unsigned i = 0; overload_is_on(&overload) && i < queries; i++)
            overload_drops(&overload, client_of(client));
    }
}

/* ---- rules ---- */

static void test_a_young_queue_is_left_alone(void **state)
{
    (void)state;
    pass_windows(100, OVERLOAD_YOUNG_US, 1, 100);
    assert_int_equal(overload.state, OVERLOAD_CALM);
}

static void test_a_burst_is_no_overload(void **state)
{
    (void)state;
    pass_windows(1, 10 * OVERLOAD_DEAD_US, 1, 10); /* the process was stopped for a while */
    pass_windows(1, 0, 1, 10);
    assert_int_equal(overload.state, OVERLOAD_COUNTING);
    assert_false(overload_drops(&overload, client_of(1)));
    pass_windows(OVERLOAD_CALM_WINDOWS + 1, 0, 1, 1);
    assert_int_equal(overload.state, OVERLOAD_CALM);
}

static void test_a_queue_that_stays_old_is_overload(void **state)
{
    (void)state;
    pass_windows(8, OVERLOAD_OLD_US + 1, 1, 100);
    assert_int_equal(overload.state, OVERLOAD_SHEDDING);
}

static void test_a_client_below_the_level_loses_nothing(void **state)
{
    (void)state;
    pass_windows(8, OVERLOAD_OLD_US + 1, 1, 100);
    overload_note_read(&overload, now += OVERLOAD_WINDOW_US, OVERLOAD_OLD_US + 1);
    for (unsigned i = 0; i < overload.level; i++) {
        assert_false(overload_drops(&overload, client_of(1)));
        assert_false(overload_drops(&overload, client_of(2)));
    }
    assert_true(overload_drops(&overload, client_of(1)));
    assert_false(overload_drops(&overload, client_of(3)));
}

static void test_a_dead_query_gets_no_answer(void **state)
{
    (void)state;
    pass_windows(8, OVERLOAD_OLD_US + 1, 1, 100);
    overload_note_read(&overload, ++now, OVERLOAD_DEAD_US);
    assert_false(overload_drops(&overload, client_of(2)));
    overload_note_read(&overload, ++now, OVERLOAD_DEAD_US + 1);
    assert_true(overload_drops(&overload, client_of(2)));
}

static void test_more_is_served_while_the_queue_is_young(void **state)
{
    (void)state;
    pass_windows(8, OVERLOAD_OLD_US + 1, 1, 100);
    uint32_t capacity = overload.capacity;
    pass_windows(8, 0, 1, 200);
    assert_true(overload.capacity > capacity);
}

static void test_it_ends_when_the_load_is_gone(void **state)
{
    (void)state;
    pass_windows(10, OVERLOAD_OLD_US + 1, 1, 100);
    assert_int_equal(overload.state, OVERLOAD_SHEDDING);
    pass_windows(3 * OVERLOAD_CALM_WINDOWS, 0, 1, 1);
    assert_int_equal(overload.state, OVERLOAD_CALM);
}

/* However little is served, each client may have a query in each window. */
static void test_the_level_stays_above_nothing(void **state)
{
    (void)state;
    for (int i = 0; i < 200; i++) {
        overload_note_read(&overload, now += OVERLOAD_WINDOW_US, OVERLOAD_OLD_US + 1 + (uint64_t)i);
        for (unsigned k = 0; overload_is_on(&overload) && k < 200; k++)
            overload_drops(&overload, client_of(k % 20));
    }
    assert_in_range(overload.capacity, 0, 19);
    assert_int_equal(overload.level, 1);
}

/* Datagrams dropped for their age say nothing about the capacity. */
static void test_dead_queries_leave_the_capacity_alone(void **state)
{
    (void)state;
    pass_windows(8, OVERLOAD_OLD_US + 1, 1, 100);
    uint32_t capacity = overload.capacity;
    pass_windows(5, OVERLOAD_DEAD_US + 1, 1, 100);
    assert_true(overload.capacity >= capacity);
}

/* ---- a worker with a queue ---- */

enum { QUEUE_MAX = 10000, PER_BATCH = 32, BATCHES = 4, AGES = 2000 };

struct load {
    uint64_t serve_us10; /* tenths of microseconds that a query costs */
    unsigned clients;    /* that share the load */
    unsigned times10;    /* load in tenths of the capacity */
};

struct outcome {
    unsigned asked, served, light_asked, light_served;
    uint64_t p99_us;
};

struct worker {
    struct load load;
    struct {
        uint64_t came_at;
        unsigned client;
    } queue[QUEUE_MAX];
    size_t first, count;
    uint64_t now10, next10, arrivals; /* in tenths of microseconds */
    unsigned by_age[AGES];            /* served, by milliseconds */
    struct outcome outcome;
};

/* One query in a hundred is that of client 0. */
static void arrive(struct worker *worker)
{
    for (; worker->next10 <= worker->now10; worker->arrivals++) {
        unsigned client =
            worker->arrivals % 100 == 0 ? 0 : 1 + (unsigned)rand_below(worker->load.clients);
        worker->outcome.asked++;
        worker->outcome.light_asked += client == 0;
        if (worker->count < QUEUE_MAX) {
            size_t at = (worker->first + worker->count++) % QUEUE_MAX;
            worker->queue[at].came_at = worker->next10;
            worker->queue[at].client = client;
        }
        worker->next10 += worker->load.serve_us10 * 10 / worker->load.times10;
    }
}

static void serve(struct worker *worker)
{
    size_t at = worker->first;
    unsigned client = worker->queue[at].client;
    worker->first = (at + 1) % QUEUE_MAX;
    worker->count--;
    worker->now10 += 10; /* reading it */
    if (overload_is_on(&overload) && overload_drops(&overload, client_of(client)))
        return;
    worker->now10 += worker->load.serve_us10 - 10;
    worker->outcome.served++;
    worker->outcome.light_served += client == 0;
    worker->by_age[MIN((worker->now10 - worker->queue[at].came_at) / 10000, AGES - 1)]++;
}

static void run_batch(struct worker *worker)
{
    size_t batch = MIN(worker->count, PER_BATCH);
    uint64_t age10 = worker->now10 - worker->queue[worker->first].came_at;
    if (batch > 0)
        overload_note_read(&overload, worker->now10 / 10, age10 / 10);
    for (size_t i = 0; i < batch; i++)
        serve(worker);
}

static uint64_t percentile_99(const struct worker *worker)
{
    unsigned seen = 0, age = 0;
    while (age < AGES - 1 &&
           (seen += worker->by_age[age]) * UINT64_C(100) < worker->outcome.served * UINT64_C(99))
        age++;
    return age * US_PER_MS;
}

/* Ten seconds from an empty queue. */
static struct outcome run(struct load load)
{
    static struct worker worker;
    worker = (struct worker){.load = load};
    while (worker.now10 < 10 * 10 * US_PER_S) {
        arrive(&worker);
        if (worker.count == 0)
            worker.now10 = worker.next10;
        for (int i = 0; i < BATCHES; i++)
            run_batch(&worker);
    }
    worker.outcome.p99_us = percentile_99(&worker);
    return worker.outcome;
}

/* The goals of an overload. Reading a dropped datagram costs a microsecond. */
static void expect_goals(struct load load, bool is_fair)
{
    overload_init(&overload);
    struct outcome outcome = run(load);
    unsigned most = (unsigned)(10 * 10 * US_PER_S / (load.serve_us10 + load.times10 - 10));
    assert_in_range(outcome.served, most * 9 / 10, most + most / 100);
    assert_in_range(outcome.p99_us, 0, 499 * US_PER_MS);
    if (is_fair)
        assert_in_range(outcome.light_served, outcome.light_asked * 95 / 100, outcome.light_asked);
}

static void test_slow_queries_at_three_times_the_capacity(void **state)
{
    (void)state;
    expect_goals((struct load){3000, 1, 30}, true);
    expect_goals((struct load){3000, 20, 30}, true);
}

static void test_fast_queries_at_three_times_the_capacity(void **state)
{
    (void)state;
    expect_goals((struct load){300, 1, 30}, true);
    expect_goals((struct load){300, 20, 30}, true);
}

/* Each client of a crowd asks less than the watched client: fairness has no room. */
static void test_a_crowd_of_small_clients(void **state)
{
    (void)state;
    expect_goals((struct load){1000, 100000, 30}, false);
}

static void test_a_little_too_much(void **state)
{
    (void)state;
    expect_goals((struct load){1000, 3, 11}, true);
}

static void test_below_the_capacity_nothing_is_dropped(void **state)
{
    (void)state;
    struct outcome outcome = run((struct load){1000, 3, 9});
    assert_in_range(outcome.served, outcome.asked - 200, outcome.asked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_a_young_queue_is_left_alone, setup),
        cmocka_unit_test_setup(test_a_burst_is_no_overload, setup),
        cmocka_unit_test_setup(test_a_queue_that_stays_old_is_overload, setup),
        cmocka_unit_test_setup(test_a_client_below_the_level_loses_nothing, setup),
        cmocka_unit_test_setup(test_a_dead_query_gets_no_answer, setup),
        cmocka_unit_test_setup(test_more_is_served_while_the_queue_is_young, setup),
        cmocka_unit_test_setup(test_it_ends_when_the_load_is_gone, setup),
        cmocka_unit_test_setup(test_the_level_stays_above_nothing, setup),
        cmocka_unit_test_setup(test_dead_queries_leave_the_capacity_alone, setup),
        cmocka_unit_test_setup(test_slow_queries_at_three_times_the_capacity, setup),
        cmocka_unit_test_setup(test_fast_queries_at_three_times_the_capacity, setup),
        cmocka_unit_test_setup(test_a_crowd_of_small_clients, setup),
        cmocka_unit_test_setup(test_a_little_too_much, setup),
        cmocka_unit_test_setup(test_below_the_capacity_nothing_is_dropped, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
