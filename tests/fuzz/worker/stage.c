/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Puts a worker together as src/daemon/worker.c does, but without its thread. */
#include "fuzz/worker/stage.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/rand.h"
#include "base/tap.h"
#include "cache/pattern.h"
#include "cache/spans.h"
#include "fuzz/worker/rules.h"
#include "serve/server_quota.h"
#include "support/scarce.h"
#include "tls/tls_context.h"
#include "validate/anchors.h"

enum {
    REST_STEP_US = 1000 * 1000,
    /* long enough for each question to end, and for each server to be tried again */
    REST_STEPS = 90,
    DRAIN_STEPS = 60,
    /* in 2027, because a clock earlier than the build causes a warning */
    STAGE_WALL_S = 1800000000,
};

bool stage_traces(void)
{
    static int traces = -1;
    if (traces < 0)
        traces = getenv("NAILUP_WORKER_TRACE") != NULL;
    return traces;
}

void stage_trace(const struct stage *stage, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%12.6f ", (double)(stage_now(stage) - FAKE_LOOP_START_US) / 1e6);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

void stage_fail(const struct stage *stage, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "plan \"%s\"%s, at %.6f s: ", stage->plan->name, stage->is_live ? ", live" : "",
            (double)(stage_now(stage) - FAKE_LOOP_START_US) / 1e6);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    abort();
}

/* ---- life ---- */

static void give_tls(struct stage *stage)
{
    const struct tls_cert *cert = plans_certificate();
    const struct tls_server_options options = {.certificate = tls_certs_certificate(cert),
                                               .key = tls_certs_key(cert),
                                               .ticket_keys = stage->ticket_keys};
    struct tls_context *context;
    char why[TLS_WHY_MAX];
    MUST(tls_context_server(&context, &options, why) == ERR_OK);
    server_set_tls(stage->server, &context);
}

static struct listen_share *listen_for(struct stage *stage, const struct config *config)
{
    size_t which;
    MUST(listen_sockets_prepare(stage->sockets, &config->server, &which) == ERR_OK);
    struct listen_share *share = listen_sockets_take(stage->sockets, 0);
    listen_sockets_commit(stage->sockets);
    return share;
}

/* ---- taps: they read all bytes, so the sanitizers see every message that taps see ---- */

static volatile uint8_t stage_last_byte;

static void read_bytes(struct span bytes)
{
    for (size_t i = 0; i < bytes.len; i++)
        stage_last_byte = bytes.data[i];
}

static void read_message(const struct tap_message *message)
{
    MUST(message->asker && message->asked && addr_family(message->asker) != AF_UNSPEC);
    read_bytes(message->bytes);
}

static void stage_on_query(struct tap *tap, const struct tap_message *message)
{
    (void)tap;
    read_message(message);
}

static void stage_on_reply(struct tap *tap, const struct tap_reply *reply)
{
    (void)tap;
    read_message(&reply->message);
    read_bytes(reply->name);
    MUST(reply->origin < TAP_ORIGIN_COUNT);
    MUST(!reply->source || addr_family(&reply->source->addr) != AF_UNSPEC);
}

static void stage_on_upstream(struct tap *tap, const struct tap_message *message,
                              bool wants_recursion)
{
    (void)tap, (void)wants_recursion;
    MUST(message->asker && message->asked);
    read_bytes(message->bytes);
}

static struct tap stage_tap = {.on_query = stage_on_query,
                               .on_reply = stage_on_reply,
                               .on_sent = stage_on_upstream,
                               .on_heard = stage_on_upstream};

static void open_worker(struct stage *stage)
{
    const struct config *config = plan_config(stage->plan);
    stage->nail_quota.max = config->max_nailed;
    stage->cache = cache_new(&config->cache);
    stage->tickets = tls_tickets_new();
    stage->ticket_keys = tls_ticket_keys_new(0);
    stage->upstreams = upstreams_new(stage->loop, &stage->stats, &stage->nail_quota);
    MUST(stage->cache && stage->tickets && stage->ticket_keys && stage->upstreams);
    upstreams_use_tickets(stage->upstreams, stage->tickets);
    stage->resolver = resolver_new(stage->loop, stage->cache, stage->upstreams, &config->route,
                                   config->server.max_waiting, &stage->stats);
    stage->quota = server_quota_new(&config->server, NULL);
    stage->sockets = listen_sockets_new(1);
    MUST(stage->resolver && stage->quota && stage->sockets);
    resolver_set_local(stage->resolver, config->local);
    struct listen_share *share = listen_for(stage, config);
    MUST(server_open(&stage->server, stage->loop, &config->server, &share, stage->resolver,
                     stage->quota, &stage->stats) == ERR_OK);
    if (stage->plan->serves_tls)
        give_tls(stage);
    server_set_taps(stage->server, &stage_tap);
    upstreams_set_taps(stage->upstreams, &stage_tap);
}

