/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Views of upstreams and connections (upstreams.h). Changes only the place of a walk. */

#include "upstream/upstreams.h"

#include <string.h>

#include "base/check.h"
#include "base/prefix.h"
#include "loop/loop.h"
#include "net/link.h"
#include "tls/tls.h"
#include "upstream/upstream.h"

static void view_tls(const struct conn *conn, struct conn_view *view)
{
    view->tls = view->cipher = view->session = "";
    if (!conn->secure || !conn->link || !conn->ready_at)
        return;
    struct tls_facts facts = tls_facts(link_tls(conn->link));
    view->tls = facts.version;
    view->cipher = facts.cipher;
    view->session = facts.resumed ? "resumed" : "full";
    view->authenticated = facts.authenticated;
}

/* The local address of a connection, without its port. Family 0: unknown. */
static struct addr local_of_conn(const struct conn *conn)
{
    struct addr source = {0};
    if (conn->link)
        source = *link_local(conn->link);
    if (addr_family(&source) != 0)
        addr_set_port(&source, 0);
    return source;
}

/* nailed: it has a nailed place. */
static struct conn_view view_conn(const struct upstream *upstream, const struct conn *conn,
                                  bool nailed, uint64_t now)
{
    struct conn_view view = {
        .addr = upstream->addr,
        .transport = transport_word(upstream_options_stream(&upstream->options)),
        .state = conn_state_name(conn->state),
        .ending = conn_end_name(conn->ending),
        .nailed = nailed,
        .suspect = silence_is_suspect(&conn->silence),
        .age_us = now - (conn->ready_at ? conn->ready_at : conn->since_at),
        .idle_us = conn->active_at ? now - conn->active_at : 0,
        .requests = conn->requests,
        .max_requests = conn->max_requests,
        .in_flight = conn_in_flight(conn),
        .rtt_us = upstream->stream.srtt_us,
        .due_us = conn->state == CONN_RESTING && conn->until_at > now ? conn->until_at - now : 0,
        .last_close = conn_end_name(conn->last_close),
        .source = local_of_conn(conn),
    };
    view_tls(conn, &view);
    return view;
}

static void see_conns(struct upstream *upstream, uint64_t now,
                      void (*see)(void *context, const struct conn_view *view), void *context)
{
    uint32_t kept = 0;
    LIST_EACH(at, &upstream->pool.conns)
    {
        const struct conn *conn = LIST_ITEM(at, struct conn, node);
        bool nailed = conn->state != CONN_DRAINING && kept < upstream->pool.places;
        kept += nailed;
        struct conn_view view = view_conn(upstream, conn, nailed, now);
        see(context, &view);
    }
}

/* Discovered, not configured and not nailed. */
static bool is_only_discovered(const struct upstream *upstream)
{
    return upstream->is_discovered && !upstream->wanted && !upstream->options.nailed;
}

static bool is_walked(const struct upstreams_walk *walk, const struct upstream *upstream)
{
    return !walk->prefix || prefix_contains(walk->prefix, &upstream->addr);
}

/* ---- in parts ---- */

static struct upstream *upstream_at(struct list *node)
{
    return LIST_ITEM(node, struct upstream, node);
}

/* Where the walk continues, which is near the pause of the last walk unless two walks take turns.
 * A walk from the oldest upstream for every part would take quadratic time. */
static struct list *walk_seek(struct upstreams *upstreams, struct upstreams_walk *walk)
{
    struct list *all = &upstreams->all, *at = all->next;
    if (walk->number > 0 && upstreams->walked_to)
        at = &upstreams->walked_to->node;
    for (; at->prev != all && upstream_at(at->prev)->number >= walk->number; walk->steps++)
        at = at->prev;
    for (; at != all && upstream_at(at)->number < walk->number; walk->steps++)
        at = at->next;
    return at;
}

static bool walk_pause(struct upstreams *upstreams, struct upstreams_walk *walk, struct list *at)
{
    upstreams->walked_to = upstream_at(at);
    walk->number = upstreams->walked_to->number;
    return true;
}

