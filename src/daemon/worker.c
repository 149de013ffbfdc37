/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * The threads that serve: how each puts its layers together and takes them apart, and how all of
 * them start and end as one. What to do when they end is left to the supervisor.
 *
 * Invariant: a worker's layers are touched by its own thread alone; main talks to it by mail, and
 * before and after by the gate.
 */

#include "daemon/worker.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/log.h"
#include "cache/cache.h"
#include "config/config.h"
#include "daemon/certificate.h"
#include "daemon/watchers.h"
#include "loop/loop.h"
#include "loop/timer.h"
#include "resolve/resolver.h"
#include "serve/server.h"
#include "upstream/upstreams.h"

/* The word that the threads wait for. */
enum word { WORD_WAIT, WORD_GO, WORD_RELEASE };

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
    enum err start_error;
    size_t failed_listen;
    bool could_not_listen;
    struct mail drain, ended;
    struct mail renew; /* on its way as long as there is one renewed */
    _Atomic(struct certificate *) renewed;
    struct timer drain_limit;
} __attribute__((aligned(128))); /* no two share a cache line, nor the one fetched beside it */

struct workers {
    struct worker_share *share;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    enum word word;  /* under the lock */
    size_t reported; /* under the lock */
    size_t count, ended;
    bool draining;
    struct worker list[];
};

/* ---- the worker's thread ---- */

/* A context is the thread's own: a handshake takes thousands of locks on what is shared. */
static enum err set_certificate(struct worker *worker, const struct certificate *certificate)
{
    struct worker_share *share = worker->all->share;
    struct tls_context *context;
    char why[TLS_WHY_MAX];
    enum err err =
        certificate_context(&context, certificate, &share->config->server, share->ticket_keys, why);

    if (err)
        LOG(LOG_ERROR, "daemon", "worker %zu cannot use the certificate: %s", worker->number, why);
    else
        server_set_tls(worker->server, &context);
    return err;
}

/* Again when log.queries has changed. */
static void set_taps(struct worker *worker, const struct config *config)
{
    struct watchers *watchers = worker->all->share->watchers;
    size_t number = worker->number;

    server_set_taps(worker->server,
                    watchers_of_clients(watchers, number, &worker->stats, config->log_queries));
    upstreams_set_taps(worker->upstreams, watchers_of_upstreams(watchers, number, &worker->stats));
}

static enum err open_layers(struct worker *worker)
{
    struct worker_share *share = worker->all->share;
    const struct config *config = share->config;

    worker->loop = loop_new();
    if (!worker->loop)
        return ERR_NO_FILES;
    worker->upstreams = upstreams_new(worker->loop, &worker->stats, &share->nail_quota);
    if (!worker->upstreams)
        return ERR_NO_MEMORY;
    upstreams_use_tickets(worker->upstreams, share->tickets);
    worker->resolver = resolver_new(worker->loop, share->cache, worker->upstreams, &config->route,
                                    config->server.max_waiting, &worker->stats);
    if (!worker->resolver)
        return ERR_NO_MEMORY;
    resolver_set_local(worker->resolver, config->local);
    enum err err = server_open(&worker->server, worker->loop, &config->server, worker->resolver,
                               share->server_quota, &worker->stats, &worker->failed_listen);
    worker->could_not_listen = err && err != ERR_NO_MEMORY;
    if (!err)
        set_taps(worker, config);
    if (err || !share->certificate)
        return err;
    return set_certificate(worker, share->certificate);
}

static void close_layers(struct worker *worker)
{
    worker->view.upstreams = NULL;
    server_free(worker->server);
    resolver_free(worker->resolver);
    if (worker->upstreams)
        upstreams_free(worker->upstreams);
    timer_stop(&worker->drain_limit);
    worker->server = NULL;
    worker->resolver = NULL;
    worker->upstreams = NULL;
}

/* Waits for this word or a later one; returns which. */
static enum word wait_for(struct workers *all, enum word word)
{
    enum word said;

    pthread_mutex_lock(&all->lock);
    while (all->word < word)
        pthread_cond_wait(&all->changed, &all->lock);
    said = all->word;
    pthread_mutex_unlock(&all->lock);
    return said;
}

/* What was opened is seen by main thereafter. */
static void report_start(struct worker *worker, enum err err)
{
    struct workers *all = worker->all;

    pthread_mutex_lock(&all->lock);
    worker->start_error = err;
    worker->view.loop = worker->loop;
    worker->view.upstreams = worker->upstreams;
    worker->view.stats = &worker->stats;
    all->reported++;
    pthread_cond_broadcast(&all->changed);
    pthread_mutex_unlock(&all->lock);
}

static void *run(void *argument)
{
    struct worker *worker = argument;
    struct workers *all = worker->all;

    cache_thread_begin();
    report_start(worker, open_layers(worker));
    bool serve = wait_for(all, WORD_GO) == WORD_GO; /* not released at once: all could start */
    if (serve)
        loop_run(worker->loop);
    close_layers(worker);
    cache_thread_end();
    if (serve) {
        loop_post(all->share->main_loop, &worker->ended);
        wait_for(all, WORD_RELEASE);
    }
    if (worker->loop)
        loop_free(worker->loop);
    return NULL;
}

static void on_renew(struct mail *mail)
{
    struct worker *worker = CONTAINER_OF(mail, struct worker, renew);
    struct certificate *certificate = atomic_exchange(&worker->renewed, NULL);

    if (worker->server) /* else it was stopped meanwhile */
        (void)!set_certificate(worker, certificate);
    certificate_unref(certificate);
}

