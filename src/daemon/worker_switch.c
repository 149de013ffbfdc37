/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * A letter to each worker and back: how a running worker comes to do as another generation says.
 *
 * Invariant: what the resolver or the server refers to is held; it is let go of on the worker's
 * thread when the call that replaced it has returned.
 */

#include "daemon/worker_inside.h"

#include "base/check.h"
#include "base/log.h"
#include "config/config.h"
#include "daemon/certificate.h"
#include "daemon/generation.h"
#include "daemon/watchers.h"
#include "daemon/worker.h"
#include "net/outgoing_ports.h"
#include "resolve/resolver.h"
#include "serve/listen_sockets.h"
#include "serve/server.h"
#include "upstream/upstreams.h"

static void on_letter_back(struct mail *mail);

enum err worker_make_tls(struct tls_context **out, const struct generation *generation,
                         struct tls_ticket_keys *ticket_keys, char why[TLS_WHY_MAX])
{
    const struct certificate *certificate = generation_certificate(generation);

    *out = NULL;
    if (!certificate)
        return ERR_OK;
    return certificate_context(out, certificate, &generation_config(generation)->server,
                               ticket_keys, why);
}

/* ---- the worker's thread ---- */

static void worker_switch_hold(struct generation **held, struct generation *next)
{
    struct generation *before = *held;

    *held = generation_ref(next);
    generation_unref(before);
}

static enum err switch_resolver(struct worker *worker, struct letter *letter)
{
    const struct config *config = generation_config(letter->next);
    enum err err = resolver_reload(worker->resolver, generation_route(letter->next),
                                   generation_local(letter->next), config->server.max_waiting);

    if (err)
        LOG(LOG_ERROR, "daemon", "worker %zu keeps its zones and upstreams: %s", worker->number,
            err_str(err));
    else
        worker_switch_hold(&worker->answers, letter->next);
    return err;
}

/* Main hears of the newest list only. */
static void on_addresses_closed(void *context)
{
    struct worker *worker = context;

    atomic_store(&worker->closed_list, worker->list);
    if (!atomic_exchange(&worker->closed_is_posted, true))
        loop_post(worker->all->share->main_loop, &worker->closed);
}

void worker_set_taps(struct worker *worker, bool log_queries)
{
    struct watchers *watchers = worker->all->share->watchers;

    server_set_taps(worker->server,
                    watchers_of_clients(watchers, worker->number, &worker->stats, log_queries));
}

/* TLS first: a new address may need it. */
static void switch_server(struct worker *worker, struct letter *letter)
{
    worker->list = letter->list;
    if (letter->tls)
        server_set_tls(worker->server, &letter->tls);
    server_reload(worker->server, &generation_config(letter->next)->server, &letter->sockets,
                  generation_quota(letter->next), on_addresses_closed, worker);
    worker_set_taps(worker, generation_config(letter->next)->log_queries);
    outgoing_ports_use(worker->loop, generation_ports(letter->next),
                       &worker->stats.upstream_port_fallbacks);
    worker_switch_hold(&worker->serves, letter->next);
}

static void worker_switch_on_letter(struct mail *mail)
{
    struct letter *letter = CONTAINER_OF(mail, struct letter, mail);
    struct worker *worker = CONTAINER_OF(letter, struct worker, letter);

    if (!worker->server) /* it was stopped meanwhile */
        return;
    letter->err = switch_resolver(worker, letter);
    if (letter->sockets) {
        upstreams_read_files(worker->upstreams);
        switch_server(worker, letter);
    }
    mail->run = on_letter_back;
    loop_post(worker->all->share->main_loop, mail);
}

/* ---- main's thread ---- */

static bool are_all_closed(struct workers *all)
{
    for (size_t i = 0; i < all->count; i++)
        if (atomic_load(&all->list[i].closed_list) != all->list_number)
            return false;
    return true;
}

static void worker_switch_on_closed(struct mail *mail)
{
    struct worker *worker = CONTAINER_OF(mail, struct worker, closed);
    struct workers *all = worker->all;

    atomic_store(&worker->closed_is_posted, false); /* before it is looked at */
    if (all->sockets && are_all_closed(all)) {
        listen_sockets_settle(all->sockets);
        all->sockets = NULL;
    }
}

static void on_letter_back(struct mail *mail)
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

void worker_switch_init(struct worker *worker)
{
    worker->closed.run = worker_switch_on_closed;
    worker->answers = generation_ref(worker->all->share->generation);
    worker->serves = generation_ref(worker->all->share->generation);
}

void worker_switch_deinit(struct worker *worker)
{
    listen_share_free(worker->letter.sockets);
    tls_context_free(worker->letter.tls);
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

static void write_letter(struct worker *worker, struct generation *next,
                         struct listen_sockets *sockets)
{
    struct letter *letter = &worker->letter;

    letter->mail.run = worker_switch_on_letter;
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
        watchers_prepare(workers->share->watchers, generation_config(next)->log_queries);
        workers->list_number++;
        workers->sockets = sockets;
    }
    for (size_t i = 0; i < workers->count; i++)
        write_letter(&workers->list[i], next, sockets);
    if (sockets)
        listen_sockets_commit(sockets);
    for (size_t i = 0; i < workers->count; i++)
        loop_post(workers->list[i].loop, &workers->list[i].letter.mail);
}
