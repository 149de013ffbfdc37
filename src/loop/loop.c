/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * The loop of loop.h on libuv. Timers are the wheel's (timer.c), sockets are src/net's.
 *
 * A turn of libuv is: prepare, wait and run sockets and mail, check. Our timers and the turn-end
 * hooks run in check; the uv_timer does nothing but bound the wait. What is asked for outside of
 * a turn (before the first one, between two runs) is caught by the hooks' second place in prepare.
 *
 * Invariant: the loop never waits while a turn-end hook is asked for.
 */

#include "loop/loop.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/check.h"
#include "loop/loop_uv.h"
#include "loop/timer.h"

enum {
    /* Hooks may ask for hooks. After so many rounds the sockets get a turn between. */
    TURN_END_ROUNDS = 8,
    /* libuv takes any number of ms; an hour keeps the arithmetic far from its ends. */
    WAIT_MAX_MS = 3600 * 1000,
};

struct loop {
    uv_loop_t uv;
    uv_prepare_t prepare;
    uv_check_t check;
    uv_timer_t wait;       /* bounds the wait for the next timer of ours */
    uint64_t wait_ends_at; /* when it does; UINT64_MAX: not armed */
    uv_async_t wakeup;
    uint64_t now_us;
    bool now_is_stale;
    struct list turn_ends;
    struct timers timers;
    struct loop_guest *guest;
    _Atomic(struct mail *) mailbox; /* a stack: newest first */
    atomic_bool stopping;
};

uint64_t loop_clock(struct loop *loop)
{
    struct timespec now;

    (void)loop;
    MUST(clock_gettime(CLOCK_BOOTTIME, &now) == 0);
    return (uint64_t)now.tv_sec * US_PER_S + (uint64_t)now.tv_nsec / 1000;
}

uint64_t loop_now(struct loop *loop)
{
    if (loop->now_is_stale) {
        loop->now_us = loop_clock(loop);
        loop->now_is_stale = false;
    }
    return loop->now_us;
}

struct timers *loop_timers(struct loop *loop)
{
    return &loop->timers;
}

uv_loop_t *loop_uv(struct loop *loop)
{
    return &loop->uv;
}

struct loop_guest *loop_guest(struct loop *loop)
{
    return loop->guest;
}

void loop_set_guest(struct loop *loop, struct loop_guest *guest)
{
    MUST(!loop->guest);
    loop->guest = guest;
}

void loop_at_turn_end(struct loop *loop, struct turn_end *end)
{
    if (!list_is_linked(&end->node))
        list_append(&loop->turn_ends, &end->node);
}

void turn_end_cancel(struct turn_end *end)
{
    list_remove(&end->node);
}

static void run_turn_ends(struct loop *loop)
{
    for (int round = 0; round < TURN_END_ROUNDS && !list_is_empty(&loop->turn_ends); round++) {
        struct list asked;
        list_init(&asked);
        list_splice(&asked, &loop->turn_ends);
        for (struct list *node; (node = list_take_first(&asked)) != NULL;) {
            struct turn_end *end = LIST_ITEM(node, struct turn_end, node);
            end->run(end);
        }
    }
}

/* A Treiber stack: posters push, the loop takes all at once, so there is no ABA. */
void loop_post(struct loop *loop, struct mail *mail)
{
    struct mail *head = atomic_load_explicit(&loop->mailbox, memory_order_relaxed);

    do {
        mail->next = head;
    } while (!atomic_compare_exchange_weak_explicit(&loop->mailbox, &head, mail,
                                                    memory_order_release, memory_order_relaxed));
    if (!head)
        MUST(uv_async_send(&loop->wakeup) == 0);
}

static void read_mail(struct loop *loop)
{
    struct mail *newest = atomic_exchange_explicit(&loop->mailbox, NULL, memory_order_acquire);
    struct mail *oldest = NULL;

    while (newest) {
        struct mail *next = newest->next;
        newest->next = oldest;
        oldest = newest;
        newest = next;
    }
    while (oldest) {
        struct mail *mail = oldest;
        oldest = mail->next;
        mail->run(mail);
    }
}

void loop_stop(struct loop *loop)
{
    atomic_store(&loop->stopping, true);
    MUST(uv_async_send(&loop->wakeup) == 0);
}

static void on_wakeup(uv_async_t *wakeup)
{
    read_mail(CONTAINER_OF(wakeup, struct loop, wakeup));
}

static void on_wait_ended(uv_timer_t *wait)
{
    CONTAINER_OF(wait, struct loop, wait)->wait_ends_at = UINT64_MAX;
}

/* An armed wait that ends too early costs one empty turn; one that is moved costs a heap's work
 * each turn. So it is only ever moved forward. */
static void bound_wait(struct loop *loop)
{
    uint64_t next = list_is_empty(&loop->turn_ends) ? timers_next(&loop->timers) : 0;
    uint64_t now, ms;

    if (next >= loop->wait_ends_at)
        return;
    now = loop_clock(loop);
    ms = next > now ? (next - now + US_PER_MS - 1) / US_PER_MS : 0;
    ms = MIN(ms, WAIT_MAX_MS);
    loop->wait_ends_at = now + ms * US_PER_MS;
    uv_update_time(&loop->uv);
    MUST(uv_timer_start(&loop->wait, on_wait_ended, ms, 0) == 0);
}

static void on_prepare(uv_prepare_t *prepare)
{
    struct loop *loop = CONTAINER_OF(prepare, struct loop, prepare);

    run_turn_ends(loop);
    bound_wait(loop);
    loop->now_is_stale = true;
}

static void on_check(uv_check_t *check)
{
    struct loop *loop = CONTAINER_OF(check, struct loop, check);

    timers_run(&loop->timers, loop_now(loop));
    run_turn_ends(loop);
    if (atomic_load(&loop->stopping))
        uv_stop(&loop->uv);
}

void loop_run(struct loop *loop)
{
    uv_run(&loop->uv, UV_RUN_DEFAULT);
    atomic_store(&loop->stopping, false);
}

struct loop *loop_new(void)
{
    struct loop *loop = calloc(1, sizeof(*loop));

    if (!loop)
        return NULL;
    if (uv_loop_init(&loop->uv) != 0) {
        free(loop);
        return NULL;
    }
    if (uv_async_init(&loop->uv, &loop->wakeup, on_wakeup) != 0) {
        MUST(uv_loop_close(&loop->uv) == 0);
        free(loop);
        return NULL;
    }
    list_init(&loop->turn_ends);
    timers_init(&loop->timers, loop_clock(loop));
    loop->now_is_stale = true;
    loop->wait_ends_at = UINT64_MAX;
    uv_timer_init(&loop->uv, &loop->wait); /* these three cannot fail */
    uv_prepare_init(&loop->uv, &loop->prepare);
    uv_check_init(&loop->uv, &loop->check);
    uv_prepare_start(&loop->prepare, on_prepare);
    uv_check_start(&loop->check, on_check);
    return loop;
}

void loop_free(struct loop *loop)
{
    read_mail(loop); /* whoever posted waits for it to run */
    if (loop->guest)
        loop->guest->close(loop->guest);
    uv_close((uv_handle_t *)&loop->prepare, NULL);
    uv_close((uv_handle_t *)&loop->check, NULL);
    uv_close((uv_handle_t *)&loop->wait, NULL);
    uv_close((uv_handle_t *)&loop->wakeup, NULL);
    uv_run(&loop->uv, UV_RUN_DEFAULT);
    MUST(uv_loop_close(&loop->uv) == 0);
    if (loop->guest)
        loop->guest->free(loop->guest);
    free(loop);
}
