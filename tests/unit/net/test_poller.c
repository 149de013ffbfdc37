/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Events of many sockets in one loop. */

#include "real_net.h"

#include "net/poller.h"

enum { SOCKETS = 40, SLOW_US = 2000 };

struct busy {
    struct watch watch;
    struct room *room;
    int other; /* the end that is written to */
    unsigned served;
};

struct room {
    struct seen seen;
    struct poller *poller;
    struct turn_end turn_end;
    unsigned in_turn, most_in_turn, turns;
    struct busy busy[SOCKETS];
};

static void on_turn_end(struct turn_end *end)
{
    struct room *room = CONTAINER_OF(end, struct room, turn_end);
    room->most_in_turn = MAX(room->most_in_turn, room->in_turn);
    room->in_turn = 0;
    room->turns++;
}

/* As dear as a few handshakes. */
static void on_ready(struct watch *watch, uint32_t events)
{
    struct busy *busy = CONTAINER_OF(watch, struct busy, watch);
    char byte;

    assert_true(events & EPOLLIN);
    assert_int_equal(read(watch->fd, &byte, 1), 1);
    usleep(SLOW_US);
    busy->served++;
    busy->room->in_turn++;
    loop_at_turn_end(busy->room->seen.loop, &busy->room->turn_end);
    see(&busy->room->seen, ".", text(""));
}

static void test_a_turn_is_not_filled_by_dear_events_and_none_is_forgotten(void **state)
{
    static struct room room;
    (void)state;

    seen_init(&room.seen, loop_new());
    room.poller = poller_of(room.seen.loop);
    turn_end_init(&room.turn_end, on_turn_end);
    for (int i = 0; i < SOCKETS; i++) {
        int ends[2];
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
        room.busy[i].watch.on_ready = on_ready;
        room.busy[i].room = &room;
        room.busy[i].other = ends[1];
        assert_int_equal(watch_start(room.poller, &room.busy[i].watch, ends[0], EPOLLIN), ERR_OK);
        assert_int_equal(write(ends[1], "x", 1), 1);
    }
    run_until_seen(&room.seen, SOCKETS);
    run_some_turns(room.seen.loop);
    assert_true(room.turns >= SOCKETS / 4); /* not one turn for all: 2 ms each, 4 ms a turn */
    assert_true(room.most_in_turn <= 4);
    for (int i = 0; i < SOCKETS; i++) {
        assert_int_equal(room.busy[i].served, 1);
        watch_close(room.poller, &room.busy[i].watch);
        close(room.busy[i].other);
    }
    loop_free(room.seen.loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_turn_is_not_filled_by_dear_events_and_none_is_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
