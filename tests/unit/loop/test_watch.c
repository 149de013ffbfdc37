/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* The sockets of one loop: each gets its turn, and busy ones need no wait of the kernel. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <sys/socket.h>
#include <unistd.h>

#include "base/check.h"
#include "loop/loop.h"
#include "loop/timer.h"
#include "loop/watch.h"

enum { SOCKETS_MAX = 300, SLOW_US = 2000, GUARD_S = 20 };

struct room;

struct end {
    struct watch watch;
    struct room *room;
    int other; /* the other end, to which the test writes */
    unsigned served;
};

struct room {
    struct loop *loop;
    struct timer guard;
    struct turn_end turn_end;
    unsigned in_turn, most_in_turn, turns, served, wanted;
    struct end ends[SOCKETS_MAX];
    unsigned count;
};

static struct room room;

static void on_guard(struct timer *timer)
{
    (void)timer;
    fail_msg("only %u of %u events came", room.served, room.wanted);
}

static void on_turn_end(struct turn_end *end)
{
    (void)end;
    room.most_in_turn = MAX(room.most_in_turn, room.in_turn);
    room.in_turn = 0;
    room.turns++;
}

static void count_event(struct end *end)
{
    end->served++;
    room.in_turn++;
    loop_at_turn_end(room.loop, &room.turn_end);
    if (++room.served == room.wanted)
        loop_stop(room.loop);
}

/* Opens sockets. The first prompt_count are prompt, the others patient. */
static void open_mixed_room(unsigned count, unsigned prompt_count,
                            void (*on_ready)(struct watch *watch, uint32_t events))
{
    room = (struct room){.loop = loop_new(), .count = count};
    turn_end_init(&room.turn_end, on_turn_end);
    timer_init(&room.guard, on_guard);
    timer_start(room.loop, &room.guard, loop_clock(room.loop) + GUARD_S * US_PER_S);
    for (unsigned i = 0; i < count; i++) {
        struct end *end = &room.ends[i];
        int fds[2];
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
        *end = (struct end){.room = &room, .other = fds[1], .watch.on_ready = on_ready};
        end->watch.rank = i < prompt_count ? WATCH_PROMPT : WATCH_PATIENT;
        assert_int_equal(watch_start(room.loop, &end->watch, fds[0], EPOLLIN), ERR_OK);
    }
}

static void open_room(unsigned count, void (*on_ready)(struct watch *watch, uint32_t events))
{
    open_mixed_room(count, count, on_ready);
}

static void open_patient_room(unsigned count,
                              void (*on_ready)(struct watch *watch, uint32_t events))
{
    open_mixed_room(count, 0, on_ready);
}

static void close_room(void)
{
    for (unsigned i = 0; i < room.count; i++) {
        if (room.ends[i].watch.fd >= 0)
            watch_close(room.loop, &room.ends[i].watch);
        close(room.ends[i].other);
    }
    timer_stop(&room.guard);
    loop_free(room.loop);
}

static void write_to(unsigned i, const char *bytes, size_t len)
{
    assert_int_equal(write(room.ends[i].other, bytes, len), len);
}

static void run_for_events(unsigned wanted)
{
    room.wanted = wanted;
    loop_run(room.loop);
}

static void read_one(struct watch *watch)
{
    char byte;
    assert_int_equal(read(watch->fd, &byte, 1), 1);
}

/* Handles an event as slowly as a few handshakes. */
static void on_ready_slowly(struct watch *watch, uint32_t events)
{
    assert_true(events & EPOLLIN);
    read_one(watch);
    usleep(SLOW_US);
    count_event(CONTAINER_OF(watch, struct end, watch));
}

static void test_a_turn_is_not_filled_by_expensive_events_and_none_is_forgotten(void **state)
{
    enum { SOCKETS = 40 };
    (void)state;

    open_room(SOCKETS, on_ready_slowly);
    for (unsigned i = 0; i < SOCKETS; i++)
        write_to(i, "x", 1);
    run_for_events(SOCKETS);
    /* an event takes 2 ms and a turn 4 ms, so they need several turns */
    assert_true(room.turns >= SOCKETS / 5);
    assert_true(room.most_in_turn <= 5);
    for (unsigned i = 0; i < SOCKETS; i++)
        assert_int_equal(room.ends[i].served, 1);
    close_room();
}

