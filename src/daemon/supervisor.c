/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * The main thread: makes what the workers share, starts them, waits for signals, the control socket
 * and scrapers on a loop of its own, and ends in the opposite order. It answers no query.
 *
 * Invariant: the control socket and the exporter are closed before workers end, so nobody posts to
 * an ended worker.
 */

#include "daemon/supervisor.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "base/check.h"
#include "base/log.h"
#include "cache/cache.h"
#include "config/config.h"
#include "control/control.h"
#include "control/exporter.h"
#include "control/view.h"
#include "daemon/certificate.h"
#include "daemon/exit_code.h"
#include "daemon/refusal.h"
#include "daemon/report.h"
#include "daemon/sessions.h"
#include "daemon/signals.h"
#include "daemon/snapshots.h"
#include "daemon/watchers.h"
#include "daemon/worker.h"
#include "loop/loop.h"
#include "net/tls_ticket_keys.h"
#include "serve/server.h"
#include "serve/server_address.h"

struct supervisor {
    const struct config *config;
    const char *config_file;
    struct loop *loop;
    struct signals *signals;
    struct control *control;   /* NULL: none is wanted, or it is closed */
    struct exporter *exporter; /* likewise */
    struct cache *cache;
    struct snapshots *snapshots; /* NULL: none are wanted */
    struct worker_share share;
    struct workers *workers;
    struct control_view view;
    struct addr *listening; /* of the view: those of TLS at the end */
    bool stopping;
    bool ran; /* it has served: what the cache holds is worth keeping */
};

/* ---- events ---- */

static void on_all_ended(void *context)
{
    struct supervisor *supervisor = context;
    loop_stop(supervisor->loop);
}

/* The first signal drains, a second one does not wait. */
static void stop(struct supervisor *supervisor, int number)
{
    const char *name = number == SIGINT ? "SIGINT" : "SIGTERM";

    if (supervisor->stopping) {
        LOG(LOG_NOTICE, "daemon", "%s again: stopping at once", name);
        workers_stop(supervisor->workers);
        return;
    }
    supervisor->stopping = true;
    LOG(LOG_NOTICE, "daemon", "%s: finishing what was begun", name);
    exporter_close(&supervisor->exporter);
    control_close(&supervisor->control);
    workers_drain(supervisor->workers);
}

/* Clients that are connected keep what they have. What cannot be used leaves all as it was: renewed
 * files are often seen while one of them is still the old one. */
static void renew_certificate(struct supervisor *supervisor)
{
    const struct server_options *options = &supervisor->config->server;
    struct certificate *certificate;
    char why[TLS_WHY_MAX];

    if (certificate_load(&certificate, options, why)) {
        LOG(LOG_ERROR, "daemon",
            "SIGHUP: the old certificate stays in use: %s; correct that and send SIGHUP again",
            why);
        return;
    }
    workers_renew(supervisor->workers, certificate);
    certificate_unref(supervisor->share.certificate);
    supervisor->share.certificate = certificate;
    LOG(LOG_NOTICE, "daemon",
        "SIGHUP: new TLS clients get the certificate now in %s; other changes need a restart",
        options->tls_certificate);
}

/* The place where a reload begins. */
static void reload(struct supervisor *supervisor)
{
    if (!supervisor->share.certificate) {
        LOG(LOG_WARNING, "daemon", "SIGHUP: reload is not supported yet; restart to apply changes");
        return;
    }
    renew_certificate(supervisor);
    /* Old or new: the one that is in use now. */
    certificate_warn_over(supervisor->share.certificate, &supervisor->config->server, time(NULL));
}

static void on_signal(void *context, int number)
{
    if (number == SIGHUP)
        reload(context);
    else
        stop(context, number);
}

/* ---- start and end ---- */

static size_t worker_count(const struct config *config)
{
    cpu_set_t cpus;

    if (config->workers > 0)
        return MIN(config->workers, (size_t)WORKERS_MAX);
    if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0)
        return 1;
    return MIN((size_t)CPU_COUNT(&cpus), (size_t)WORKERS_MAX);
}

