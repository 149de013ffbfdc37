/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * The worker's table of upstreams, and which of them stay. The address, the port and every option
 * form the identity: upstreams that differ in any of them share nothing.
 *
 * An unwanted upstream retires: it drains, and a timer frees it without connections and holders, so
 * that no upstream is freed inside one of its own calls. Discovered upstreams are a bounded cache,
 * because a hostile zone can name servers without end.
 *
 * Invariants: a wanted upstream is held; a sibling is wanted until its opportunistic upstream
 * retires, and held as long as that exists; discovered_idle and discovered_silent contain the
 * discovered upstreams without a holder, in the order of use.
 */

#include "upstream/upstreams.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/log.h"
#include "base/rand.h"
#include "loop/loop.h"
#include "tls/tls_contexts.h"
#include "upstream/attempt.h"
#include "upstream/pool_hold.h"
#include "upstream/pool_path.h"
#include "upstream/probe.h"
#include "upstream/upstream.h"

enum { FIRST_BUCKETS = 64 };

#define LOOK_US (100 * US_PER_MS)

static bool make_nail_room(struct upstream_env *env);
static void upstreams_on_look(struct timer *timer);
static void upstreams_on_trim(struct turn_end *end);
static void upstreams_revive(struct upstream *upstream);
static void upstreams_forget_discovery(struct upstream *upstream);

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
    upstreams->env.make_nail_room = make_nail_room;
    dialer_init(&upstreams->env.dialer, loop);
    list_init(&upstreams->env.free_attempts);
    list_init(&upstreams->env.probes);
    list_init(&upstreams->all);
    list_init(&upstreams->retiring);
    list_init(&upstreams->env.discovered_idle);
    list_init(&upstreams->env.discovered_silent);
    upstreams->env.discovered_max = UPSTREAMS_DISCOVERED_MAX;
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

void upstreams_use_news(struct upstreams *upstreams, struct trouble_news *news)
{
    upstreams->env.trouble_news = news;
}

void upstreams_set_taps(struct upstreams *upstreams, struct tap *taps)
{
    upstreams->env.taps = taps;
}

void upstreams_set_hold_zone(struct upstream *upstream, struct name zone)
{
    pool_hold_set_zone(&upstream->pool, zone);
}

