/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * The worker's table of upstreams. Who stays in it is decided in upstreams_wanted.c. An identity is
 * the address, the port and every option: nothing is shared between two upstreams that differ in
 * any of them.
 */

#include "upstream/upstreams.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/rand.h"
#include "loop/loop.h"
#include "tls/tls_contexts.h"
#include "upstream/attempt.h"
#include "upstream/nail_room.h"
#include "upstream/pool_hold.h"
#include "upstream/pool_path.h"
#include "upstream/probe.h"
#include "upstream/upstream.h"
#include "upstream/upstreams_inside.h"

enum { FIRST_BUCKETS = 64 };

struct upstreams *upstreams_new(struct loop *loop, struct stats *stats, struct nail_quota *quota)
{
    struct upstreams *upstreams = calloc(1, sizeof(*upstreams));
    if (!upstreams)
        return NULL;
    upstreams->table = calloc(FIRST_BUCKETS, sizeof(*upstreams->table));
    if (!upstreams->table) {
        free(upstreams);
        return NULL;
    }
    upstreams->mask = FIRST_BUCKETS - 1;
    upstreams->seed = rand_u64();
    upstreams->env.loop = loop;
    upstreams->env.stats = stats;
    upstreams->env.quota = quota;
    upstreams->env.make_nail_room = nail_room_make;
    dialer_init(&upstreams->env.dialer, loop);
    list_init(&upstreams->env.free_attempts);
    list_init(&upstreams->env.probes);
    list_init(&upstreams->all);
    list_init(&upstreams->retiring);
    list_init(&upstreams->env.met_idle);
    list_init(&upstreams->env.met_silent);
    upstreams->env.met_max = UPSTREAMS_MET_MAX;
    timer_init(&upstreams->look, upstreams_on_look);
    turn_end_init(&upstreams->trim, upstreams_on_trim);
    return upstreams;
}

void upstreams_free(struct upstreams *upstreams)
{
    timer_stop(&upstreams->look);
    turn_end_cancel(&upstreams->trim);
    probe_stop_all(&upstreams->env);
    for (struct list *node; (node = list_first(&upstreams->all));)
        upstream_free(LIST_ITEM(node, struct upstream, node));
    for (struct list *node; (node = list_take_first(&upstreams->env.free_attempts));)
        free(LIST_ITEM(node, struct attempt, node));
    dialer_deinit(&upstreams->env.dialer);
    tls_contexts_free(upstreams->env.contexts);
    free(upstreams->table);
    free(upstreams);
}

void upstreams_use_tickets(struct upstreams *upstreams, struct tls_tickets *tickets)
{
    MUST(upstreams->count == 0);
    upstreams->env.tickets = tickets;
}

void upstreams_set_taps(struct upstreams *upstreams, struct tap *taps)
{
    upstreams->env.taps = taps;
}

void upstreams_hold_with(struct upstream *upstream, struct name zone)
{
    pool_hold_with(&upstream->pool, zone);
}

struct upstream_env *upstreams_env(struct upstreams *upstreams)
{
    return &upstreams->env;
}

static size_t home_of(const struct upstreams *upstreams, const struct addr *addr)
{
    return addr_hash(addr, upstreams->seed) & upstreams->mask;
}

static void upstreams_put(struct upstreams *upstreams, struct upstream *upstream)
{
    size_t at = home_of(upstreams, &upstream->addr);
    while (upstreams->table[at])
        at = (at + 1) & upstreams->mask;
    upstreams->table[at] = upstream;
}

static enum err upstreams_grow(struct upstreams *upstreams)
{
    size_t buckets = (upstreams->mask + 1) * 2;
    struct upstream **table = calloc(buckets, sizeof(*table));
    if (!table)
        return ERR_NO_MEMORY;
    free(upstreams->table);
    upstreams->table = table;
    upstreams->mask = buckets - 1;
    LIST_EACH(node, &upstreams->all)
    upstreams_put(upstreams, LIST_ITEM(node, struct upstream, node));
    return ERR_OK;
}

struct upstream *upstreams_find(const struct upstreams *upstreams, const struct addr *addr,
                                const struct upstream_options *options)
{
    size_t at = home_of(upstreams, addr);
    for (; upstreams->table[at]; at = (at + 1) & upstreams->mask) {
        struct upstream *upstream = upstreams->table[at];
        if (addr_equal(&upstream->addr, addr) &&
            upstream_options_equal(&upstream->options, options))
            return upstream;
    }
    return NULL;
}

/* Where an opportunistic upstream is asked in plain text: an upstream of its own, as what is
 * learned over there has no meaning here. */
