/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Sockets of one loop: each gets its turn, busy ones without asking the kernel. */

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
    int other; /* the end that is written to */
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

static void open_room(unsigned count, void (*on_ready)(struct watch *watch, uint32_t events))
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
        assert_int_equal(watch_start(room.loop, &end->watch, fds[0], EPOLLIN), ERR_OK);
    }
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

/* As dear as a few handshakes. */
static void on_ready_slowly(struct watch *watch, uint32_t events)
{
    assert_true(events & EPOLLIN);
    read_one(watch);
    usleep(SLOW_US);
    count_event(CONTAINER_OF(watch, struct end, watch));
}

static void test_a_turn_is_not_filled_by_dear_events_and_none_is_forgotten(void **state)
{
    enum { SOCKETS = 40 };
    (void)state;

    open_room(SOCKETS, on_ready_slowly);
    for (unsigned i = 0; i < SOCKETS; i++)
        write_to(i, "x", 1);
    run_for_events(SOCKETS);
    assert_true(room.turns >= SOCKETS / 5); /* not one turn for all: 2 ms each, 4 ms a turn */
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

/* Closes its neighbour, whose event of this turn is void then. */
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

static void test_a_watch_closed_in_a_turn_gets_no_event_of_it(void **state)
{
    enum { SOCKETS = 20 };
    (void)state;
    open_room(SOCKETS, on_ready_closing);
    for (unsigned i = 0; i < SOCKETS; i++)
        write_to(i, "x", 1);
    run_for_events(SOCKETS / 2);
    for (unsigned i = 0; i < SOCKETS; i += 2)
        assert_int_equal(room.ends[i].served + room.ends[i + 1].served, 1);
    close_room();
}

/* ---- what else runs ---- */

enum { HEAVY = 4, HEAVY_TURNS_MAX = 50 };

/* Stays readable for ever, and dear. */
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

/* Named by the kernel together; the first asks the second to pause. */
static void on_ready_pausing(struct watch *watch, uint32_t events)
{
    struct end *end = CONTAINER_OF(watch, struct end, watch);
    (void)events;
    for (unsigned i = 0; i < room.count; i++)
        if (&room.ends[i] != end)
            watch_set(room.loop, &room.ends[i].watch, 0);
    count_event(end);
}

static void test_who_pauses_gets_no_event_of_the_turn(void **state)
{
    (void)state;
    open_room(2, on_ready_pausing);
    write_to(0, "x", 1);
    write_to(1, "x", 1);
    run_for_events(3);
    assert_true(room.ends[0].served == 0 || room.ends[1].served == 0);
    close_room();
}

/* ---- busy ones ---- */

/* Called also when there is nothing: then it is over. */
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
    run_for_events(4); /* three bytes and the turn without any */
    assert_int_equal(room.turns, 4);
    assert_false(room.ends[0].watch.is_busy);
    write_to(0, "d", 1);
    run_for_events(6); /* it is waited for again */
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

static void test_what_is_asked_for_while_busy_holds_when_calm(void **state)
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
        cmocka_unit_test(test_a_turn_is_not_filled_by_dear_events_and_none_is_forgotten),
        cmocka_unit_test(test_more_sockets_than_a_turn_takes_all_get_theirs),
        cmocka_unit_test(test_a_watch_closed_in_a_turn_gets_no_event_of_it),
        cmocka_unit_test(test_mail_comes_beside_sockets_that_always_have_more),
        cmocka_unit_test(test_who_pauses_gets_no_event_of_the_turn),
        cmocka_unit_test(test_a_busy_watch_is_called_each_turn_until_it_is_calm),
        cmocka_unit_test(test_a_busy_watch_leaves_its_neighbours_their_turn),
        cmocka_unit_test(test_what_is_asked_for_while_busy_holds_when_calm),
        cmocka_unit_test(test_busy_watches_may_close_each_other_and_themselves),
        cmocka_unit_test(test_a_busy_watch_that_is_stopped_is_not_called),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
