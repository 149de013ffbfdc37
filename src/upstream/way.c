/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Tries the best way first and counts each diversion with its reason. Invariant: a query over
 * strict TLS leaves only on its own stream.
 */
#include "upstream/way.h"

#include "upstream/exchange_question.h"
#include "upstream/pool.h"
#include "upstream/upstream.h"

/* Counts once, although one dial may divert the attempt and another one keep it waiting. */
static void count_cold(struct attempt *attempt)
{
    if (!attempt->is_counted_cold)
        STATS_INC(attempt->env->stats, upstream_cold_queries);
    attempt->is_counted_cold = true;
}

static void count_fallback(struct attempt *attempt, enum pool_lack lack)
{
    struct stats *stats = attempt->env->stats;
    switch (lack) {
    case POOL_CLOSED:
    case POOL_DIALING:
        STATS_INC(stats, upstream_fallbacks_dialing);
        count_cold(attempt);
        break;
    case POOL_STALLED:
        STATS_INC(stats, upstream_fallbacks_stalled);
        break;
    case POOL_RESTING:
        STATS_INC(stats, upstream_fallbacks_refused);
        break;
    case POOL_FULL:
        STATS_INC(stats, upstream_fallbacks_full);
        break;
    }
}

static void divert(struct attempt *attempt, enum pool_lack lack)
{
    attempt->upstream->fallbacks++;
    count_fallback(attempt, lack);
}

/* The sibling of an opportunistic upstream is an upstream with its own streams. */
static bool send_beside_streams(struct attempt *attempt, bool *full)
{
    struct upstream *upstream = attempt->upstream;

    if (!upstream_prefers_stream(upstream) || upstream_falls_back_to_udp(upstream))
        return attempt_send_udp(attempt);
    if (!upstream->plain)
        return false;
    attempt->upstream = upstream->plain;
    if (way_send(attempt, WAY_ANY, NULL, full))
        return true;
    attempt->upstream = upstream;
    return false;
}

/* Streams count as slow if their answers take more than twice as long as over UDP, and this much
 * more: a server may answer the queries of a connection one after the other. */
#define SLOWER_STREAM_US (10 * US_PER_MS)

static bool has_slow_streams(const struct upstream *upstream)
{
    return upstream->stream.srtt_us > 2 * upstream->udp.srtt_us + SLOWER_STREAM_US;
}

/* Sends over an open stream where a datagram would probably bring a truncated answer. Only the
 * first query to a server: others replace one that was lost or is late there. */
static bool send_expecting_large(struct attempt *attempt)
{
    struct upstream *upstream = attempt->upstream;
    if (!attempt->asked->expects_large || attempt->nth > 0 || has_slow_streams(upstream))
        return false;
    struct conn *conn = pool_find_roomy(&upstream->pool);
    if (!conn || !attempt_send_stream(attempt, conn))
        return false;
    STATS_INC(attempt->env->stats, upstream_large_queries);
    return true;
}

bool way_send(struct attempt *attempt, enum way way, const struct conn *avoid, bool *full)
{
    struct upstream *upstream = attempt->upstream;
    enum pool_lack lack = POOL_FULL;

    if (way == WAY_DATAGRAM)
        return send_beside_streams(attempt, full);
    if (way != WAY_STREAM && way != WAY_OWN && !upstream_prefers_stream(upstream))
        return (way == WAY_ANY && send_expecting_large(attempt)) || attempt_send_udp(attempt);

    struct conn *conn = pool_take(&upstream->pool, avoid, &lack);
    bool is_hopeful = way != WAY_ELSEWHERE && way != WAY_STREAM;
    if (conn && !is_hopeful && silence_is_in_doubt(&conn->silence)) {
        conn = NULL; /* the other one is no better: a fresh one is worth a dial */
        lack = POOL_STALLED;
    }
    if (conn && attempt_send_stream(attempt, conn))
        return true;
    if (upstream->plain && way != WAY_OWN) { /* the query waits for TLS only if it must */
        divert(attempt, lack);
        attempt->upstream = upstream->plain;
        if (way_send(attempt, way, NULL, full))
            return true;
        attempt->upstream = upstream;
    }
    if (way != WAY_STREAM && way != WAY_OWN && upstream_falls_back_to_udp(upstream)) {
        divert(attempt, lack);
        if (attempt_send_udp(attempt))
            return true;
    }
    *full |= lack == POOL_FULL;
    if (way != WAY_ELSEWHERE && lack != POOL_FULL && lack != POOL_STALLED)
        count_cold(attempt);
    return attempt_wait_stream(attempt);
}
