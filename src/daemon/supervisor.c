/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * The main thread: makes what the workers share, starts them, waits for signals, the control socket
 * and scrapers on its own loop, and takes everything apart in the opposite order. It answers no
 * query.
 *
 * Invariant: the control socket and the exporter close before workers end, so nothing posts mail to
 * an ended worker.
 */

#include "daemon/supervisor.h"

#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "base/log.h"
#include "cache/cache.h"
#include "config/config.h"
#include "config/config_local.h"
#include "control/call.h"
#include "control/control.h"
#include "control/exporter.h"
#include "control/view.h"
#include "daemon/certificate.h"
#include "daemon/clock_watch.h"
#include "daemon/exit_code.h"
#include "daemon/file_plan.h"
#include "daemon/generation.h"
#include "daemon/identity.h"
#include "daemon/listening.h"
#include "daemon/network_watch.h"
#include "daemon/readiness.h"
#include "daemon/refusal.h"
#include "daemon/reload.h"
#include "daemon/report.h"
#include "daemon/sessions.h"
#include "daemon/settings.h"
#include "daemon/signals.h"
#include "daemon/snapshots.h"
#include "daemon/vitals.h"
#include "daemon/watchers.h"
#include "daemon/worker.h"
#include "daemon/zone_keeper.h"
#include "loop/loop.h"
#include "loop/timer.h"
#include "net/outgoing_files.h"
#include "serve/listen_sockets.h"
#include "serve/server_quota.h"
#include "tls/tls_ticket_keys.h"

enum {
    SNAPSHOT_POLL_US = 50000,
    SOCKETS_MAX = 1024, /* the service manager gives two for each address */
};

struct supervisor {
    const struct config *config; /* the first configuration, which a reload may free */
    const char *config_file;
    struct config *unclaimed_config; /* the same, until reload takes it */
    struct certificate
        *certificate; /* the first one, until reload takes it; NULL: no TLS clients */
    struct reload *reload;
    struct loop *loop;
    struct signals *signals;
    struct control *control;       /* NULL: not configured, or closed */
    struct exporter *exporter;     /* likewise */
    struct network_watch *network; /* NULL: not configured, or already closed */
    struct cache *cache;
    struct snapshots *snapshots; /* NULL: not configured */
    struct zone_keeper *zones;
    struct listen_sockets *sockets;
    struct worker_share share;
    size_t worker_count;
    struct file_plan files;
    struct workers *workers;
    struct control_view view;
    struct control_hooks hooks;
    struct listening *listening; /* the first list, until reload takes it */
    struct turn_end stop; /* begins the drain that a command wants, after its reply has left */
    struct timer
        snapshot_poll;     /* polls whether the snapshot is read, before a SIGHUP takes effect */
    struct vitals *vitals; /* NULL: no service manager listens */
    struct clock_watch *clock;
    bool is_stopping;
    bool has_served; /* workers have served, so the cache is worth keeping */
};

/* ---- events ---- */

static void supervisor_on_all_ended(void *context)
{
    struct supervisor *supervisor = context;

    loop_stop(supervisor->loop);
}

/* The control socket stays until the workers have ended, so that a probe learns of the drain. It
 * runs no other command. */
static void supervisor_drain(struct supervisor *supervisor)
{
    supervisor->is_stopping = true;
    readiness_stopping();
    vitals_stop(supervisor->vitals);
    clock_watch_stop(supervisor->clock);
    reload_end(supervisor->reload);
    zone_keeper_end(supervisor->zones);
    network_watch_close(&supervisor->network);
    exporter_close(&supervisor->exporter);
    supervisor->view.is_draining = true;
    workers_drain(supervisor->workers);
}

/* The first signal drains. A second one ends the drain at once. */
static void supervisor_stop(struct supervisor *supervisor, int number)
{
    const char *name = number == SIGINT ? "SIGINT" : "SIGTERM";

    if (supervisor->is_stopping) {
        LOG(LOG_NOTICE, "daemon", "%s again: stopping at once", name);
        workers_stop(supervisor->workers);
        return;
    }
    LOG(LOG_NOTICE, "daemon", "%s: draining, then stopping", name);
    supervisor_drain(supervisor);
}

/* Delays a reload while the snapshot is read: an answer that is read must not enter the cache after
 * a change that forbids it. */
