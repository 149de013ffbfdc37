/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * The threads that serve: how each one builds its layers, switches to another generation and takes
 * its layers apart, and how all of them start and end together. The supervisor decides what follows
 * their end.
 *
 * Invariants: only a worker's own thread touches its layers. Main reaches it by mail while it runs,
 * and through the gate before and after that. A worker holds each generation that its resolver or
 * its server refers to, and releases it on its own thread, after the call that replaced it has
 * returned.
 */

#include "daemon/worker.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/err.h"
#include "base/log.h"
#include "base/stats.h"
#include "cache/cache.h"
#include "config/config.h"
#include "control/view.h"
#include "daemon/certificate.h"
#include "daemon/generation.h"
#include "daemon/watchers.h"
#include "daemon/zone_notify.h"
#include "loop/loop.h"
#include "loop/timer.h"
#include "net/outgoing_files.h"
#include "net/outgoing_ports.h"
#include "resolve/resolver.h"
#include "rpz/rpz_policy.h"
#include "serve/listen_sockets.h"
#include "serve/notify_taker.h"
#include "serve/server.h"
#include "serve/view_choice.h"
#include "tls/tls_context.h"
#include "upstream/upstreams.h"
#include "transfer/xfr_notify.h"
#include "zone/zone_set.h"

/* The next stage that main allows the threads to enter. */
enum gate { GATE_CLOSED, GATE_SERVE, GATE_RELEASE };

/* A switch on its way to a worker and back. The worker owns it in between. */
struct letter {
    struct mail mail;
    struct generation *next;
    struct listen_share *sockets; /* NULL: unchanged */
    struct tls_context *tls;      /* NULL: unchanged */
    unsigned long long list;      /* the number of the address list of the sockets */
    enum err err;
};

/* The same for zones held here and the response policy. */
struct zone_letter {
    struct mail mail;
    struct zone_set *next;
    struct rpz_policy *policy;
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
    struct listen_share *sockets; /* until the server takes them */
    enum err start_error;
    /* The generations in effect here. The resolver may keep an older one than the server, when it
     * had no memory for the new routes. Only the worker's thread touches them while it runs. */
    struct generation *resolver_generation, *server_generation;
    /* The server's options while the resolver keeps an older configuration: they have the views of
     * that configuration. The other place has the options of the previous reload. */
    struct server_options mixed[2];
    unsigned mixed_at;
    bool is_mixed;
    struct letter letter;   /* main owns it except on its way */
    struct zone_set *zones; /* in effect here; only the worker's thread touches it while it runs */
    struct rpz_policy *policy; /* likewise */
    struct zone_letter zone_letter;
    struct notify_taker notify_taker;
    struct mail drain, ended;
    struct mail network; /* on its way while network_change is not 0 */
    _Atomic(enum network_change) network_change;
    struct timer drain_limit;
    /* Addresses that are served no longer. */
    unsigned long long list; /* the number of the address list that the server uses */
    struct mail closed;
    atomic_bool closed_is_posted;
    atomic_ullong closed_list;   /* the newest list whose removed addresses are all closed */
} __attribute__((aligned(128))); /* keeps workers out of each other's cache line pairs */

struct workers {
    struct worker_share *share;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    enum gate gate;  /* under the lock */
    size_t reported; /* under the lock */
    size_t count, ended;
    bool draining;
    /* The switch under way. Only main touches it. */
    size_t switching, failed;
    enum err switch_err;
    void (*on_switched)(void *context, size_t failed, enum err err);
    void *switch_context;
    /* The zones on their way. Only main touches it. */
    size_t taking;
    void (*on_taken)(void *context);
    void *taken_context;
    struct listen_sockets *sockets; /* while removed addresses may still be open; NULL: none are */
    unsigned long long list_number; /* the number of the newest address list */
    struct worker list[];
};

static void workers_on_letter_back(struct mail *mail);
static void workers_on_zones_taken(struct mail *mail);

static enum err worker_make_tls(struct tls_context **out, const struct generation *generation,
                                struct tls_ticket_keys *ticket_keys, char why[TLS_WHY_MAX])
{
    const struct certificate *certificate = generation_certificate(generation);

