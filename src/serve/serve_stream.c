/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Decides about connections as they come: the access list first, then the bounds. What a session
 * does is session.c's.
 * Invariant: each session holds one place of the quota, from serve_stream_on_accept() to
 * serve_stream_on_closed(); the place of an allowed client only while the access list allows its
 * client.
 */
#include "serve/serve_stream.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/log.h"
#include "base/stats.h"
#include "loop/loop.h"
#include "loop/timer.h"
#include "net/acceptor.h"
#include "net/listen_socket.h"
#include "net/tcp.h"
#include "serve/acl.h"
#include "serve/request.h"
#include "serve/server_quota.h"
#include "serve/session.h"

struct serve_stream {
    struct session_host host;
    struct acceptor *acceptor; /* NULL: left, or ended */
    bool is_shared;            /* its socket: others have it too */
    size_t sessions;
    struct timer end; /* of the sessions, when the address ends */
    void (*on_idle)(void *context);
    void *context;
};

static void serve_stream_tell_if_idle(struct serve_stream *serve)
{
    if (serve->on_idle && serve_stream_is_idle(serve))
        serve->on_idle(serve->context);
}

static void serve_stream_on_closed(struct session_host *host, const struct client_place *place)
{
    struct serve_stream *serve = CONTAINER_OF(host, struct serve_stream, host);
    server_quota_give_client(host->requests->quota, place);
    STATS_DEC(host->requests->stats, stream_clients);
    serve->sessions--;
    serve_stream_tell_if_idle(serve);
}

/* The client has this place of the quota. */
static void begin_session(struct serve_stream *serve, struct tcp *tcp,
                          const struct client_place *place)
{
    struct requests *requests = serve->host.requests;
    serve->sessions++;
    STATS_INC(requests->stats, stream_clients);
    if (session_open(&serve->host, &tcp, place) == ERR_OK)
        return;
    STATS_INC(requests->stats, clients_refused_full);
    serve_stream_on_closed(&serve->host, place);
}

static void serve_stream_turn_away(struct requests *requests, enum server_quota_result why)
{
    if (why == QUOTA_NO_FILES) {
        STATS_INC(requests->stats, clients_refused_files);
        LOG_LIMITED(LOG_NOTICE, "serve", "refusing a connection: no more files for clients");
    } else {
        STATS_INC(requests->stats, clients_refused_full);
        LOG_LIMITED(LOG_NOTICE, "serve", "refusing a connection: too many clients");
    }
}

/* An idle session of this worker makes room: one of the same client where that client has too many,
 * else any. While the server drains, each session has its last call instead. */
static enum server_quota_result serve_stream_take_place(struct serve_stream *serve,
                                                        const struct client_place *place)
{
    struct requests *requests = serve->host.requests;
    enum server_quota_result result = server_quota_take_client(requests->quota, place);
    if (result == QUOTA_TAKEN || requests->is_draining)
        return result;
    uint64_t client = server_quota_client(requests->quota, &place->client);
    if (!session_displace(serve->host.common, client, result == QUOTA_CLIENT_FULL))
        return result;
    return server_quota_take_client(requests->quota, place);
}

static void accept_allowed(struct serve_stream *serve, struct tcp *tcp)
{
    struct requests *requests = serve->host.requests;
    struct client_place place = {*tcp_peer(tcp), PLACE_ALLOWED};
    enum server_quota_result result = serve_stream_take_place(serve, &place);
    if (result == QUOTA_TAKEN) {
        begin_session(serve, tcp, &place);
        return;
    }
    serve_stream_turn_away(requests, result);
    tcp_close(&tcp);
}

/* REFUSED can be told in an answer only, so refused clients get a few sessions. A handshake of TLS
 * would cost more than the answer is worth. */
