/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * What the responder has counted, per listener and in all.
 */

#include <linux/tcp.h> /* its tcp_info counts data segments; that of libc does not */
#include <string.h>

#include "base/check.h"
#include "json.h"
#include "responder.h"

void responder_stats_on_closed(struct conn *conn)
{
    struct responder_stats *stats = &conn->listener->stats;
    unsigned power = conn->queries ? 64 - (unsigned)__builtin_clzll(conn->queries) : 0;
    stats->closed_by_queries[MIN(power, HISTOGRAM_POWERS - 1)]++;
    stats->recent[stats->closed++ % RECENT_MAX] = conn->queries;
}

void responder_stats_take_segments(struct conn *conn)
{
    struct tcp_info info;
    socklen_t len = sizeof(info);
    memset(&info, 0, sizeof(info));
    if (conn->watch.fd < 0 || getsockopt(conn->watch.fd, IPPROTO_TCP, TCP_INFO, &info, &len))
        return;
    conn->listener->stats.tcp_segments += info.tcpi_data_segs_in - conn->segments_seen;
    conn->segments_seen = info.tcpi_data_segs_in;
}

static void add(struct responder_stats *sum, const struct responder_stats *part)
{
    uint64_t *to = (uint64_t *)sum;
    const uint64_t *from = (const uint64_t *)part;
    uint64_t max_queries = MAX(sum->max_queries, part->max_queries);
    _Static_assert(sizeof(*sum) % sizeof(*to) == 0, "counters only");
    for (size_t i = 0; i < sizeof(*sum) / sizeof(*to); i++)
        to[i] += from[i];
    sum->max_queries = max_queries;
}

static double ratio(uint64_t a, uint64_t b)
{
    return b ? (double)a / (double)b : 0;
}

static void put_histogram(struct json *json, const struct responder_stats *stats)
{
    char key[48];
    json_open(json, "closed_by_queries", '{');
    for (unsigned i = 0; i < HISTOGRAM_POWERS; i++) {
        if (stats->closed_by_queries[i] == 0)
            continue;
        unsigned long low = i ? 1UL << (i - 1) : 0, high = i ? (1UL << i) - 1 : 0;
        snprintf(key, sizeof(key), low == high ? "%lu" : "%lu-%lu", low, high);
        json_u64(json, key, stats->closed_by_queries[i]);
    }
    json_close(json, '}');
}

/* Oldest first. */
static void put_recent(struct json *json, const struct responder_stats *stats)
{
    uint64_t first = stats->closed > RECENT_MAX ? stats->closed - RECENT_MAX : 0;
    json_open(json, "closed_recent", '[');
    for (uint64_t i = first; i < stats->closed; i++)
        json_u64(json, NULL, stats->recent[i % RECENT_MAX]);
    json_close(json, ']');
}

static void put_counters(struct json *json, const struct responder_stats *stats, uint64_t open)
{
    json_u64(json, "udp_queries", stats->udp_queries);
    json_u64(json, "udp_answers", stats->udp_answers);
    json_u64(json, "udp_lost", stats->udp_lost);
    json_u64(json, "udp_silent", stats->udp_silent);
    json_number(json, "udp_queries_per_read", ratio(stats->udp_queries, stats->udp_reads));
    json_u64(json, "tcp_queries", stats->tcp_queries);
    json_u64(json, "tcp_answers", stats->tcp_answers);
    json_u64(json, "tcp_silent", stats->tcp_silent);
    json_u64(json, "tcp_reads", stats->tcp_reads);
    json_u64(json, "tcp_segments", stats->tcp_segments);
    json_u64(json, "tcp_writes", stats->tcp_writes);
    json_number(json, "tcp_queries_per_read", ratio(stats->tcp_queries, stats->tcp_reads));
    json_number(json, "tcp_queries_per_segment", ratio(stats->tcp_queries, stats->tcp_segments));
    json_number(json, "tcp_answers_per_write", ratio(stats->tcp_answers, stats->tcp_writes));
    json_u64(json, "connections_opened", stats->opened);
    json_u64(json, "connections_closed", stats->closed);
    json_u64(json, "connections_open", open);
    json_u64(json, "connections_max_open", stats->max_open);
    json_u64(json, "connections_used_at_once", stats->used_at_once);
    json_u64(json, "resets_sent", stats->resets_sent);
    json_u64(json, "fins_sent", stats->fins_sent);
    json_u64(json, "answers_for_closed", stats->closed_unanswered);
    json_u64(json, "max_queries_per_connection", stats->max_queries);
}

static uint64_t take_all_segments(const struct responder *responder)
{
    uint64_t open = 0;
    for (size_t i = 0; i < responder->listener_count; i++) {
        responder_tcp_each(responder->listeners[i], responder_stats_take_segments);
        open += responder->listeners[i]->open;
    }
    return open;
}

static void put_listeners(struct json *json, const struct responder *responder)
{
    json_open(json, "listeners", '[');
    for (size_t i = 0; i < responder->listener_count; i++) {
        const struct listener *listener = responder->listeners[i];
        char text[ADDR_TEXT_MAX];
        json_open(json, NULL, '{');
        json_text(json, "listen", addr_format(&listener->addr, text));
        put_counters(json, &listener->stats, listener->open);
        json_close(json, '}');
    }
    json_close(json, ']');
}

void responder_stats_json(const struct responder *responder, FILE *out)
{
    static struct responder_stats sum; /* 3 KiB; the responder has one thread */
    struct json json = {.out = out};
    uint64_t open = take_all_segments(responder);
    memset(&sum, 0, sizeof(sum));
    for (size_t i = 0; i < responder->listener_count; i++)
        add(&sum, &responder->listeners[i]->stats);
    json_open(&json, NULL, '{');
    put_counters(&json, &sum, open);
    json_u64(&json, "delayed_now", delay_line_count(&responder->line));
    put_histogram(&json, &sum);
    if (responder->listener_count == 1)
        put_recent(&json, &responder->listeners[0]->stats);
    else
        put_listeners(&json, responder);
    json_close(&json, '}');
}

static void put_connection(struct json *json, const struct conn *conn)
{
    static const char *const states[] = {"open", "stalled", "finishing", "closed"};
    const struct listener *listener = conn->listener;
    char text[ADDR_TEXT_MAX];
    json_open(json, NULL, '{');
    json_text(json, "peer", addr_format(&conn->peer, text));
    json_text(json, "listen", addr_format(&listener->addr, text));
    json_text(json, "state", states[conn->state]);
    json_u64(json, "queries", conn->queries);
    json_u64(json, "answers", conn->answers);
    json_u64(json, "delayed", conn->delayed);
    json_u64(json, "age_ms", (listener->responder->now_us - conn->accepted_at) / 1000);
    json_close(json, '}');
}

void responder_connections_json(const struct responder *responder, FILE *out)
{
    struct json json = {.out = out};
    json_open(&json, NULL, '[');
    for (size_t i = 0; i < responder->listener_count; i++)
        LIST_EACH(node, &responder->listeners[i]->conns)
    put_connection(&json, LIST_ITEM(node, struct conn, node));
    json_close(&json, ']');
}

void responder_stats_reset(struct responder *responder)
{
    take_all_segments(responder);
    for (size_t i = 0; i < responder->listener_count; i++)
        memset(&responder->listeners[i]->stats, 0, sizeof(struct responder_stats));
}
