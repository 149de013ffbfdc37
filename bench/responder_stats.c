/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * The responder's counters for each listener, and their sums.
 */

#include <linux/tcp.h> /* this tcp_info has counters of data segments, and libc's does not */
#include <string.h>

#include "base/check.h"
#include "json.h"
#include "responder.h"

struct stream_stats *responder_stats_of(const struct conn *conn)
{
    struct responder_stats *stats = &conn->listener->stats;
    return conn->tls ? &stats->over_tls : &stats->tcp;
}

void responder_stats_on_closed(struct conn *conn)
{
    struct responder_stats *stats = &conn->listener->stats;
    unsigned power = conn->queries ? 64 - (unsigned)__builtin_clzll(conn->queries) : 0;
    stats->closed_by_queries[MIN(power, HISTOGRAM_POWERS - 1)]++;
    stats->recent[stats->closed++ % RECENT_MAX] = conn->queries;
}

/* Returns how many data segments have come on the connection, if the kernel knows. */
static uint64_t count_segments(const struct conn *conn)
{
    struct tcp_info info;
    socklen_t len = sizeof(info);
    memset(&info, 0, sizeof(info));
    if (conn->watch.fd < 0 || getsockopt(conn->watch.fd, IPPROTO_TCP, TCP_INFO, &info, &len))
        return conn->segments_seen;
    return info.tcpi_data_segs_in;
}

void responder_stats_take_segments(struct conn *conn)
{
    uint64_t segments = count_segments(conn);
    if (!conn->tls || conn->has_shaken)
        responder_stats_of(conn)->segments += segments - conn->segments_seen;
    conn->segments_seen = segments;
}

void responder_stats_skip_segments(struct conn *conn)
{
    conn->segments_seen = count_segments(conn);
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

static double responder_stats_ratio(uint64_t a, uint64_t b)
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

/* Writes the oldest count first. */
static void put_recent(struct json *json, const struct responder_stats *stats)
{
    uint64_t first = stats->closed > RECENT_MAX ? stats->closed - RECENT_MAX : 0;
    json_open(json, "closed_recent", '[');
    for (uint64_t i = first; i < stats->closed; i++)
        json_u64(json, NULL, stats->recent[i % RECENT_MAX]);
    json_close(json, ']');
}

static void put_u64(struct json *json, const char *prefix, const char *key, uint64_t value)
{
    char text[64];
    snprintf(text, sizeof(text), "%s_%s", prefix, key);
    json_u64(json, text, value);
}

static void put_ratio(struct json *json, const char *prefix, const char *key, uint64_t a,
                      uint64_t b)
{
    char text[64];
    snprintf(text, sizeof(text), "%s_%s", prefix, key);
    json_number(json, text, responder_stats_ratio(a, b));
}

static void responder_stats_put_stream(struct json *json, const char *prefix,
                                       const struct stream_stats *stats)
{
    put_u64(json, prefix, "queries", stats->queries);
    put_u64(json, prefix, "answers", stats->answers);
    put_u64(json, prefix, "silent", stats->silent);
    put_u64(json, prefix, "reads", stats->reads);
    put_u64(json, prefix, "segments", stats->segments);
    put_u64(json, prefix, "writes", stats->writes);
    put_ratio(json, prefix, "queries_per_read", stats->queries, stats->reads);
    put_ratio(json, prefix, "queries_per_segment", stats->queries, stats->segments);
    put_ratio(json, prefix, "answers_per_write", stats->answers, stats->writes);
}

static void responder_stats_put_tls(struct json *json, const struct responder_stats *stats)
{
    const struct tls_stats *tls = &stats->tls;
    responder_stats_put_stream(json, "tls", &stats->over_tls);
    json_u64(json, "tls_queries_padded", tls->padded);
    json_u64(json, "tls_handshakes_full", tls->full);
    json_u64(json, "tls_handshakes_resumed", tls->resumed);
    json_u64(json, "tls_handshakes_failed", tls->failed);
    json_u64(json, "tls_version_1_2", tls->version_12);
    json_u64(json, "tls_version_1_3", tls->version_13);
    json_u64(json, "tls_alpn_dot", tls->alpn_dot);
    json_u64(json, "tls_with_sni", tls->with_sni);
    json_u64(json, "tls_early_connections", tls->early_connections);
    json_u64(json, "tls_early_queries", tls->early_queries);
    json_u64(json, "tls_closed_with_notify", tls->notified);
    json_u64(json, "tls_closed_without_notify", tls->closed_bare);
    json_u64(json, "tls_alerts_received", tls->alerts);
}

static void responder_stats_put_counters(struct json *json, const struct responder_stats *stats,
                                         uint64_t open)
{
    json_u64(json, "udp_queries", stats->udp_queries);
    json_u64(json, "udp_answers", stats->udp_answers);
    json_u64(json, "udp_lost", stats->udp_lost);
    json_u64(json, "udp_silent", stats->udp_silent);
    json_number(json, "udp_queries_per_read",
                responder_stats_ratio(stats->udp_queries, stats->udp_reads));
    responder_stats_put_stream(json, "tcp", &stats->tcp);
    responder_stats_put_tls(json, stats);
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
        responder_conn_each(responder->listeners[i], responder_stats_take_segments);
        open += responder->listeners[i]->open;
    }
    return open;
}