static struct upstream *plain_of(struct upstreams *upstreams, const struct upstream *upstream)
{
    struct upstream_options options = upstream->options;
    struct addr addr = upstream->addr;
    bool udp = options.fallback == UPSTREAM_FALLBACK_UDP;

    options.transport = udp ? TRANSPORT_UDP : TRANSPORT_TCP;
    options.nailed = false;
    options.tls = upstream_options_default.tls;
    addr_set_port(&addr, options.fallback_port);
    return upstreams_want(upstreams, &addr, &options);
}

struct upstream *upstreams_make(struct upstreams *upstreams, const struct addr *addr,
                                const struct upstream_options *options)
{
    struct upstream *upstream = upstreams_find(upstreams, addr, options);
    if (upstream && upstream->retiring)
        upstreams_revive(upstream);
    if (upstream)
        return upstream;
    if (2 * (upstreams->count + 1) > upstreams->mask + 1 && upstreams_grow(upstreams))
        return NULL;
    upstream = upstream_new(&upstreams->env, addr, options);
    if (!upstream)
        return NULL;
    list_append(&upstreams->all, &upstream->node);
    upstream->number = ++upstreams->last_number;
    upstreams_put(upstreams, upstream);
    upstreams->count++;
    if (upstream_options_are_opportunistic(options))
        upstream->plain = plain_of(upstreams, upstream);
    return upstream;
}

struct upstream *upstreams_get(struct upstreams *upstreams, const struct addr *addr,
                               const struct upstream_options *options)
{
    struct upstream *upstream = upstreams_find(upstreams, addr, options);
    if (upstream && !upstream->retiring)
        return upstream;
    upstream = upstreams_make(upstreams, addr, options);
    if (upstream && options->nailed && options->prewarm)
        pool_nail(&upstream->pool);
    return upstream;
}

/* Those behind it move up, so that each is still found from its home on. */
static void upstreams_take_out(struct upstreams *upstreams, const struct upstream *upstream)
{
    size_t mask = upstreams->mask, hole = home_of(upstreams, &upstream->addr);
    struct upstream **table = upstreams->table;
    while (table[hole] != upstream)
        hole = (hole + 1) & mask;
    for (size_t at = (hole + 1) & mask; table[at]; at = (at + 1) & mask) {
        size_t home = home_of(upstreams, &table[at]->addr);
        if (((at - home) & mask) < ((at - hole) & mask))
            continue;
        table[hole] = table[at];
        hole = at;
    }
    table[hole] = NULL;
    upstreams->count--;
}

static struct upstream *find_heir(const struct upstreams *upstreams, const struct upstream *gone)
{
    size_t at = home_of(upstreams, &gone->addr);
    for (; upstreams->table[at]; at = (at + 1) & upstreams->mask) {
        struct upstream *heir = upstreams->table[at];
        if (heir->options.transport == gone->options.transport &&
            addr_equal(&heir->addr, &gone->addr))
            return heir;
    }
    return NULL;
}

static void hand_down_counts(struct upstream *heir, const struct upstream *gone)
{
    heir->queries += gone->queries;
    heir->answers += gone->answers;
    heir->timeouts += gone->timeouts;
    heir->fallbacks += gone->fallbacks;
    heir->pool.dials += gone->pool.dials;
    heir->pool.dial_failures += gone->pool.dial_failures;
    heir->pool.holds += gone->pool.holds;
    heir->pool.hold_replacements += gone->pool.hold_replacements;
}

void upstreams_remove(struct upstreams *upstreams, struct upstream *upstream)
{
    upstreams_unmeet(upstream);
    upstreams_take_out(upstreams, upstream);
    upstreams_leave_walk(upstreams, upstream);
    struct upstream *heir = find_heir(upstreams, upstream);
    if (heir)
        hand_down_counts(heir, upstream);
    if (upstream->plain)
        upstreams_drop(upstream->plain);
    upstream_free(upstream);
}

size_t upstreams_recycle(struct upstreams *upstreams, const struct prefix *prefix)
{
    size_t marked = 0;
    LIST_EACH(node, &upstreams->all)
    {
        struct upstream *upstream = LIST_ITEM(node, struct upstream, node);
        if (!prefix || prefix_contains(prefix, &upstream->addr))
            marked += pool_recycle(&upstream->pool);
    }
    return marked;
}

void upstreams_network_changed(struct upstreams *upstreams, enum network_change change)
{
    upstreams->env.reach = (struct reach){0};
    LIST_EACH(node, &upstreams->all)
    upstream_forget_path(LIST_ITEM(node, struct upstream, node));
    LIST_EACH(node, &upstreams->all)
    pool_path_renew(&LIST_ITEM(node, struct upstream, node)->pool, change == NETWORK_RESUMED);
}