static void on_ready_fast(struct watch *watch, uint32_t events)
{
    (void)events;
    read_one(watch);
    count_event(CONTAINER_OF(watch, struct end, watch));
}

static void test_more_sockets_than_a_turn_takes_all_get_theirs(void **state)
{
    (void)state;
    open_room(SOCKETS_MAX, on_ready_fast);
    for (unsigned i = 0; i < SOCKETS_MAX; i++)
        write_to(i, "xy", 2);
    run_for_events(2 * SOCKETS_MAX);
    for (unsigned i = 0; i < SOCKETS_MAX; i++)
        assert_int_equal(room.ends[i].served, 2);
    close_room();
}

static void test_more_patient_sockets_than_a_turn_takes_are_served_in_rounds(void **state)
{
    (void)state;
    open_patient_room(SOCKETS_MAX, on_ready_fast);
    for (unsigned i = 0; i < SOCKETS_MAX; i++)
        write_to(i, "xyz", 3);
    for (unsigned round = 1; round <= 3; round++) {
        run_for_events(round * SOCKETS_MAX);
        for (unsigned i = 0; i < SOCKETS_MAX; i++) /* the kernel may start a round anywhere */
            assert_in_range(room.ends[i].served, round - 1, round + 1);
    }
    close_room();
}

/* Closes the neighbour, which must then get no event in this turn. */
static void on_ready_closing(struct watch *watch, uint32_t events)
{
    struct end *end = CONTAINER_OF(watch, struct end, watch);
    struct end *neighbour = &room.ends[(end - room.ends) ^ 1];
    (void)events;
    read_one(watch);
    assert_true(neighbour->watch.fd >= 0);
    watch_close(room.loop, &neighbour->watch);
    count_event(end);
}

static void closing_sockets_get_no_event(
    void (*open)(unsigned count, void (*on_ready)(struct watch *watch, uint32_t events)))
{
    enum { SOCKETS = 20 };
    open(SOCKETS, on_ready_closing);
    for (unsigned i = 0; i < SOCKETS; i++)
        write_to(i, "x", 1);
    run_for_events(SOCKETS / 2);
    for (unsigned i = 0; i < SOCKETS; i += 2)
        assert_int_equal(room.ends[i].served + room.ends[i + 1].served, 1);
    close_room();
}

static void test_a_watch_closed_in_a_turn_gets_no_event_of_it(void **state)
{
    (void)state;
    closing_sockets_get_no_event(open_room);
}

static void test_a_patient_watch_closed_in_a_turn_gets_no_event_of_it(void **state)
{
    (void)state;
    closing_sockets_get_no_event(open_patient_room);
}

/* ---- mail, calls and other ranks ---- */

enum { HEAVY = 4, HEAVY_TURNS_MAX = 50 };

/* Leaves the socket readable, and each event is slow. */
static void on_ready_heavy(struct watch *watch, uint32_t events)
{
    struct end *end = CONTAINER_OF(watch, struct end, watch);
    (void)events;
    usleep(SLOW_US / 2);
    count_event(end);
}

static void on_mail(struct mail *mail)
{
    (void)mail;
    loop_stop(room.loop);
}

static void test_mail_comes_beside_sockets_that_always_have_more(void **state)
{
    struct mail mail = {.run = on_mail};
    (void)state;
    open_room(HEAVY, on_ready_heavy);
    for (unsigned i = 0; i < HEAVY; i++)
        write_to(i, "x", 1);
    run_for_events(HEAVY);
    loop_post(room.loop, &mail);
    run_for_events(HEAVY * HEAVY_TURNS_MAX);
    assert_true(room.served < HEAVY * HEAVY_TURNS_MAX);
    close_room();
}

/* Reads one byte per turn. */
static void on_ready_prompt(struct watch *watch, uint32_t events)
{
    struct end *end = CONTAINER_OF(watch, struct end, watch);
    (void)events;
    end->served++;
    loop_at_turn_end(room.loop, &room.turn_end);
}

static void test_a_prompt_socket_is_served_in_every_turn_whatever_patient_ones_want(void **state)
{
    enum { PATIENT = 200 };
    (void)state;
    open_mixed_room(1 + PATIENT, 1, on_ready_heavy);
    room.ends[0].watch.on_ready = on_ready_prompt;
    for (unsigned i = 0; i <= PATIENT; i++)
        write_to(i, "x", 1);
    run_for_events(2 * PATIENT);
    assert_true(room.turns >= PATIENT); /* each event fills the patient share of a turn */
    assert_true(room.most_in_turn <= 2);
    assert_in_range(room.ends[0].served, room.turns - 1, room.turns + 1);
    close_room();
}