    *out = NULL;
    if (!certificate)
        return ERR_OK;
    return certificate_context(out, certificate, &generation_config(generation)->server,
                               ticket_keys, why);
}

static void worker_set_taps(struct worker *worker, const struct config *config)
{
    struct watchers *watchers = worker->all->share->watchers;

    server_set_taps(worker->server,
                    watchers_client_tap(watchers, worker->number, &worker->stats, config));
}

/* A NOTIFY for a zone held here goes to the keeper. */
static size_t worker_take_notify(void *owner, struct span message, const struct addr *client,
                                 uint8_t *out, size_t max)
{
    struct worker *worker = owner;
    struct xfr_notify notify;
    bool is_taken;
    uint64_t now_s = (uint64_t)MAX(loop_wall_s(worker->loop), 0);
    size_t len = zone_notify_judge(generation_config(worker->server_generation), message, client,
                                   now_s, &notify, &is_taken, out, max);

    if (len > 0 && is_taken)
        STATS_INC(&worker->stats, notifies_taken);
    else if (len > 0)
        STATS_INC(&worker->stats, notifies_refused);
    if (is_taken)
        worker->all->share->on_notify(worker->all->share->context, &notify, client);
    return len;
}

/* ---- the worker's thread: life ---- */

static enum err worker_open_tls(struct worker *worker)
{
    struct tls_context *tls;
    char why[TLS_WHY_MAX];
    enum err err =
        worker_make_tls(&tls, worker->server_generation, worker->all->share->ticket_keys, why);

    if (err)
        LOG(LOG_ERROR, "daemon", "worker %zu cannot use the certificate: %s", worker->number, why);
    else if (tls)
        server_set_tls(worker->server, &tls);
    return err;
}

static enum err worker_open_layers(struct worker *worker)
{
    struct worker_share *share = worker->all->share;
    const struct config *config = generation_config(worker->server_generation);

    worker->loop = loop_new();
    if (!worker->loop)
        return ERR_NO_FILES;
    outgoing_files_limit(worker->loop, share->upstream_files);
    outgoing_ports_use(worker->loop, generation_ports(worker->server_generation),
                       &worker->stats.upstream_port_fallbacks);
    worker->upstreams = upstreams_new(worker->loop, &worker->stats, &share->nail_quota);
    if (!worker->upstreams)
        return ERR_NO_MEMORY;
    upstreams_use_tickets(worker->upstreams, share->tickets);
    upstreams_use_news(worker->upstreams, &share->trouble_news);
    worker->resolver = resolver_new(worker->loop, share->cache, worker->upstreams,
                                    generation_route(worker->resolver_generation),
                                    config->server.max_waiting, &worker->stats);
    if (!worker->resolver)
        return ERR_NO_MEMORY;
    resolver_set_local(worker->resolver, generation_local(worker->resolver_generation));
    worker->zones = zone_set_ref(share->zones);
    resolver_set_zones(worker->resolver, worker->zones);
    enum err err =
        server_open(&worker->server, worker->loop, &config->server, &worker->sockets,
                    worker->resolver, generation_quota(worker->server_generation), &worker->stats);
    if (err)
        return err;
    worker->policy = share->policy ? rpz_policy_ref(share->policy) : NULL;
    server_set_policy(worker->server, worker->policy);
    worker_set_taps(worker, config);
    worker->notify_taker = (struct notify_taker){worker_take_notify, worker};
    server_set_notify_taker(worker->server, &worker->notify_taker);
    upstreams_set_taps(worker->upstreams,
                       watchers_upstream_tap(share->watchers, worker->number, &worker->stats));
    return worker_open_tls(worker);
}

static void worker_close_layers(struct worker *worker)
{
    worker->view.upstreams = NULL;
    listen_share_free(worker->sockets);
    worker->view.resolver = NULL;
    server_free(worker->server);
    resolver_free(worker->resolver);
    if (worker->upstreams)
        upstreams_free(worker->upstreams);
    timer_stop(&worker->drain_limit);
    worker->server = NULL;
    worker->resolver = NULL;
    worker->upstreams = NULL;
    zone_set_unref(worker->zones);
    worker->zones = NULL;
    rpz_policy_unref(worker->policy);
    worker->policy = NULL;
}