static void on_drained(void *context)
{
    struct worker *worker = context;
    loop_stop(worker->loop);
}

static void on_drain_limit(struct timer *timer)
{
    loop_stop(CONTAINER_OF(timer, struct worker, drain_limit)->loop);
}

static void on_drain(struct mail *mail)
{
    struct worker *worker = CONTAINER_OF(mail, struct worker, drain);

    if (!worker->server) /* it was stopped meanwhile */
        return;
    timer_start(worker->loop, &worker->drain_limit, loop_now(worker->loop) + WORKER_DRAIN_US);
    server_drain(worker->server, on_drained, worker);
}

/* ---- main's thread ---- */

static void on_ended(struct mail *mail)
{
    struct workers *all = CONTAINER_OF(mail, struct worker, ended)->all;

    if (++all->ended == all->count)
        all->share->on_all_ended(all->share->context);
}

static void say(struct workers *all, enum word word)
{
    pthread_mutex_lock(&all->lock);
    all->word = word;
    pthread_cond_broadcast(&all->changed);
    pthread_mutex_unlock(&all->lock);
}

static void worker_init(struct worker *worker, struct workers *all, size_t number)
{
    worker->all = all;
    worker->number = number;
    worker->drain.run = on_drain;
    worker->ended.run = on_ended;
    worker->renew.run = on_renew;
    atomic_init(&worker->renewed, NULL);
    timer_init(&worker->drain_limit, on_drain_limit);
}

static struct workers *workers_new(struct worker_share *share, size_t count)
{
    size_t size = sizeof(struct workers) + count * sizeof(struct worker);
    struct workers *all = aligned_alloc(_Alignof(struct workers), size);

    if (!all)
        return NULL;
    *all = (struct workers){.share = share, .word = WORD_WAIT};
    pthread_mutex_init(&all->lock, NULL);
    pthread_cond_init(&all->changed, NULL);
    for (size_t i = 0; i < count; i++) {
        all->list[i] = (struct worker){0};
        worker_init(&all->list[i], all, i);
    }
    return all;
}

static bool start_thread(struct worker *worker)
{
    char name[16];

    if (pthread_create(&worker->thread, NULL, run, worker) != 0)
        return false;
    snprintf(name, sizeof(name), "worker-%u", (unsigned)(worker->number % 10000));
    pthread_setname_np(worker->thread, name);
    return true;
}

/* The first error of a worker, once all have reported. */
static enum err first_error(struct workers *all, size_t *listen, bool *has_listen)
{
    pthread_mutex_lock(&all->lock);
    while (all->reported < all->count)
        pthread_cond_wait(&all->changed, &all->lock);
    pthread_mutex_unlock(&all->lock);
    for (size_t i = 0; i < all->count; i++) {
        const struct worker *worker = &all->list[i];
        if (!worker->start_error)
            continue;
        *has_listen = worker->could_not_listen;
        *listen = worker->failed_listen;
        return worker->start_error;
    }
    return ERR_OK;
}

static void join(struct workers *all)
{
    say(all, WORD_RELEASE);
    for (size_t i = 0; i < all->count; i++)
        MUST(pthread_join(all->list[i].thread, NULL) == 0);
    pthread_cond_destroy(&all->changed);
    pthread_mutex_destroy(&all->lock);
}

enum err workers_start(struct workers **out, struct worker_share *share, size_t count,
                       size_t *listen, bool *has_listen)
{
    struct workers *all = workers_new(share, count);
    enum err err = ERR_OK;

    *has_listen = false;
    if (!all)
        return ERR_NO_MEMORY;
    while (all->count < count && start_thread(&all->list[all->count]))
        all->count++;
    if (all->count < count)
        err = ERR_NO_MEMORY;
    enum err first = first_error(all, listen, has_listen);
    *out = all;
    if (!err && !first)
        return ERR_OK;
    workers_free(all);
    *out = NULL;
    return first ? first : err;
}

void workers_go(struct workers *workers)
{
    say(workers, WORD_GO);
}

void workers_renew(struct workers *workers, struct certificate *certificate)
{
    for (size_t i = 0; i < workers->count; i++) {
        struct worker *worker = &workers->list[i];
        struct certificate *unused =
            atomic_exchange(&worker->renewed, certificate_ref(certificate));
        if (unused)
            certificate_unref(unused);
        else
            loop_post(worker->loop, &worker->renew);
    }
}

void workers_drain(struct workers *workers)
{
    if (workers->draining)
        return;
    workers->draining = true;
    for (size_t i = 0; i < workers->count; i++)
        loop_post(workers->list[i].loop, &workers->list[i].drain);
}

void workers_stop(struct workers *workers)
{
    workers->draining = true;
    for (size_t i = 0; i < workers->count; i++)
        loop_stop(workers->list[i].loop);
}

void workers_free(struct workers *workers)
{
    MUST(workers->word == WORD_WAIT || workers->ended == workers->count);
    join(workers);
    for (size_t i = 0; i < workers->count; i++)
        certificate_unref(atomic_load(&workers->list[i].renewed));
    free(workers);
}

size_t workers_count(const struct workers *workers)
{
    return workers->count;
}

struct control_worker *workers_view(struct workers *workers, size_t which)
{
    MUST(which < workers->count);
    return &workers->list[which].view;
}

const struct addr *workers_local(const struct workers *workers, size_t which)
{
    return server_local(workers->list[0].server, which);
}
