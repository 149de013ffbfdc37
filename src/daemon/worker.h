/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_WORKER_H
#define NAILUP_DAEMON_WORKER_H

/*
 * A worker: one thread with its loop, listeners, resolver, upstreams and counters. All workers are
 * started together: none answers before each has opened its listeners, and if one cannot, none
 * does.
 *
 * Life of the thread: opens everything, reports, waits for the word; serves until it is drained or
 * stopped; closes everything, reports by mail, waits for its release; frees the loop. So its loop
 * takes mail as long as the supervisor may post any.
 *
 * All functions are the main thread's.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/stats.h"
#include "control/view.h"
#include "tls/tls_context.h"
#include "upstream/env.h"
#include "upstream/upstreams.h"

struct cache;
struct generation;
struct listen_sockets;
struct loop;
struct tls_ticket_keys;
struct tls_tickets;
struct watchers;
struct workers;

/* What the workers share; all of it outlives them. */
struct worker_share {
    struct generation *generation; /* that they start with; read by workers_start() alone */
    struct cache *cache;
    struct nail_quota nail_quota;
    uint32_t upstream_files;             /* of each worker */
    struct tls_ticket_keys *ticket_keys; /* of TLS clients */
    struct tls_tickets *tickets;         /* of sessions with upstreams */
    struct watchers *watchers;           /* of queries */
    struct loop *main_loop;
    void (*on_all_ended)(void *context); /* on the main loop */
    void *context;
};

enum {
    WORKERS_MAX = 1024,
    WORKER_DRAIN_US = 5 * 1000 * 1000, /* for answers still to come, after SIGTERM */
};

/* Starts count threads that wait for the word, each with its sockets of a list that is prepared. On
 * error every thread has ended. */
MUST_USE enum err workers_start(struct workers **out, struct worker_share *share, size_t count,
                                struct listen_sockets *sockets);

/* Lets them serve. */
void workers_go(struct workers *workers);

/*
 * To be called before workers_switch() to a generation of another file, when its sockets are not
 * prepared yet: makes what each worker serves TLS clients with. On error nothing has changed and
 * why is a sentence. workers_forget_tls() takes it back.
 */
MUST_USE enum err workers_prepare_tls(struct workers *workers, const struct generation *next,
                                      char why[TLS_WHY_MAX]);
void workers_forget_tls(struct workers *workers);

/*
 * Every worker does as the generation says, from its next turn on, and lets go of the one before;
 * questions that run are answered by that. With sockets it is one of another file: they are
 * prepared for its addresses, and are taken, committed and in time settled. Without, only the
 * routes differ.
 *
 * on_switched comes when all have: failed of them had no memory (err) for the new routes, and keep
 * the old ones with the new addresses and bounds. One switch at a time. Where workers are stopped
 * meanwhile it does not come.
 */
void workers_switch(struct workers *workers, struct generation *next,
                    struct listen_sockets *sockets,
                    void (*on_switched)(void *context, size_t failed, enum err err), void *context);

/* Every worker dials its upstreams anew, upstreams_network_changed(), and asks again for what
 * failed before. Of several that a worker has not heard yet it hears the gravest. */
void workers_network_changed(struct workers *workers, enum network_change change);

/* Takes no more queries, answers what waits for at most WORKER_DRAIN_US; on_all_ended comes when
 * the last has ended. Once. */
void workers_drain(struct workers *workers);

/* As workers_drain(), at once; also after it. */
void workers_stop(struct workers *workers);

/* All have ended (MUST): joins the threads and frees what they left. */
void workers_free(struct workers *workers);

size_t workers_count(const struct workers *workers);

/* For the control socket; borrowed. */
struct control_worker *workers_view(struct workers *workers, size_t which);

#endif