void stage_open(struct stage *stage, const struct plan *plan, unsigned kinds, uint64_t seed)
{
    memset(stage, 0, sizeof(*stage));
    stage->plan = plan;
    stage->is_hostile = kinds & STAGE_HOSTILE;
    stage->has_true_keys = stage->is_hostile && (kinds & STAGE_TRUE_KEYS);
    stage->is_live = (kinds & STAGE_LIVE) && !plan->is_bounded && !stage->has_true_keys;
    rand_seed_for_tests(seed);
    stage->loop = loop_new();
    fake_loop_set_wall(stage->loop, STAGE_WALL_S);
    stage->net = fake_net_of(stage->loop);
    stage->plan_since = stage_now(stage) - 3600 * US_PER_S; /* as if no earlier plan existed */
    ledger_open(&stage->ledger);
    for (unsigned i = 0; i < SERVER_COUNT; i++)
        far_open(stage, i);
    cache_thread_begin();
    open_worker(stage);
    stage_advance(stage, 0);
}

static void on_addresses_closed(void *context)
{
    struct stage *stage = context;
    listen_sockets_settle(stage->sockets);
}

static enum cache_verdict drop_all(void *context, const struct cache_item *item)
{
    (void)context;
    (void)item;
    return CACHE_DROP;
}

static enum cache_verdict drop_matching(void *context, const struct cache_item *item)
{
    return pattern_matches(context, &item->answer) ? CACHE_DROP : CACHE_KEEP;
}

/* Plans with and without signatures have different trust anchors. nailupd forgets what other
 * anchors have judged (daemon/reload.c), and tasks under way end within a minute. */
static void change_signatures(struct stage *stage)
{
    uint64_t place = 0;
    stage->signed_since = stage_now(stage) + STAGE_FORMER_US;
    while (cache_walk(stage->cache, &place, 1024, drop_all, NULL))
        continue;
}

static void forget_zone(void *context, struct name zone)
{
    struct stage *stage = context;
    struct pattern pattern = {.name = zone, .is_subtree = true};
    uint64_t place = 0;
    while (cache_walk(stage->cache, &place, 1024, drop_matching, &pattern))
        continue;
}

/* Forgets the answers below anchors that differ, as nailupd does, or all answers where a zone is no
 * longer validated. */
static void change_anchors(struct stage *stage, const struct plan *former)
{
    const struct validation_options *before = &plan_config(former)->route.validation;
    const struct validation_options *after = &plan_config(stage->plan)->route.validation;
    stage->signed_since = stage_now(stage) + STAGE_FORMER_US;
    if (stage->plan->has_unvalidated != former->has_unvalidated)
        change_signatures(stage);
    else
        anchors_compare(before->anchors, after->anchors, forget_zone, stage);
    spans_forget(cache_spans(stage->cache), name_root());
}

void stage_reload(struct stage *stage, const struct plan *plan)
{
    const struct config *config = plan_config(plan);
    struct server_quota *quota = server_quota_new(&config->server, stage->quota);
    STAGE_TRACE(stage, "reload: %s", plan->name);
    MUST(quota);
    const struct plan *former = stage->plan;
    if (plan->is_signed != former->is_signed)
        change_signatures(stage);
    stage->plan = plan;
    stage->plan_since = stage_now(stage);
    for (unsigned i = 0; i < SERVER_COUNT; i++) {
        far_allow(&stage->fars[i], plan);
        if (far_is_tls(&stage->fars[i]) && plan->is_tls)
            far_speak_tls(&stage->fars[i], 0);
    }
    MUST(resolver_reload(stage->resolver, &config->route, config->local,
                         config->server.max_waiting) == ERR_OK);
    if (stage->is_hostile)
        change_anchors(stage, former);
    upstreams_read_files(stage->upstreams);
    if (plan->serves_tls)
        give_tls(stage);
    struct listen_share *share = listen_for(stage, config);
    server_reload(stage->server, &config->server, &share, quota, on_addresses_closed, stage);
    server_quota_free(stage->quota);
    stage->quota = quota;
}

