/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Builds and changes a worker's client side: the listeners of all addresses and their common
 * requests and sessions. Decides nothing about queries.
 * Invariant: on_drained comes at most once, at the end of a turn or in server_drain(). It never
 * comes from inside a request, so it may free the server. A listener is in the share or in ending,
 * and its requests and sessions hold places of the quota of requests.
 */
#include "serve/server.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/log.h"
#include "loop/loop.h"
#include "loop/timer.h"
#include "serve/listener.h"
#include "serve/request.h"
#include "serve/server_quota.h"
#include "serve/session.h"
#include "tls/tls_context.h"

struct server {
    struct requests requests;
    struct session_common sessions;
    struct turn_end look;              /* at listeners that may have ended */
    void (*on_drained)(void *context); /* NULL: not draining, or called */
    void *context;
    bool has_stopped;                /* draining: our own sockets take no new queries */
    struct timer last;               /* the latest instant for that */
    void (*on_ended)(void *context); /* of a reload; NULL: called */
    void *ended_context;
    struct tls_context *tls;    /* NULL: no TLS clients, or none yet */
    struct listen_share *share; /* the served addresses, with their listeners */
    struct list ending;         /* struct listener of addresses that end */
};

/* The listener of an address; NULL: this machine lacks the address. */
static struct listener *listener_at(const struct server *server, size_t which)
{
    return server->share->slots[which].listener;
}

/* ---- opening ---- */

static void server_on_turn_end(struct turn_end *end);
static void on_last_due(struct timer *timer);
static void on_begun_answered(struct requests *requests);

static struct server *server_new(struct loop *loop, const struct server_options *options,
                                 struct resolver *resolver, struct server_quota *quota,
                                 struct stats *stats)
{
    struct server *server = calloc(1, sizeof(struct server));
    if (!server)
        return NULL;
    requests_init(&server->requests);
    if (!courses_init(&server->requests.courses, loop, resolver, stats)) {
        courses_deinit(&server->requests.courses);
        free(server);
        return NULL;
    }
    server->requests.loop = loop;
    server->requests.options = options;
    server->requests.courses.dns64 = options->dns64;
    police_set_options(&server->requests.courses.police, options);
    server->requests.resolver = resolver;
    server->requests.quota = quota;
    server->requests.stats = stats;
    requests_observe(&server->requests);
    gate_init(&server->requests.gate, loop, options, quota, stats);
    stream_memory_init(&server->requests.memory, loop, quota, stats);
    server->requests.on_begun_answered = on_begun_answered;
    session_common_init(&server->sessions, loop);
    turn_end_init(&server->look, server_on_turn_end);
    timer_init(&server->last, on_last_due);
    list_init(&server->ending);
    return server;
}

static enum err open_listener(struct server *server, struct listen_slot *slot)
{
    if (slot->stream.fd < 0)
        return ERR_OK;
    return listener_open(&slot->listener, &server->requests, &server->sessions, slot, &server->tls);
}

enum err server_open(struct server **out, struct loop *loop, const struct server_options *options,
                     struct listen_share **share, struct resolver *resolver,
                     struct server_quota *quota, struct stats *stats)
{
    struct server *server = server_new(loop, options, resolver, quota, stats);
    enum err err = server ? ERR_OK : ERR_NO_MEMORY;
    if (!server) {
        listen_share_free(*share);
    } else {
        server->share = *share;
        for (size_t i = 0; !err && i < server->share->count; i++)
            err = open_listener(server, &server->share->slots[i]);
    }
    *share = NULL;
    if (err)
        server_free(server);
    else
        *out = server;
    return err;
}

void server_set_tls(struct server *server, struct tls_context **context)
{
    tls_context_free(server->tls);
    server->tls = *context;
    *context = NULL;
}

void server_set_taps(struct server *server, struct tap *taps)
{
    server->requests.taps = taps;
    requests_observe(&server->requests);
}

void server_set_policy(struct server *server, const struct rpz_policy *policy)
{
    police_set_policy(&server->requests.courses.police, policy);
}

void server_set_notify_taker(struct server *server, const struct notify_taker *taker)
{
    server->requests.notify_taker = taker;
}

/* ---- ending ---- */

static bool server_is_idle(const struct server *server)
{
    for (size_t i = 0; i < server->share->count; i++) {
        const struct listener *listener = listener_at(server, i);
        if (listener && !listener_is_idle(listener))
            return false;
    }
    return list_is_empty(&server->ending);
}

static void close_ended(struct server *server)
{
    LIST_EACH(node, &server->ending)
    {
        struct listener *listener = LIST_ITEM(node, struct listener, node);
        if (listener_is_idle(listener))
            listener_close(&listener);
    }
}

static void tell_if_ended(struct server *server)
{
    void (*on_ended)(void *context) = server->on_ended;
    if (!on_ended || !list_is_empty(&server->ending))
        return;
    server->on_ended = NULL;
    on_ended(server->ended_context);
}

static void tell_if_drained(struct server *server)
{
    void (*on_drained)(void *context) = server->on_drained;
    if (!on_drained || !server->has_stopped || !server_is_idle(server))
        return;
    server->on_drained = NULL;
    timer_stop(&server->last);
    turn_end_cancel(&server->look);
    on_drained(server->context);
}

