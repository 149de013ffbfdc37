/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_SUPERVISOR_INSIDE_H
#define NAILUP_DAEMON_SUPERVISOR_INSIDE_H

/* What supervisor.c and supervisor_open.c share: the first says in which order things are opened
 * and what becomes of events, the second opens them and says why not. Main's thread. */

#include <stdbool.h>
#include <stddef.h>

#include "control/view.h"
#include "daemon/file_plan.h"
#include "daemon/worker.h"
#include "loop/loop.h"
#include "loop/timer.h"

struct certificate;
struct config;
struct control;
struct exporter;
struct listening;
struct network_watch;
struct reload;
struct signals;
struct snapshots;
struct vitals;

struct supervisor {
    const struct config *config; /* of the start: a reload may free it */
    const char *config_file;
    struct config *unused;           /* the same, until reload has it */
    struct certificate *certificate; /* of the start, until reload has it; NULL: no TLS clients */
    struct reload *reload;
    struct loop *loop;
    struct signals *signals;
    struct control *control;       /* NULL: none is wanted, or it is closed */
    struct exporter *exporter;     /* likewise */
    struct network_watch *network; /* NULL: not wanted, or it is closed */
    struct cache *cache;
    struct snapshots *snapshots; /* NULL: none are wanted */
    struct listen_sockets *sockets;
    struct worker_share share;
    size_t worker_count;
    struct file_plan files;
    struct workers *workers;
    struct control_view view;
    struct control_hooks hooks;
    struct listening *listening; /* of the start, until reload has it */
    struct turn_end stop;        /* a command's, when its answer has left */
    struct timer look;           /* whether a reload may begin that a signal asked for */
    struct vitals *vitals;       /* NULL: nobody wants to hear of them */
    bool stopping;
    bool ran; /* it has served: what the cache holds is worth keeping */
};

/* Steps of the start: an exit code, and if it is not EXIT_STOPPED the line has been written. */

/* How many workers there will be, and the sockets of all, also those of the service manager. Early,
 * as only root may be allowed to bind them. */
int supervisor_open_sockets(struct supervisor *supervisor);
/* Shares the files among clients and upstreams, once the sockets are open; a line says which limits
 * are lower than configured. */
void supervisor_plan_files(struct supervisor *supervisor);
int supervisor_log_tls_keys(const struct supervisor *supervisor);
/* Early, as only root may be allowed to read the key. */
int supervisor_load_certificate(struct supervisor *supervisor);
int supervisor_open_control(struct supervisor *supervisor);
int supervisor_open_exporter(struct supervisor *supervisor);
/* As the user who serves. */
int supervisor_open_sessions(struct supervisor *supervisor);
int supervisor_open_watchers(struct supervisor *supervisor);
int supervisor_start_workers(struct supervisor *supervisor);

#endif
