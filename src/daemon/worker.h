/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_WORKER_H
#define NAILUP_DAEMON_WORKER_H

/*
 * A worker is one thread with its loop, listeners, resolver, upstreams and counters. All workers
 * start together: none answers before each has opened its listeners, and if one cannot open them,
 * none starts.
 *
 * Life of the thread: it opens everything, reports, and waits for main. It serves until it is
 * drained or stopped. It closes everything, reports by mail, waits until main releases it, and
 * frees its loop. The loop accepts mail as long as the supervisor may post it.
 *
 * All functions run on the main thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/stats.h"
#include "control/view.h"
#include "tls/tls_context.h"
#include "upstream/env.h"
#include "upstream/trouble_news.h"
#include "upstream/upstreams.h"

struct cache;
struct addr;
struct generation;
struct listen_sockets;
struct rpz_policy;
struct loop;
struct tls_ticket_keys;
struct tls_tickets;
struct watchers;
struct workers;
struct xfr_notify;
struct zone_set;

/* State that the workers share. All of it outlives them. */
struct worker_share {
    struct generation *generation; /* the first one; only workers_start() reads it */
    struct zone_set *zones;        /* likewise; NULL: none */
    struct rpz_policy *policy;     /* likewise */
    struct cache *cache;
    struct nail_quota nail_quota;
    struct trouble_news trouble_news;
    uint32_t upstream_files;             /* open files per worker */
    struct tls_ticket_keys *ticket_keys; /* the ticket keys for TLS clients */
    struct tls_tickets *tickets;         /* TLS sessions with upstreams */
    struct watchers *watchers;           /* query log and dnstap */
    struct loop *main_loop;
    void (*on_all_ended)(void *context); /* on the main loop */
    /* A NOTIFY asks for a transfer; on the worker's thread. */
    void (*on_notify)(void *context, const struct xfr_notify *notify, const struct addr *from);
    void *context;
};

enum {
    WORKERS_MAX = 1024,
    WORKER_DRAIN_US = 5 * 1000 * 1000, /* the time for answers that are due after SIGTERM */
};

/* Starts count threads, which wait for workers_go(). Each takes its sockets from the prepared list.
 * On error every thread has ended. */
MUST_USE enum err workers_start(struct workers **out, struct worker_share *share, size_t count,
                                struct listen_sockets *sockets);

/* Lets the workers serve. */
void workers_go(struct workers *workers);

/*
 * Makes the TLS context of each worker for its clients. Call it before workers_switch() to the
 * generation of another file, and before its sockets are prepared. On error nothing has changed and
 * why is a sentence. workers_forget_tls() undoes it.
 */
MUST_USE enum err workers_prepare_tls(struct workers *workers, const struct generation *next,
                                      char why[TLS_WHY_MAX]);
void workers_forget_tls(struct workers *workers);

/* Follows the path of dnstap.file, which a program may have renamed. */
void workers_reopen_taps(struct workers *workers);

/*
 * Every worker switches to the generation from its next turn on and releases the previous one.
 * Queries in flight end with the old one. With sockets, the generation is of another file: the
 * sockets are prepared for its addresses, and this takes, commits and in time settles them. Without
 * sockets only the routes differ.
 *
 * on_switched comes when all workers have switched. The failed ones had no memory for the new
 * routes (err): they keep the old routes with the new addresses and bounds. One switch runs at a
 * time. on_switched does not come when the workers are stopped meanwhile.
 */
void workers_switch(struct workers *workers, struct generation *next,
                    struct listen_sockets *sockets,
                    void (*on_switched)(void *context, size_t failed, enum err err), void *context);

/*
 * Every worker takes these zones held here and this response policy (NULL: none) from its next turn
 * on, with a reference to each, and drops the old ones. The caller keeps a reference to the old
 * ones until on_taken, so that no worker frees a large zone. One call runs at a time. on_taken does
 * not come when the workers are stopped meanwhile.
 */
void workers_set_zones(struct workers *workers, struct zone_set *zones, struct rpz_policy *policy,
                       void (*on_taken)(void *context), void *context);

/* Every worker dials its upstreams again (upstreams_network_changed()) and retries what failed
 * before. Changes that a worker has not seen yet are merged into the most severe one. */
void workers_network_changed(struct workers *workers, enum network_change change);

/* The workers take no new queries and answer the queries that wait, for at most WORKER_DRAIN_US.
 * on_all_ended comes when the last worker has ended. May be called once. */
void workers_drain(struct workers *workers);

/* Like workers_drain(), but at once. Also works during a drain. */
void workers_stop(struct workers *workers);

/* Joins the threads and frees what they left. All workers must have ended (MUST). */
void workers_free(struct workers *workers);

/* One worker for the control socket; borrowed. */
struct control_worker *workers_view(struct workers *workers, size_t which);

#endif