static void supervisor_reload_by_signal(struct supervisor *supervisor)
{
    if (supervisor->is_stopping || snapshots_are_read(supervisor->snapshots))
        reload_by_signal(supervisor->reload);
    else
        timer_start(supervisor->loop, &supervisor->snapshot_poll,
                    loop_now(supervisor->loop) + SNAPSHOT_POLL_US);
}

static void supervisor_on_snapshot_poll(struct timer *timer)
{
    supervisor_reload_by_signal(CONTAINER_OF(timer, struct supervisor, snapshot_poll));
}

static void supervisor_on_network_changed(void *context, enum network_change change)
{
    struct supervisor *supervisor = context;

    LOG(LOG_INFO, "daemon", "%s: dialling upstreams again",
        change == NETWORK_RESUMED ? "this machine woke up" : "the network changed");
    supervisor->view.network_changes++;
    workers_network_changed(supervisor->workers, change);
    settings_network_changed(reload_settings(supervisor->reload));
}

static void supervisor_on_signal(void *context, int number)
{
    struct supervisor *supervisor = context;

    if (number != SIGHUP)
        supervisor_stop(supervisor, number);
    else
        supervisor_reload_by_signal(supervisor);
}

/* ---- commands ---- */

/* False: the call has been refused and is done. */
static bool supervisor_has_read_snapshot(struct supervisor *supervisor, struct call *call)
{
    if (snapshots_are_read(supervisor->snapshots))
        return true;
    reply_refuse(&call->reply, "cache.snapshot is still being read; try again in a moment");
    call_done(call);
    return false;
}

static void supervisor_on_reload(void *daemon, struct call *call)
{
    struct supervisor *supervisor = daemon;

    if (supervisor_has_read_snapshot(supervisor, call))
        reload_by_call(supervisor->reload, call);
}

static void supervisor_on_forward(void *daemon, struct call *call)
{
    struct supervisor *supervisor = daemon;

    if (call->argc == 0 || supervisor_has_read_snapshot(supervisor, call))
        settings_forward(reload_settings(supervisor->reload), call);
}

static void supervisor_on_nta(void *daemon, struct call *call)
{
    struct supervisor *supervisor = daemon;

    if (call->argc < 2 || supervisor_has_read_snapshot(supervisor, call))
        settings_nta(reload_settings(supervisor->reload), call);
}

static void supervisor_on_portal(void *daemon, struct call *call)
{
    struct supervisor *supervisor = daemon;

    if (call->argc == 0 || supervisor_has_read_snapshot(supervisor, call))
        settings_portal(reload_settings(supervisor->reload), call);
}

static void supervisor_on_anchors(void *daemon, struct call *call)
{
    struct supervisor *supervisor = daemon;

    reload_anchors(supervisor->reload, call);
}

static void supervisor_on_hosts(void *daemon, struct call *call)
{
    struct supervisor *supervisor = daemon;

    settings_hosts(reload_settings(supervisor->reload), call);
}

static void supervisor_on_stop(struct turn_end *end)
{
    struct supervisor *supervisor = CONTAINER_OF(end, struct supervisor, stop);

    if (supervisor->is_stopping)
        return;
    LOG(LOG_NOTICE, "daemon", "nailupctl drain: draining, then stopping");
    supervisor_drain(supervisor);
}

/* The reply leaves first: the drain may end at once. */
static void supervisor_on_drain(void *daemon, struct call *call)
{
    struct supervisor *supervisor = daemon;

    reply_record(&call->reply, "drain", "pid:count\tat_most:duration");
    reply_row(&call->reply);
    reply_count(&call->reply, (uint64_t)getpid());
    reply_duration(&call->reply, WORKER_DRAIN_US);
    reply_row_end(&call->reply);
    call_done(call);
    loop_at_turn_end(supervisor->loop, &supervisor->stop);
}

/* ---- the steps of the start: each writes a line when it fails ---- */

static size_t wanted_workers(const struct config *config)
{
    cpu_set_t cpus;

    if (config->workers > 0)
        return MIN(config->workers, (size_t)WORKERS_MAX);
    if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0)
        return 1;
    return MIN((size_t)CPU_COUNT(&cpus), (size_t)WORKERS_MAX);
}