void upstreams_set_host(struct upstream *upstream, const char *host)
{
    if (upstream->host && host && strcmp(upstream->host, host) == 0)
        return;
    free(upstream->host);
    upstream->host = host ? strdup(host) : NULL;
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

static struct upstream *upstreams_find(const struct upstreams *upstreams, const struct addr *addr,
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

const struct upstream *upstreams_known(const struct upstreams *upstreams, const struct addr *addr,
                                       const struct upstream_options *options)
{
    return upstreams_find(upstreams, addr, options);
}

/* The sibling of an opportunistic upstream for plain text. It is a separate upstream, because its
 * health and quirks have no meaning over TLS. */
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

static struct upstream *upstreams_make(struct upstreams *upstreams, const struct addr *addr,
                                       const struct upstream_options *options)
{
    struct upstream *upstream = upstreams_find(upstreams, addr, options);
    if (upstream && upstream->retiring)
        upstreams_revive(upstream);
    if (upstream) {
        upstream_share_sources(upstream, options);
        return upstream;
    }
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
    const struct upstream *found = upstreams_find(upstreams, addr, options);
    bool is_new = !found || found->retiring;
    struct upstream *upstream = upstreams_make(upstreams, addr, options);
    if (upstream && is_new && options->nailed && options->prewarm)
        pool_tend(&upstream->pool);
    return upstream;
}

/* Later entries move up, so that a search from their home still finds them. */
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

static void leave_walk(struct upstreams *upstreams, const struct upstream *upstream)
{
    struct list *next = upstream->node.next;
    if (upstreams->walked_to == upstream)
        upstreams->walked_to =
            next == &upstreams->all ? NULL : LIST_ITEM(next, struct upstream, node);
}

static void upstreams_remove(struct upstreams *upstreams, struct upstream *upstream)
{
    upstreams_forget_discovery(upstream);
    upstreams_take_out(upstreams, upstream);
    leave_walk(upstreams, upstream);
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

/* ---- upstreams that are wanted ---- */

struct upstream *upstreams_want(struct upstreams *upstreams, const struct addr *addr,
                                const struct upstream_options *options)
{
    struct upstream *upstream = upstreams_make(upstreams, addr, options);
    if (!upstream)
        return NULL;
    upstream->wanted++;
    upstream->pool.needs_proof = false;
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

static bool upstreams_is_kept(const struct upstream *upstream, const struct keeper *keeper)
{
    return upstream->wanted > 0 ||
           (upstream->is_discovered && keeper->keeps &&
            keeper->keeps(keeper->context, &upstream->addr, &upstream->options));
}

static void upstreams_retire(struct upstreams *upstreams, struct upstream *upstream,
                             const struct keeper *keeper)
{
    struct upstream *plain = upstream->plain;
    char text[ADDR_TEXT_MAX];

    LOG(LOG_DEBUG, "upstream", "%s: retires", addr_format(&upstream->addr, text));
    upstream->retiring = true;
    upstreams_forget_discovery(upstream);
    list_append(&upstreams->retiring, &upstream->retire);
    pool_retire(&upstream->pool);
    if (!plain)
        return;
    upstreams_unwant(plain);
    if (!plain->retiring && !upstreams_is_kept(plain, keeper))
        upstreams_retire(upstreams, plain, keeper); /* a sibling has no sibling */
}

/* Applies TLS files that changed. */
static void upstreams_renew(struct upstream *upstream)
{
    if (transport_is_secure(upstream->options.transport) &&
        secure_renew(&upstream->secure, upstream->env))
        (void)pool_recycle(&upstream->pool);
}

static void upstreams_revive(struct upstream *upstream)
{
    upstream->retiring = false;
    list_remove(&upstream->retire);
    pool_revive(&upstream->pool);
    upstreams_renew(upstream);
    if (!upstream->plain)
        return;
    upstream->plain->wanted++;
    if (upstream->plain->retiring)
        upstreams_revive(upstream->plain);
}

static void upstreams_look_later(struct upstreams *upstreams)
{
    if (!list_is_empty(&upstreams->retiring) && !timer_is_armed(&upstreams->look))
        timer_start(upstreams->env.loop, &upstreams->look, loop_now(upstreams->env.loop) + LOOK_US);
}

static void retire_discovered(struct upstreams *upstreams, struct upstream *upstream)
{
    static const struct keeper none;
    MUST(upstream->wanted == 0);
    upstreams_retire(upstreams, upstream, &none);
    upstreams_look_later(upstreams);
}

/* Takes one at a time, because an end may revive any of them. */
static void upstreams_on_look(struct timer *timer)
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
    upstreams_look_later(upstreams);
}

void upstreams_settle(struct upstreams *upstreams, upstreams_keeps keeps, void *context)
{
    struct keeper keeper = {keeps, context};

    LIST_EACH(node, &upstreams->all)
    {
        struct upstream *upstream = LIST_ITEM(node, struct upstream, node);
        if (!upstream->retiring && !upstreams_is_kept(upstream, &keeper))
            upstreams_retire(upstreams, upstream, &keeper);
    }
    /* The retired upstreams have returned their places. */
    LIST_EACH(node, &upstreams->all)
    {
        struct upstream *upstream = LIST_ITEM(node, struct upstream, node);
        if (!upstream->retiring && upstream->options.nailed && upstream->options.prewarm)
            pool_tend(&upstream->pool);
    }
    upstreams_look_later(upstreams);
}

/* ---- files ---- */

void upstreams_read_files(struct upstreams *upstreams)
{
    char why[TLS_WHY_MAX];

    if (!upstreams->env.contexts)
        return;
    if (tls_contexts_renew(upstreams->env.contexts, why))
        LOG(LOG_ERROR, "upstream", "%s; the files read before stay in use", why);
    LIST_EACH(node, &upstreams->all)
    {
        struct upstream *upstream = LIST_ITEM(node, struct upstream, node);
        if (!upstream->retiring)
            upstreams_renew(upstream);
    }
}

/* ---- discovered upstreams ---- */

static bool is_discovered(const struct upstreams *upstreams, const struct addr *addr,
                          const struct upstream_options *options)
{
    const struct upstream *upstream = upstreams_find(upstreams, addr, options);
    return upstream && upstream->is_discovered;
}

struct upstream *upstreams_discover(struct upstreams *upstreams, const struct addr *addr,
                                    const struct upstream_options *options)
{
    struct upstream_env *env = &upstreams->env;
    if (upstreams_are_full(upstreams) && !is_discovered(upstreams, addr, options)) {
        STATS_INC(env->stats, recursion_bound_servers);
        return NULL;
    }
    struct upstream *upstream = upstreams_make(upstreams, addr, options);
    if (!upstream)
        return NULL;
    upstream->pool.needs_proof = upstream->wanted == 0;
    upstream_hold(upstream);
    if (upstream->pool.nailing && options->prewarm && !upstream->pool.dials)
        pool_tend(&upstream->pool); /* at first sight */
    env->discovered_count += !upstream->is_discovered;
    STATS_SET(env->stats, recursion_servers, env->discovered_count);
    upstream->is_discovered = true;
    if (env->discovered_count > env->discovered_max)
        loop_at_turn_end(env->loop, &upstreams->trim);
    return upstream;
}

const struct addr *upstreams_addr(const struct upstream *upstream)
{
    return &upstream->addr;
}

bool upstreams_lacks_family(const struct upstreams *upstreams, int family)
{
    const struct upstream_env *env = &upstreams->env;
    return reach_is_missing(&env->reach, family, loop_now(env->loop));
}

size_t upstreams_discovered(const struct upstreams *upstreams)
{
    return upstreams->env.discovered_count;
}

static void upstreams_forget_discovery(struct upstream *upstream)
{
    upstream_leave_idle(upstream);
    upstream->env->discovered_count -= upstream->is_discovered;
    STATS_SET(upstream->env->stats, recursion_servers, upstream->env->discovered_count);
    upstream->is_discovered = false;
}

/* It has no holder. With connections it drains first; with a sibling it retires as well. */
static void give_up(struct upstreams *upstreams, struct upstream *upstream)
{
    if (pool_is_empty(&upstream->pool) && !upstream->plain)
        upstreams_remove(upstreams, upstream);
    else
        retire_discovered(upstreams, upstream);
}

/* Drops upstreams of the list until few enough are left, but spares this number. */
static void trim(struct upstreams *upstreams, struct list *idle, size_t spared)
{
    struct upstream_env *env = &upstreams->env;
    struct list nailed;

    list_init(&nailed);
    while (env->discovered_count > env->discovered_max && env->discovered_idle_count >= spared &&
           !list_is_empty(idle)) {
        struct upstream *upstream = LIST_ITEM(list_first(idle), struct upstream, idle);
        if (upstream->pool.places > 0) {
            list_remove(&upstream->idle);
            list_append(&nailed, &upstream->idle);
        } else {
            upstream_leave_idle(upstream);
            give_up(upstreams, upstream);
        }
    }
    list_splice(idle, &nailed); /* they are considered again after all others */
}

/* Runs at the end of a turn, outside of the upstreams' calls. A zone that holds thousands of dead
 * servers must not displace the servers of all other zones. */
static void upstreams_on_trim(struct turn_end *end)
{
    struct upstreams *upstreams = CONTAINER_OF(end, struct upstreams, trim);
    struct upstream_env *env = &upstreams->env;
    trim(upstreams, &env->discovered_silent, 0);
    trim(upstreams, &env->discovered_idle, env->discovered_max / 2);
}

bool upstreams_are_full(const struct upstreams *upstreams)
{
    const struct upstream_env *env = &upstreams->env;
    return env->discovered_count >=
           env->discovered_max * (UPSTREAMS_DISCOVERED_LIMIT / UPSTREAMS_DISCOVERED_MAX);
}

bool upstreams_has_answered(const struct upstreams *upstreams, const struct addr *addr,
                            const struct upstream_options *options)
{
    const struct upstream *upstream = upstreams_find(upstreams, addr, options);
    return upstream && upstreams_is_proven(upstream);
}

bool upstreams_is_proven(const struct upstream *upstream)
{
    return upstream->answers > 0;
}

/* ---- room for nailed connections ---- */

static bool is_unused(const struct pool *pool)
{
    return pool->needs_proof && pool->places > 0 && !pool->tending &&
           pool_now(pool) - pool->rate.turn_at >= NAIL_UNUSED_US;
}

static bool take_from(struct list *idle)
{
    LIST_EACH(node, idle)
    {
        struct pool *pool = &LIST_ITEM(node, struct upstream, idle)->pool;
        if (!is_unused(pool))
            continue;
        pool_lose_proof(pool);
        pool_wind_down(pool);
        return true;
    }
    return false;
}

static bool make_nail_room(struct upstream_env *env)
{
    return take_from(&env->discovered_silent) || take_from(&env->discovered_idle);
}
