/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONTROL_VIEW_H
#define NAILUP_CONTROL_VIEW_H

/* What the control socket may see of the running daemon. The daemon fills it; control borrows. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/stats.h"

struct cache;
struct call;
struct config;
struct loop;
struct query_log;
struct resolver;
struct upstreams;

struct control_worker {
    struct loop *loop;           /* for mail; it lives until control has been closed */
    struct upstreams *upstreams; /* the worker's thread alone; NULL when it has ended */
    struct resolver *resolver;   /* likewise */
    const struct stats *stats;
};

/* What the daemon does for a command: it ends with call_done(), at once or later. */
struct control_hooks {
    void *daemon;
    void (*reload)(void *daemon, struct call *call);
    void (*drain)(void *daemon, struct call *call);
    void (*forward)(void *daemon, struct call *call);
};

/* How the last reloads went. */
struct control_reloads {
    uint64_t done, failed;
    bool last_failed;
    uint64_t loaded_at;   /* us of the loops' clock: when what is in effect was read */
    uint64_t loaded_time; /* seconds since 1970, likewise */
    char why[512];        /* of a last one that failed: its first error */
};

struct control_view {
    const char *config_file;
    const struct config *config;
    struct cache *cache;          /* main is registered with it: cache_thread_begin() */
    const struct addr *listening; /* addresses that are served over UDP and TCP */
    size_t listening_count;
    const struct addr *listening_tls; /* and over TLS */
    size_t listening_tls_count;
    struct control_worker **workers;
    size_t worker_count;
    const struct query_log *query_log; /* NULL: none */
    const struct control_hooks *hooks; /* NULL: the daemon does nothing of the kind */
    struct control_reloads reloads;
    uint64_t started_at;      /* us of the loops' clock */
    uint64_t started_time;    /* seconds since 1970 */
    uint64_t network_changes; /* that the workers were told of */
};

#endif
