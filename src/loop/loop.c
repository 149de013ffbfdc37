/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * The loop of loop.h on libuv. timer.c has the timers, and src/net has the sockets.
 *
 * The loop waits on its own epoll set (watches.h), which contains libuv's descriptor beside the
 * sockets. The other way round, each wake-up would cost two waits. libuv runs when its descriptor
 * is ready or when it reports work.
 *
 * Invariant: the loop never waits while a turn-end hook is due.
 */

#include "loop/loop.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/check.h"
#include "base/clock.h"
#include "loop/loop_guest.h"
#include "loop/loop_uv.h"
#include "loop/timer.h"
#include "loop/watch.h"
#include "loop/watches.h"

enum {
    /* Hooks may ask for hooks. After this many rounds the sockets get a turn. */
    TURN_END_ROUNDS = 8,
    /* An hour keeps the arithmetic far from its ends. */
    WAIT_MAX_MS = 3600 * 1000,
    LOAD_PERCENT = 80, /* a loop with this share of CPU time is saturated */
    /* Between two looks at the wall clock: turns under load are shorter. */
    LOOK_US = 250,
};

struct loop {
    struct loop_turn turn;         /* first */
    uint64_t looked_at;            /* when the loop last read the wall clock */
    uint64_t load_at, load_cpu_us; /* the values at the last measurement of the load */
    bool is_saturated;
    uv_loop_t uv;
    uv_async_t wakeup;
    struct watch uv_watch;
    struct watches watches;
    struct list turn_ends;
    struct timers timers;
    struct loop_guest *guest;
    _Atomic(struct mail *) mailbox; /* a stack: newest first */
    atomic_bool stopping;
};

uint64_t loop_clock(struct loop *loop)
{
    (void)loop;
    return clock_now_us();
}

uint64_t loop_read_now(struct loop *loop)
{
    uint64_t now = clock_now_us();

    if (now - loop->looked_at >= LOOK_US)
        now = loop->looked_at = clock_look_us();
    loop->turn.now_us = now;
    return now;
}

int64_t loop_wall_s(struct loop *loop)
{
    (void)loop;
    return (int64_t)time(NULL);
}

static uint64_t cpu_us(void)
{
    struct timespec cpu;
    MUST(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu) == 0);
    return (uint64_t)cpu.tv_sec * US_PER_S + (uint64_t)cpu.tv_nsec / 1000;
}

bool loop_is_saturated(struct loop *loop)
{
    uint64_t now = loop_now(loop), passed_us = now - loop->load_at;
    if (passed_us < LOOP_LOAD_US)
        return loop->is_saturated;
    uint64_t used_us = cpu_us();
    loop->is_saturated = (used_us - loop->load_cpu_us) * 100 >= passed_us * LOAD_PERCENT;
    loop->load_at = now;
    loop->load_cpu_us = used_us;
    return loop->is_saturated;
}

struct timers *loop_timers(struct loop *loop)
{
    return &loop->timers;
}

struct watches *loop_watches(struct loop *loop)
{
    return &loop->watches;
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

/* A Treiber stack: posters push, and the loop takes all at once, so there is no ABA problem. */
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

static void run_uv(struct loop *loop)
{
    uv_run(&loop->uv, UV_RUN_NOWAIT);
}

/* libuv has handles to add to its set or to close. */
static bool has_uv_work(const struct loop *loop)
{
    return uv_backend_timeout(&loop->uv) == 0;
}

static void on_uv_ready(struct watch *watch, uint32_t events)
{
    (void)events;
    run_uv(CONTAINER_OF(watch, struct loop, uv_watch));
}

/* The time until our next timer, rounded up; -1: no timer. */
static int wait_ms(struct loop *loop)
{
    uint64_t next = list_is_empty(&loop->turn_ends) ? timers_next(&loop->timers) : 0;
    if (next == UINT64_MAX)
        return -1;
    uint64_t now = loop_clock(loop);
    uint64_t ms = next > now ? (next - now + US_PER_MS - 1) / US_PER_MS : 0;
    return (int)MIN(ms, (uint64_t)WAIT_MAX_MS);
}

static bool is_stopping(const struct loop *loop)
{
    return atomic_load_explicit(&loop->stopping, memory_order_acquire);
}

static void run_turn(struct loop *loop)
{
    run_turn_ends(loop); /* hooks that were requested outside of a turn */
    if (has_uv_work(loop))
        run_uv(loop);
    /* These calls may have made handles whose descriptors are not in libuv's set yet. */
    int timeout_ms = is_stopping(loop) || has_uv_work(loop) ? 0 : wait_ms(loop);
    loop->turn.now_us = 0;
    watches_wait(&loop->watches, timeout_ms);
    timers_run(&loop->timers, loop_now(loop));
    run_turn_ends(loop);
}

void loop_run(struct loop *loop)
{
    do {
        run_turn(loop);
    } while (!is_stopping(loop));
    atomic_store(&loop->stopping, false);
}

static enum err loop_init(struct loop *loop)
{
    if (uv_loop_init(&loop->uv) != 0)
        return ERR_NO_FILES;
    if (uv_async_init(&loop->uv, &loop->wakeup, on_wakeup) != 0)
        goto no_wakeup;
    if (watches_init(&loop->watches) != ERR_OK)
        goto no_watches;
    loop->uv_watch.on_ready = on_uv_ready;
    if (watch_start(loop, &loop->uv_watch, uv_backend_fd(&loop->uv), EPOLLIN) == ERR_OK)
        return ERR_OK;
    watches_deinit(&loop->watches);
no_watches:
    uv_close((uv_handle_t *)&loop->wakeup, NULL);
    uv_run(&loop->uv, UV_RUN_DEFAULT);
no_wakeup:
    MUST(uv_loop_close(&loop->uv) == 0);
    return ERR_NO_FILES;
}

struct loop *loop_new(void)
{
    struct loop *loop = calloc(1, sizeof(*loop));

    if (!loop)
        return NULL;
    if (loop_init(loop) != ERR_OK) {
        free(loop);
        return NULL;
    }
    list_init(&loop->turn_ends);
    timers_init(&loop->timers, loop_clock(loop));
    return loop;
}

void loop_free(struct loop *loop)
{
    read_mail(loop); /* posters wait for their mail to run */
    if (loop->guest)
        loop->guest->free(loop->guest);
    watch_stop(loop, &loop->uv_watch);
    uv_close((uv_handle_t *)&loop->wakeup, NULL);
    uv_run(&loop->uv, UV_RUN_DEFAULT);
    MUST(uv_loop_close(&loop->uv) == 0);
    watches_deinit(&loop->watches);
    free(loop);
}
