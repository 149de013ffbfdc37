/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Each tick a letter goes to every worker. The watchdog is fed when all letters of the tick before
 * have been read: it starves when main does not turn, or any worker.
 *
 * Invariant: a letter is under way once at most, as it is posted anew only when all are read.
 */

#include "daemon/vitals.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/check.h"
#include "control/metrics.h"
#include "daemon/readiness.h"
#include "loop/loop.h"
#include "loop/timer.h"

enum {
    STATUS_US = 10 * 1000 * 1000, /* at most so often */
    TICKS_IN_WATCHDOG = 4,        /* one may be late, and one is lost between two letters */
    TICK_US_MIN = 10 * 1000,
};

struct letter {
    struct mail mail;
    struct vitals *vitals;
};

struct vitals {
    struct loop *loop;
    const struct control_view *view;
    struct timer tick;
    uint64_t watchdog_us, status_at;
    uint64_t queries_told, ready_told;
    atomic_size_t unread;
    struct letter letters[];
};

/* On the worker's thread. */
static void vitals_on_letter(struct mail *mail)
{
    struct letter *letter = CONTAINER_OF(mail, struct letter, mail);
    atomic_fetch_sub(&letter->vitals->unread, 1);
}

static void post_letters(struct vitals *vitals)
{
    size_t count = vitals->view->worker_count;

    atomic_store(&vitals->unread, count);
    for (size_t i = 0; i < count; i++)
        loop_post(vitals->view->workers[i]->loop, &vitals->letters[i].mail);
}

static void tell_status(struct vitals *vitals)
{
    struct stats stats;

    metrics_collect(vitals->view, &stats);
    uint64_t queries = stats.queries_udp + stats.queries_tcp + stats.queries_tls;
    vitals->status_at = loop_now(vitals->loop) + STATUS_US;
    if (queries == vitals->queries_told && stats.upstream_ready == vitals->ready_told)
        return;
    vitals->queries_told = queries;
    vitals->ready_told = stats.upstream_ready;
    readiness_status("%llu queries answered or under way, %llu connections to upstreams ready",
                     (unsigned long long)queries, (unsigned long long)stats.upstream_ready);
}

static void on_tick(struct timer *timer)
{
    struct vitals *vitals = CONTAINER_OF(timer, struct vitals, tick);
    uint64_t now = loop_now(vitals->loop), tick_us = STATUS_US;

    if (vitals->watchdog_us && atomic_load(&vitals->unread) == 0) {
        readiness_ping();
        post_letters(vitals);
    }
    if (now >= vitals->status_at)
        tell_status(vitals);
    if (vitals->watchdog_us)
        tick_us = MIN(tick_us, MAX(vitals->watchdog_us / TICKS_IN_WATCHDOG, TICK_US_MIN));
    timer_start(vitals->loop, timer, now + tick_us);
}

struct vitals *vitals_start(struct loop *loop, const struct control_view *view)
{
    size_t size = sizeof(struct vitals) + view->worker_count * sizeof(struct letter);
    struct vitals *vitals = readiness_is_wanted() ? calloc(1, size) : NULL;

    if (!vitals)
        return NULL;
    vitals->loop = loop;
    vitals->view = view;
    vitals->watchdog_us = readiness_watchdog_us();
    vitals->queries_told = UINT64_MAX;
    atomic_init(&vitals->unread, 0);
    for (size_t i = 0; i < view->worker_count; i++) {
        vitals->letters[i].mail.run = vitals_on_letter;
        vitals->letters[i].vitals = vitals;
    }
    timer_init(&vitals->tick, on_tick);
    on_tick(&vitals->tick);
    return vitals;
}

void vitals_stop(struct vitals *vitals)
{
    if (vitals)
        timer_stop(&vitals->tick);
}

void vitals_free(struct vitals **vitals)
{
    vitals_stop(*vitals);
    free(*vitals);
    *vitals = NULL;
}
