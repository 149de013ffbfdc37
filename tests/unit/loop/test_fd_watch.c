/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* libuv watches these descriptors, inside a loop that waits in its own epoll set. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <unistd.h>

#include "base/check.h"
#include "loop/fd_watch.h"
#include "loop/loop.h"

enum { GUARD_S = 10 }; /* not a timer of the loop, which would wake the loop and hide the fault */

struct ear {
    struct loop *loop;
    struct fd_watch *watch;
    struct ear *next; /* the descriptor to watch next; NULL: the loop stops */
    int ends[2];
    bool heard;
};

static void on_readable(void *owner, struct fd_events events);

static void listen_to(struct ear *ear)
{
    assert_int_equal(fd_watch_start(&ear->watch, ear->loop, ear->ends[0],
                                    (struct fd_events){.readable = true}, on_readable, ear),
                     ERR_OK);
}

static void on_readable(void *owner, struct fd_events events)
{
    struct ear *ear = owner;
    char byte;
    assert_true(events.readable);
    assert_int_equal(read(ear->ends[0], &byte, 1), 1);
    ear->heard = true;
    if (ear->next)
        listen_to(ear->next);
    else
        loop_stop(ear->loop);
}

static void ear_init(struct ear *ear, struct loop *loop, struct ear *next)
{
    *ear = (struct ear){.loop = loop, .next = next};
    assert_int_equal(pipe2(ear->ends, O_NONBLOCK | O_CLOEXEC), 0);
    assert_int_equal(write(ear->ends[1], "x", 1), 1);
}

static void ear_deinit(struct ear *ear)
{
    fd_watch_stop(&ear->watch);
    close(ear->ends[0]);
    close(ear->ends[1]);
}

static void test_a_watch_opened_in_another_callback_is_called(void **state)
{
    enum { EARS = 5 };
    struct ear ears[EARS];
    struct loop *loop = loop_new();
    (void)state;
    for (int i = 0; i < EARS; i++)
        ear_init(&ears[i], loop, i + 1 < EARS ? &ears[i + 1] : NULL);
    listen_to(&ears[0]);
    alarm(GUARD_S);
    loop_run(loop);
    alarm(0);
    for (int i = 0; i < EARS; i++) {
        assert_true(ears[i].heard);
        ear_deinit(&ears[i]);
    }
    loop_free(loop);
}

static void start_late(struct mail *mail);

struct late {
    struct mail mail;
    struct ear *ear;
};

static void start_late(struct mail *mail)
{
    listen_to(CONTAINER_OF(mail, struct late, mail)->ear);
}

static void test_a_watch_opened_by_mail_is_called(void **state)
{
    struct ear ear;
    struct loop *loop = loop_new();
    (void)state;
    ear_init(&ear, loop, NULL);
    struct late late = {.mail.run = start_late, .ear = &ear};
    loop_post(loop, &late.mail);
    alarm(GUARD_S);
    loop_run(loop);
    alarm(0);
    assert_true(ear.heard);
    ear_deinit(&ear);
    loop_free(loop);
}

static void test_a_stopped_watch_is_not_called(void **state)
{
    struct ear quiet, loud;
    struct loop *loop = loop_new();
    (void)state;
    ear_init(&quiet, loop, NULL);
    ear_init(&loud, loop, NULL);
    listen_to(&quiet);
    fd_watch_stop(&quiet.watch);
    listen_to(&loud);
    loop_run(loop);
    assert_false(quiet.heard);
    ear_deinit(&quiet);
    ear_deinit(&loud);
    loop_free(loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_watch_opened_in_another_callback_is_called),
        cmocka_unit_test(test_a_watch_opened_by_mail_is_called),
        cmocka_unit_test(test_a_stopped_watch_is_not_called),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
