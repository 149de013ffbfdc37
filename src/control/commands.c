/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * The table of commands, and the commands that need only main's thread. command_upstreams.c asks
 * the workers.
 */

#include "control/commands.h"

#include <string.h>
#include <unistd.h>

#include "base/addr.h"
#include "base/check.h"
#include "base/log.h"
#include "base/suggest.h"
#include "cache/cache.h"
#include "config/config.h"
#include "control/call.h"
#include "control/metrics.h"
#include "loop/loop.h"
#include "nailup/version.h"
#include "serve/view_rows.h"

static const struct command commands[] = {
#define COMMAND(verb, arguments, handler, sentence) {verb, arguments, command_##handler, sentence},
#include "nailup/commands.def"
};

const struct command *commands_find(const char *verb)
{
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        if (strcmp(commands[i].verb, verb) == 0)
            return &commands[i];
    }
    return NULL;
}

const char *commands_suggest(const char *verb)
{
    struct suggestion suggestion;

    suggest_init(&suggestion, verb);
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        suggest_offer(&suggestion, commands[i].verb);
    return suggestion.word;
}

void command_help(struct call *call)
{
    struct reply *reply = &call->reply;

    reply_table(reply, "commands", "command:text\targuments:text\tsentence:text");
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        reply_row(reply);
        reply_text(reply, commands[i].verb);
        reply_text(reply, commands[i].arguments);
        reply_text(reply, commands[i].sentence);
        reply_row_end(reply);
    }
    call_done(call);
}

/* ---- status ---- */

/* Answers with any rcode. */
static uint64_t count_answers(const struct stats *stats)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < STAT_COUNT; i++) {
        if (strcmp(stat_rows[i].name, "answers_total") == 0)
            sum += stats->values[i];
    }
    return sum;
}

static void put_zone_counts(struct reply *reply, const struct config *config)
{
    reply_count(reply, config ? config->zone_count : 0);
    reply_count(reply, config ? config->stub_count : 0);
    reply_flag(reply, config && config_has_recursion(config));
}

static void put_daemon(struct call *call, const struct stats *stats)
{
    struct reply *reply = &call->reply;
    const struct control_view *view = call->view;
    char problems[COMMAND_PROBLEMS_MAX];

    reply_record(reply, "daemon",
                 "version:text\tpid:count\tuptime:duration\tworkers:count\tconfig:text\t"
                 "queries:counter\tanswers:counter\thits:counter\tmisses:counter\thit_ratio:ratio\t"
                 "stream_clients:count\tconnections:count\tin_flight:count\tconfig_age:duration\t"
                 "reload_error:text\tforward_zones:count\tstub_zones:count\trecursion:flag\t"
                 "servers_met:count\tlog_lines_lost:count\tproblems:text");
    command_problems(view, loop_now(call->loop), problems);
    reply_row(reply);
    reply_text(reply, NAILUP_VERSION);
    reply_count(reply, (uint64_t)getpid());
    reply_duration(reply, loop_now(call->loop) - view->started_at);
    reply_count(reply, view->worker_count);
    reply_text(reply, view->config_file);
    reply_count(reply, stats->queries_udp + stats->queries_tcp + stats->queries_tls +
                           stats->queries_https);
    reply_count(reply, count_answers(stats));
    reply_count(reply, stats->cache_hits);
    reply_count(reply, stats->cache_misses);
    reply_ratio(reply, stats->cache_hits, stats->cache_hits + stats->cache_misses);
    reply_count(reply, stats->stream_clients);
    reply_count(reply, stats->upstream_ready);
    reply_count(reply, stats->upstream_in_flight);
    reply_duration(reply, loop_now(call->loop) - view->reloads.loaded_at);
    reply_text(reply, view->reloads.last_failed ? view->reloads.why : "");
    put_zone_counts(reply, view->config);
    reply_count(reply, stats->recursion_servers);
    reply_count(reply, stats->query_log_dropped);
    reply_text(reply, problems);
    reply_row_end(reply);
}

static void put_cache(struct call *call)
{
    struct reply *reply = &call->reply;
    struct cache_usage usage;

    cache_usage(call->view->cache, &usage);
    reply_record(reply, "cache",
                 "size:bytes\tlimit:bytes\tentries:count\tstores:count\tevictions:count");
    reply_row(reply);
    reply_count(reply, usage.bytes);
    reply_count(reply, usage.bytes_max);
    reply_count(reply, usage.entries);
    reply_count(reply, usage.stores);
    reply_count(reply, usage.evictions);
    reply_row_end(reply);
}

static void commands_put_addresses(struct reply *reply, const struct addr *addrs, size_t count,
                                   const char *protocols)
{
    char text[ADDR_TEXT_MAX];

    for (size_t i = 0; i < count; i++) {
        reply_row(reply);
        reply_text(reply, addr_format(&addrs[i], text));
        reply_text(reply, protocols);
        reply_row_end(reply);
    }
}

