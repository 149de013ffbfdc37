/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * nailup-bench load: the schedule. Sends due queries and reads answers. Ends when the time is over
 * and each query in flight is answered or has timed out.
 */

#include "load.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/check.h"
#include "bench.h"
#include "clock.h"
#include "cpu_watch.h"
#include "options.h"
#include "process_cpu.h"

enum {
    SWEEP_NS = 100000000,
    PROGRESS_NS = 1000000000,
    /* after this many, the loop reads answers, however late the schedule is */
    SENT_PER_TURN_MAX = 1024,
};

struct reading {
    uint64_t at_ns, answered;
    double server_us, own_us;
};

static struct reading read_figures(const struct load *load)
{
    return (struct reading){
        .at_ns = clock_now_ns(),
        .answered = load->answered_in_all,
        .server_us = load->options.pid ? process_cpu_us(load->options.pid) : -1,
        .own_us = process_cpu_us(0),
    };
}

static struct load_figures difference(const struct reading *from, const struct reading *to)
{
    bool has_server = from->server_us >= 0 && to->server_us >= 0;
    return (struct load_figures){
        .seconds = (double)(to->at_ns - from->at_ns) / 1e9,
        .answered = to->answered - from->answered,
        .server_cpu_us = has_server ? to->server_us - from->server_us : -1,
        .own_cpu_us = to->own_us - from->own_us,
        .cpu_stopped_us = -1,
    };
}

/* Returns how many queries have fallen due since the start. */
static uint64_t due_count(const struct load *load, uint64_t now_ns)
{
    double seconds = (double)(MIN(now_ns, load->stop_ns) - load->start_ns) / 1e9;
    return (uint64_t)(seconds * load->options.rate) + (now_ns < load->stop_ns);
}

static uint64_t due_at_ns(const struct load *load, uint64_t number)
{
    return load->start_ns + (uint64_t)((double)number * 1e9 / load->options.rate);
}

/* Sends each batch on the next socket with room. Returns false if no socket has room. */
static bool send_batch(struct load *load, uint32_t count)
{
    double gap_ns = 1e9 / load->options.rate;
    for (uint64_t tries = 0; tries < load->options.connections; tries++) {
        struct load_socket *socket = &load->sockets[load->next_socket];
        if (++load->next_socket == load->options.connections)
            load->next_socket = 0;
        uint32_t sent = load_socket_send(socket, count, due_at_ns(load, load->issued), gap_ns);
        load->issued += sent;
        if (sent)
            return true;
    }
    return false;
}

/* The open loop. Returns the microseconds until the next query is due. */
static int64_t load_send_due(struct load *load)
{
    uint64_t now_ns = clock_now_ns();
    uint64_t due = due_count(load, now_ns), last = load->issued + SENT_PER_TURN_MAX;
    while (load->issued < MIN(due, last))
        if (!send_batch(load, (uint32_t)MIN(due - load->issued, LOAD_BATCH))) {
            load_streams_flush(load);
            return 1000; /* answers or the sweep make room, and answers end the wait */
        }
    load_streams_flush(load);
    uint64_t next_ns = due_at_ns(load, load->issued);
    return next_ns > now_ns ? (int64_t)((next_ns - now_ns) / 1000) : 0;
}

static void fill_all(struct load *load)
{
    uint64_t now_ns = clock_now_ns();
    for (size_t i = 0; i < load->options.connections; i++)
        while (load_socket_send(&load->sockets[i], LOAD_BATCH, now_ns, 0) == LOAD_BATCH)
            continue;
    load_streams_flush(load);
}

struct progress {
    uint64_t next_ns, answered;
};

static void show_progress(struct load *load, struct progress *progress, uint64_t now_ns)
{
    if (!load->options.progress || now_ns < progress->next_ns)
        return;
    double seconds = (double)(now_ns - progress->next_ns + PROGRESS_NS) / 1e9;
    load_report_progress(load, (double)(now_ns - load->start_ns) / 1e9, seconds,
                         load->answered_in_all - progress->answered);
    progress->next_ns = now_ns + PROGRESS_NS;
    progress->answered = load->answered_in_all;
    latency_init(&load->interval);
}

/* Runs one turn of at most wait_us, and the sweep if it is due. */
static void load_turn(struct load *load, int64_t wait_us, uint64_t *sweep_at_ns)
{
    poller_turn(load->poller, wait_us, &load->now_us);
    uint64_t now_ns = clock_now_ns();
    if (now_ns >= *sweep_at_ns) {
        *sweep_at_ns = now_ns + SWEEP_NS;
        load_sockets_sweep(load, now_ns);
    }
}

/* Sends queries that were due before the end but had to wait, as far as the server takes them. */
static void send_rest(struct load *load, uint64_t *sweep_at_ns)
{
    uint64_t due = due_count(load, load->stop_ns);
    uint64_t give_up_ns = load->stop_ns + load->options.timeout_ms * 1000000;
    if (load->options.is_closed_loop)
        return;
    while (load->issued < due && clock_now_ns() < give_up_ns) {
        load_send_due(load);
        load_turn(load, load->issued < due ? 1000 : 0, sweep_at_ns);
    }
    load->counters.unsent = due - MIN(due, load->issued);
}

