/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * The output of a replay: a line of progress each second, and the report as text or JSON. Figures
 * that a load also reports have the same keys.
 */

#include <stdio.h>
#include <unistd.h>

#include "base/check.h"
#include "json.h"
#include "replay.h"

static const char *replay_transport(const struct replay *replay)
{
    return replay->options.is_tls ? "tls" : replay->options.is_stream ? "tcp" : "udp";
}

void replay_report_progress(const struct replay *replay, double at_s)
{
    const struct replay_counters *counters = &replay->counters;
    bool is_terminal = isatty(STDERR_FILENO);
    fprintf(stderr, "%s%6.1f s  %3.0f %%  sent %llu  open %llu  in flight %llu  lost %llu%s",
            is_terminal ? "\r" : "", at_s,
            100 * (double)replay->next / (double)MAX(replay->end, (size_t)1),
            (unsigned long long)counters->sent, (unsigned long long)replay->open_count,
            (unsigned long long)replay->in_flight_count,
            (unsigned long long)(counters->lost + counters->lost_by_close),
            is_terminal ? "\x1b[K" : "\n");
}

static double replay_qps(const struct replay *replay, const struct replay_figures *figures)
{
    return figures->seconds > 0 ? (double)replay->counters.answered / figures->seconds : 0;
}

static double replay_per_query(const struct replay *replay, double cpu_us)
{
    return replay->counters.answered ? cpu_us / (double)replay->counters.answered : -1;
}

static void replay_put_queries(struct json *json, const struct replay_counters *counters)
{
    json_u64(json, "sent", counters->sent);
    json_u64(json, "answered", counters->answered);
    json_u64(json, "lost", counters->lost);
    json_u64(json, "lost_by_close", counters->lost_by_close);
    json_u64(json, "unsent", counters->unsent);
    json_u64(json, "truncated", counters->truncated);
    json_u64(json, "unexpected", counters->unexpected);
    report_put_rcodes(json, counters->rcodes);
}

static void replay_put_sockets(struct json *json, const struct replay *replay)
{
    const struct replay_counters *counters = &replay->counters;
    json_u64(json, "opened", counters->opened);
    json_u64(json, "failed", counters->failed);
    json_u64(json, "closed_by_server", counters->closed_by_server);
    json_u64(json, "closed_idle", counters->closed_idle);
    json_u64(json, "open_most", replay->open_most);
    if (replay->tls) {
        json_u64(json, "handshakes_full", replay->tls->full);
        json_u64(json, "handshakes_resumed", replay->tls->resumed);
    }
    if (replay->options.is_stream)
        report_put_latency(json, "dial_us", &replay->shakes);
}

static void replay_report_json(const struct replay *replay, const struct replay_figures *figures)
{
    struct json json = {.out = stdout};
    char text[ADDR_TEXT_MAX];
    json_open(&json, NULL, '{');
    json_text(&json, "server", addr_format(&replay->options.server, text));
    json_text(&json, "transport", replay_transport(replay));
    json_text(&json, "loop", "replay");
    json_number(&json, "speed", replay->options.speed);
    json_number(&json, "seconds", figures->seconds);
    json_u64(&json, "clients", replay->capture.client_count);
    replay_put_queries(&json, &replay->counters);
    replay_put_sockets(&json, replay);
    json_number(&json, "qps", replay_qps(replay, figures));
    report_put_latency(&json, "latency_us", &replay->latency);
    report_put_latency(&json, "warm_latency_us", &replay->warm);
    report_put_latency(&json, "send_lag_us", &replay->lag);
    if (figures->server_cpu_us >= 0)
        json_number(&json, "server_cpu_us_per_query",
                    replay_per_query(replay, figures->server_cpu_us));
    json_number(&json, "own_cpu_us_per_query", replay_per_query(replay, figures->own_cpu_us));
    json_close(&json, '}');
    putchar('\n');
}

static void replay_print_sockets(const struct replay *replay)
{
    const struct replay_counters *counters = &replay->counters;
    printf("%s  opened %llu, failed %llu, closed by the server %llu, closed idle %llu, at most "
           "%llu at once\n",
           replay->options.is_stream ? "connections" : "sockets    ",
           (unsigned long long)counters->opened, (unsigned long long)counters->failed,
           (unsigned long long)counters->closed_by_server,
           (unsigned long long)counters->closed_idle, (unsigned long long)replay->open_most);
    if (replay->tls)
        printf("handshakes   full %llu, resumed %llu\n", (unsigned long long)replay->tls->full,
               (unsigned long long)replay->tls->resumed);
    if (replay->options.is_stream) {
        report_print_latency("dial us", &replay->shakes);
        report_print_latency("warm us", &replay->warm);
    }
}

static void replay_report_text(const struct replay *replay, const struct replay_figures *figures)
{
    const struct replay_counters *counters = &replay->counters;
    char text[ADDR_TEXT_MAX];
    printf("server       %s over %s, %zu clients", addr_format(&replay->options.server, text),
           replay->options.is_tls      ? "TLS"
           : replay->options.is_stream ? "TCP"
                                       : "UDP",
           replay->capture.client_count);
    if (replay->options.speed == 1)
        printf(", at the speed of the capture\n");
    else
        printf(", %g times as fast as the capture\n", replay->options.speed);
    printf("queries      sent %llu, answered %llu, lost %llu, lost by close %llu, unsent %llu\n",
           (unsigned long long)counters->sent, (unsigned long long)counters->answered,
           (unsigned long long)counters->lost, (unsigned long long)counters->lost_by_close,
           (unsigned long long)counters->unsent);
    report_print_rcodes(counters->rcodes);
    printf("rate         %.1f answers/s over %.2f s\n", replay_qps(replay, figures),
           figures->seconds);
    report_print_latency("latency us", &replay->latency);
    report_print_latency("sent late us", &replay->lag);
    replay_print_sockets(replay);
    if (counters->answered && figures->server_cpu_us >= 0)
        printf("server CPU   %.3f us per query\n",
               replay_per_query(replay, figures->server_cpu_us));
    if (counters->answered)
        printf("own CPU      %.3f us per query\n", replay_per_query(replay, figures->own_cpu_us));
}

void replay_report(const struct replay *replay, const struct replay_figures *figures)
{
    if (replay->options.progress && isatty(STDERR_FILENO))
        fputc('\n', stderr);
    if (replay->options.json)
        replay_report_json(replay, figures);
    else
        replay_report_text(replay, figures);
}