static void test_a_patient_socket_is_served_in_every_turn_whatever_greedy_ones_want(void **state)
{
    enum { GREEDY = 200 };
    (void)state;
    open_patient_room(1 + GREEDY, on_ready_heavy);
    room.ends[0].watch.on_ready = on_ready_prompt;
    for (unsigned i = 1; i <= GREEDY; i++)
        watch_set_rank(room.loop, &room.ends[i].watch, WATCH_GREEDY);
    for (unsigned i = 0; i <= GREEDY; i++)
        write_to(i, "x", 1);
    run_for_events(2 * GREEDY);
    assert_true(room.turns >= GREEDY);
    assert_in_range(room.ends[0].served, room.turns - 1, room.turns + 1);
    close_room();
}

/* Requests the next call each time. */
static void on_called_heavy(struct watch *watch, uint32_t events)
{
    struct end *end = CONTAINER_OF(watch, struct end, watch);
    assert_int_equal(events, 0);
    assert_false(watch->is_due);
    usleep(SLOW_US);
    watch_call(room.loop, watch);
    count_event(end);
}

static void calls_are_served_in_shares(enum watch_rank rank)
{
    enum { CALLED = 50 };
    open_patient_room(2 + CALLED, on_called_heavy);
    watch_set_rank(room.loop, &room.ends[0].watch, WATCH_PROMPT);
    room.ends[0].watch.on_ready = on_ready_prompt;
    room.ends[1].watch.on_ready = on_ready_prompt;
    for (unsigned i = 2; i < 2 + CALLED; i++) {
        watch_call(room.loop, &room.ends[i].watch);
        watch_call(room.loop, &room.ends[i].watch); /* still makes only one call */
        watch_set_rank(room.loop, &room.ends[i].watch, rank);
    }
    write_to(0, "x", 1);
    write_to(1, "x", 1);
    run_for_events(2 * CALLED);
    for (unsigned i = 2; i < 2 + CALLED; i++)
        assert_int_equal(room.ends[i].served, 2);
    assert_true(room.turns >= 2 * CALLED);
    assert_in_range(room.ends[0].served, room.turns - 1, room.turns + 1);
    if (rank == WATCH_GREEDY)
        assert_in_range(room.ends[1].served, room.turns - 1, room.turns + 1);
    else
        assert_true(room.ends[1].served >= 1); /* it takes its turn among the patient ones */
    close_room();
}

static void test_watches_that_ask_for_a_call_share_the_time_of_their_rank(void **state)
{
    (void)state;
    calls_are_served_in_shares(WATCH_PATIENT);
    calls_are_served_in_shares(WATCH_GREEDY);
}

static void test_a_closed_watch_gets_no_call(void **state)
{
    (void)state;
    open_patient_room(3, on_called_heavy);
    watch_call(room.loop, &room.ends[0].watch);
    watch_call(room.loop, &room.ends[1].watch);
    watch_call(room.loop, &room.ends[2].watch);
    watch_close(room.loop, &room.ends[0].watch);
    watch_stop(room.loop, &room.ends[1].watch);
    run_for_events(2);
    assert_int_equal(room.ends[0].served + room.ends[1].served, 0);
    close_room();
}

/* Changes the rank of a stream with each event. */
static void on_ready_moving(struct watch *watch, uint32_t events)
{
    bool is_patient = watch->rank == WATCH_PATIENT;
    (void)events;
    read_one(watch);
    watch_set_rank(room.loop, watch, is_patient ? WATCH_GREEDY : WATCH_PATIENT);
    watch_set_rank(room.loop, watch, is_patient ? WATCH_GREEDY : WATCH_PATIENT);
    count_event(CONTAINER_OF(watch, struct end, watch));
}

static void test_sockets_that_change_their_rank_get_all_their_events(void **state)
{
    (void)state;
    open_patient_room(SOCKETS_MAX, on_ready_moving);
    for (unsigned i = 0; i < SOCKETS_MAX; i++)
        write_to(i, "wxyz", 4);
    run_for_events(4 * SOCKETS_MAX);
    for (unsigned i = 0; i < SOCKETS_MAX; i++)
        assert_int_equal(room.ends[i].served, 4);
    close_room();
}

