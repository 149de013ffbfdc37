/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Each tick sends a letter to every worker. The watchdog gets its ping when all letters of the
 * previous tick have been read, so it fires when main or any worker stops turning.
 *
 * Invariant: no letter is sent again before it has been read, because letters leave only when all
 * have been read.
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
    STATUS_US = 10 * 1000 * 1000, /* the shortest time between two status lines */
    TICKS_IN_WATCHDOG = 4,        /* one tick may be late, and one is lost between two letters */
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
    uint64_t reported_queries, reported_ready;
    atomic_size_t unread;
    struct letter letters[];
};

/* Runs on the worker's thread. */
static void vitals_on_letter(struct mail *mail)
{
    struct letter *letter = CONTAINER_OF(mail, struct letter, mail);
    atomic_fetch_sub(&letter->vitals->unread, 1);
}

static void vitals_post_letters(struct vitals *vitals)
{
    size_t count = vitals->view->worker_count;

    atomic_store(&vitals->unread, count);
    for (size_t i = 0; i < count; i++)
        loop_post(vitals->view->workers[i]->loop, &vitals->letters[i].mail);
}

static void vitals_report_status(struct vitals *vitals)
{
    struct stats stats;

    metrics_collect(vitals->view, &stats);
    uint64_t queries = stats.queries_udp + stats.queries_tcp + stats.queries_tls;
    vitals->status_at = loop_now(vitals->loop) + STATUS_US;
    if (queries == vitals->reported_queries && stats.upstream_ready == vitals->reported_ready)
        return;
    vitals->reported_queries = queries;
    vitals->reported_ready = stats.upstream_ready;
    readiness_status("%llu queries received, %llu connections to upstreams ready",
                     (unsigned long long)queries, (unsigned long long)stats.upstream_ready);
}

static void vitals_on_tick(struct timer *timer)
{
    struct vitals *vitals = CONTAINER_OF(timer, struct vitals, tick);
    uint64_t now = loop_now(vitals->loop), tick_us = STATUS_US;

    if (vitals->watchdog_us && atomic_load(&vitals->unread) == 0) {
        readiness_ping();
        vitals_post_letters(vitals);
    }
    if (now >= vitals->status_at)
        vitals_report_status(vitals);
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
    vitals->reported_queries = UINT64_MAX;
    atomic_init(&vitals->unread, 0);
    for (size_t i = 0; i < view->worker_count; i++) {
        vitals->letters[i].mail.run = vitals_on_letter;
        vitals->letters[i].vitals = vitals;
    }
    timer_init(&vitals->tick, vitals_on_tick);
    vitals_on_tick(&vitals->tick);
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