/* Waits until the gate has opened this far or further. Returns how far it is open. */
static enum gate worker_wait_for(struct workers *all, enum gate gate)
{
    enum gate opened;

    pthread_mutex_lock(&all->lock);
    while (all->gate < gate)
        pthread_cond_wait(&all->changed, &all->lock);
    opened = all->gate;
    pthread_mutex_unlock(&all->lock);
    return opened;
}

/* The lock lets main see everything that this thread has opened. */
static void worker_report_start(struct worker *worker, enum err err)
{
    struct workers *all = worker->all;

    pthread_mutex_lock(&all->lock);
    worker->start_error = err;
    worker->view.loop = worker->loop;
    worker->view.upstreams = worker->upstreams;
    worker->view.resolver = worker->resolver;
    worker->view.stats = &worker->stats;
    all->reported++;
    pthread_cond_broadcast(&all->changed);
    pthread_mutex_unlock(&all->lock);
}

static void *worker_run(void *argument)
{
    struct worker *worker = argument;
    struct workers *all = worker->all;

    log_set_worker((int)worker->number);
    cache_thread_begin();
    worker_report_start(worker, worker_open_layers(worker));
    bool serve =
        worker_wait_for(all, GATE_SERVE) == GATE_SERVE; /* else another worker could not start */
    if (serve)
        loop_run(worker->loop);
    worker_close_layers(worker);
    cache_thread_end();
    if (serve) {
        loop_post(all->share->main_loop, &worker->ended);
        worker_wait_for(all, GATE_RELEASE);
    }
    if (worker->loop)
        loop_free(worker->loop);
    return NULL;
}

static void worker_on_network(struct mail *mail)
{
    struct worker *worker = CONTAINER_OF(mail, struct worker, network);
    enum network_change change = atomic_exchange(&worker->network_change, 0);

    if (!worker->upstreams) /* the worker was stopped meanwhile */
        return;
    resolver_network_changed(worker->resolver);
    upstreams_network_changed(worker->upstreams, change);
}

static void worker_on_drained(void *context)
{
    struct worker *worker = context;
    loop_stop(worker->loop);
}

static void worker_on_drain_limit(struct timer *timer)
{
    struct worker *worker = CONTAINER_OF(timer, struct worker, drain_limit);

    LOG(LOG_NOTICE, "daemon",
        "worker %zu ends with queries unanswered: the drain took longer than %d seconds",
        worker->number, WORKER_DRAIN_US / (1000 * 1000));
    loop_stop(worker->loop);
}

static void worker_on_drain(struct mail *mail)
{
    struct worker *worker = CONTAINER_OF(mail, struct worker, drain);

    if (!worker->server) /* the worker was stopped meanwhile */
        return;
    timer_start(worker->loop, &worker->drain_limit, loop_now(worker->loop) + WORKER_DRAIN_US);
    server_drain(worker->server, worker_on_drained, worker);
}

/* ---- the worker's thread: a switch ---- */

static void worker_hold_generation(struct generation **held, struct generation *next)
{
    struct generation *before = *held;

    *held = generation_ref(next);
    generation_unref(before);
}

/* Run-time settings belong to the configuration that the resolver failed to take, so they wait for
 * the next one: the server and the resolver have to change their views together. */
static bool worker_may_switch_resolver(const struct worker *worker, const struct letter *letter)
{
    return letter->sockets || !worker->is_mixed;
}

static enum err worker_switch_resolver(struct worker *worker, struct letter *letter)
{
    const struct config *config = generation_config(letter->next);
    enum err err = ERR_NO_MEMORY;

    if (worker_may_switch_resolver(worker, letter))
        err = resolver_reload(worker->resolver, generation_route(letter->next),
                              generation_local(letter->next), config->server.max_waiting);
    if (err)
        LOG(LOG_ERROR, "daemon", "worker %zu keeps its old zones and upstreams: %s", worker->number,
            err_str(err));
    else
        worker_hold_generation(&worker->resolver_generation, letter->next);
    return err;
}

