/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * The output of a load: a line of progress each second, and the report as text, JSON or CSV.
 */

#include <stdio.h>
#include <unistd.h>

#include "json.h"
#include "load.h"
#include "report.h"

void load_report_progress(struct load *load, double at_s, double seconds, uint64_t answered)
{
    const struct load_counters *counters = &load->counters;
    fprintf(stderr, "%s%6.1f s %10.0f/s  p50 %8.1f us  p99 %8.1f us  in flight %6llu  lost %llu%s",
            isatty(STDERR_FILENO) ? "\r" : "", at_s, (double)answered / seconds,
            report_us(&load->interval, 50), report_us(&load->interval, 99),
            (unsigned long long)load->in_flight,
            (unsigned long long)(counters->lost + counters->lost_by_close),
            isatty(STDERR_FILENO) ? "\x1b[K" : "\n");
}

void load_report_end_progress(const struct load *load)
{
    if (load->options.progress && isatty(STDERR_FILENO))
        fputc('\n', stderr);
}

static double per_query(double cpu_us, const struct load_figures *figures)
{
    return figures->answered && cpu_us >= 0 ? cpu_us / (double)figures->answered : -1;
}

static double qps(const struct load_figures *figures)
{
    return figures->seconds > 0 ? (double)figures->answered / figures->seconds : 0;
}

static void load_report_put_counters(struct json *json, const struct load_counters *counters)
{
    json_u64(json, "sent", counters->sent);
    json_u64(json, "answered", counters->answered);
    json_u64(json, "lost", counters->lost);
    json_u64(json, "lost_by_close", counters->lost_by_close);
    json_u64(json, "unsent", counters->unsent);
    json_u64(json, "truncated", counters->truncated);
    json_u64(json, "unexpected", counters->unexpected);
    json_u64(json, "reconnects", counters->reconnects);
    report_put_rcodes(json, counters->rcodes);
}

static double load_report_ratio(uint64_t a, uint64_t b)
{
    return b ? (double)a / (double)b : 0;
}

/* Writes the counters of connections since the start, including the warm-up. */
static void load_report_put_stream(struct json *json, const struct load *load)
{
    const struct load_counters *counters = &load->counters;
    if (!load->options.is_stream)
        return;
    json_number(json, "queries_per_write", load_report_ratio(load->sent_in_all, counters->writes));
    json_number(json, "answers_per_read",
                load_report_ratio(load->answered_in_all, counters->reads));
}

static void load_report_put_tls(struct json *json, const struct load *load)
{
    if (!load->tls)
        return;
    json_open(json, "tls", '{');
    json_u64(json, "handshakes_full", load->tls->full);
    json_u64(json, "handshakes_resumed", load->tls->resumed);
    json_u64(json, "handshakes_failed", load->counters.shakes_failed);
    json_u64(json, "tickets_received", load->tls->tickets_received);
    if (load->tls_why[0])
        json_text(json, "last_failure", load->tls_why);
    report_put_latency(json, "handshake_us", &load->shakes);
    json_close(json, '}');
}

static void put_idle(struct json *json, const struct load *load)
{
    struct idle_counters counters = load_idle_count(load);
    if (!load->options.idle)
        return;
    json_open(json, "idle", '{');
    json_u64(json, "wanted", load->options.idle);
    json_u64(json, "standing", counters.standing);
    json_u64(json, "failed", counters.failed);
    json_u64(json, "closed", counters.closed);
    json_close(json, '}');
}

static const char *transport_of(const struct load_options *options)
{
    return options->is_tls ? "tls" : options->is_stream ? "tcp" : "udp";
}

static void put_cpu(struct json *json, const struct load_figures *figures)
{
    if (figures->server_cpu_us >= 0) {
        json_number(json, "server_cpu_us_per_query", per_query(figures->server_cpu_us, figures));
        json_number(json, "server_cpu_percent",
                    figures->server_cpu_us / figures->seconds / 1e6 * 100);
    }
    if (figures->cpu_stopped_us >= 0)
        json_number(json, "watched_cpu_stopped_us", figures->cpu_stopped_us);
    json_number(json, "own_cpu_us_per_query", per_query(figures->own_cpu_us, figures));
    json_number(json, "own_cpu_percent", figures->own_cpu_us / figures->seconds / 1e6 * 100);
}

static void report_json(const struct load *load, const struct load_figures *figures)
{
    const struct load_options *options = &load->options;
    struct json json = {.out = stdout};
    char text[ADDR_TEXT_MAX];
    json_open(&json, NULL, '{');
    json_text(&json, "server", addr_format(&options->server, text));
    json_text(&json, "transport", transport_of(options));
    json_text(&json, "loop",
              options->is_hold          ? "none"
              : options->is_closed_loop ? "closed"
                                        : "open");
    if (!options->is_closed_loop && !options->is_hold)
        json_number(&json, "rate", options->rate);
    json_number(&json, "seconds", figures->seconds);
    json_u64(&json, "connections", options->connections);
    json_u64(&json, "in_flight", options->in_flight);
    load_report_put_counters(&json, &load->counters);
    load_report_put_stream(&json, load);
    load_report_put_tls(&json, load);
    put_idle(&json, load);
    json_number(&json, "qps", qps(figures));
    report_put_latency(&json, "latency_us", &load->latency);
    report_put_latency(&json, "send_lag_us", &load->lag);
    put_cpu(&json, figures);
    json_close(&json, '}');
    putchar('\n');
}

