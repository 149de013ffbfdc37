/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Which datagrams are dropped under overload: first the rules alone, then a simulated worker with a
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
    rand_seed_for_tests(7); /* makes the load repeatable */
    overload_init(&overload);
    now = US_PER_S;
    return 0;
}

static uint64_t client_of(unsigned number)
{
    return hash_word(number, 12345);
}

static void read_queue(uint64_t age_us)
{
    overload_note_read(&overload, now, &(struct overload_queue){.age_us = age_us});
}

static bool drops(unsigned client)
{
    struct addr addr = {.in = {.sin_family = AF_INET, .sin_addr.s_addr = client}};
    return overload_drops(&overload, client_of(client), &addr);
}

/* Passes windows in which a read each millisecond finds a queue of this age, and a client sends
 * this many queries each time. */
static void pass_windows(unsigned windows, uint64_t age_us, unsigned client, unsigned queries)
{
    for (uint64_t ms = 0; ms < windows * OVERLOAD_WINDOW_US / US_PER_MS; ms++) {
        now += US_PER_MS;
        read_queue(age_us);
        for (unsigned i = 0; overload_is_on(&overload) && i < queries; i++)
            drops(client);
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
    pass_windows(1, 10 * OVERLOAD_DEAD_US, 1, 10); /* as if the process had been stopped */
    pass_windows(1, 0, 1, 10);
    assert_int_equal(overload.state, OVERLOAD_COUNTING);
    assert_false(drops(1));
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
    now += OVERLOAD_WINDOW_US;
    read_queue(OVERLOAD_OLD_US + 1);
    for (unsigned i = 0; i < overload.level; i++) {
        assert_false(drops(1));
        assert_false(drops(2));
    }
    assert_true(drops(1));
    assert_false(drops(3));
}

static void test_a_dead_query_gets_no_answer(void **state)
{
    (void)state;
    pass_windows(8, OVERLOAD_OLD_US + 1, 1, 100);
    now++;
    read_queue(OVERLOAD_DEAD_US);
    assert_false(drops(2));
    now++;
    read_queue(OVERLOAD_DEAD_US + 1);
    assert_true(drops(2));
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

/* Even if little is served, each client may have one query per window. */
static void test_the_level_stays_above_nothing(void **state)
{
    (void)state;
    for (int i = 0; i < 2000; i++) {
        now += OVERLOAD_WINDOW_US;
        read_queue(OVERLOAD_OLD_US + 1 + (uint64_t)i);
        for (unsigned k = 0; overload_is_on(&overload) && k < 200; k++)
            drops(k % 20);
    }
    assert_in_range(overload.capacity, 0, 19);
    assert_int_equal(overload.fair, OVERLOAD_ONE);
}

/* Datagrams that are dropped because of their age say nothing about the capacity. */
static void test_dead_queries_leave_the_capacity_alone(void **state)
{
    (void)state;
    pass_windows(8, OVERLOAD_OLD_US + 1, 1, 100);
    uint32_t capacity = overload.capacity;
    pass_windows(5, OVERLOAD_DEAD_US + 1, 1, 100);
    assert_true(overload.capacity >= capacity);
}

/* Makes the queue older and older, until client 1 gets less than half of what it wants. */
static void press(void)
{
    for (unsigned i = 0; i < 80; i++)
        pass_windows(1, OVERLOAD_OLD_US + 1000 * i, 1, 100);
}

/* The share of a busy client lies between the least share and half. */
static void test_the_busiest_clients_get_a_share(void **state)
{
    (void)state;
    unsigned thinned = 0;
    press();
    assert_int_not_equal(overload.share_changes, 0);
    for (unsigned i = 0; i < OVERLOAD_BUSY_MAX; i++) {
        const struct overload_busy *busy = &overload.busy[i];
        if (!overload_is_thinned(busy))
            continue;
        thinned++;
        assert_true(busy->client == client_of(1));
        assert_int_equal(busy->addr.in.sin_addr.s_addr, 1);
        assert_in_range(busy->share, OVERLOAD_SHARE_LEAST, OVERLOAD_SHARE_WHOLE / 2);
    }
    assert_int_equal(thinned, 1);
}

/* Otherwise the capacity would grow without end while the kernel lets too little pass. */
static void test_a_capacity_that_is_not_used_does_not_grow(void **state)
{
    (void)state;
    press();
    pass_windows(1, 0, 1, 2); /* ends the last window of press() */
    uint32_t capacity = overload.capacity;
    pass_windows(3, 0, 1, 2);
    /* several queries for each one served */
    assert_true(overload.asked > overload.served * OVERLOAD_ONE);
    assert_int_equal(overload.capacity, capacity);
}

static bool has_shares(void)
{
    for (unsigned i = 0; i < OVERLOAD_BUSY_MAX; i++)
        if (overload_is_thinned(&overload.busy[i]))
            return true;
    return false;
}

static void test_a_client_that_asks_less_gets_its_whole_share(void **state)
{
    (void)state;
    press();
    assert_true(has_shares());
    pass_windows(OVERLOAD_CALM_WINDOWS, OVERLOAD_YOUNG_US + 1, 1, 1);
    assert_false(has_shares());
}

/* The busy clients' last queries may have been the last queries at all. */
static void test_silence_ends_the_shares(void **state)
{
    (void)state;
    press();
    unsigned changes = overload.share_changes;
    overload_note_quiet(&overload, now + OVERLOAD_QUIET_US / 2);
    assert_true(has_shares());
    overload_note_quiet(&overload, now + OVERLOAD_WINDOW_US + OVERLOAD_QUIET_US);
    assert_false(has_shares());
    assert_int_equal(overload.state, OVERLOAD_CALM);
    assert_int_not_equal(overload.share_changes, changes);
}

/* Otherwise each datagram would count as if the kernel dropped others of its client. */
static void test_without_the_kernel_there_are_no_shares(void **state)
{
    (void)state;
    overload_forbid_shares(&overload);
    press();
    assert_int_equal(overload.state, OVERLOAD_SHEDDING);
    assert_false(has_shares());
}

/* Proxies hide their clients from the kernel until a reload removes them. */
static void test_shares_come_back_when_the_kernel_sees_clients_again(void **state)
{
    (void)state;
    overload_forbid_shares(&overload);
    press();
    overload_allow_shares(&overload);
    press();
    assert_true(has_shares());
}

static void test_more_busy_clients_than_places(void **state)
{
    (void)state;
    pass_windows(4, OVERLOAD_OLD_US + 1, 1, 100);
    for (unsigned window = 0; window < 10; window++) {
        now += OVERLOAD_WINDOW_US;
        read_queue(OVERLOAD_OLD_US + 1);
        for (unsigned i = 0; i < 100 * 1000; i++)
            drops(i % 1000);
    }
    assert_true(has_shares());
}

/* ---- a worker with a queue ---- */

enum { QUEUE_MAX = 10000, PER_BATCH = 32, BATCHES = 4, AGES = 2000, RUN_US = 6000 };

struct load {
    uint64_t serve_us10; /* the cost of a query in tenths of a microsecond */
    unsigned clients;    /* how many clients share the load */
    unsigned times10;    /* the load in tenths of the capacity */
    size_t queue_max;    /* 0: QUEUE_MAX */
    bool is_thinned;     /* the kernel thins the datagrams */
    uint64_t pause_us;   /* the worker loses the CPU for about this time after each run_us */
    uint64_t run_us;     /* 0: RUN_US */
    uint64_t stop_us;    /* it loses the CPU for this time once a second */
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
    uint64_t now10, next10, arrivals; /* in tenths of a microsecond */
    uint64_t ran10; /* the time since the last pause, in tenths of a microsecond */
    uint64_t stops; /* so far */
    uint32_t lost;
    struct overload_queue seen;
    uint64_t looked_at;
    unsigned by_age[AGES]; /* served queries by their age in milliseconds */
    struct outcome outcome;
};

static uint64_t run_us(const struct worker *worker)
{
    return worker->load.run_us ? worker->load.run_us : RUN_US;
}

/* Whether the kernel drops a datagram of this client. */
static bool is_thinned_away(const struct worker *worker, unsigned client)
{
    for (unsigned i = 0; worker->load.is_thinned && i < OVERLOAD_BUSY_MAX; i++) {
        const struct overload_busy *busy = &overload.busy[i];
        if (overload_is_thinned(busy) && busy->client == client_of(client))
            return rand_below(OVERLOAD_SHARE_WHOLE) >= busy->share;
    }
    return false;
}

/* Queues the queries that have arrived by now. One query in a hundred comes from client 0. */
static void arrive(struct worker *worker)
{
    size_t queue_max = worker->load.queue_max ? worker->load.queue_max : QUEUE_MAX;
    for (; worker->next10 <= worker->now10; worker->arrivals++) {
        unsigned client =
            worker->arrivals % 100 == 0 ? 0 : 1 + (unsigned)rand_below(worker->load.clients);
        worker->outcome.asked++;
        worker->outcome.light_asked += client == 0;
        if (is_thinned_away(worker, client) || worker->count >= queue_max) {
            worker->lost++;
        } else {
            size_t at = (worker->first + worker->count++) % QUEUE_MAX;
            worker->queue[at].came_at = worker->next10;
            worker->queue[at].client = client;
        }
        worker->next10 += worker->load.serve_us10 * (run_us(worker) + worker->load.pause_us) * 10 /
                          worker->load.times10 / run_us(worker);
    }
}

static void serve(struct worker *worker)
{
    size_t at = worker->first;
    unsigned client = worker->queue[at].client;
    worker->first = (at + 1) % QUEUE_MAX;
    worker->count--;
    worker->now10 += 10; /* the cost of reading the datagram */
    if (overload_is_on(&overload) && drops(client))
        return;
    worker->now10 += worker->load.serve_us10 - 10;
    worker->outcome.served++;
    worker->outcome.light_served += client == 0;
    worker->by_age[MIN((worker->now10 - worker->queue[at].came_at) / 10000, AGES - 1)]++;
}

static void look_at_queue(struct worker *worker, uint64_t at)
{
    size_t queue_max = worker->load.queue_max ? worker->load.queue_max : QUEUE_MAX;
    worker->looked_at = at;
    worker->seen.lost = worker->lost;
    worker->seen.is_half_full = worker->count > queue_max / 2;
}

static void run_batch(struct worker *worker)
{
    size_t batch = MIN(worker->count, PER_BATCH);
    uint64_t at = worker->now10 / 10, came_at = worker->queue[worker->first].came_at / 10;
    if (at - worker->looked_at >= OVERLOAD_WINDOW_US)
        look_at_queue(worker, at);
    worker->seen.age_us = at - came_at;
    if (batch > 0)
        overload_note_read(&overload, at, &worker->seen);
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

/* A pause has between half and one and a half times its configured length. */
static void pause_worker(struct worker *worker, uint64_t ran10)
{
    worker->ran10 += ran10;
    if (worker->load.pause_us > 0 && worker->ran10 >= 10 * run_us(worker)) {
        worker->ran10 = 0;
        worker->now10 += 10 * (worker->load.pause_us / 2 + rand_below(worker->load.pause_us));
    }
    if (worker->load.stop_us > 0 && worker->now10 / (10 * US_PER_S) > worker->stops) {
        worker->stops++;
        worker->now10 += 10 * worker->load.stop_us;
    }
}

/* Simulates seconds, beginning with an empty queue. */
static struct outcome run_from(uint64_t began10, uint64_t seconds, struct load load)
{
    static struct worker worker;
    worker = (struct worker){.load = load,
                             .now10 = began10,
                             .next10 = began10,
                             .stops = began10 / (10 * US_PER_S),
                             .lost = overload.lost};
    if (!load.is_thinned)
        overload_forbid_shares(&overload);
    while (worker.now10 < began10 + seconds * 10 * US_PER_S) {
        arrive(&worker);
        if (worker.count == 0)
            worker.now10 = worker.next10;
        for (int i = 0; i < BATCHES; i++) {
            uint64_t batch10 = worker.now10;
            run_batch(&worker);
            pause_worker(&worker, worker.now10 - batch10);
        }
    }
    worker.outcome.p99_us = percentile_99(&worker);
    return worker.outcome;
}

static struct outcome run(struct load load)
{
    return run_from(0, 10, load);
}

/* Returns how many queries the worker can serve. A dropped datagram costs a microsecond to read,
 * unless the kernel thins them. */
static unsigned most_served(const struct load *load)
{
    uint64_t drops_us10 = load->is_thinned ? 0 : load->times10 - 10;
    return (unsigned)(10 * 10 * US_PER_S / (load->serve_us10 + drops_us10));
}

/* Expects what an overload must still achieve. */
static void expect_goals(struct load load, bool is_fair)
{
    overload_init(&overload);
    struct outcome outcome = run(load);
    unsigned most = most_served(&load);
    assert_in_range(outcome.served, most * 9 / 10, most + most / 100);
    assert_in_range(outcome.p99_us, 0, 349 * US_PER_MS);
    if (is_fair)
        assert_in_range(outcome.light_served, outcome.light_asked * 95 / 100, outcome.light_asked);
}

static void test_slow_queries_at_three_times_the_capacity(void **state)
{
    (void)state;
    expect_goals((struct load){.serve_us10 = 3000, .clients = 1, .times10 = 30}, true);
    expect_goals((struct load){.serve_us10 = 3000, .clients = 20, .times10 = 30}, true);
}

static void test_fast_queries_at_three_times_the_capacity(void **state)
{
    (void)state;
    expect_goals((struct load){.serve_us10 = 300, .clients = 1, .times10 = 30}, true);
    expect_goals((struct load){.serve_us10 = 300, .clients = 20, .times10 = 30}, true);
}

/* To read all datagrams would cost two thirds of the time. */
static void test_hits_are_thinned_by_the_kernel(void **state)
{
    (void)state;
    expect_goals((struct load){.serve_us10 = 40, .clients = 4, .times10 = 30, .is_thinned = true},
                 true);
    expect_goals((struct load){.serve_us10 = 40, .clients = 20, .times10 = 30, .is_thinned = true},
                 true);
}

static void test_slow_queries_are_thinned_too(void **state)
{
    (void)state;
    expect_goals((struct load){.serve_us10 = 300, .clients = 4, .times10 = 30, .is_thinned = true},
                 true);
    expect_goals(
        (struct load){.serve_us10 = 3000, .clients = 4, .times10 = 100, .is_thinned = true}, true);
}

/* The queue of this worker is too short to grow old. */
static void test_a_short_queue_that_loses_datagrams_is_overload(void **state)
{
    (void)state;
    struct outcome outcome = run((struct load){
        .serve_us10 = 40, .clients = 4, .times10 = 30, .queue_max = 550, .is_thinned = true});
    assert_in_range(outcome.served, 2250 * 1000, 2500 * 1000);
    assert_in_range(outcome.light_served, outcome.light_asked * 9 / 10, outcome.light_asked);
}

/* The worker may run twice within one window of 50 ms, and not at all in another. */
static void test_a_worker_that_gets_the_cpu_now_and_then(void **state)
{
    (void)state;
    struct outcome outcome = run((struct load){.serve_us10 = 300,
                                               .clients = 8,
                                               .times10 = 30,
                                               .is_thinned = true,
                                               .pause_us = 60 * US_PER_MS});
    unsigned most = (unsigned)(10 * 10 * US_PER_S / 300 * 6 / (6 + 60));
    assert_in_range(outcome.served, most * 9 / 10, most * 12 / 10);
    assert_in_range(outcome.light_served, outcome.light_asked * 95 / 100, outcome.light_asked);
    assert_in_range(outcome.p99_us, 0, 499 * US_PER_MS);
}

/* A busy process leaves the worker 0.4 ms of 5, and others stop it for 50 ms each second. The load
 * reached the capacity before, and paused. */
static void test_a_worker_with_a_small_share_of_the_cpu(void **state)
{
    (void)state;
    struct load load = {.serve_us10 = 26,
                        .clients = 4,
                        .times10 = 12,
                        .is_thinned = true,
                        .run_us = 400,
                        .pause_us = 4600,
                        .stop_us = 50 * US_PER_MS};
    run_from(0, 3, load);
    load.times10 = 30;
    struct outcome outcome = run_from(33 * US_PER_S, 8, load);
    unsigned most = (unsigned)(8 * 10 * US_PER_S / 26 * 400 / 5000 * 95 / 100);
    assert_in_range(outcome.served, most * 85 / 100, most);
    assert_in_range(outcome.light_served, outcome.light_asked * 95 / 100, outcome.light_asked);
    assert_in_range(outcome.p99_us, 0, 299 * US_PER_MS);
}

/* The load asks for other names: each query costs ten times as much as before. */
static void test_queries_that_cost_more_than_before(void **state)
{
    (void)state;
    struct load load = {.serve_us10 = 40, .clients = 8, .times10 = 12};
    for (unsigned i = 0; i < 2; i++) {
        overload_init(&overload);
        load.is_thinned = i == 1;
        load.serve_us10 = 40;
        run_from(0, 3, load);
        load.serve_us10 = 400;
        run_from(33 * US_PER_S, 3, load);
        struct outcome outcome = run_from(63 * US_PER_S, 5, load);
        assert_in_range(outcome.served, 5 * 25000 * 9 / 10, 5 * 25000);
        assert_in_range(outcome.light_served, outcome.light_asked * 95 / 100, outcome.light_asked);
        assert_in_range(outcome.p99_us, 0, 199 * US_PER_MS);
    }
}

/* The kernel thins the datagrams of some clients. To read those of all others would leave no time
 * to serve any. */
static void test_more_clients_than_the_kernel_thins(void **state)
{
    (void)state;
    struct outcome outcome =
        run((struct load){.serve_us10 = 40, .clients = 200, .times10 = 30, .is_thinned = true});
    assert_in_range(outcome.served, 2250 * 1000, 2500 * 1000);
    assert_in_range(outcome.p99_us, 0, 99 * US_PER_MS);
}

/* Each client of a crowd sends less than the watched client, so fairness can change nothing. */
static void test_a_crowd_of_small_clients(void **state)
{
    (void)state;
    expect_goals((struct load){.serve_us10 = 1000, .clients = 100000, .times10 = 30}, false);
}

static void test_a_little_too_much(void **state)
{
    (void)state;
    expect_goals((struct load){.serve_us10 = 1000, .clients = 3, .times10 = 11}, true);
}

static void test_below_the_capacity_nothing_is_dropped(void **state)
{
    (void)state;
    struct outcome outcome = run((struct load){.serve_us10 = 1000, .clients = 3, .times10 = 9});
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
        cmocka_unit_test_setup(test_the_busiest_clients_get_a_share, setup),
        cmocka_unit_test_setup(test_a_client_that_asks_less_gets_its_whole_share, setup),
        cmocka_unit_test_setup(test_a_capacity_that_is_not_used_does_not_grow, setup),
        cmocka_unit_test_setup(test_silence_ends_the_shares, setup),
        cmocka_unit_test_setup(test_without_the_kernel_there_are_no_shares, setup),
        cmocka_unit_test_setup(test_shares_come_back_when_the_kernel_sees_clients_again, setup),
        cmocka_unit_test_setup(test_more_busy_clients_than_places, setup),
        cmocka_unit_test_setup(test_slow_queries_at_three_times_the_capacity, setup),
        cmocka_unit_test_setup(test_fast_queries_at_three_times_the_capacity, setup),
        cmocka_unit_test_setup(test_hits_are_thinned_by_the_kernel, setup),
        cmocka_unit_test_setup(test_slow_queries_are_thinned_too, setup),
        cmocka_unit_test_setup(test_a_short_queue_that_loses_datagrams_is_overload, setup),
        cmocka_unit_test_setup(test_a_worker_that_gets_the_cpu_now_and_then, setup),
        cmocka_unit_test_setup(test_a_worker_with_a_small_share_of_the_cpu, setup),
        cmocka_unit_test_setup(test_queries_that_cost_more_than_before, setup),
        cmocka_unit_test_setup(test_more_clients_than_the_kernel_thins, setup),
        cmocka_unit_test_setup(test_a_crowd_of_small_clients, setup),
        cmocka_unit_test_setup(test_a_little_too_much, setup),
        cmocka_unit_test_setup(test_below_the_capacity_nothing_is_dropped, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