/* Reports to main that the removed addresses are closed. One mail covers all lists before it. */
static void worker_on_addresses_closed(void *context)
{
    struct worker *worker = context;

    atomic_store(&worker->closed_list, worker->list);
    if (!atomic_exchange(&worker->closed_is_posted, true))
        loop_post(worker->all->share->main_loop, &worker->closed);
}

/* Returns the options of the server. When the resolver had no memory for the new views, the server
 * keeps the former views too: the number of a new view would lead the resolver to a different view,
 * or to none. The resolver holds their generation. */
static const struct server_options *worker_server_options(struct worker *worker,
                                                          const struct generation *next)
{
    const struct config *config = generation_config(next);
    const struct config *of_resolver = generation_config(worker->resolver_generation);

    worker->is_mixed = of_resolver != config;
    if (!worker->is_mixed)
        return &config->server;
    worker->mixed_at ^= 1;
    struct server_options *mixed = &worker->mixed[worker->mixed_at];
    view_choice_mix(mixed, &config->server, &of_resolver->server);
    return mixed;
}

/* Sets TLS first: a new address may need it. */
static void worker_switch_server(struct worker *worker, struct letter *letter)
{
    worker->list = letter->list;
    if (letter->tls)
        server_set_tls(worker->server, &letter->tls);
    server_reload(worker->server, worker_server_options(worker, letter->next), &letter->sockets,
                  generation_quota(letter->next), worker_on_addresses_closed, worker);
    worker_set_taps(worker, generation_config(letter->next));
    outgoing_ports_use(worker->loop, generation_ports(letter->next),
                       &worker->stats.upstream_port_fallbacks);
    worker_hold_generation(&worker->server_generation, letter->next);
}

static void worker_on_letter(struct mail *mail)
{
    struct letter *letter = CONTAINER_OF(mail, struct letter, mail);
    struct worker *worker = CONTAINER_OF(letter, struct worker, letter);

    if (!worker->server) /* the worker was stopped meanwhile */
        return;
    letter->err = worker_switch_resolver(worker, letter);
    if (letter->sockets) {
        upstreams_read_files(worker->upstreams);
        worker_switch_server(worker, letter);
    }
    mail->run = workers_on_letter_back;
    loop_post(worker->all->share->main_loop, mail);
}

static void worker_on_zone_letter(struct mail *mail)
{
    struct zone_letter *letter = CONTAINER_OF(mail, struct zone_letter, mail);
    struct worker *worker = CONTAINER_OF(letter, struct worker, zone_letter);
    struct zone_set *before = worker->zones;
    struct rpz_policy *policy_before = worker->policy;

    if (!worker->server) /* the worker was stopped meanwhile */
        return;
    worker->zones = letter->next;
    letter->next = NULL;
    resolver_set_zones(worker->resolver, worker->zones);
    zone_set_unref(before);
    worker->policy = letter->policy;
    letter->policy = NULL;
    server_set_policy(worker->server, worker->policy);
    rpz_policy_unref(policy_before);
    mail->run = workers_on_zones_taken;
    loop_post(worker->all->share->main_loop, mail);
}

/* ---- main's thread: a switch ---- */

static void workers_on_zones_taken(struct mail *mail)
{
    struct zone_letter *letter = CONTAINER_OF(mail, struct zone_letter, mail);
    struct workers *all = CONTAINER_OF(letter, struct worker, zone_letter)->all;

    if (--all->taking == 0)
        all->on_taken(all->taken_context);
}

void workers_set_zones(struct workers *workers, struct zone_set *zones, struct rpz_policy *policy,
                       void (*on_taken)(void *context), void *context)
{
    MUST(workers->taking == 0);
    workers->taking = workers->count;
    workers->on_taken = on_taken;
    workers->taken_context = context;
    for (size_t i = 0; i < workers->count; i++) {
        struct worker *worker = &workers->list[i];
        worker->zone_letter.mail.run = worker_on_zone_letter;
        worker->zone_letter.next = zone_set_ref(zones);
        worker->zone_letter.policy = policy ? rpz_policy_ref(policy) : NULL;
        loop_post(worker->loop, &worker->zone_letter.mail);
    }
}