static bool walk_end(struct upstreams *upstreams)
{
    upstreams->walked_to = NULL;
    return false;
}

bool upstreams_some_conns(struct upstreams *upstreams, struct upstreams_walk *walk, size_t most,
                          void (*see)(void *context, const struct conn_view *view), void *context)
{
    uint64_t now = loop_now(upstreams->env.loop);
    size_t first = walk->place, shown = 0;
    struct list *at = walk_seek(upstreams, walk);
    for (; at != &upstreams->all; at = at->next, walk->steps++) {
        struct upstream *upstream = upstream_at(at);
        if (shown >= most || walk->place - first >= UPSTREAMS_WALK_MAX)
            return walk_pause(upstreams, walk, at);
        walk->place++;
        if (list_is_empty(&upstream->pool.conns) || !is_walked(walk, upstream))
            continue;
        see_conns(upstream, now, see, context);
        shown++;
    }
    return walk_end(upstreams);
}

void upstreams_each_conn(struct upstreams *upstreams,
                         void (*see)(void *context, const struct conn_view *view), void *context)
{
    uint64_t now = loop_now(upstreams->env.loop);
    LIST_EACH(node, &upstreams->all)
    see_conns(LIST_ITEM(node, struct upstream, node), now, see, context);
}

static void count_conns(const struct upstream *upstream, struct upstream_view *view)
{
    LIST_EACH(node, &upstream->pool.conns)
    {
        const struct conn *conn = LIST_ITEM(node, struct conn, node);
        view->ready += conn->state == CONN_READY;
        view->draining += conn->state == CONN_DRAINING;
        view->resting += conn->state == CONN_RESTING;
        view->dialing += conn->state == CONN_PARKED || conn->state == CONN_DIALING ||
                         conn->state == CONN_SECURING;
        view->in_flight += conn_in_flight(conn);
    }
}

static void view_source(const struct addr *source, struct upstream_view *view)
{
    for (unsigned i = 0; i < view->source_count; i++)
        if (addr_equal(&view->sources[i], source))
            return;
    if (view->source_count < UPSTREAM_VIEW_SOURCES_MAX)
        view->sources[view->source_count++] = *source;
    else
        view->has_more_sources = true;
}

static void view_sources(const struct upstream *upstream, struct upstream_view *view)
{
    LIST_EACH(node, &upstream->pool.conns)
    {
        struct addr source = local_of_conn(LIST_ITEM(node, struct conn, node));
        if (addr_family(&source) != 0)
            view_source(&source, view);
    }
}

/* Datagrams could not leave this machine recently, or the last dial could not. */
static bool lacks_route(const struct upstream *upstream, uint64_t now)
{
    bool is_resting = backoff_is_resting(&upstream->pool.backoff, now);
    return now < upstream->no_route_until_at ||
           (is_resting && upstream->pool.last_error == ERR_UNREACHABLE);
}

static const char *health_name(const struct upstream *upstream, uint64_t now)
{
    if (upstream->retiring)
        return "draining";
    if (!keepalive_allows(&upstream->pool.keepalive, now))
        return "no nailing (RFC 7828)";
    if (upstream->pool.asleep)
        return "asleep";
    if (upstream->pool.single.is_known)
        return "one query per connection";
    if (lacks_route(upstream, now))
        return "no route";
    if (backoff_is_resting(&upstream->pool.backoff, now))
        return "resting";
    if (upstream->strips)
        return "strips signatures";
    return upstream_is_ill(upstream) ? "ill" : "good";
}

/* The evidence for the verdict, if there is one. */
static void view_single_use(const struct single_use *single, uint64_t now,
                            struct upstream_view *view)
{
    if (!single->is_known)
        return;
    view->single_use_proofs = single->strikes;
    view->single_use_proved_us = now - single->struck_at;
    view->single_use_retest_us = single->retest_at > now ? single->retest_at - now : 0;
}

