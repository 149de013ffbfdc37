/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONTROL_VIEW_H
#define NAILUP_CONTROL_VIEW_H

/* What the control socket may see of the running daemon. The daemon fills it; control borrows. */

#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/stats.h"

struct cache;
struct config;
struct loop;
struct resolver;
struct upstreams;

struct control_worker {
    struct loop *loop;           /* for mail; it lives until control has been closed */
    struct upstreams *upstreams; /* the worker's thread alone; NULL when it has ended */
    struct resolver *resolver;   /* likewise */
    const struct stats *stats;
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
    uint64_t started_at;   /* us of the loops' clock */
    uint64_t started_time; /* seconds since 1970 */
};

#endif
