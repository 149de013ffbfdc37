/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* The steps of the start, each with what is said when it cannot be. Their order is supervisor.c's.
 */

#include "daemon/supervisor_inside.h"

#include <dirent.h>
#include <sched.h>
#include <sys/resource.h>
#include <time.h>

#include "base/check.h"
#include "base/log.h"
#include "config/config.h"
#include "control/control.h"
#include "control/exporter.h"
#include "daemon/certificate.h"
#include "daemon/exit_code.h"
#include "daemon/listening.h"
#include "daemon/readiness.h"
#include "daemon/refusal.h"
#include "daemon/sessions.h"
#include "daemon/watchers.h"
#include "serve/listen_sockets.h"

enum { SOCKETS_MAX = 1024 }; /* of the service manager: two for each address */

static size_t wanted_workers(const struct config *config)
{
    cpu_set_t cpus;

    if (config->workers > 0)
        return MIN(config->workers, (size_t)WORKERS_MAX);
    if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0)
        return 1;
    return MIN((size_t)CPU_COUNT(&cpus), (size_t)WORKERS_MAX);
}

/* main.c has raised the limit as far as it may. */
static uint64_t file_limit(void)
{
    struct rlimit limit;

    MUST(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    return limit.rlim_cur;
}

static size_t worker_count(const struct config *config)
{
    size_t wanted = wanted_workers(config);
    size_t sockets = 2 * config->server.listen_count + config->server.listen_tls_count;
    size_t count = file_plan_workers(file_limit(), wanted, sockets);

    if (count < wanted)
        LOG(LOG_WARNING, "daemon",
            "%zu workers instead of %zu: this process may open only %llu files; raise the limit",
            count, wanted, (unsigned long long)file_limit());
    return count;
}

/* Without /proc: our sockets and the standard files. */
static uint64_t open_files(const struct supervisor *supervisor)
{
    const struct server_options *options = &supervisor->config->server;
    DIR *folder = opendir("/proc/self/fd");
    uint64_t count = 0;

    if (!folder)
        return 3 +
               supervisor->worker_count * (2 * options->listen_count + options->listen_tls_count);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count - 3; /* itself, its parent and the folder's descriptor */
}

void supervisor_plan_files(struct supervisor *supervisor)
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
            "this process may open %llu files: %u of them are for stream clients "
            "(server.max-clients is %u) and %u for nailed connections (upstream.max-nailed is "
            "%u); raise the limit where that is too few",
            (unsigned long long)facts.limit, plan.clients, max_clients, plan.nailed,
            facts.max_nailed);
}

/* Those that the service manager opened, if any. */
static int adopt_sockets(struct supervisor *supervisor)
{
    int fds[SOCKETS_MAX];
    char why[LISTEN_SOCKETS_WHY_MAX];
    size_t count = readiness_take_sockets(fds, SOCKETS_MAX);

    if (count > SOCKETS_MAX)
        return refusal("the service manager gave %zu sockets, %d are taken", count, SOCKETS_MAX);
    if (count > 0 &&
        listen_sockets_adopt(supervisor->sockets, fds, count, &supervisor->config->server, why))
        return refusal("sockets of the service manager: %s", why);
    return EXIT_STOPPED;
}

/* Early, as only root may be allowed to bind them. */
int supervisor_open_sockets(struct supervisor *supervisor)
{
    char why[REFUSAL_TEXT_MAX];

    supervisor->worker_count = worker_count(supervisor->config);
    supervisor->sockets = listen_sockets_new(supervisor->worker_count);
    if (!supervisor->sockets)
        return refusal("out of memory");
    if (adopt_sockets(supervisor))
        return EXIT_CANNOT_START;
    supervisor->listening =
        listening_prepare(supervisor->sockets, &supervisor->config->server, why);
    return supervisor->listening ? EXIT_STOPPED : refusal("%s", why);
}

/* Everything said over TLS from now on can be read by who has the file. */
int supervisor_log_tls_keys(const struct supervisor *supervisor)
{
    const struct config *config = supervisor->config;
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
int supervisor_load_certificate(struct supervisor *supervisor)
{
    const struct server_options *options = &supervisor->config->server;
    char why[TLS_WHY_MAX];

    if (options->listen_tls_count == 0)
        return EXIT_STOPPED;
    if (certificate_load(&supervisor->certificate, options, why))
        return refusal_certificate(why);
    certificate_warn_over(supervisor->certificate, options, time(NULL));
    return EXIT_STOPPED;
}

/* The folder of the default is made by a package or a service manager. Who runs a daemon by hand,
 * or without rights, has asked for no socket. */
static bool can_do_without_control(const struct config *config, enum err err)
{
    return (err == ERR_NOT_FOUND || err == ERR_PERMISSION) &&
           !config_is_given(config, "control.socket");
}

int supervisor_open_control(struct supervisor *supervisor)
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
    if (err && !can_do_without_control(config, err))
        return refusal("control.socket: %s", why);
    if (err)
        LOG(LOG_WARNING, "daemon", "nailupctl cannot reach this daemon: control.socket: %s", why);
    return EXIT_STOPPED;
}

int supervisor_open_exporter(struct supervisor *supervisor)
{
    const struct addr *listen = &supervisor->config->metrics_listen;

    if (addr_family(listen) == AF_UNSPEC)
        return EXIT_STOPPED;
    enum err err =
        exporter_open(&supervisor->exporter, supervisor->loop, listen, &supervisor->view);
    return err ? refusal_metrics(listen, err) : EXIT_STOPPED;
}

/* They belong to the user who serves, and nobody else's are read. */
int supervisor_open_sessions(struct supervisor *supervisor)
{
    supervisor->share.tickets = sessions_open(supervisor->config->session_file);
    return supervisor->share.tickets ? EXIT_STOPPED : refusal("out of memory");
}

int supervisor_open_watchers(struct supervisor *supervisor)
{
    const struct config *config = supervisor->config;
    enum err err = watchers_open(&supervisor->share.watchers, config, supervisor->worker_count);

    if (err && err != ERR_NO_MEMORY && err != ERR_NO_FILES)
        return refusal("dnstap.file: %s: %s", config->dnstap.file,
                       err == ERR_INVALID ? "is no file" : err_str(err));
    return err ? refusal("queries cannot be watched: %s; raise the limits", err_str(err))
               : EXIT_STOPPED;
}

int supervisor_start_workers(struct supervisor *supervisor)
{
    size_t count = supervisor->worker_count;
    enum err err =
        workers_start(&supervisor->workers, &supervisor->share, count, supervisor->sockets);

    if (err)
        return refusal("cannot start %zu workers: %s; lower server.workers or raise the limits",
                       count, err_str(err));
    return EXIT_STOPPED;
}
