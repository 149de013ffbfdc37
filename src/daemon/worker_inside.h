/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_WORKER_INSIDE_H
#define NAILUP_DAEMON_WORKER_INSIDE_H

/* What worker.c and worker_switch.c share. */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/stats.h"
#include "control/view.h"
#include "loop/loop.h"
#include "loop/timer.h"
#include "tls/tls_context.h"
#include "upstream/upstreams.h"

struct generation;
struct listen_share;
struct listen_sockets;
struct resolver;
struct server;
struct tls_ticket_keys;
struct worker_share;

/* The word that the threads wait for. */
enum word { WORD_WAIT, WORD_GO, WORD_RELEASE };

/* A switch on its way to a worker and back; the worker's in between. */
struct letter {
    struct mail mail;
    struct generation *next;
    struct listen_share *sockets; /* NULL: as before */
    struct tls_context *tls;      /* NULL: as before */
    unsigned long long list;      /* the number of the list that the sockets are of */
    enum err err;
};

struct worker {
    struct stats stats;
    struct control_worker view;
    struct workers *all;
    size_t number;
    pthread_t thread;
    struct loop *loop;
    struct upstreams *upstreams;
    struct resolver *resolver;
    struct server *server;
    struct listen_share *sockets; /* until the server has them */
    enum err start_error;
    /* What is in effect here: the first is the resolver's, which may have had no memory for a later
     * one, the second the server's. The worker's thread, and main's before and after. */
    struct generation *answers, *serves;
    struct letter letter; /* main's, but on its way */
    struct mail drain, ended;
    struct mail network; /* on its way as long as network_change is not 0 */
    _Atomic(enum network_change) network_change;
    struct timer drain_limit;
    /* Addresses that are no more. */
    unsigned long long list; /* that the server serves */
    struct mail closed;
    atomic_bool closed_is_posted;
    atomic_ullong closed_list;   /* the newest with which all that went are closed */
} __attribute__((aligned(128))); /* no two share a cache line, nor the one fetched beside it */

struct workers {
    struct worker_share *share;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    enum word word;  /* under the lock */
    size_t reported; /* under the lock */
    size_t count, ended;
    bool draining;
    /* The switch under way; main's. */
    size_t switching, failed;
    enum err switch_err;
    void (*on_switched)(void *context, size_t failed, enum err err);
    void *switch_context;
    struct listen_sockets *sockets; /* with addresses that may not be closed yet; NULL: none */
    unsigned long long list_number; /* of the newest list of addresses */
    struct worker list[];
};

/* What this worker serves TLS clients of the generation with; NULL where it has no certificate. A
 * context is each worker's own: a handshake takes thousands of locks on what is shared. */
MUST_USE enum err worker_make_tls(struct tls_context **out, const struct generation *generation,
                                  struct tls_ticket_keys *ticket_keys, char why[TLS_WHY_MAX]);

/* Who watches this worker's clients. On its thread. */
void worker_set_taps(struct worker *worker, bool log_queries);

/* Before its thread starts. */
void worker_switch_init(struct worker *worker);

/* When no thread runs any more: what was on its way. */
void worker_switch_deinit(struct worker *worker);

#endif
