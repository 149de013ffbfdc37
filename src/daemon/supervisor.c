/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * The main thread: makes what the workers share, starts them, waits for signals and the control
 * socket on a loop of its own, and ends in the opposite order. It answers no query.
 *
 * Invariant: the control socket is closed before workers end, so nobody posts to an ended worker.
 */

#include "daemon/supervisor.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/log.h"
#include "cache/cache.h"
#include "config/config.h"
#include "control/control.h"
#include "control/view.h"
#include "daemon/exit_code.h"
#include "daemon/refusal.h"
#include "daemon/report.h"
#include "daemon/signals.h"
#include "daemon/worker.h"
#include "loop/loop.h"
#include "serve/server.h"

struct supervisor {
    const struct config *config;
    const char *config_file;
    struct loop *loop;
    struct signals *signals;
    struct control *control; /* NULL: none is wanted, or it is closed */
    struct cache *cache;
    struct worker_share share;
    struct workers *workers;
    struct control_view view;
    bool stopping;
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
    control_close(&supervisor->control);
    workers_drain(supervisor->workers);
}

static void on_signal(void *context, int number)
{
    if (number == SIGHUP) /* the place where a reload begins */
        LOG(LOG_WARNING, "daemon", "SIGHUP: reload is not supported yet; restart to apply changes");
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

    return err ? refusal_listen(&config->server.listen[which], err) : EXIT_STOPPED;
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
    supervisor->share = (struct worker_share){
        .config = config,
        .cache = supervisor->cache,
        .nail_quota = {.max = config->max_nailed},
        .server_quota = server_quota_new(&config->server),
        .main_loop = supervisor->loop,
        .on_all_ended = on_all_ended,
        .context = supervisor,
    };
    if (!supervisor->share.server_quota)
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

static int start_workers(struct supervisor *supervisor)
{
    const struct addr *listen;
    size_t count = worker_count(supervisor->config);
    enum err err = workers_start(&supervisor->workers, &supervisor->share, count, &listen);

    if (err && listen)
        return refusal_listen(listen, err);
    if (err)
        return refusal("cannot start %zu workers: %s; lower server.workers or raise the limits",
                       count, err_str(err));
    return EXIT_STOPPED;
}

static bool fill_view(struct supervisor *supervisor)
{
    const struct config *config = supervisor->config;
    size_t workers = workers_count(supervisor->workers), listening = 0;
    struct control_worker **list = calloc(workers, sizeof(*list));
    struct addr *addrs = calloc(config->server.listen_count + 1, sizeof(*addrs));

    for (size_t i = 0; list && i < workers; i++)
        list[i] = workers_view(supervisor->workers, i);
    for (size_t i = 0; addrs && i < config->server.listen_count; i++) {
        const struct addr *local = workers_local(supervisor->workers, i);
        if (local)
            addrs[listening++] = *local;
    }
    supervisor->view = (struct control_view){
        .config_file = supervisor->config_file,
        .config = config,
        .cache = supervisor->cache,
        .listening = addrs,
        .listening_count = listening,
        .workers = list,
        .worker_count = workers,
        .started_at = loop_now(supervisor->loop),
    };
    return list && addrs;
}

static int start(struct supervisor *supervisor)
{
    int code = probe(supervisor->config);

    if (!code)
        code = make_shared(supervisor);
    if (!code)
        code = open_control(supervisor);
    if (!code)
        code = start_workers(supervisor);
    if (!code && !fill_view(supervisor))
        code = refusal("out of memory");
    return code;
}

static void end(struct supervisor *supervisor)
{
    control_close(&supervisor->control);
    signals_close(&supervisor->signals);
    if (supervisor->workers)
        workers_free(supervisor->workers);
    if (supervisor->loop)
        loop_free(supervisor->loop);
    server_quota_free(supervisor->share.server_quota);
    if (supervisor->cache)
        cache_free(supervisor->cache);
    free(supervisor->view.workers);
    free((void *)supervisor->view.listening);
}

int supervisor_run(const struct config *config, const char *config_file)
{
    struct supervisor supervisor = {.config = config, .config_file = config_file};
    int code = start(&supervisor);

    if (!code) {
        report_start(&supervisor.view);
        workers_go(supervisor.workers);
        loop_run(supervisor.loop);
        report_end(&supervisor.view, loop_now(supervisor.loop));
    }
    end(&supervisor);
    return code;
}
