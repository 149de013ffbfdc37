/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Writes the figures of the live page. Its files come from the folder board, as bytes in the
 * program. Every text is one of our own words or an address, so only quotes and backslashes need
 * care.
 */

#include "control/board.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "nailup/board_files.h"
#include "nailup/version.h"

enum { BOARD_ITEM_MAX = 1024 };

struct span board_file(enum http_page page)
{
    switch (page) {
    case HTTP_PAGE_BOARD:
        return span_of(board_html, sizeof(board_html));
    case HTTP_PAGE_SCRIPT:
        return span_of(board_js, sizeof(board_js));
    case HTTP_PAGE_STYLE:
        return span_of(board_css, sizeof(board_css));
    default:
        return span_of(NULL, 0);
    }
}

struct json {
    struct buf *out;
    enum err err; /* the first error; nothing is written after it */
    bool is_first;
};

static void board_put(struct json *json, const char *format, ...) PRINTF_LIKE(2, 3);

static void board_put(struct json *json, const char *format, ...)
{
    char text[BOARD_ITEM_MAX];
    va_list arguments;

    va_start(arguments, format);
    int len = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    MUST(len >= 0 && (size_t)len < sizeof(text));
    if (!json->err)
        json->err = buf_append(json->out, text, (size_t)len);
}

/* A comma between the items of a list or object. */
static void board_next(struct json *json)
{
    board_put(json, "%s", json->is_first ? "" : ",");
    json->is_first = false;
}

static void board_put_text(struct json *json, const char *name, const char *text)
{
    char safe[BOARD_ITEM_MAX / 2];
    size_t len = 0;

    for (; *text && len + 3 < sizeof(safe); text++) {
        if (*text == '"' || *text == '\\')
            safe[len++] = '\\';
        safe[len++] = (unsigned char)*text < ' ' ? ' ' : *text;
    }
    safe[len] = '\0';
    board_next(json);
    board_put(json, "\"%s\":\"%s\"", name, safe);
}

static void board_put_number(struct json *json, const char *name, uint64_t number)
{
    board_next(json);
    board_put(json, "\"%s\":%" PRIu64, name, number);
}

static void board_open(struct json *json, const char *name, char bracket)
{
    board_next(json);
    if (*name)
        board_put(json, "\"%s\":", name);
    board_put(json, "%c", bracket);
    json->is_first = true;
}

static void board_close(struct json *json, char bracket)
{
    board_put(json, "%c", bracket);
    json->is_first = false;
}

/* ---- the parts ---- */

static void board_put_totals(struct json *json, const struct stats *stats, uint64_t uptime_us)
{
    board_put_text(json, "version", NAILUP_VERSION);
    board_put_number(json, "uptime_us", uptime_us);
    board_put_number(json, "workers", stats->workers);
    board_put_number(json, "queries_udp", stats->queries_udp);
    board_put_number(json, "queries_tcp", stats->queries_tcp);
    board_put_number(json, "queries_tls", stats->queries_tls);
    board_put_number(json, "queries_https", stats->queries_https);
    board_put_number(json, "hits", stats->cache_hits);
    board_put_number(json, "misses", stats->cache_misses);
    board_put_number(json, "cache_bytes", stats->cache_bytes);
    board_put_number(json, "cache_limit_bytes", stats->cache_limit_bytes);
    board_put_number(json, "cache_entries", stats->cache_entries);
    board_put_number(json, "cold_queries", stats->upstream_cold_queries);
}

static void board_put_latency(struct json *json, const char *name, const struct histogram *of)
{
    board_open(json, name, '{');
    board_put_number(json, "count", stats_histogram_count(of));
    board_put_number(json, "p50_us", stats_histogram_quantile_us(of, 0.5));
    board_put_number(json, "p90_us", stats_histogram_quantile_us(of, 0.9));
    board_put_number(json, "p99_us", stats_histogram_quantile_us(of, 0.99));
    board_close(json, '}');
}

/* Whether the row counts events at one of our bounds. */
static bool board_is_bound(const struct stat_row *row)
{
    static const char *const names[] = {"clients_refused_total", "dropped_total",
                                        "rate_limited_total",    "recursion_bounds_reached_total",
                                        "waiting_refused_total", "validation_limits_total"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (strcmp(row->name, names[i]) == 0)
            return true;
    }
    return false;
}

static void board_put_bounds(struct json *json, const struct stats *stats)
{
    board_open(json, "bounds", '[');
    for (size_t i = 0; i < STAT_COUNT; i++) {
        if (!board_is_bound(&stat_rows[i]) || stats->values[i] == 0)
            continue;
        board_open(json, "", '{');
        board_put_text(json, "what", stat_rows[i].sentence);
        board_put_number(json, "count", stats->values[i]);
        board_close(json, '}');
    }
    board_close(json, ']');
}

static void board_put_upstream(struct json *json, const struct census_upstream *upstream)
{
    char text[ADDR_TEXT_MAX];

    board_open(json, "", '{');
    board_put_text(json, "address", addr_format(&upstream->addr, text));
    board_put_text(json, "transport", upstream->transport);
    for (size_t i = 0; i < PER_UPSTREAM_COUNT; i++) {
        const char *name = per_upstream_rows[i].name + strlen("per_upstream_");
        bool is_time = per_upstream_rows[i].kind == PER_UPSTREAM_SECONDS;
        char key[64];
        int len = (int)strlen(name) - (is_time ? (int)strlen("seconds") : 0);
        snprintf(key, sizeof(key), "%.*s%s", len, name, is_time ? "us" : "");
        board_put_number(json, key, upstream->values[i]);
    }
    board_close(json, '}');
}

static void board_put_conn(struct json *json, const struct census_conn *conn)
{
    const struct conn_view *view = &conn->view;
    char text[ADDR_TEXT_MAX];

    board_open(json, "", '{');
    board_put_number(json, "worker", conn->worker);
    board_put_text(json, "address", addr_format(&view->addr, text));
    board_put_text(json, "transport", view->transport);
    board_put_text(json, "state", view->suspect ? "doubt" : view->state);
    board_put_text(json, "last_close", view->last_close);
    board_put_number(json, "nailed", view->nailed);
    board_put_number(json, "age_us", view->age_us);
    board_put_number(json, "requests", view->requests);
    board_put_number(json, "max_requests", view->max_requests);
    board_put_number(json, "in_flight", view->in_flight);
    board_put_number(json, "rtt_us", view->rtt_us);
    board_put_number(json, "due_us", view->due_us);
    board_close(json, '}');
}

enum err board_write(struct buf *out, const struct stats *stats, const struct census *census,
                     uint64_t uptime_us)
{
    struct json json = {.out = out, .is_first = true};

    board_open(&json, "", '{');
    board_put_totals(&json, stats, uptime_us);
    board_put_latency(&json, "answer_latency", &stats->answer_latency);
    board_put_latency(&json, "upstream_latency", &stats->upstream_latency);
    board_put_bounds(&json, stats);
    board_put_number(&json, "left_out", census ? census->left_out + census->conns_left_out : 0);
    board_open(&json, "upstreams", '[');
    for (size_t i = 0; census && i < census->count; i++)
        board_put_upstream(&json, &census->upstreams[i]);
    board_close(&json, ']');
    board_open(&json, "connections", '[');
    for (size_t i = 0; census && i < census->conn_count; i++)
        board_put_conn(&json, &census->conns[i]);
    board_close(&json, ']');
    board_close(&json, '}');
    return json.err;
}