/* Writes the facts about the newest TLS client. */
static void put_last(struct json *json, const struct listener *listener)
{
    json_text(json, "transport", listener->is_tls ? "tls" : "udp and tcp");
    if (!listener->is_tls)
        return;
    json_text(json, "tls_last_sni", listener->last_sni);
    json_text(json, "tls_last_alert", tls_alert_text(listener->last_alert));
    json_text(json, "tls_last_failure", listener->last_failure);
}

static void put_listeners(struct json *json, const struct responder *responder)
{
    json_open(json, "listeners", '[');
    for (size_t i = 0; i < responder->listener_count; i++) {
        const struct listener *listener = responder->listeners[i];
        char text[ADDR_TEXT_MAX];
        json_open(json, NULL, '{');
        json_text(json, "listen", addr_format(&listener->addr, text));
        put_last(json, listener);
        responder_stats_put_counters(json, &listener->stats, listener->open);
        put_recent(json, &listener->stats);
        json_close(json, '}');
    }
    json_close(json, ']');
}

void responder_stats_json(const struct responder *responder, FILE *out)
{
    static struct responder_stats sum; /* static, because it has 3 KiB; there is one thread */
    struct json json = {.out = out};
    uint64_t open = take_all_segments(responder);
    memset(&sum, 0, sizeof(sum));
    for (size_t i = 0; i < responder->listener_count; i++)
        add(&sum, &responder->listeners[i]->stats);
    json_open(&json, NULL, '{');
    responder_stats_put_counters(&json, &sum, open);
    json_u64(&json, "delayed_now", delay_line_count(&responder->line));
    if (responder->tls)
        json_u64(&json, "tls_tickets_reused", tls_server_reused_tickets(responder->tls));
    put_histogram(&json, &sum);
    if (responder->listener_count == 1) {
        put_last(&json, responder->listeners[0]);
        put_recent(&json, &responder->listeners[0]->stats);
    } else {
        put_listeners(&json, responder);
    }
    json_close(&json, '}');
}

static void put_session(struct json *json, const struct tls_stream *tls)
{
    char alpn[TLS_TEXT_MAX];
    tls_stream_alpn(tls, alpn);
    json_text(json, "tls", tls_stream_version(tls) == 12 ? "1.2" : "1.3");
    json_text(json, "cipher", tls_stream_cipher(tls));
    json_text(json, "handshake", tls_stream_is_resumed(tls) ? "resumed" : "full");
    json_text(json, "alpn", alpn);
    json_text(json, "sni", tls_stream_sni(tls));
    json_u64(json, "early_bytes", tls->early_bytes);
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
    if (conn->tls && conn->has_shaken)
        put_session(json, conn->tls);
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
