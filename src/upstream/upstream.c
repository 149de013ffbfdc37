/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* One upstream and the facts that it has learned. exchange.c chooses the upstream and sends
 * queries. */

#include "upstream/upstream.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/rand.h"
#include "loop/loop.h"
#include "net/udp_query.h"
#include "upstream/pool_choice.h"
#include "upstream/pool_path.h"

struct upstream *upstream_new(struct upstream_env *env, const struct addr *addr,
                              const struct upstream_options *options)
{
    struct upstream *upstream = calloc(1, sizeof(*upstream));
    if (!upstream)
        return NULL;
    list_init(&upstream->node);
    list_init(&upstream->retire);
    list_init(&upstream->idle);
    upstream->env = env;
    upstream->addr = *addr;
    upstream->options = *options;
    if (!tls_peer_options_copy(&upstream->options.tls, &options->tls, &upstream->tls_memory)) {
        free(upstream);
        return NULL;
    }
    sources_ref(options->sources);
    const struct addr *only = sources_only(options->sources);
    cookies_init(&upstream->cookies, only ? only : &(struct addr){0});
    bool is_secure = transport_is_secure(options->transport);
    if (is_secure)
        secure_init(&upstream->secure, env, &upstream->addr, &upstream->options);
    pool_init(&upstream->pool, env, &upstream->addr, &upstream->options,
              is_secure ? &upstream->secure : NULL);
    return upstream;
}

void upstream_free(struct upstream *upstream)
{
    pool_deinit(&upstream->pool);
    secure_deinit(&upstream->secure, upstream->env);
    list_remove(&upstream->node);
    list_remove(&upstream->retire);
    upstream_leave_idle(upstream);
    cookies_deinit(&upstream->cookies);
    sources_unref(upstream->options.sources);
    free(upstream->host);
    free(upstream->tls_memory);
    free(upstream);
}

bool upstream_may_use_stream(const struct upstream *upstream)
{
    return !transport_can_fall_back(upstream->options.transport) ||
           upstream->options.fallback == UPSTREAM_FALLBACK_NONE ||
           keepalive_allows(&upstream->pool.keepalive, loop_now(upstream->env->loop));
}

bool upstream_falls_back_to_udp(const struct upstream *upstream)
{
    return upstream->options.fallback == UPSTREAM_FALLBACK_UDP &&
           transport_can_fall_back(upstream->options.transport);
}

struct health *upstream_health(struct upstream *upstream, bool over_stream)
{
    return over_stream ? &upstream->stream : &upstream->udp;
}

/* No open connection was heard from recently. A dial to a dead address takes seconds to fail, so
 * silence shows long before. */
static bool lacks_stream(const struct upstream *upstream)
{
    return pool_choice_lack(&upstream->pool.conns) != POOL_FULL;
}

static bool is_stalled(const struct upstream *upstream)
{
    return pool_choice_lack(&upstream->pool.conns) == POOL_STALLED;
}

bool upstream_is_ill(const struct upstream *upstream)
{
    if (!upstream_prefers_stream(upstream))
        return health_is_ill(&upstream->udp);
    if (upstream_falls_back_to_udp(upstream) && !upstream->plain)
        return health_is_ill(&upstream->udp) &&
               (health_is_ill(&upstream->stream) || lacks_stream(upstream));
    bool no_stream = health_is_ill(&upstream->stream) || upstream->pool.backoff.failures > 0 ||
                     is_stalled(upstream);
    return no_stream && (!upstream->plain || upstream_is_ill(upstream->plain));
}

/* The stream's time bounds the time of datagrams: both take the same path, and a single late answer
 * may have made the latter long. */
static const struct health *known_path(const struct upstream *upstream)
{
    const struct health *udp = &upstream->udp, *stream = &upstream->stream;
    if (!udp->srtt_us || !stream->srtt_us || !upstream_prefers_stream(upstream))
        return udp->srtt_us ? udp : stream;
    return health_rto_us(udp, 0, UINT64_MAX) <= health_rto_us(stream, 0, UINT64_MAX) ? udp : stream;
}

