/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * The inquiry does not use cached answers, and a cached answer says nothing about the clock. A step
 * of the clock forward makes the timer due early.
 */

#include "daemon/clock_watch.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/units.h"
#include "cache/cache.h"
#include "config/config.h"
#include "control/view.h"
#include "daemon/inquiry.h"
#include "dns/rrtype.h"
#include "loop/loop.h"
#include "loop/timer.h"
#include "resolve/views.h"
#include "validate/anchors.h"

/* The network of a machine that has just started may take a minute. */
#define CLOCK_WATCH_FIRST_US (60 * US_PER_S)
#define CLOCK_WATCH_US (3600 * US_PER_S)

enum { CLOCK_WATCH_ANCHORS_MAX = 8 /* whose keys are asked for in one round */ };

struct clock_watch {
    struct loop *loop;
    const struct control_view *view;
    struct timer tick;
    struct inquiry inquiry;
    bool is_running;
    size_t next; /* the number of the next anchor of this round */
};

/* Returns the next trusted anchor of this round, or NULL. Without prefetch, nailupd sends as few
 * queries of its own as it can. The server of a captive portal would answer in plain text, and
 * nothing is validated there. */
static const struct anchor *clock_watch_next(struct clock_watch *watch)
{
    const struct validation_options *options = &watch->view->config->route.validation;
    if (!options->anchors || watch->view->has_portal || !cache_prefetches(watch->view->cache))
        return NULL;
    size_t end = MIN(anchors_count(options->anchors), (size_t)CLOCK_WATCH_ANCHORS_MAX);
    while (watch->next < end) {
        const struct anchor *anchor = anchors_at(options->anchors, watch->next++);
        if (anchor->kind == ANCHOR_TRUSTED)
            return anchor;
    }
    return NULL;
}

static void clock_watch_on_back(struct inquiry *inquiry);

/* Asks for the keys of the next anchor, or ends the round. */
static void clock_watch_go_on(struct clock_watch *watch)
{
    const char *view = views_validating(&watch->view->config->route);
    const struct anchor *anchor = view ? clock_watch_next(watch) : NULL;
    if (!anchor) {
        timer_start(watch->loop, &watch->tick, loop_now(watch->loop) + CLOCK_WATCH_US);
        return;
    }
    const struct question question = {
        .name = anchor->zone, .type = RRTYPE_DNSKEY, .cls = RRCLASS_IN};
    inquiry_send(&watch->inquiry, watch->loop, watch->view->workers[0], &question, view, false,
                 clock_watch_on_back);
}

static void clock_watch_on_back(struct inquiry *inquiry)
{
    struct clock_watch *watch = CONTAINER_OF(inquiry, struct clock_watch, inquiry);
    inquiry_clear(inquiry);
    if (watch->is_running)
        clock_watch_go_on(watch);
}

static void clock_watch_on_tick(struct timer *timer)
{
    struct clock_watch *watch = CONTAINER_OF(timer, struct clock_watch, tick);
    watch->next = 0;
    clock_watch_go_on(watch);
}

struct clock_watch *clock_watch_start(struct loop *loop, const struct control_view *view)
{
    struct clock_watch *watch = calloc(1, sizeof(*watch));
    if (!watch)
        return NULL;
    watch->loop = loop;
    watch->view = view;
    watch->is_running = true;
    timer_init(&watch->tick, clock_watch_on_tick);
    timer_start(loop, &watch->tick, loop_now(loop) + CLOCK_WATCH_FIRST_US);
    return watch;
}

void clock_watch_stop(struct clock_watch *watch)
{
    if (!watch)
        return;
    watch->is_running = false;
    timer_stop(&watch->tick);
}

void clock_watch_free(struct clock_watch **watch)
{
    if (!*watch)
        return;
    inquiry_clear(&(*watch)->inquiry);
    free(*watch);
    *watch = NULL;
}
