/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "fuzz/worker/rules.h"

#include <string.h>

#include "fuzz/worker/stage.h"
#include "serve/server_quota.h"

/* A peer may take one byte per turn, and signed answers to one client have more than 64 KiB in
 * total. */
enum { TURNS_AT_ONCE_MAX = 200000 };

static uint64_t sum_of(const struct stage *stage, const char *name, const char *labels)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < STAT_COUNT; i++)
        if (strcmp(stat_rows[i].name, name) == 0 &&
            (!labels || strstr(stat_rows[i].labels, labels)))
            sum += stage->stats.values[i];
    return sum;
}

uint64_t rules_drops(const struct stage *stage)
{
    return sum_of(stage, "dropped_total", NULL) + sum_of(stage, "rate_limited_total", "dropped") +
           stage->lost_replies;
}

void rules_check_turn(struct stage *stage)
{
    uint64_t now = stage_now(stage);
    stage->turns_there = now == stage->watched_at ? stage->turns_there + 1 : 0;
    stage->watched_at = now;
    if (stage->turns_there > TURNS_AT_ONCE_MAX)
        stage_fail(stage, "%d turns without time moving", TURNS_AT_ONCE_MAX);
}

static void see_conn(void *context, const struct conn_view *view)
{
    const struct stage *stage = context;
    if (view->requests > view->max_requests)
        stage_fail(stage, "a connection has carried %u queries of %u", view->requests,
                   view->max_requests);
}

static void see_upstream(void *context, const struct upstream_view *view)
{
    (void)context;
    (void)view;
}

void rules_check_step(struct stage *stage)
{
    const struct config *config = plan_config(stage->plan);
    upstreams_each_conn(stage->upstreams, see_conn, stage);
    upstreams_each(stage->upstreams, see_upstream, stage);
    if (stage->nail_quota.used > stage->nail_quota.max)
        stage_fail(stage, "%u nailed connections of %u", (unsigned)stage->nail_quota.used,
                   (unsigned)stage->nail_quota.max);
    bool is_settled = stage_now(stage) > stage->plan_since + 60 * US_PER_S;
    if (is_settled && server_quota_waiting(stage->quota) > config->server.max_waiting)
        stage_fail(stage, "%u queries wait, allowed are %u", server_quota_waiting(stage->quota),
                   config->server.max_waiting);
}

static void expect_zero(const struct stage *stage, const char *what, uint64_t value)
{
    if (value)
        stage_fail(stage, "at rest: %s is %lld", what, (long long)value);
}

/* Answers and queries need not be equal in number. A query of an ended stream may have an answer
 * without a client, and a query that a full queue drops has no answer. */
static void check_counts(const struct stage *stage)
{
    uint64_t queries = sum_of(stage, "queries_total", NULL);
    uint64_t answers = sum_of(stage, "answers_total", NULL);
    uint64_t drops = rules_drops(stage) - stage->lost_replies;
    if (answers > queries)
        stage_fail(stage, "%llu answers to %llu queries", (unsigned long long)answers,
                   (unsigned long long)queries);
    if (stage->ledger.answers > answers)
        stage_fail(stage, "clients have %llu answers, %llu are counted",
                   (unsigned long long)stage->ledger.answers, (unsigned long long)answers);
    (void)drops;
}

void rules_check_rest(struct stage *stage)
{
    expect_zero(stage, "queries that wait", server_quota_waiting(stage->quota));
    expect_zero(stage, "tasks", resolver_tasks(stage->resolver));
    check_counts(stage);
}

void rules_check_end(struct stage *stage)
{
    const struct stats *stats = &stage->stats;
    expect_zero(stage, "open sockets", fake_net_open_sockets(stage->net));
    expect_zero(stage, "listening sockets", fake_listen_sockets());
    expect_zero(stage, "places of queries", server_quota_waiting(stage->quota));
    expect_zero(stage, "places of clients", server_quota_clients(stage->quota));
    expect_zero(stage, "places of nailed connections", stage->nail_quota.used);
    expect_zero(stage, "stream_clients", stats->stream_clients);
    expect_zero(stage, "upstream_in_flight", stats->upstream_in_flight);
    expect_zero(stage, "upstream connections",
                stats->upstream_ready + stats->upstream_dialing + stats->upstream_resting +
                    stats->upstream_parked + stats->upstream_draining + stats->upstream_securing);
}