static void on_ready_moving_others(struct watch *watch, uint32_t events)
{
    (void)events;
    for (unsigned i = 0; i < room.count; i++)
        watch_set_rank(room.loop, &room.ends[i].watch, WATCH_GREEDY);
    count_event(CONTAINER_OF(watch, struct end, watch));
    watch_set(room.loop, watch, 0);
}

static void test_a_socket_that_another_moves_has_one_event_and_not_two(void **state)
{
    enum { SOCKETS = 20 };
    (void)state;
    open_patient_room(SOCKETS, on_ready_moving_others);
    for (unsigned i = 0; i < SOCKETS; i++)
        write_to(i, "x", 1);
    run_for_events(SOCKETS);
    for (unsigned i = 0; i < SOCKETS; i++)
        assert_int_equal(room.ends[i].served, 1);
    close_room();
}

static void on_write_due(struct timer *timer)
{
    (void)timer;
    write_to(room.count - 1, "x", 1);
}

static void test_a_loop_with_idle_patient_sockets_sleeps_until_one_is_ready(void **state)
{
    struct timer timer;
    (void)state;
    open_mixed_room(4, 2, on_ready_fast);
    write_to(2, "x", 1); /* readable all the time, but the loop does not wait for it */
    watch_set(room.loop, &room.ends[2].watch, 0);
    timer_init(&timer, on_write_due);
    timer_start(room.loop, &timer, loop_clock(room.loop) + 20 * US_PER_MS);
    uint64_t looks = watch_turns(room.loop);
    run_for_events(1);
    assert_int_equal(room.ends[3].served, 1);
    assert_true(watch_turns(room.loop) - looks < 10);
    close_room();
}

/* The kernel reports both in one turn, and the first makes the second pause. */
static void on_ready_pausing(struct watch *watch, uint32_t events)
{
    struct end *end = CONTAINER_OF(watch, struct end, watch);
    (void)events;
    for (unsigned i = 0; i < room.count; i++)
        if (&room.ends[i] != end)
            watch_set(room.loop, &room.ends[i].watch, 0);
    count_event(end);
}

static void test_a_socket_that_pauses_gets_no_event_of_the_turn(void **state)
{
    (void)state;
    open_room(2, on_ready_pausing);
    write_to(0, "x", 1);
    write_to(1, "x", 1);
    run_for_events(3);
    assert_true(room.ends[0].served == 0 || room.ends[1].served == 0);
    close_room();
}

static void test_a_patient_socket_that_pauses_gets_no_event_of_the_turn(void **state)
{
    (void)state;
    open_patient_room(2, on_ready_pausing);
    write_to(0, "x", 1);
    write_to(1, "x", 1);
    run_for_events(3);
    assert_true(room.ends[0].served == 0 || room.ends[1].served == 0);
    close_room();
}

/* ---- busy sockets ---- */

/* The call without a byte ends the test. */
static void on_ready_busy(struct watch *watch, uint32_t events)
{
    char byte;
    struct end *end = CONTAINER_OF(watch, struct end, watch);
    assert_true(events & EPOLLIN);
    if (read(watch->fd, &byte, 1) == 1)
        watch_set_busy(room.loop, watch);
    else
        assert_int_equal(watch_set_calm(room.loop, watch), ERR_OK);
    count_event(end);
}

static void test_a_busy_watch_is_called_each_turn_until_it_is_calm(void **state)
{
    (void)state;
    open_room(1, on_ready_busy);
    write_to(0, "abc", 3);
    run_for_events(4); /* three bytes, and the turn that finds none */
    assert_int_equal(room.turns, 4);
    assert_false(room.ends[0].watch.is_busy);
    write_to(0, "d", 1);
    run_for_events(6); /* the loop waits for the socket again */
    close_room();
}

static void test_a_busy_watch_leaves_its_neighbours_their_turn(void **state)
{
    (void)state;
    open_room(2, on_ready_fast);
    room.ends[0].watch.on_ready = on_ready_busy;
    write_to(0, "abcdefgh", 8);
    write_to(1, "stuvwxyz", 8);
    run_for_events(16);
    assert_in_range(room.ends[1].served, 7, 8);
    close_room();
}