static bool watches_cpu(const struct load *load)
{
    return load->options.watched_cpu >= 0;
}

static void watch_cpu(const struct load *load, struct cpu_watch *watch)
{
    if (watches_cpu(load) && cpu_watch_start(watch, load->options.watched_cpu) != ERR_OK)
        option_wrong("load", "--watch-cpu: this process may not use CPU %d",
                     load->options.watched_cpu);
}

/* Returns the longest stop in microseconds, or a negative number without a watch. */
static double end_watch(const struct load *load, struct cpu_watch *watch)
{
    return watches_cpu(load) ? (double)cpu_watch_end(watch) / 1e3 : -1;
}

static struct load_figures load_run(struct load *load)
{
    struct cpu_watch watch;
    struct progress progress = {.next_ns = load->start_ns + PROGRESS_NS};
    struct reading begin = {0};
    uint64_t now_ns, sweep_at_ns = load->start_ns + SWEEP_NS;
    bool has_begun = false;
    load->is_sending = true;
    while ((now_ns = clock_now_ns()) < load->stop_ns) {
        if (!has_begun && now_ns >= load->count_from_ns) {
            begin = read_figures(load);
            watch_cpu(load, &watch);
            has_begun = true;
        }
        int64_t wait_us = SWEEP_NS / 1000;
        if (!load->options.is_closed_loop)
            wait_us = MIN(wait_us, load_send_due(load));
        load_turn(load, MIN(wait_us, (int64_t)((load->stop_ns - now_ns) / 1000)), &sweep_at_ns);
        show_progress(load, &progress, now_ns);
    }
    struct reading end = read_figures(load);
    load->is_sending = false;
    send_rest(load, &sweep_at_ns);
    while (load->in_flight)
        load_turn(load, SWEEP_NS / 1000, &sweep_at_ns);
    struct load_figures figures = difference(&begin, &end);
    figures.cpu_stopped_us = has_begun ? end_watch(load, &watch) : -1;
    return figures;
}

/* Gives the connections a moment to open before the clock starts. Slower ones open while it runs.
 */
static void await_connections(struct load *load)
{
    uint64_t give_up_us = clock_now_us() + load->options.timeout_ms * 1000;
    size_t open = 0;
    while (load->options.is_stream && open < load->options.connections &&
           clock_now_us() < give_up_us) {
        poller_turn(load->poller, 10000, &load->now_us);
        open = 0;
        for (size_t i = 0; i < load->options.connections; i++)
            open += load->sockets[i].is_connected || load->sockets[i].watch.fd < 0;
    }
}

static void set_clock(struct load *load)
{
    load->start_ns = clock_now_ns();
    load->count_from_ns = load->start_ns + (uint64_t)(load->options.warmup_s * 1e9);
    load->stop_ns = load->count_from_ns + (uint64_t)(load->options.duration_s * 1e9);
}

static void load_raise_file_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static enum err set_up_tls(struct load *load)
{
    static struct tls_client client;
    char why[TLS_TEXT_MAX];
    if (!tls_client_init(&client, &load->options.tls, why)) {
        fprintf(stderr, "nailup-bench load: %s\n", why);
        return ERR_INVALID;
    }
    load->tls = &client;
    return ERR_OK;
}

/* With idle connections only: prints their number when it is known, and again at the end. */
static enum err load_hold(struct load *load)
{
    printf("standing %llu\n", (unsigned long long)load_idle_count(load).standing);
    fflush(stdout);
    load_idle_hold(load);
    struct load_figures none = {.server_cpu_us = -1, .cpu_stopped_us = -1};
    load_report_end_progress(load);
    load_report(load, &none);
    return ERR_OK;
}

static enum err measure(struct load *load, bool *has_measured)
{
    enum err err = load_sockets_open(load);
    if (err)
        return err;
    await_connections(load);
    set_clock(load);
    if (load->options.is_closed_loop) {
        load->is_sending = true;
        fill_all(load);
    }
    struct load_figures figures = load_run(load);
    *has_measured = true;
    load_report_end_progress(load);
    load_report(load, &figures);
    return ERR_OK;
}

int load_main(int argc, char **argv)
{
    static struct load load; /* static, because its histograms are large */
    list_init(&load.dirty);
    load_options_parse(&load, argc, argv);
    latency_init(&load.latency);
    latency_init(&load.lag);
    latency_init(&load.shakes);
    latency_init(&load.interval);
    load_raise_file_limit();
    enum err err = poller_open(&load.poller);
    if (!err && load.options.is_tls)
        err = set_up_tls(&load);
    if (!err && load.options.idle)
        err = load_idle_open(&load);
    bool has_measured = false;
    if (!err)
        err = load.options.is_hold ? load_hold(&load) : measure(&load, &has_measured);
    if (err)
        fprintf(stderr, "nailup-bench load: cannot reach the server: %s\n", err_str(err));
    else if (load.tls_why[0])
        fprintf(stderr, "nailup-bench load: a connection failed: %s\n", load.tls_why);
    bool has_any = has_measured ? load.counters.answered : load_idle_count(&load).standing;
    load_idle_close(&load);
    load_sockets_close(&load);
    if (load.tls)
        tls_client_deinit(load.tls);
    query_source_deinit(&load.source);
    close(load.poller);
    return err || !has_any;
}