uint64_t upstream_udp_rto_us(const struct upstream *upstream, unsigned nth)
{
    const struct health *known = known_path(upstream);
    uint64_t most_us = upstream->options.query_timeout_us;
    if (upstream_prefers_stream(upstream))
        most_us = MIN(most_us, MAX(UPSTREAM_RTO_INSTEAD_US, health_rto_us(known, 0, most_us)));
    return health_rto_us(known, nth, most_us);
}

/* The transport that the next query would take; NULL: it would go to the sibling. */
static const struct health *next_health(const struct upstream *upstream)
{
    bool no_stream = upstream->pool.backoff.failures > 0;
    if (upstream->plain)
        return no_stream ? NULL : &upstream->stream;
    bool by_udp =
        !upstream_prefers_stream(upstream) || (upstream_falls_back_to_udp(upstream) && no_stream);
    return by_udp ? &upstream->udp : &upstream->stream;
}

uint64_t upstream_srtt_us(const struct upstream *upstream)
{
    const struct health *health = next_health(upstream);
    return health ? health->srtt_us : upstream_srtt_us(upstream->plain);
}

/* A server that never answered a query gets a long expected time. Otherwise it would count as
 * unmeasured and come first, and each question would wait for it. */
static uint64_t expected_us(const struct upstream *upstream)
{
    const struct health *health = next_health(upstream);
    if (!health)
        return expected_us(upstream->plain);
    if (health->srtt_us == 0 && health->silences > 0)
        return HEALTH_RTO_FIRST_US << MIN(health->silences, 3u);
    return health->srtt_us;
}

bool upstream_lacks_route(const struct upstream *upstream)
{
    uint64_t now = loop_now(upstream->env->loop);
    const struct health *health = next_health(upstream);
    if (!health)
        return upstream_lacks_route(upstream->plain);
    if (health != &upstream->udp) /* failed dials have a separate back-off */
        return false;
    return now < upstream->no_route_until_at ||
           (upstream->udp.srtt_us == 0 &&
            reach_is_missing(&upstream->env->reach, addr_family(&upstream->addr), now));
}

void upstream_answered(struct upstream *upstream, bool over_stream, uint64_t rtt_us)
{
    upstream->given_up_until_at = 0;
    upstream->answered_at = loop_now(upstream->env->loop);
    reach_worked(&upstream->env->reach, addr_family(&upstream->addr), upstream->answered_at);
    health_answered(upstream_health(upstream, over_stream), rtt_us);
}

/* No query waits for a peer that proved to be another server. */
bool upstream_is_expected(const struct upstream *upstream)
{
    uint64_t now = loop_now(upstream->env->loop);
    return upstream_prefers_stream(upstream) && upstream->answered_at &&
           now < upstream->answered_at + UPSTREAM_EXPECTED_US &&
           upstream->pool.last_close != CONN_END_DIAL_IDENTITY;
}

void upstream_give_up(struct upstream *upstream)
{
    const struct health *health = next_health(upstream);
    if (health && health->silences) /* otherwise it has answered another query meanwhile */
        upstream->given_up_until_at = loop_now(upstream->env->loop) + UPSTREAM_GIVEN_UP_US;
}

bool upstream_is_given_up(const struct upstream *upstream)
{
    return loop_now(upstream->env->loop) < upstream->given_up_until_at;
}

struct select_facts upstream_facts(const struct upstream *upstream)
{
    return (struct select_facts){
        .srtt_us = expected_us(upstream),
        .ill = upstream_is_ill(upstream) || upstream_lacks_route(upstream),
        .strips = upstream->strips && loop_now(upstream->env->loop) < upstream->strips_until_at,
    };
}

bool upstream_take_probe(struct upstream *upstream, uint64_t now, uint64_t random)
{
    struct health *health = upstream_health(upstream, upstream_prefers_stream(upstream));
    if (health_take_probe(health, now, random))
        return true;
    /* It is ill only because its connection is silent. A probe shows whether the connection is
     * alive. */
    if (is_stalled(upstream) && pool_choice_silent(&upstream->pool.conns))
        return upstream_is_ill(upstream);
    if (!upstream_is_ill(upstream))
        return false;
    return upstream->plain ? upstream_take_probe(upstream->plain, now, random)
                           : health_take_probe(&upstream->udp, now, random);
}

bool upstream_uses_edns(const struct upstream *upstream)
{
    return loop_now(upstream->env->loop) >= upstream->no_edns_until_at;
}

