/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * nailup-bench replay: the schedule. Sends due queries and reads answers. Ends when each query is
 * answered or given up.
 */

#include "replay.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/check.h"
#include "bench.h"
#include "clock.h"
#include "options.h"
#include "process_cpu.h"

enum {
    SWEEP_NS = 100000000,
    PROGRESS_NS = 1000000000,
    /* after this many, the loop reads answers, however late the schedule is */
    SENT_PER_TURN_MAX = 1024,
    GAP_MAX_S = 86400,
};

/* Returns the instant of an event, in ns after the first one. */
static uint64_t replay_at_ns(const struct replay *replay, size_t event)
{
    const struct capture_event *events = replay->capture.events;
    return (uint64_t)((double)(events[event].at_ns - events[0].at_ns) / replay->options.speed);
}

static uint64_t replay_due_ns(const struct replay *replay, size_t event)
{
    return replay->start_ns + replay_at_ns(replay, event);
}

/* Sends due queries. Returns the nanoseconds until the next one is due. */
static uint64_t replay_send_due(struct replay *replay)
{
    size_t last = MIN(replay->end, replay->next + SENT_PER_TURN_MAX);
    uint64_t now_ns = clock_now_ns();
    while (replay->next < last) {
        uint64_t due_ns = replay_due_ns(replay, replay->next);
        if (due_ns > now_ns && due_ns > (now_ns = clock_now_ns()))
            break;
        const struct capture_event *event = &replay->capture.events[replay->next++];
        replay_client_ask(&replay->clients[event->client], event->query, due_ns);
    }
    replay_streams_flush(replay);
    if (replay->next == replay->end)
        return SWEEP_NS;
    uint64_t due_ns = replay_due_ns(replay, replay->next);
    now_ns = clock_now_ns();
    return due_ns > now_ns ? MIN(due_ns - now_ns, SWEEP_NS) : 0;
}

static void replay_run(struct replay *replay)
{
    uint64_t sweep_at_ns = 0, progress_at_ns = replay->start_ns + PROGRESS_NS;
    while (replay->next < replay->end || replay->in_flight_count) {
        uint64_t wait_ns = replay_send_due(replay);
        poller_turn(replay->poller, (int64_t)(wait_ns / 1000), &replay->now_us);
        replay_streams_flush(replay);
        uint64_t now_ns = clock_now_ns();
        if (now_ns >= sweep_at_ns) {
            replay_clients_sweep(replay, now_ns);
            sweep_at_ns = now_ns + SWEEP_NS;
        }
        if (replay->options.progress && now_ns >= progress_at_ns) {
            replay_report_progress(replay, (double)(now_ns - replay->start_ns) / 1e9);
            progress_at_ns += PROGRESS_NS;
        }
    }
}

/* A query with a wrong time would delay all later ones for years. */
static void replay_check_gaps(const struct replay *replay)
{
    for (size_t i = 1; i < replay->end; i++) {
        double gap_s = (double)(replay_at_ns(replay, i) - replay_at_ns(replay, i - 1)) / 1e9;
        if (gap_s > GAP_MAX_S)
            option_wrong("replay",
                         "%.0f seconds lie between two queries: cut the file, or check the clocks "
                         "of the servers that wrote it",
                         gap_s);
    }
}

/* Leaves out queries that are due after the duration. */
static void replay_bound(struct replay *replay)
{
    double end_ns = replay->options.duration_s * 1e9;
    replay->end = replay->capture.queries.count;
    while (end_ns > 0 && replay->end && (double)replay_at_ns(replay, replay->end - 1) >= end_ns)
        replay->end--;
}

static void replay_measure(struct replay *replay)
{
    int pid = replay->options.pid;
    double server_us = pid ? process_cpu_us(pid) : -1, own_us = process_cpu_us(0);
    replay->start_ns = clock_now_ns();
    replay_run(replay);
    double server_end_us = pid ? process_cpu_us(pid) : -1;
    bool has_server = server_us >= 0 && server_end_us >= 0;
    struct replay_figures figures = {
        .seconds = (double)(clock_now_ns() - replay->start_ns) / 1e9,
        .server_cpu_us = has_server ? server_end_us - server_us : -1,
        .own_cpu_us = process_cpu_us(0) - own_us,
    };
    replay_report(replay, &figures);
}

static void replay_raise_file_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static enum err replay_set_up(struct replay *replay)
{
    static struct tls_client client;
    latency_init(&replay->latency);
    latency_init(&replay->warm);
    latency_init(&replay->lag);
    latency_init(&replay->shakes);
    list_init(&replay->in_flight);
    list_init(&replay->opening);
    list_init(&replay->idle);
    list_init(&replay->dirty);
    replay_raise_file_limit();
    if (replay->options.is_tls) {
        if (!tls_client_init(&client, &replay->options.tls, replay->why))
            return ERR_INVALID;
        replay->tls = &client;
    }
    enum err err = poller_open(&replay->poller);
    return err ? err : replay_clients_make(replay);
}

int replay_main(int argc, char **argv)
{
    static struct replay replay; /* static, because its histograms are large */
    replay_options_parse(&replay, argc, argv);
    capture_sort(&replay.capture);
    replay_bound(&replay);
    replay_check_gaps(&replay);
    enum err err = replay_set_up(&replay);
    if (!err)
        replay_measure(&replay);
    else if (!replay.why[0])
        fprintf(stderr, "nailup-bench replay: %s\n", err_str(err));
    if (replay.why[0])
        fprintf(stderr, "nailup-bench replay: a client failed: %s\n", replay.why);
    replay_clients_free(&replay);
    if (replay.tls)
        tls_client_deinit(replay.tls);
    capture_deinit(&replay.capture);
    close(replay.poller);
    return err || !replay.counters.answered;
}
