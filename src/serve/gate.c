/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Distinguishes clients with a proven address from clients whose address may be forged, and limits
 * the latter. request.c acts on the verdict. Invariant: a client that sends back a cookie of ours,
 * or has a stream, is never limited.
 */
#include "serve/gate.h"

#include "base/log.h"
#include "base/rand.h"
#include "base/stats.h"
#include "loop/loop.h"
#include "serve/rate_limit.h"
#include "serve/server_quota.h"
#include "serve/view_choice.h"

void gate_init(struct gate *gate, struct loop *loop, const struct server_options *options,
               const struct server_quota *quota, struct stats *stats)
{
    *gate = (struct gate){.loop = loop, .stats = stats};
    gate_renew(gate, options, quota);
}

void gate_renew(struct gate *gate, const struct server_options *options,
                const struct server_quota *quota)
{
    gate->options = options;
    gate->quota = quota;
    gate->limits_rate = server_quota_limits_rate(quota);
    gate->secrets = options->cookie_secrets; /* none: secrets of the day follow when needed */
}

/* The secrets of the operator, or those of the day. */
static const struct cookie_secrets *secrets_at(struct gate *gate, uint32_t now_s)
{
    uint32_t day = now_s / COOKIE_SECRET_DAY_S;
    if (gate->options->cookie_secrets.count > 0)
        return &gate->secrets;
    if (gate->secrets.count == 0 || gate->day != day)
        cookie_secrets_of_day(&gate->secrets, day);
    gate->day = day;
    return &gate->secrets;
}

static void count_cookie(struct gate *gate, const struct query *query)
{
    if (query->has_valid_cookie)
        STATS_INC(gate->stats, cookies_valid);
    else if (query->cookie_len == COOKIE_CLIENT_BYTES)
        STATS_INC(gate->stats, cookies_new);
    else
        STATS_INC(gate->stats, cookies_bad);
}

/* A cookie of a wrong length gets FORMERR, and no cookie goes back. */
static void judge_cookie(struct gate *gate, struct query *query, const struct addr *client)
{
    if (!gate->options->cookies || !query->has_cookie || !cookie_is_sound(query->cookie_len))
        return;
    uint32_t now_s = (uint32_t)loop_wall_s(gate->loop);
    query->has_valid_cookie =
        cookie_answer(query->cookie, query->cookie_len, secrets_at(gate, now_s), client, now_s);
    query->sends_cookie = true;
    count_cookie(gate, query);
}

static bool is_within_limit(struct gate *gate, const struct addr *client, unsigned view)
{
    struct rate_limit *limit = server_quota_rate_limit(gate->quota, view);
    return !limit ||
           rate_limit_take(limit, server_quota_client(gate->quota, client), loop_now(gate->loop));
}

/* Names the client to the operator. The text is only made when the line is written. */
static void log_limited(const struct gate *gate, const struct addr *client, unsigned view)
{
    char text[ADDR_TEXT_MAX];
    LOG_LIMITED(LOG_NOTICE, "serve", "%s, or its prefix, sends more than %u queries a second",
                addr_format_ip(client, text), view_choice_rate(gate->options, view));
}

/* Decides at random: if every n-th query passed, a flood could arrange to be that query. */
static bool may_slip(const struct gate *gate)
{
    return gate->options->rate_limit_slip > 0 && rand_below(gate->options->rate_limit_slip) == 0;
}

enum gate_verdict gate_judge(struct gate *gate, struct query *query, const struct addr *client,
                             unsigned view, bool is_stream)
{
    judge_cookie(gate, query, client);
    if (is_stream || query->has_valid_cookie || is_within_limit(gate, client, view))
        return GATE_PASS;
    log_limited(gate, client, view);
    if (!may_slip(gate))
        return GATE_DROP;
    return query->sends_cookie ? GATE_BAD_COOKIE : GATE_TRUNCATE;
}