static void put_listening(struct call *call)
{
    const struct control_view *view = call->view;

    reply_table(&call->reply, "listening", "address:text\tprotocols:text");
    commands_put_addresses(&call->reply, view->listening, view->listening_count, "udp tcp");
    commands_put_addresses(&call->reply, view->listening_tls, view->listening_tls_count, "tls");
    commands_put_addresses(&call->reply, view->listening_https, view->listening_https_count,
                           "https");
    if (view->config && addr_family(&view->config->metrics_listen) != AF_UNSPEC)
        commands_put_addresses(&call->reply, &view->config->metrics_listen, 1, "http");
}

void command_status(struct call *call)
{
    struct stats stats;

    metrics_collect(call->view, &stats);
    put_daemon(call, &stats);
    put_cache(call);
    put_listening(call);
    call_done(call);
}

/* ---- the log ---- */

static void put_log(struct call *call)
{
    struct reply *reply = &call->reply;
    const struct config *config = call->view->config;
    enum log_level level = log_get_level();

    reply_record(reply, "log", "level:text\tconfigured:text\tlasts:text");
    reply_row(reply);
    reply_text(reply, log_level_name(level));
    reply_text(reply, config ? log_level_name(config->log_level) : "");
    reply_text(reply,
               config && level != config->log_level ? "until the next reload or restart" : "");
    reply_row_end(reply);
}

void command_log_level(struct call *call)
{
    enum log_level level;

    if (call->argc == 0) {
        put_log(call);
    } else if (log_level_parse(&level, call->argv[0])) {
        reply_refuse(&call->reply,
                     "'%.64s' is not a level; name error, warning, notice, info or debug",
                     call->argv[0]);
    } else {
        log_set_level(level);
        LOG(LOG_NOTICE, "control", "the log level is %s until the next reload or restart",
            log_level_name(level));
        put_log(call);
    }
    call_done(call);
}

/* ---- stats ---- */

static void put_numbers(struct reply *reply, const struct stats *stats)
{
    reply_table(reply, "metrics", "metric:text\tlabels:text\tvalue:count");
    for (size_t i = 0; i < STAT_COUNT; i++) {
        char name[128] = "nailup_";
        strncat(name, stat_rows[i].name, sizeof(name) - strlen(name) - 1);
        reply_row(reply);
        reply_text(reply, name);
        reply_text(reply, stat_rows[i].labels);
        reply_count(reply, stats->values[i]);
        reply_row_end(reply);
    }
}

static void put_view_row(struct reply *reply, const char *name, const struct view_stats *stats)
{
    reply_row(reply);
    reply_text(reply, name);
#define PER_VIEW(id, name, labels, sentence) reply_count(reply, stats->id);
#include "nailup/metrics.def"
    reply_row_end(reply);
}

/* Writes the counters of each view, also of views that a reload has removed. */
static void stats_put_views(struct reply *reply, const struct view_rows *views,
                            const struct stats *stats)
{
    static const char columns[] = "view:text"
#define PER_VIEW(id, name, labels, sentence) "\t" #id ":count"
#include "nailup/metrics.def"
        ;

    reply_table(reply, "views", columns);
    for (size_t i = 0; i < view_rows_count(views); i++)
        put_view_row(reply, view_rows_name(views, i), &stats->views[i]);
    if (view_rows_has_others(views))
        put_view_row(reply, VIEW_ROWS_OTHER, &stats->views[STATS_VIEWS_MAX]);
}

static void put_times(struct reply *reply, const struct stats *stats)
{
    static const double quantiles[] = {0.5, 0.9, 0.99, 0.999};

    reply_table(reply, "times",
                "metric:text\tcount:count\tmean:duration\tp50:duration\tp90:duration\t"
                "p99:duration\tp999:duration");
    for (size_t i = 0; i < stat_histogram_count; i++) {
        const struct histogram *histogram = stats_histogram_at(stats, i);
        uint64_t count = stats_histogram_count(histogram);
        char name[128] = "nailup_";
        strncat(name, stat_histogram_rows[i].name, sizeof(name) - strlen(name) - 1);
        reply_row(reply);
        reply_text(reply, name);
        reply_count(reply, count);
        if (count > 0)
            reply_duration(reply, histogram->sum_us / count);
        else
            reply_unknown(reply);
        for (size_t q = 0; q < ARRAY_LEN(quantiles); q++) {
            if (count > 0)
                reply_duration(reply, stats_histogram_quantile_us(histogram, quantiles[q]));
            else
                reply_unknown(reply);
        }
        reply_row_end(reply);
    }
}

void command_stats(struct call *call)
{
    struct stats stats;

    metrics_collect(call->view, &stats);
    put_numbers(&call->reply, &stats);
    put_times(&call->reply, &stats);
    if (call->view->view_rows && view_rows_count(call->view->view_rows) > 0)
        stats_put_views(&call->reply, call->view->view_rows, &stats);
    call_done(call);
}
