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

#include "base/addr.h"
#include "base/err.h"
#include "base/stats.h"
#include "control/view.h"
#include "upstream/env.h"

struct cache;
struct certificate;
struct config;
struct loop;
struct server_quota;
struct tls_ticket_keys;
struct tls_tickets;
struct watchers;
struct workers;

/* What the workers share; all of it outlives them. */
struct worker_share {
    const struct config *config;
    struct cache *cache;
    struct nail_quota nail_quota;
    struct server_quota *server_quota;
    /* For TLS clients; NULL: none are served. The certificate is read by workers_start() alone. */
    struct certificate *certificate;
    struct tls_ticket_keys *ticket_keys;
    struct tls_tickets *tickets; /* of sessions with upstreams */
    struct watchers *watchers;
    struct loop *main_loop;
    void (*on_all_ended)(void *context); /* on the main loop */
    void *context;
};

enum {
    WORKERS_MAX = 1024,
    WORKER_DRAIN_US = 5 * 1000 * 1000, /* for answers still to come, after SIGTERM */
};

/* Starts count threads that wait for the word. On error every thread has ended and *listen is the
 * number of the address that could not be served (server_address.h), if *has_listen says that this
 * is the reason. */
MUST_USE enum err workers_start(struct workers **out, struct worker_share *share, size_t count,
                                size_t *listen, bool *has_listen);

/* Lets them serve. */
void workers_go(struct workers *workers);

/* TLS clients that connect from now on get this certificate; it need not be held by the caller. A
 * worker that cannot use it logs why and keeps what it has. */
void workers_renew(struct workers *workers, struct certificate *certificate);

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

/* Where an address is served, by its number (server_address.h); NULL when this machine lacks it. */
const struct addr *workers_local(const struct workers *workers, size_t which);

#endif