/* Four slow events fill a turn. The busy socket is called in the first turn and in the fifth. */
static void test_a_busy_watch_waits_a_few_turns_for_events_that_are_left_over(void **state)
{
    enum { DEAR = 20 };
    (void)state;
    open_room(1 + DEAR, on_ready_slowly);
    room.ends[0].watch.on_ready = on_ready_busy;
    watch_set_busy(room.loop, &room.ends[0].watch);
    write_to(0, "abcdefgh", 8);
    for (unsigned i = 1; i <= DEAR; i++)
        write_to(i, "a", 1);
    run_for_events(DEAR + 2);
    assert_int_equal(room.ends[0].served, 2);
    close_room();
}

static void test_events_wanted_while_busy_stay_wanted_when_calm(void **state)
{
    (void)state;
    open_room(1, on_ready_busy);
    struct watch *watch = &room.ends[0].watch;
    watch_set_busy(room.loop, watch);
    watch_set_busy(room.loop, watch);
    watch_set(room.loop, watch, EPOLLIN | EPOLLOUT);
    assert_int_equal(watch_set_calm(room.loop, watch), ERR_OK);
    assert_int_equal(watch_set_calm(room.loop, watch), ERR_OK);
    watch_set(room.loop, watch, EPOLLIN);
    write_to(0, "a", 1);
    run_for_events(2);
    close_room();
}

static void on_ready_closing_both(struct watch *watch, uint32_t events)
{
    struct end *end = CONTAINER_OF(watch, struct end, watch);
    (void)events;
    for (unsigned i = 0; i < room.count; i++)
        watch_close(room.loop, &room.ends[i].watch);
    count_event(end);
}

static void test_busy_watches_may_close_each_other_and_themselves(void **state)
{
    enum { SOCKETS = 5 };
    (void)state;
    open_room(SOCKETS, on_ready_closing_both);
    for (unsigned i = 0; i < SOCKETS; i++)
        watch_set_busy(room.loop, &room.ends[i].watch);
    run_for_events(1);
    assert_int_equal(room.served, 1);
    close_room();
}

static void test_a_busy_watch_that_is_stopped_is_not_called(void **state)
{
    (void)state;
    open_room(2, on_ready_fast);
    watch_set_busy(room.loop, &room.ends[0].watch);
    watch_stop(room.loop, &room.ends[0].watch);
    write_to(0, "a", 1);
    write_to(1, "b", 1);
    run_for_events(1);
    assert_int_equal(room.ends[0].served, 0);
    close_room();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_turn_is_not_filled_by_expensive_events_and_none_is_forgotten),
        cmocka_unit_test(test_more_sockets_than_a_turn_takes_all_get_theirs),
        cmocka_unit_test(test_more_patient_sockets_than_a_turn_takes_are_served_in_rounds),
        cmocka_unit_test(test_a_watch_closed_in_a_turn_gets_no_event_of_it),
        cmocka_unit_test(test_a_patient_watch_closed_in_a_turn_gets_no_event_of_it),
        cmocka_unit_test(test_mail_comes_beside_sockets_that_always_have_more),
        cmocka_unit_test(test_a_prompt_socket_is_served_in_every_turn_whatever_patient_ones_want),
        cmocka_unit_test(test_a_patient_socket_is_served_in_every_turn_whatever_greedy_ones_want),
        cmocka_unit_test(test_watches_that_ask_for_a_call_share_the_time_of_their_rank),
        cmocka_unit_test(test_a_closed_watch_gets_no_call),
        cmocka_unit_test(test_sockets_that_change_their_rank_get_all_their_events),
        cmocka_unit_test(test_a_socket_that_another_moves_has_one_event_and_not_two),
        cmocka_unit_test(test_a_loop_with_idle_patient_sockets_sleeps_until_one_is_ready),
        cmocka_unit_test(test_a_socket_that_pauses_gets_no_event_of_the_turn),
        cmocka_unit_test(test_a_patient_socket_that_pauses_gets_no_event_of_the_turn),
        cmocka_unit_test(test_a_busy_watch_is_called_each_turn_until_it_is_calm),
        cmocka_unit_test(test_a_busy_watch_leaves_its_neighbours_their_turn),
        cmocka_unit_test(test_a_busy_watch_waits_a_few_turns_for_events_that_are_left_over),
        cmocka_unit_test(test_events_wanted_while_busy_stay_wanted_when_calm),
        cmocka_unit_test(test_busy_watches_may_close_each_other_and_themselves),
        cmocka_unit_test(test_a_busy_watch_that_is_stopped_is_not_called),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