void upstreams_view(const struct upstream *upstream, uint64_t now, struct upstream_view *out)
{
    *out = (struct upstream_view){
        .addr = upstream->addr,
        .host = upstream->host ? upstream->host : "",
        .transport = transport_word(upstream->options.transport),
        .nailed = upstream->options.nailed && !upstream->retiring && !upstream->pool.asleep,
        .ill = upstream_is_ill(upstream) && !upstream->retiring,
        .strips = upstream->strips && !upstream->retiring,
        .queries = upstream->queries,
        .answers = upstream->answers,
        .timeouts = upstream->timeouts,
        .fallbacks = upstream->fallbacks,
        .dials = upstream->pool.dials,
        .dial_failures = upstream->pool.dial_failures,
        .udp_rtt_us = upstream->udp.srtt_us,
        .stream_rtt_us = upstream->stream.srtt_us,
        .way = transport_word(upstream_prefers_stream(upstream) ? upstream->options.transport
                                                                : TRANSPORT_UDP),
        .srtt_us = upstream_srtt_us(upstream),
        .health = health_name(upstream, now),
        .error = upstream->pool.last_error ? err_str(upstream->pool.last_error) : "",
    };
    out->idle_limit_us = idle_limit_us(&upstream->pool.idle_limit);
    out->is_limit_announced = out->idle_limit_us == upstream->pool.idle_limit.announced_us;
    out->holds = upstream->pool.holds;
    out->hold_replacements = upstream->pool.hold_replacements;
    view_single_use(&upstream->pool.single, now, out);
    count_conns(upstream, out);
    view_sources(upstream, out);
}

static void show_upstream(const struct upstream *upstream, uint64_t now,
                          void (*see)(void *context, const struct upstream_view *view),
                          void *context)
{
    struct upstream_view view;
    upstreams_view(upstream, now, &view);
    see(context, &view);
}

static bool is_left_out(const struct upstreams_walk *walk, const struct upstream *upstream)
{
    return walk->place >= walk->discovered_below && is_only_discovered(upstream) &&
           list_is_empty(&upstream->pool.conns);
}

bool upstreams_some(struct upstreams *upstreams, struct upstreams_walk *walk, size_t most,
                    void (*see)(void *context, const struct upstream_view *view), void *context)
{
    uint64_t now = loop_now(upstreams->env.loop);
    size_t first = walk->place, shown = 0;
    struct list *at = walk_seek(upstreams, walk);
    for (; at != &upstreams->all; at = at->next, walk->steps++) {
        const struct upstream *upstream = upstream_at(at);
        if (shown >= most || walk->place - first >= UPSTREAMS_WALK_MAX)
            return walk_pause(upstreams, walk, at);
        bool is_out = is_left_out(walk, upstream), is_in = is_walked(walk, upstream);
        walk->place++;
        walk->left_out += is_in && is_out;
        if (!is_in || is_out)
            continue;
        show_upstream(upstream, now, see, context);
        shown++;
    }
    return walk_end(upstreams);
}

size_t upstreams_first(struct upstreams *upstreams, size_t most,
                       void (*see)(void *context, const struct upstream_view *view), void *context)
{
    uint64_t now = loop_now(upstreams->env.loop);
    size_t count = 0;
    LIST_EACH(node, &upstreams->all)
    {
        const struct upstream *upstream = LIST_ITEM(node, struct upstream, node);
        if (is_only_discovered(upstream))
            continue;
        if (count++ < most)
            show_upstream(upstream, now, see, context);
    }
    return count;
}

void upstreams_each(struct upstreams *upstreams,
                    void (*see)(void *context, const struct upstream_view *view), void *context)
{
    uint64_t now = loop_now(upstreams->env.loop);
    LIST_EACH(node, &upstreams->all)
    show_upstream(LIST_ITEM(node, struct upstream, node), now, see, context);
}

size_t upstreams_count(const struct upstreams *upstreams)
{
    return upstreams->count;
}