static int probe(const struct config *config)
{
    size_t which = 0;
    enum err err = server_probe(&config->server, &which);

    return err ? refusal_listen(server_address_at(&config->server, which), err) : EXIT_STOPPED;
}

/* Everything said over TLS from now on can be read by who has the file. */
static int log_tls_keys(const struct config *config)
{
    char why[TLS_WHY_MAX];

    if (!config->tls_key_log || !*config->tls_key_log)
        return EXIT_STOPPED;
    if (tls_log_keys_to(config->tls_key_log, why))
        return refusal("log.tls-keys: %s", why);
    LOG(LOG_WARNING, "daemon",
        "the secrets of all TLS connections are written to %s: who reads it reads them; remove "
        "log.tls-keys when you are done",
        config->tls_key_log);
    return EXIT_STOPPED;
}

/* Early, as only root may be allowed to read the key. */
static int load_certificate(struct supervisor *supervisor)
{
    const struct server_options *options = &supervisor->config->server;
    struct worker_share *share = &supervisor->share;
    char why[TLS_WHY_MAX];

    if (options->listen_tls_count == 0)
        return EXIT_STOPPED;
    if (certificate_load(&share->certificate, options, why))
        return refusal_certificate(why);
    certificate_warn_over(share->certificate, options, time(NULL));
    share->ticket_keys = tls_ticket_keys_new(time(NULL));
    return share->ticket_keys ? EXIT_STOPPED : refusal("out of memory");
}

static int make_shared(struct supervisor *supervisor)
{
    const struct config *config = supervisor->config;

    supervisor->loop = loop_new();
    if (!supervisor->loop ||
        signals_open(&supervisor->signals, supervisor->loop, on_signal, supervisor))
        return refusal("cannot make an event loop; raise the limit of open files");
    supervisor->cache = cache_new(&config->cache);
    if (!supervisor->cache)
        return refusal("no memory for a cache of %llu MiB; lower cache.size",
                       (unsigned long long)(config->cache.size_bytes >> 20));
    cache_thread_begin();
    struct worker_share *share = &supervisor->share;
    share->config = config;
    share->cache = supervisor->cache;
    share->nail_quota.max = config->max_nailed;
    share->server_quota = server_quota_new(&config->server);
    share->tickets = sessions_open(config->session_file);
    share->main_loop = supervisor->loop;
    share->on_all_ended = on_all_ended;
    share->context = supervisor;
    if (!share->server_quota || !share->tickets)
        return refusal("out of memory; lower server.max-clients");
    return EXIT_STOPPED;
}

static int open_control(struct supervisor *supervisor)
{
    const char *path = supervisor->config->control_socket;
    char why[CONTROL_WHY_MAX];

    if (!path || !*path)
        return EXIT_STOPPED;
    if (control_open(&supervisor->control, supervisor->loop, path, &supervisor->view, why))
        return refusal("control.socket: %s", why);
    return EXIT_STOPPED;
}

static int open_exporter(struct supervisor *supervisor)
{
    const struct addr *listen = &supervisor->config->metrics_listen;

    if (addr_family(listen) == AF_UNSPEC)
        return EXIT_STOPPED;
    enum err err =
        exporter_open(&supervisor->exporter, supervisor->loop, listen, &supervisor->view);
    return err ? refusal_metrics(listen, err) : EXIT_STOPPED;
}

static int open_watchers(struct supervisor *supervisor)
{
    const struct config *config = supervisor->config;
    enum err err = watchers_open(&supervisor->share.watchers, config, worker_count(config));

    if (err && err != ERR_NO_MEMORY && err != ERR_NO_FILES)
        return refusal("dnstap.file: %s: %s", config->dnstap.file,
                       err == ERR_INVALID ? "is no file" : err_str(err));
    return err ? refusal("queries cannot be watched: %s; raise the limits", err_str(err))
               : EXIT_STOPPED;
}