static void accept_refused(struct serve_stream *serve, struct tcp *tcp, enum server_access access)
{
    struct requests *requests = serve->host.requests;
    struct client_place place = {*tcp_peer(tcp), PLACE_REFUSED};
    bool is_told = access == SERVER_REFUSE && !serve->host.tls;
    if (is_told && server_quota_take_client(requests->quota, &place) == QUOTA_TAKEN) {
        begin_session(serve, tcp, &place);
        return;
    }
    STATS_INC(requests->stats, clients_refused_acl);
    tcp_close(&tcp);
}

static void serve_stream_on_accept(void *owner, struct tcp *tcp)
{
    struct serve_stream *serve = owner;
    enum server_access access = acl_find(serve->host.requests->options->access, tcp_peer(tcp));
    if (access == SERVER_ALLOW)
        accept_allowed(serve, tcp);
    else
        accept_refused(serve, tcp, access);
}

static void serve_stream_on_end_due(struct timer *timer);

enum err serve_stream_open(struct serve_stream **out, struct requests *requests,
                           struct session_common *common, struct listen_socket *socket,
                           struct tls_context *const *tls)
{
    struct serve_stream *serve = calloc(1, sizeof(*serve));
    if (!serve)
        return ERR_NO_MEMORY;
    serve->host.requests = requests;
    serve->host.common = common;
    serve->host.tls = tls;
    serve->host.on_closed = serve_stream_on_closed;
    list_init(&serve->host.sessions);
    serve->is_shared = socket->is_shared;
    timer_init(&serve->end, serve_stream_on_end_due);
    enum err err =
        acceptor_open(&serve->acceptor, requests->loop, socket, serve_stream_on_accept, serve);
    if (err) {
        free(serve);
        return err;
    }
    *out = serve;
    return ERR_OK;
}

void serve_stream_close(struct serve_stream **serve)
{
    struct serve_stream *closing = *serve;
    *serve = NULL;
    closing->on_idle = NULL;
    timer_stop(&closing->end);
    if (closing->acceptor)
        acceptor_close(&closing->acceptor);
    session_close_all(&closing->host);
    free(closing);
}

void serve_stream_move(struct serve_stream *serve, struct server_quota *quota)
{
    session_move_all(&serve->host, quota);
}

void serve_stream_renew(struct serve_stream *serve)
{
    session_renew_all(&serve->host);
}

bool serve_stream_is_idle(const struct serve_stream *serve)
{
    return serve->sessions == 0 && (!serve->host.is_ending || !serve->acceptor);
}

void serve_stream_drain(struct serve_stream *serve, void (*on_idle)(void *context), void *context)
{
    serve->on_idle = on_idle;
    serve->context = context;
    serve->host.is_ending = true;
    timer_stop(&serve->end);
    if (serve->acceptor && serve->is_shared)
        acceptor_close(&serve->acceptor);
    session_finish_all(&serve->host);
}

void serve_stream_stop(struct serve_stream *serve)
{
    if (serve->acceptor)
        acceptor_finish(&serve->acceptor);
    session_finish_all(&serve->host);
}

/* ---- the end of an address ---- */

static void on_acceptor_ended(void *owner)
{
    struct serve_stream *serve = owner;
    acceptor_close(&serve->acceptor);
    serve_stream_tell_if_idle(serve);
}

/* Who still has a session does not do as RFC 7828 says, or has heard nothing since; or there were
 * no files to accept with all that time. */
static void serve_stream_on_end_due(struct timer *timer)
{
    struct serve_stream *serve = CONTAINER_OF(timer, struct serve_stream, end);
    if (serve->acceptor)
        acceptor_close(&serve->acceptor);
    session_finish_all(&serve->host);
    serve_stream_tell_if_idle(serve);
}

void serve_stream_end(struct serve_stream *serve, void (*on_idle)(void *context), void *context)
{
    struct loop *loop = serve->host.requests->loop;
    serve->on_idle = on_idle;
    serve->context = context;
    serve->host.is_ending = true;
    session_renew_all(&serve->host);
    acceptor_end(serve->acceptor, on_acceptor_ended);
    timer_start(loop, &serve->end, loop_now(loop) + SERVE_STREAM_END_US);
}