/* ---- time ---- */

static bool watch(void *arg)
{
    struct stage *stage = arg;
    rules_check_turn(stage);
    clients_collect(stage);
    ledger_check_patience(stage);
    return false;
}

void stage_advance(struct stage *stage, uint64_t us)
{
    scarce_begin();
    fake_loop_run_until(stage->loop, watch, stage, us);
    scarce_end();
}

/* Packets in flight arrive later by this time. */
void stage_jump(struct stage *stage, uint64_t us)
{
    fake_loop_jump(stage->loop, us);
    stage->plan_since += us;
    for (size_t i = 0; i < LEDGER_GIVEN; i++)
        if (stage->ledger.given[i].until_unjudged_at) {
            stage->ledger.given[i].until_at += us;
            stage->ledger.given[i].until_unjudged_at += us;
        }
}

/* ---- rest and end ---- */

/* Checks that each zone works again after the faults. */
static void check_recovered(struct stage *stage)
{
    const struct asked *asked = stage->ledger.asked;
    stage->is_live = !stage->plan->is_bounded;
    for (enum truth_zone zone = ZONE_T0; zone < ZONE_COUNT; zone++) {
        struct wish wish = {
            .zone = zone,
            .number = LEAF_ASKED + (unsigned)(stage->ledger.queries % (stage->is_hostile ? 8 : 4)),
            .type = RRTYPE_A,
            .has_edns = true,
            .wants_dnssec = stage->is_hostile,
            .recurses = true};
        clients_ask_udp(stage, zone % CLIENT_REFUSED, &wish);
        uint16_t id = stage->clients.last_id;
        stage_advance(stage, LEDGER_PATIENCE_RECURSION_US);
        if (asked[id].state != ASKED_ANSWERED && stage->is_live)
            stage_fail(stage, "zone %d is healed and does not answer query %u", zone, id);
    }
}

void stage_come_to_rest(struct stage *stage)
{
    STAGE_TRACE(stage, "rest");
    fake_net_fail_opens(stage->net, 0, ERR_OK);
    fake_net_set_file_limit(stage->net, 0);
    fake_net_set_write_max(stage->net, 0);
    fake_net_drop_replies(stage->net, 0);
    for (unsigned i = 0; i < SERVER_COUNT; i++) {
        far_heal(&stage->fars[i]);
        if (far_is_tls(&stage->fars[i]) && stage->plan->is_tls)
            far_speak_tls(&stage->fars[i], 0);
    }
    for (int i = 0; i < REST_STEPS; i++)
        stage_advance(stage, REST_STEP_US);
    ledger_settle(stage);
    rules_check_rest(stage);
    check_recovered(stage);
}

static void on_drained(void *context)
{
    struct stage *stage = context;
    stage->has_drained = true;
}

static void drain(struct stage *stage)
{
    server_drain(stage->server, on_drained, stage);
    for (int i = 0; i < DRAIN_STEPS && !stage->has_drained; i++)
        stage_advance(stage, REST_STEP_US);
    if (!stage->has_drained)
        stage_fail(stage, "the server does not end draining");
}

void stage_close(struct stage *stage, bool drains)
{
    STAGE_TRACE(stage, drains ? "drain" : "end");
    if (drains)
        drain(stage);
    server_free(stage->server);
    listen_sockets_free(stage->sockets);
    resolver_free(stage->resolver);
    upstreams_free(stage->upstreams);
    fake_loop_settle(stage->loop);
    rules_check_end(stage);
    server_quota_free(stage->quota);
    loop_free(stage->loop);
    cache_thread_end();
    cache_free(stage->cache);
    tls_tickets_free(stage->tickets);
    tls_ticket_keys_free(stage->ticket_keys);
    for (unsigned i = 0; i < SERVER_COUNT; i++)
        far_close(&stage->fars[i]);
}
