/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Which upstreams stay. One that nobody wants any more retires: it drains, and is freed when its
 * last connection has closed and nobody holds it. That is looked for now and then from the loop, so
 * that no upstream is ever freed under somebody's feet.
 *
 * Invariant: who is wanted is held, and a sibling is wanted as long as its opportunistic upstream
 * does not retire, and held as long as that is in memory.
 */

#include "upstream/upstreams.h"

#include "base/check.h"
#include "base/log.h"
#include "loop/loop.h"
#include "tls/tls_contexts.h"
#include "upstream/pool_retire.h"
#include "upstream/upstream.h"
#include "upstream/upstreams_inside.h"

#define LOOK_US (100 * US_PER_MS)

struct upstream *upstreams_want(struct upstreams *upstreams, const struct addr *addr,
                                const struct upstream_options *options)
{
    struct upstream *upstream = upstreams_make(upstreams, addr, options);
    if (!upstream)
        return NULL;
    upstream->wanted++;
    upstream->pool.must_earn = false;
    upstream_hold(upstream);
    return upstream;
}

void upstreams_unwant(struct upstream *upstream)
{
    MUST(upstream->wanted > 0);
    upstream->wanted--;
}

void upstreams_drop(struct upstream *upstream)
{
    MUST(upstream->held > upstream->wanted);
    upstream_drop(upstream);
}

/* ---- retiring ---- */

struct keeper {
    upstreams_keeps keeps;
    void *context;
};

static bool upstreams_wanted_is_kept(const struct upstream *upstream, const struct keeper *keeper)
{
    return upstream->wanted > 0 ||
           (upstream->met && keeper->keeps &&
            keeper->keeps(keeper->context, &upstream->addr, &upstream->options));
}

static void upstreams_wanted_retire(struct upstreams *upstreams, struct upstream *upstream,
                                    const struct keeper *keeper)
{
    struct upstream *plain = upstream->plain;
    char text[ADDR_TEXT_MAX];

    LOG(LOG_DEBUG, "upstream", "%s: retires", addr_format(&upstream->addr, text));
    upstream->retiring = true;
    upstreams_unmeet(upstream);
    list_append(&upstreams->retiring, &upstream->retire);
    pool_retire(&upstream->pool);
    if (!plain)
        return;
    upstreams_unwant(plain);
    if (!plain->retiring && !upstreams_wanted_is_kept(plain, keeper))
        upstreams_wanted_retire(upstreams, plain, keeper); /* which has no sibling */
}

/* With files that were read meanwhile, if they changed. */
static void upstreams_wanted_renew(struct upstream *upstream)
{
    if (transport_is_secure(upstream->options.transport) &&
        secure_renew(&upstream->secure, upstream->env))
        (void)pool_recycle(&upstream->pool);
}

void upstreams_revive(struct upstream *upstream)
{
    upstream->retiring = false;
    list_remove(&upstream->retire);
    pool_revive(&upstream->pool);
    upstreams_wanted_renew(upstream);
    if (!upstream->plain)
        return;
    upstream->plain->wanted++;
    if (upstream->plain->retiring)
        upstreams_revive(upstream->plain);
}

static void upstreams_wanted_look_later(struct upstreams *upstreams)
{
    if (!list_is_empty(&upstreams->retiring) && !timer_is_armed(&upstreams->look))
        timer_start(upstreams->env.loop, &upstreams->look, loop_now(upstreams->env.loop) + LOOK_US);
}

void upstreams_retire(struct upstreams *upstreams, struct upstream *upstream)
{
    static const struct keeper none;
    MUST(upstream->wanted == 0);
    upstreams_wanted_retire(upstreams, upstream, &none);
    upstreams_wanted_look_later(upstreams);
}

/* One at a time, as an end may revive any of them. */
void upstreams_on_look(struct timer *timer)
{
    struct upstreams *upstreams = CONTAINER_OF(timer, struct upstreams, look);
    struct list left;

    list_init(&left);
    list_splice(&left, &upstreams->retiring);
    for (struct list *node; (node = list_take_first(&left));) {
        struct upstream *upstream = LIST_ITEM(node, struct upstream, retire);
        list_append(&upstreams->retiring, node);
        pool_wind_down(&upstream->pool);
        if (upstream->retiring && !upstream->held && pool_is_empty(&upstream->pool))
            upstreams_remove(upstreams, upstream);
    }
    upstreams_wanted_look_later(upstreams);
}

void upstreams_settle(struct upstreams *upstreams, upstreams_keeps keeps, void *context)
{
    struct keeper keeper = {keeps, context};

    LIST_EACH(node, &upstreams->all)
    {
        struct upstream *upstream = LIST_ITEM(node, struct upstream, node);
        if (!upstream->retiring && !upstreams_wanted_is_kept(upstream, &keeper))
            upstreams_wanted_retire(upstreams, upstream, &keeper);
    }
    /* When those that went have given their places back. */
    LIST_EACH(node, &upstreams->all)
    {
        struct upstream *upstream = LIST_ITEM(node, struct upstream, node);
        if (!upstream->retiring && upstream->options.nailed && upstream->options.prewarm)
            pool_nail(&upstream->pool);
    }
    upstreams_wanted_look_later(upstreams);
}

/* ---- files ---- */

void upstreams_read_files(struct upstreams *upstreams)
{
    char why[TLS_WHY_MAX];

    if (!upstreams->env.contexts)
        return;
    if (tls_contexts_renew(upstreams->env.contexts, why))
        LOG(LOG_ERROR, "upstream", "%s; what was read before stays in use", why);
    LIST_EACH(node, &upstreams->all)
    {
        struct upstream *upstream = LIST_ITEM(node, struct upstream, node);
        if (!upstream->retiring)
            upstreams_wanted_renew(upstream);
    }
}