static int start_workers(struct supervisor *supervisor)
{
    size_t count = worker_count(supervisor->config), listen;
    bool has_listen;
    enum err err =
        workers_start(&supervisor->workers, &supervisor->share, count, &listen, &has_listen);

    if (err && has_listen)
        return refusal_listen(server_address_at(&supervisor->config->server, listen), err);
    if (err)
        return refusal("cannot start %zu workers: %s; lower server.workers or raise the limits",
                       count, err_str(err));
    return EXIT_STOPPED;
}

/* Where the addresses are served, those of TLS behind the others. */
static bool fill_listening(struct supervisor *supervisor)
{
    const struct server_options *options = &supervisor->config->server;
    struct control_view *view = &supervisor->view;
    size_t count = server_address_count(options), known = 0;

    supervisor->listening = calloc(count + 1, sizeof(*supervisor->listening));
    for (size_t i = 0; supervisor->listening && i < count; i++) {
        const struct addr *local = workers_local(supervisor->workers, i);
        if (!local)
            continue;
        supervisor->listening[known++] = *local;
        if (server_address_at(options, i).is_tls)
            view->listening_tls_count++;
        else
            view->listening_count++;
    }
    view->listening = supervisor->listening;
    view->listening_tls = supervisor->listening + view->listening_count;
    return supervisor->listening;
}

static bool fill_view(struct supervisor *supervisor)
{
    size_t workers = workers_count(supervisor->workers);
    struct control_worker **list = calloc(workers, sizeof(*list));

    for (size_t i = 0; list && i < workers; i++)
        list[i] = workers_view(supervisor->workers, i);
    supervisor->view = (struct control_view){
        .config_file = supervisor->config_file,
        .config = supervisor->config,
        .cache = supervisor->cache,
        .workers = list,
        .worker_count = workers,
        .started_at = loop_now(supervisor->loop),
        .started_time = (uint64_t)time(NULL),
    };
    return list && fill_listening(supervisor);
}

static int start(struct supervisor *supervisor)
{
    int code = probe(supervisor->config);

    if (!code)
        code = log_tls_keys(supervisor->config);
    if (!code)
        code = load_certificate(supervisor);
    if (!code)
        code = make_shared(supervisor);
    if (!code)
        code = open_control(supervisor);
    if (!code)
        code = open_exporter(supervisor);
    if (!code)
        code = open_watchers(supervisor);
    if (!code)
        code = start_workers(supervisor);
    if (!code && !fill_view(supervisor))
        code = refusal("out of memory");
    if (!code)
        supervisor->snapshots =
            snapshots_open(supervisor->config->snapshot_file,
                           supervisor->config->snapshot_interval_s, supervisor->cache);
    return code;
}

static void end(struct supervisor *supervisor)
{
    exporter_close(&supervisor->exporter);
    control_close(&supervisor->control);
    signals_close(&supervisor->signals);
    if (supervisor->workers)
        workers_free(supervisor->workers);
    watchers_close(supervisor->share.watchers);
    if (supervisor->loop)
        loop_free(supervisor->loop);
    server_quota_free(supervisor->share.server_quota);
    sessions_close(supervisor->share.tickets, supervisor->config->session_file);
    tls_ticket_keys_free(supervisor->share.ticket_keys);
    certificate_unref(supervisor->share.certificate);
    if (supervisor->cache) {
        snapshots_close(&supervisor->snapshots, supervisor->ran);
        cache_thread_end();
        cache_free(supervisor->cache);
    }
    free(supervisor->view.workers);
    free(supervisor->listening);
}

int supervisor_run(const struct config *config, const char *config_file)
{
    struct supervisor supervisor = {.config = config, .config_file = config_file};
    int code = start(&supervisor);

    if (!code) {
        report_start(&supervisor.view);
        workers_go(supervisor.workers);
        supervisor.ran = true;
        loop_run(supervisor.loop);
        report_end(&supervisor.view, loop_now(supervisor.loop));
    }
    end(&supervisor);
    return code;
}