static bool workers_are_all_closed(struct workers *all)
{
    for (size_t i = 0; i < all->count; i++)
        if (atomic_load(&all->list[i].closed_list) != all->list_number)
            return false;
    return true;
}

static void workers_on_addresses_closed(struct mail *mail)
{
    struct worker *worker = CONTAINER_OF(mail, struct worker, closed);
    struct workers *all = worker->all;

    atomic_store(&worker->closed_is_posted, false); /* before the lists are read */
    if (all->sockets && workers_are_all_closed(all)) {
        listen_sockets_settle(all->sockets);
        all->sockets = NULL;
    }
}

static void workers_on_letter_back(struct mail *mail)
{
    struct letter *letter = CONTAINER_OF(mail, struct letter, mail);
    struct workers *all = CONTAINER_OF(letter, struct worker, letter)->all;

    generation_unref(letter->next);
    letter->next = NULL;
    all->failed += letter->err != ERR_OK;
    if (letter->err)
        all->switch_err = letter->err;
    if (--all->switching == 0)
        all->on_switched(all->switch_context, all->failed, all->switch_err);
}

static void worker_init_switch(struct worker *worker)
{
    worker->closed.run = workers_on_addresses_closed;
    worker->resolver_generation = generation_ref(worker->all->share->generation);
    worker->server_generation = generation_ref(worker->all->share->generation);
}

static void worker_deinit_switch(struct worker *worker)
{
    listen_share_free(worker->letter.sockets);
    tls_context_free(worker->letter.tls);
    zone_set_unref(worker->zone_letter.next);
    rpz_policy_unref(worker->zone_letter.policy);
}

enum err workers_prepare_tls(struct workers *workers, const struct generation *next,
                             char why[TLS_WHY_MAX])
{
    for (size_t i = 0; i < workers->count; i++) {
        enum err err =
            worker_make_tls(&workers->list[i].letter.tls, next, workers->share->ticket_keys, why);
        if (!err)
            continue;
        workers_forget_tls(workers);
        return err;
    }
    return ERR_OK;
}

void workers_forget_tls(struct workers *workers)
{
    for (size_t i = 0; i < workers->count; i++) {
        tls_context_free(workers->list[i].letter.tls);
        workers->list[i].letter.tls = NULL;
    }
}

static void worker_write_letter(struct worker *worker, struct generation *next,
                                struct listen_sockets *sockets)
{
    struct letter *letter = &worker->letter;

    letter->mail.run = worker_on_letter;
    letter->next = generation_ref(next);
    letter->err = ERR_OK;
    if (!sockets)
        return;
    letter->sockets = listen_sockets_take(sockets, worker->number);
    letter->list = worker->all->list_number;
}

void workers_switch(struct workers *workers, struct generation *next,
                    struct listen_sockets *sockets,
                    void (*on_switched)(void *context, size_t failed, enum err err), void *context)
{
    MUST(workers->switching == 0);
    workers->switching = workers->count;
    workers->failed = 0;
    workers->switch_err = ERR_OK;
    workers->on_switched = on_switched;
    workers->switch_context = context;
    if (sockets) {
        watchers_prepare(workers->share->watchers, generation_config(next));
        workers->list_number++;
        workers->sockets = sockets;
    }
    for (size_t i = 0; i < workers->count; i++)
        worker_write_letter(&workers->list[i], next, sockets);
    if (sockets)
        listen_sockets_commit(sockets);
    for (size_t i = 0; i < workers->count; i++)
        loop_post(workers->list[i].loop, &workers->list[i].letter.mail);
}

void workers_reopen_taps(struct workers *workers)
{
    watchers_reopen(workers->share->watchers);
}

/* ---- main's thread: life ---- */

static void worker_on_ended(struct mail *mail)
{
    struct workers *all = CONTAINER_OF(mail, struct worker, ended)->all;

    if (++all->ended == all->count)
        all->share->on_all_ended(all->share->context);
}