void upstream_doubt_no_edns(struct upstream *upstream)
{
    uint64_t now = loop_now(upstream->env->loop), doubted_at = upstream->edns_doubted_at;
    if (upstream_uses_edns(upstream) || (doubted_at && now - doubted_at < UPSTREAM_EDNS_DOUBT_US))
        return;
    upstream->edns_doubted_at = now;
    upstream->no_edns_until_at = 0;
}

bool upstream_may_drop_edns(const struct upstream *upstream, unsigned silent)
{
    return !upstream->edns_works && silent >= UPSTREAM_EDNS_TRIES;
}

bool upstream_uses_case(const struct upstream *upstream)
{
    return upstream->options.case_randomisation &&
           loop_now(upstream->env->loop) >= upstream->no_case_until_at;
}

void upstream_lost_case(struct upstream *upstream, bool over_stream)
{
    bool no_stream = upstream->pool.backoff.failures > 0;
    if (!over_stream && (!no_stream || ++upstream->case_losses < UPSTREAM_CASE_LOSSES))
        return;
    upstream->case_losses = 0;
    upstream->no_case_until_at = loop_now(upstream->env->loop) + UPSTREAM_QUIRK_US;
}

void upstream_kept_case(struct upstream *upstream)
{
    upstream->case_losses = 0;
}

/* Whether this zone differs from the zones noted before. */
static bool is_new_unsigned_zone(const struct upstream *upstream, uint64_t zone_hash)
{
    for (unsigned i = 0; i < upstream->unsigned_count; i++)
        if (upstream->unsigned_zones[i] == zone_hash)
            return false;
    return true;
}

bool upstream_lost_signatures(struct upstream *upstream, uint64_t zone_hash, bool is_certain)
{
    bool is_news = !upstream->strips;
    if (!is_certain && is_news) {
        if (!is_new_unsigned_zone(upstream, zone_hash))
            return false;
        if (upstream->unsigned_count < ARRAY_LEN(upstream->unsigned_zones)) {
            upstream->unsigned_zones[upstream->unsigned_count++] = zone_hash;
            return false;
        }
    }
    upstream->strips = true;
    upstream->strips_until_at = loop_now(upstream->env->loop) + UPSTREAM_QUIRK_US;
    return is_news;
}

void upstream_kept_signatures(struct upstream *upstream)
{
    upstream->strips = false;
    upstream->unsigned_count = 0;
    upstream->strips_until_at = 0;
}

void upstream_forget_path(struct upstream *upstream)
{
    upstream_kept_signatures(upstream);
    upstream->path_at = loop_now(upstream->env->loop);
    upstream->udp = (struct health){0};
    upstream->stream = (struct health){0};
    upstream->given_up_until_at = 0;
    upstream->no_route_until_at = 0;
    upstream->no_edns_until_at = 0;
    upstream->edns_doubted_at = 0;
    upstream->edns_works = false;
    upstream->no_case_until_at = 0;
    upstream->case_losses = 0;
    cookies_renew(&upstream->cookies);
    pool_path_forget(&upstream->pool);
}

void upstream_draw_source(struct upstream *upstream, struct source_draw *draw, unsigned burst)
{
    const struct sources *sources = upstream->options.sources;
    struct source_hold *hold = &upstream->source_hold;
    uint64_t now = loop_now(upstream->env->loop);

    if (!sources || sources_only(sources)) {
        sources_draw(sources, draw, now);
        return;
    }
    if (hold->left > 0 && now <= hold->until_at && draw->tried == 0) {
        hold->left--;
        *draw = hold->draw;
        return;
    }
    sources_draw(sources, draw, now);
    *hold = (struct source_hold){*draw, burst - 1, now + UDP_JOIN_US};
}

void upstream_hold_source(struct upstream *upstream, const struct source_draw *draw)
{
    uint64_t until_at = loop_now(upstream->env->loop) + UPSTREAM_COOKIE_US;
    upstream->source_hold = (struct source_hold){*draw, 1, until_at};
}

void upstream_share_sources(struct upstream *upstream, const struct upstream_options *options)
{
    struct sources *former = upstream->options.sources;
    if (former == options->sources)
        return;
    upstream->options.sources = sources_ref(options->sources);
    sources_unref(former);
}