/* main.c has raised the limit as far as it can. */
static uint64_t file_limit(void)
{
    struct rlimit limit;

    MUST(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    return limit.rlim_cur;
}

static size_t worker_count(const struct config *config)
{
    size_t wanted = wanted_workers(config);
    size_t sockets = config->server.listen_count + server_address_count(&config->server);
    size_t count = file_plan_workers(file_limit(), wanted, sockets);

    if (count < wanted)
        LOG(LOG_WARNING, "daemon",
            "only %zu of %zu workers start: this process may open %llu files; raise the limit "
            "(LimitNOFILE= of the unit, ulimit -n)",
            count, wanted, (unsigned long long)file_limit());
    return count;
}

/* Without /proc this counts our sockets and the standard files. */
static uint64_t open_files(const struct supervisor *supervisor)
{
    const struct server_options *options = &supervisor->config->server;
    DIR *directory = opendir("/proc/self/fd");
    uint64_t count = 0;

    if (!directory)
        return 3 +
               supervisor->worker_count * (options->listen_count + server_address_count(options));
    while (readdir(directory))
        count++;
    closedir(directory);
    return count - 3; /* . and .. and the descriptor of the directory */
}

static void supervisor_plan_files(struct supervisor *supervisor)
{
    const struct config *config = supervisor->config;
    struct file_facts facts = {
        .limit = file_limit(),
        .open = open_files(supervisor),
        .workers = supervisor->worker_count,
        .max_nailed = config->max_nailed,
    };
    struct file_plan plan = supervisor->files = file_plan_make(&facts);
    uint32_t max_clients = config->server.max_clients;

    if (plan.clients < max_clients || plan.nailed < facts.max_nailed)
        LOG(LOG_NOTICE, "daemon",
            "this process may open %llu files, which leaves %u for stream clients "
            "(server.max-clients is %u) and %u for nailed connections (upstream.max-nailed is "
            "%u); raise the limit if that is too few (LimitNOFILE= of the unit, ulimit -n)",
            (unsigned long long)facts.limit, plan.clients, max_clients, plan.nailed,
            facts.max_nailed);
}

/* Takes the sockets that the service manager opened, if any. */
static int supervisor_adopt_sockets(struct supervisor *supervisor)
{
    int fds[SOCKETS_MAX];
    char why[LISTEN_SOCKETS_WHY_MAX];
    size_t count = readiness_take_sockets(fds, SOCKETS_MAX);

    if (count > SOCKETS_MAX)
        return refusal_print("the service manager passed %zu sockets; nailupd takes %d at most",
                             count, SOCKETS_MAX);
    if (count > 0 &&
        listen_sockets_adopt(supervisor->sockets, fds, count, &supervisor->config->server, why))
        return refusal_print("sockets from the service manager: %s", why);
    return EXIT_STOPPED;
}

/* Runs early: perhaps only root may bind the addresses. */
static int supervisor_open_sockets(struct supervisor *supervisor)
{
    char why[REFUSAL_TEXT_MAX];

    supervisor->worker_count = worker_count(supervisor->config);
    supervisor->sockets = listen_sockets_new(supervisor->worker_count);
    if (!supervisor->sockets)
        return refusal_print("out of memory");
    if (supervisor_adopt_sockets(supervisor))
        return EXIT_CANNOT_START;
    supervisor->listening =
        listening_prepare(supervisor->sockets, &supervisor->config->server, why);
    return supervisor->listening ? EXIT_STOPPED : refusal_print("%s", why);
}

/* Makes all TLS traffic from now on readable to everyone who can read the file. */
static int supervisor_log_tls_keys(const struct supervisor *supervisor)
{
    const struct config *config = supervisor->config;
    char why[TLS_WHY_MAX];

    if (!config->tls_key_log || !*config->tls_key_log)
        return EXIT_STOPPED;
    if (tls_log_keys_to(config->tls_key_log, why))
        return refusal_print("log.tls-keys: %s", why);
    LOG(LOG_WARNING, "daemon",
        "writing the secrets of all TLS connections to %s: anyone who can read this file can "
        "decrypt them; remove log.tls-keys when you are done",
        config->tls_key_log);
    return EXIT_STOPPED;
}

/* Runs early: perhaps only root may read the key. */
static int supervisor_load_certificate(struct supervisor *supervisor)
{
    const struct server_options *options = &supervisor->config->server;
    char why[TLS_WHY_MAX];

    if (!server_options_have_tls(options))
        return EXIT_STOPPED;
    if (certificate_load(&supervisor->certificate, options, why))
        return refusal_certificate(why);
    certificate_warn_expired(supervisor->certificate, options, time(NULL));
    return EXIT_STOPPED;
}

/* A package or a service manager makes the default directory. Where it is missing or closed to us,
 * an operator runs the daemon by hand or without privileges, and did not ask for a socket. */
static bool is_control_optional(const struct config *config, enum err err)
{
    return (err == ERR_NOT_FOUND || err == ERR_PERMISSION) &&
           !config_is_given(config, "control.socket");
}

static int supervisor_open_control(struct supervisor *supervisor)
{
    const struct config *config = supervisor->config;
    char why[CONTROL_WHY_MAX];
    const struct local_place place = {
        .path = config->control_socket,
        .mode = config->control_mode,
        .uid = config->control_account.uid,
        .gid = config->control_account.gid,
    };

    if (!place.path || !*place.path)
        return EXIT_STOPPED;
    enum err err =
        control_open(&supervisor->control, supervisor->loop, &place, &supervisor->view, why);
    if (err && !is_control_optional(config, err))
        return refusal_print("control.socket: %s", why);
    if (err)
        LOG(LOG_WARNING, "daemon", "nailupctl cannot reach this daemon: control.socket: %s", why);
    return EXIT_STOPPED;
}

static int supervisor_open_exporter(struct supervisor *supervisor)
{
    const struct addr *listen = &supervisor->config->metrics_listen;

    if (addr_family(listen) == AF_UNSPEC)
        return EXIT_STOPPED;
    enum err err =
        exporter_open(&supervisor->exporter, supervisor->loop, listen, &supervisor->view);
    return err ? refusal_metrics(listen, err) : EXIT_STOPPED;
}

/* Runs as server.user: the file belongs to that user, and files of other users are not read. */
static int supervisor_open_sessions(struct supervisor *supervisor)
{
    supervisor->share.tickets = sessions_open(supervisor->config->session_file);
    return supervisor->share.tickets ? EXIT_STOPPED : refusal_print("out of memory");
}

static int supervisor_open_watchers(struct supervisor *supervisor)
{
    const struct config *config = supervisor->config;
    enum err err = watchers_open(&supervisor->share.watchers, config, supervisor->worker_count);

    if (err && err != ERR_NO_MEMORY && err != ERR_NO_FILES)
        return refusal_print("dnstap.file: %s: %s", config->dnstap.file,
                             err == ERR_INVALID ? "is not a regular file" : err_str(err));
    return err ? refusal_print("query log and dnstap cannot start: %s; raise the limits",
                               err_str(err))
               : EXIT_STOPPED;
}

static int supervisor_start_workers(struct supervisor *supervisor)
{
    size_t count = supervisor->worker_count;
    enum err err =
        workers_start(&supervisor->workers, &supervisor->share, count, supervisor->sockets);

    if (err)
        return refusal_print(
            "cannot start %zu workers: %s; lower server.workers or raise the limits", count,
            err_str(err));
    return EXIT_STOPPED;
}

/* ---- start and end ---- */

static bool supervisor_make_reload(struct supervisor *supervisor)
{
    const struct reload_host host = {
        .loop = supervisor->loop,
        .config_file = supervisor->config_file,
        .view = &supervisor->view,
        .cache = supervisor->cache,
        .sockets = supervisor->sockets,
        .zones = supervisor->zones,
    };

    supervisor->reload = reload_new(&host, &supervisor->unclaimed_config, supervisor->certificate);
    certificate_unref(supervisor->certificate); /* the first generation holds it */
    supervisor->certificate = NULL;
    return supervisor->reload;
}

/* On a worker's thread. */
static void supervisor_on_notify(void *context, const struct xfr_notify *notify,
                                 const struct addr *from)
{
    struct supervisor *supervisor = context;

    zone_keeper_notify(supervisor->zones, notify, from);
}

static int supervisor_make_shared(struct supervisor *supervisor)
{
    const struct config *config = supervisor->config;

    supervisor->loop = loop_new();
    if (!supervisor->loop ||
        signals_open(&supervisor->signals, supervisor->loop, supervisor_on_signal, supervisor))
        return refusal_print("cannot make an event loop; raise the limit of open files");
    supervisor->cache = cache_new(&config->cache);
    if (!supervisor->cache)
        return refusal_print("no memory for a cache of %llu MiB; lower cache.size",
                             (unsigned long long)(config->cache.size_bytes >> 20));
    cache_thread_begin();
    struct worker_share *share = &supervisor->share;
    share->cache = supervisor->cache;
    outgoing_files_limit(supervisor->loop, supervisor->files.bootstrap);
    share->nail_quota.max = supervisor->files.nailed;
    trouble_news_init(&share->trouble_news);
    share->upstream_files = supervisor->files.upstream_each;
    share->ticket_keys = tls_ticket_keys_new(time(NULL)); /* a reload may enable TLS clients */
    share->main_loop = supervisor->loop;
    share->on_all_ended = supervisor_on_all_ended;
    share->context = supervisor;
    supervisor->zones =
        zone_keeper_new(supervisor->loop, supervisor->cache, supervisor->files.visits);
    share->on_notify = supervisor_on_notify;
    if (!share->ticket_keys || !supervisor->zones || !supervisor_make_reload(supervisor))
        return refusal_print("out of memory; lower server.max-clients");
    share->generation = reload_current(supervisor->reload);
    server_quota_bound_files(generation_quota(share->generation), supervisor->files.clients);
    return EXIT_STOPPED;
}

static bool supervisor_fill_view(struct supervisor *supervisor)
{
    size_t workers = supervisor->worker_count;
    struct control_worker **list = calloc(workers, sizeof(*list));

    for (size_t i = 0; list && i < workers; i++)
        list[i] = workers_view(supervisor->workers, i);
    supervisor->view = (struct control_view){
        .config_file = supervisor->config_file,
        .config = supervisor->config,
        .cache = supervisor->cache,
        .workers = list,
        .worker_count = workers,
        .query_log = watchers_query_log(supervisor->share.watchers),
        .hooks = &supervisor->hooks,
        .started_at = loop_now(supervisor->loop),
        .started_time = (uint64_t)time(NULL),
    };
    supervisor->hooks = (struct control_hooks){.daemon = supervisor,
                                               .reload = supervisor_on_reload,
                                               .drain = supervisor_on_drain,
                                               .forward = supervisor_on_forward,
                                               .nta = supervisor_on_nta,
                                               .portal = supervisor_on_portal,
                                               .anchors = supervisor_on_anchors,
                                               .hosts = supervisor_on_hosts};
    return list;
}

/* Runs as server.user, which reads the files again at a reload. */
static int supervisor_load_zones(struct supervisor *supervisor)
{
    const struct generation *generation = reload_current(supervisor->reload);

    zone_keeper_trust(supervisor->zones, generation_route(generation));
    if (zone_keeper_configure(supervisor->zones, supervisor->config))
        return refusal_print("out of memory or files for auth-zones and rpz");
    zone_keeper_await(supervisor->zones, &supervisor->share.zones, &supervisor->share.policy);
    return EXIT_STOPPED;
}

static int supervisor_begin_reloads(struct supervisor *supervisor)
{
    if (!supervisor_fill_view(supervisor))
        return refusal_print("out of memory");
    zone_keeper_begin(supervisor->zones, supervisor->workers, &supervisor->view);
    reload_begin(supervisor->reload, supervisor->workers, &supervisor->listening);
    return EXIT_STOPPED;
}

static bool supervisor_may_store(const void *context, struct name name, const struct answer *answer)
{
    const struct supervisor *supervisor = context;

    return config_may_cache(supervisor->config, name, answer) &&
           !zone_keeper_is_for_clients(supervisor->zones, name);
}

/* Leaves out names that local data has answered since the file was written. */
static struct cache_filter supervisor_snapshot_filter(const struct supervisor *supervisor)
{
    return (struct cache_filter){.may_store = supervisor_may_store, .context = supervisor};
}

/* Runs last, because it posts mail to workers. */
static int supervisor_watch_network(struct supervisor *supervisor)
{
    if (!supervisor->config->follow_network)
        return EXIT_STOPPED;
    if (network_watch_open(&supervisor->network, supervisor->loop, supervisor_on_network_changed,
                           supervisor))
        return refusal_print("out of memory");
    return EXIT_STOPPED;
}

static int supervisor_start(struct supervisor *supervisor)
{
    int code = supervisor_open_sockets(supervisor);

    if (!code)
        supervisor_plan_files(supervisor);
    if (!code)
        code = supervisor_log_tls_keys(supervisor);
    if (!code)
        code = supervisor_load_certificate(supervisor);
    if (!code)
        code = supervisor_make_shared(supervisor);
    if (!code)
        code = supervisor_open_control(supervisor);
    if (!code)
        code = supervisor_open_exporter(supervisor);
    if (!code)
        code = identity_take(supervisor->config, supervisor->config_file, supervisor->sockets);
    if (!code)
        code = supervisor_open_sessions(supervisor);
    if (!code)
        code = supervisor_open_watchers(supervisor);
    if (!code)
        code = supervisor_load_zones(supervisor);
    if (!code)
        code = supervisor_start_workers(supervisor);
    if (!code)
        code = supervisor_begin_reloads(supervisor);
    if (!code)
        code = supervisor_watch_network(supervisor);
    if (!code)
        supervisor->snapshots = snapshots_open(
            supervisor->config->snapshot_file, supervisor->config->snapshot_interval_s,
            supervisor->cache, supervisor_snapshot_filter(supervisor));
    return code;
}

/* Frees what the workers shared, once no worker is left. */
static void supervisor_end_shared(struct supervisor *supervisor)
{
    struct worker_share *share = &supervisor->share;

    const struct config *config =
        supervisor->reload ? generation_config(reload_current(supervisor->reload)) : NULL;

    sessions_close(share->tickets, config ? config->session_file : NULL);
    zone_keeper_join(supervisor->zones);
    /* A thread that hangs in a file may still post to the loop, so both are leaked. */
    if (reload_join(supervisor->reload)) {
        if (supervisor->loop)
            loop_free(supervisor->loop);
        clock_watch_free(&supervisor->clock); /* its mail may still have come to the loop */
        reload_free(supervisor->reload);
        zone_keeper_free(supervisor->zones);
    }
    config_free(supervisor->unclaimed_config);
    certificate_unref(supervisor->certificate);
    listening_free(&supervisor->listening);
    listen_sockets_free(supervisor->sockets);
    tls_ticket_keys_free(share->ticket_keys);
}

static void supervisor_end(struct supervisor *supervisor)
{
    network_watch_close(&supervisor->network);
    exporter_close(&supervisor->exporter);
    control_close(&supervisor->control);
    signals_close(&supervisor->signals);
    turn_end_cancel(&supervisor->stop);
    timer_stop(&supervisor->snapshot_poll);
    if (supervisor->workers)
        workers_free(supervisor->workers);
    vitals_free(&supervisor->vitals);
    supervisor->view.query_log = NULL;
    watchers_close(supervisor->share.watchers);
    /* Its thread may still read the configuration. */
    snapshots_close(&supervisor->snapshots, supervisor->has_served);
    supervisor_end_shared(supervisor);
    if (supervisor->cache) {
        cache_thread_end();
        cache_free(supervisor->cache);
    }
    free(supervisor->view.workers);
}

int supervisor_run(struct config **config, const char *config_file)
{
    struct supervisor supervisor = {
        .config = *config, .unclaimed_config = *config, .config_file = config_file};

    *config = NULL;
    turn_end_init(&supervisor.stop, supervisor_on_stop);
    timer_init(&supervisor.snapshot_poll, supervisor_on_snapshot_poll);
    int code = supervisor_start(&supervisor);
    if (!code) {
        report_start(&supervisor.view);
        workers_go(supervisor.workers);
        readiness_ready();
        supervisor.vitals = vitals_start(supervisor.loop, &supervisor.view);
        supervisor.clock = clock_watch_start(supervisor.loop, &supervisor.view);
        supervisor.has_served = true;
        loop_run(supervisor.loop);
        report_end(&supervisor.view, loop_now(supervisor.loop));
    }
    supervisor_end(&supervisor);
    return code;
}