static void workers_open_gate(struct workers *all, enum gate gate)
{
    pthread_mutex_lock(&all->lock);
    all->gate = gate;
    pthread_cond_broadcast(&all->changed);
    pthread_mutex_unlock(&all->lock);
}

static void worker_init(struct worker *worker, struct workers *all, size_t number)
{
    worker->all = all;
    worker->number = number;
    worker->drain.run = worker_on_drain;
    worker->ended.run = worker_on_ended;
    worker->network.run = worker_on_network;
    atomic_init(&worker->network_change, 0);
    worker_init_switch(worker);
    timer_init(&worker->drain_limit, worker_on_drain_limit);
}

static struct workers *workers_new(struct worker_share *share, size_t count)
{
    size_t size = sizeof(struct workers) + count * sizeof(struct worker);
    struct workers *all = aligned_alloc(_Alignof(struct workers), size);

    if (!all)
        return NULL;
    *all = (struct workers){.share = share, .gate = GATE_CLOSED};
    pthread_mutex_init(&all->lock, NULL);
    pthread_cond_init(&all->changed, NULL);
    for (size_t i = 0; i < count; i++) {
        all->list[i] = (struct worker){0};
        worker_init(&all->list[i], all, i);
    }
    return all;
}

static bool worker_start_thread(struct worker *worker)
{
    char name[16];

    if (pthread_create(&worker->thread, NULL, worker_run, worker) != 0)
        return false;
    snprintf(name, sizeof(name), "worker-%u", (unsigned)(worker->number % 10000));
    pthread_setname_np(worker->thread, name);
    return true;
}

/* Waits until all workers have reported. Returns the first error. */
static enum err workers_await_start(struct workers *all)
{
    pthread_mutex_lock(&all->lock);
    while (all->reported < all->count)
        pthread_cond_wait(&all->changed, &all->lock);
    pthread_mutex_unlock(&all->lock);
    for (size_t i = 0; i < all->count; i++) {
        if (all->list[i].start_error)
            return all->list[i].start_error;
    }
    return ERR_OK;
}

static void workers_join(struct workers *all)
{
    workers_open_gate(all, GATE_RELEASE);
    for (size_t i = 0; i < all->count; i++)
        MUST(pthread_join(all->list[i].thread, NULL) == 0);
    pthread_cond_destroy(&all->changed);
    pthread_mutex_destroy(&all->lock);
}

enum err workers_start(struct workers **out, struct worker_share *share, size_t count,
                       struct listen_sockets *sockets)
{
    struct workers *all = workers_new(share, count);
    enum err err = ERR_OK;

    if (!all)
        return ERR_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        all->list[i].sockets = listen_sockets_take(sockets, i);
    listen_sockets_commit(sockets);
    while (all->count < count && worker_start_thread(&all->list[all->count]))
        all->count++;
    for (size_t i = all->count; i < count; i++)
        listen_share_free(all->list[i].sockets);
    if (all->count < count)
        err = ERR_NO_MEMORY;
    enum err first = workers_await_start(all);
    *out = all;
    if (!err && !first)
        return ERR_OK;
    workers_free(all);
    *out = NULL;
    return first ? first : err;
}

void workers_go(struct workers *workers)
{
    workers_open_gate(workers, GATE_SERVE);
}

/* Only main writes a value other than 0, so it can compare with the stored value without a race. */
void workers_network_changed(struct workers *workers, enum network_change change)
{
    for (size_t i = 0; i < workers->count; i++) {
        struct worker *worker = &workers->list[i];
        enum network_change unheard = atomic_load(&worker->network_change);
        if (atomic_exchange(&worker->network_change, MAX(unheard, change)) == 0)
            loop_post(worker->loop, &worker->network);
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
    MUST(workers->gate == GATE_CLOSED || workers->ended == workers->count);
    workers_join(workers);
    for (size_t i = 0; i < workers->count; i++)
        worker_deinit_switch(&workers->list[i]);
    free(workers);
}

struct control_worker *workers_view(struct workers *workers, size_t which)
{
    MUST(which < workers->count);
    return &workers->list[which].view;
}
