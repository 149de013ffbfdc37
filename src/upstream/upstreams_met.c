/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Upstreams that recursion meets: how many there may be, and who goes. What a hostile zone can
 * make us meet is without end, so they are a cache: bounded, the least recently used goes first.
 *
 * Invariant: met_idle and met_silent have those that are met and that nobody holds, so whoever is
 * taken from there may go at once.
 */

#include "upstream/upstreams.h"

#include "base/check.h"
#include "loop/loop.h"
#include "upstream/pool_retire.h"
#include "upstream/upstream.h"
#include "upstream/upstreams_inside.h"

static bool is_met(const struct upstreams *upstreams, const struct addr *addr,
                   const struct upstream_options *options)
{
    const struct upstream *upstream = upstreams_find(upstreams, addr, options);
    return upstream && upstream->met;
}

struct upstream *upstreams_meet(struct upstreams *upstreams, const struct addr *addr,
                                const struct upstream_options *options)
{
    struct upstream_env *env = &upstreams->env;
    if (upstreams_are_too_many(upstreams) && !is_met(upstreams, addr, options)) {
        STATS_INC(env->stats, recursion_bound_servers);
        return NULL;
    }
    struct upstream *upstream = upstreams_make(upstreams, addr, options);
    if (!upstream)
        return NULL;
    upstream->pool.must_earn = upstream->wanted == 0;
    upstream_hold(upstream);
    if (upstream->pool.nailing && options->prewarm && !upstream->pool.dials)
        pool_nail(&upstream->pool); /* at first sight */
    env->met_count += !upstream->met;
    env->stats->recursion_servers = env->met_count;
    upstream->met = true;
    if (env->met_count > env->met_max)
        loop_at_turn_end(env->loop, &upstreams->trim);
    return upstream;
}

const struct addr *upstreams_addr(const struct upstream *upstream)
{
    return &upstream->addr;
}

bool upstreams_lack(const struct upstreams *upstreams, int family)
{
    const struct upstream_env *env = &upstreams->env;
    return reach_is_missing(&env->reach, family, loop_now(env->loop));
}

size_t upstreams_met(const struct upstreams *upstreams)
{
    return upstreams->env.met_count;
}

void upstreams_unmeet(struct upstream *upstream)
{
    upstream_leave_idle(upstream);
    upstream->env->met_count -= upstream->met;
    upstream->env->stats->recursion_servers = upstream->env->met_count;
    upstream->met = false;
}

/* Nobody holds it. One with connections drains first; a sibling is let go on that way too. */
static void give_up(struct upstreams *upstreams, struct upstream *upstream)
{
    if (pool_is_empty(&upstream->pool) && !upstream->plain)
        upstreams_remove(upstreams, upstream);
    else
        upstreams_retire(upstreams, upstream);
}

/* Of these until there are few enough, but for so many. */
static void trim(struct upstreams *upstreams, struct list *idle, size_t spared)
{
    struct upstream_env *env = &upstreams->env;
    struct list nailed;

    list_init(&nailed);
    while (env->met_count > env->met_max && env->met_idle_count >= spared && !list_is_empty(idle)) {
        struct upstream *upstream = LIST_ITEM(list_first(idle), struct upstream, idle);
        if (upstream->pool.places > 0) {
            list_remove(&upstream->idle);
            list_append(&nailed, &upstream->idle);
        } else {
            upstream_leave_idle(upstream);
            give_up(upstreams, upstream);
        }
    }
    list_splice(idle, &nailed); /* looked at again when all others have been */
}

/* At the end of a turn, when no call of an upstream's is under way. Whoever holds thousands of
 * dead servers of his own must not make us forget those of all others. */
void upstreams_on_trim(struct turn_end *end)
{
    struct upstreams *upstreams = CONTAINER_OF(end, struct upstreams, trim);
    struct upstream_env *env = &upstreams->env;
    trim(upstreams, &env->met_silent, 0);
    trim(upstreams, &env->met_idle, env->met_max / 2);
}

bool upstreams_are_too_many(const struct upstreams *upstreams)
{
    const struct upstream_env *env = &upstreams->env;
    return env->met_count >= env->met_max * (UPSTREAMS_MET_MOST / UPSTREAMS_MET_MAX);
}

bool upstreams_have_heard(const struct upstreams *upstreams, const struct addr *addr,
                          const struct upstream_options *options)
{
    const struct upstream *upstream = upstreams_find(upstreams, addr, options);
    return upstream && upstream->answers > 0;
}