static void on_listener_idle(void *context);

/* The queries from before the drain are answered, or their time is up. */
static void stop_listening(struct server *server)
{
    server->has_stopped = true;
    timer_stop(&server->last);
    for (size_t i = 0; i < server->share->count; i++) {
        struct listener *listener = listener_at(server, i);
        if (listener)
            listener_stop(listener, on_listener_idle, server);
    }
    LIST_EACH(node, &server->ending)
    listener_stop(LIST_ITEM(node, struct listener, node), on_listener_idle, server);
}

static bool are_begun_answered(const struct server *server)
{
    return server->requests.is_draining && !server->has_stopped &&
           server->requests.begun_count == 0;
}

static void server_look(struct server *server)
{
    if (are_begun_answered(server))
        stop_listening(server);
    close_ended(server);
    tell_if_ended(server);
    tell_if_drained(server);
}

/* After the answers of this turn have left. */
static void server_on_turn_end(struct turn_end *end)
{
    server_look(CONTAINER_OF(end, struct server, look));
}

static void on_listener_idle(void *context)
{
    struct server *server = context;
    loop_at_turn_end(server->requests.loop, &server->look);
}

static void on_begun_answered(struct requests *requests)
{
    on_listener_idle(CONTAINER_OF(requests, struct server, requests));
}

static void on_last_due(struct timer *timer)
{
    struct server *server = CONTAINER_OF(timer, struct server, last);
    stop_listening(server);
    server_look(server);
}

void server_drain(struct server *server, void (*on_drained)(void *context), void *context)
{
    struct loop *loop = server->requests.loop;
    requests_drain(&server->requests);
    server->on_drained = on_drained;
    server->context = context;
    timer_start(loop, &server->last, loop_now(loop) + SERVER_LAST_US);
    for (size_t i = 0; i < server->share->count; i++) {
        struct listener *listener = listener_at(server, i);
        if (listener)
            listener_drain(listener, on_listener_idle, server);
    }
    LIST_EACH(node, &server->ending)
    listener_drain(LIST_ITEM(node, struct listener, node), on_listener_idle, server);
    server_look(server);
}

void server_free(struct server *server)
{
    if (!server)
        return;
    for (size_t i = 0; i < server->share->count; i++)
        listener_close(&server->share->slots[i].listener);
    for (struct list *node; (node = list_first(&server->ending));) {
        struct listener *listener = LIST_ITEM(node, struct listener, node);
        listener_close(&listener);
    }
    turn_end_cancel(&server->look);
    timer_stop(&server->last);
    session_common_deinit(&server->sessions);
    requests_deinit(&server->requests);
    stream_memory_deinit(&server->requests.memory);
    tls_context_free(server->tls);
    listen_share_free(server->share);
    free(server);
}

/* ---- reloading ---- */

/* Moves everything that holds a part of the quota or follows the options. */
static void server_renew(struct server *server, const struct server_options *options,
                         struct server_quota *quota)
{
    struct listen_share *share = server->share;
    for (size_t i = 0; i < share->count; i++)
        if (share->slots[i].listener)
            listener_move(share->slots[i].listener, quota);
    LIST_EACH(node, &server->ending)
    listener_move(LIST_ITEM(node, struct listener, node), quota);
    requests_renew(&server->requests, options, quota);
    for (size_t i = 0; i < share->count; i++)
        if (share->slots[i].listener)
            listener_renew(share->slots[i].listener);
    LIST_EACH(node, &server->ending)
    listener_renew(LIST_ITEM(node, struct listener, node));
}

static void begin_or_go_on(struct server *server, struct listen_slot *slot,
                           struct listen_share *old)
{
    if (slot->before != SIZE_MAX) {
        MUST(slot->before < old->count);
        slot->listener = old->slots[slot->before].listener;
        old->slots[slot->before].listener = NULL;
        return;
    }
    char text[ADDR_TEXT_MAX];
    addr_format(&slot->stream.local, text);
    enum err err = open_listener(server, slot);
    if (err)
        LOG(LOG_ERROR, "serve", "a worker cannot serve %s: %s", text, err_str(err));
}

static void end_listener(struct server *server, struct listener *listener)
{
    list_append(&server->ending, &listener->node);
    listener_end(listener, on_listener_idle, server);
}

static void change_addresses(struct server *server, struct listen_share *share)
{
    struct listen_share *old = server->share;
    server->share = share;
    for (size_t i = 0; i < share->count; i++)
        begin_or_go_on(server, &share->slots[i], old);
    for (size_t i = 0; i < old->count; i++)
        if (old->slots[i].listener)
            end_listener(server, old->slots[i].listener);
    listen_share_free(old);
}

void server_reload(struct server *server, const struct server_options *options,
                   struct listen_share **share, struct server_quota *quota,
                   void (*on_ended)(void *context), void *context)
{
    server_renew(server, options, quota);
    if (server->requests.is_draining)
        listen_share_free(*share);
    else
        change_addresses(server, *share);
    *share = NULL;
    server->on_ended = on_ended;
    server->ended_context = context;
    tell_if_ended(server);
}