static void report_csv(const struct load *load, const struct load_figures *figures)
{
    const struct load_counters *counters = &load->counters;
    const struct latency *latency = &load->latency;
    if (load->options.csv_header)
        puts("transport,loop,rate,seconds,sent,answered,lost,lost_by_close,unsent,noerror,"
             "servfail,qps,mean_us,p50_us,p90_us,p99_us,p999_us,max_us,lag_p99_us,"
             "server_cpu_us_per_query,own_cpu_us_per_query");
    printf("%s,%s,%.0f,%.3f,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%.1f,%.1f,%.1f,%.1f,%.1f,%.1f,%.1f,"
           "%.1f,%.3f,%.3f\n",
           transport_of(&load->options), load->options.is_closed_loop ? "closed" : "open",
           load->options.rate, figures->seconds, (unsigned long long)counters->sent,
           (unsigned long long)counters->answered, (unsigned long long)counters->lost,
           (unsigned long long)counters->lost_by_close, (unsigned long long)counters->unsent,
           (unsigned long long)counters->rcodes[0],
           (unsigned long long)counters->rcodes[RCODE_SERVFAIL], qps(figures),
           latency_mean(latency) / 1e3, report_us(latency, 50), report_us(latency, 90),
           report_us(latency, 99), report_us(latency, 99.9), (double)latency->max / 1e3,
           report_us(&load->lag, 99), per_query(figures->server_cpu_us, figures),
           per_query(figures->own_cpu_us, figures));
}

static void print_cpu(const struct load_figures *figures)
{
    if (figures->server_cpu_us >= 0)
        printf("server CPU   %.3f us per query, %.1f %% of a CPU\n",
               per_query(figures->server_cpu_us, figures),
               figures->server_cpu_us / figures->seconds / 1e4);
    if (figures->cpu_stopped_us >= 0)
        printf("CPU stopped  %.1f us at most\n", figures->cpu_stopped_us);
    printf("own CPU      %.3f us per query, %.1f %% of a CPU\n",
           per_query(figures->own_cpu_us, figures), figures->own_cpu_us / figures->seconds / 1e4);
}

static void print_tls(const struct load *load)
{
    printf("handshakes   full %llu, resumed %llu, failed %llu, p50 %.1f us, p99 %.1f us; "
           "tickets received %llu\n",
           (unsigned long long)load->tls->full, (unsigned long long)load->tls->resumed,
           (unsigned long long)load->counters.shakes_failed, report_us(&load->shakes, 50),
           report_us(&load->shakes, 99), (unsigned long long)load->tls->tickets_received);
}

static void print_idle(const struct load *load)
{
    struct idle_counters counters = load_idle_count(load);
    printf("idle         standing %llu of %llu, failed %llu, closed by the server %llu\n",
           (unsigned long long)counters.standing, (unsigned long long)load->options.idle,
           (unsigned long long)counters.failed, (unsigned long long)counters.closed);
}

static void print_streams(const struct load *load)
{
    const struct load_counters *counters = &load->counters;
    if (load->options.is_stream && !load->options.is_hold)
        printf("batches      %.1f queries per write, %.1f answers per read\n",
               load_report_ratio(load->sent_in_all, counters->writes),
               load_report_ratio(load->answered_in_all, counters->reads));
    if (load->tls)
        print_tls(load);
    if (load->options.idle)
        print_idle(load);
}

static void report_text(const struct load *load, const struct load_figures *figures)
{
    const struct load_counters *counters = &load->counters;
    char text[ADDR_TEXT_MAX];
    printf("server       %s over %s, %llu %s\n", addr_format(&load->options.server, text),
           load->options.is_tls      ? "TLS"
           : load->options.is_stream ? "TCP"
                                     : "UDP",
           (unsigned long long)load->options.connections,
           load->options.is_stream ? "connections" : "sockets");
    printf("queries      sent %llu, answered %llu, lost %llu, lost by close %llu, unsent %llu\n",
           (unsigned long long)counters->sent, (unsigned long long)counters->answered,
           (unsigned long long)counters->lost, (unsigned long long)counters->lost_by_close,
           (unsigned long long)counters->unsent);
    report_print_rcodes(counters->rcodes);
    printf("rate         %.1f answers/s over %.2f s\n", qps(figures), figures->seconds);
    report_print_latency("latency us", &load->latency);
    printf("sent late us p50 %.1f  p99 %.1f  max %.1f\n", report_us(&load->lag, 50),
           report_us(&load->lag, 99), (double)load->lag.max / 1e3);
    print_cpu(figures);
    print_streams(load);
}

void load_report_idle(const struct load *load, double at_s)
{
    struct idle_counters counters = load_idle_count(load);
    fprintf(stderr, "%s%6.1f s  standing %llu of %llu%s", isatty(STDERR_FILENO) ? "\r" : "", at_s,
            (unsigned long long)counters.standing, (unsigned long long)load->options.idle,
            isatty(STDERR_FILENO) ? "\x1b[K" : "\n");
}

void load_report(const struct load *load, const struct load_figures *figures)
{
    if (load->options.is_hold && !load->options.json)
        print_streams(load);
    else if (load->options.json)
        report_json(load, figures);
    else if (load->options.csv)
        report_csv(load, figures);
    else
        report_text(load, figures);
}
