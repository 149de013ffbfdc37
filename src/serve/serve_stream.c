/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Decides about connections as they come: the access list first, then the bounds. What a session
 * does is session.c's.
 * Invariant: each session holds one place of the quota, from on_accept() to on_closed().
 */
#include "serve/serve_stream.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/log.h"
#include "base/stats.h"
#include "net/acceptor.h"
#include "net/tcp.h"
#include "serve/acl.h"
#include "serve/request.h"
#include "serve/server_quota.h"
#include "serve/session.h"

struct serve_stream {
    struct session_host host;
    struct acceptor *acceptor; /* NULL: draining */
    size_t sessions;
    void (*on_idle)(void *context);
    void *context;
};

static void on_closed(struct session_host *host, const struct addr *client)
{
    struct serve_stream *serve = CONTAINER_OF(host, struct serve_stream, host);
    server_quota_give_client(host->requests->quota, client);
    STATS_DEC(host->requests->stats, stream_clients);
    serve->sessions--;
    if (serve->sessions == 0 && serve->on_idle)
        serve->on_idle(serve->context);
}

/* The client has a place of the quota. */
static void begin_session(struct serve_stream *serve, struct tcp *tcp, enum server_access access)
{
    struct requests *requests = serve->host.requests;
    struct addr client = *tcp_peer(tcp);
    serve->sessions++;
    STATS_INC(requests->stats, stream_clients);
    if (session_open(&serve->host, &tcp, access) == ERR_OK)
        return;
    STATS_INC(requests->stats, clients_refused_full);
    on_closed(&serve->host, &client);
}

/* Refused clients get a session too: REFUSED is told in an answer. */
static void on_accept(void *owner, struct tcp *tcp)
{
    struct serve_stream *serve = owner;
    struct requests *requests = serve->host.requests;
    enum server_access access = acl_find(requests->options->access, tcp_peer(tcp));
    if (access == SERVER_DROP) {
        STATS_INC(requests->stats, clients_refused_acl);
        tcp_close(&tcp);
    } else if (!server_quota_take_client(requests->quota, tcp_peer(tcp))) {
        STATS_INC(requests->stats, clients_refused_full);
        LOG_LIMITED(LOG_NOTICE, "serve", "refusing a connection: too many clients");
        tcp_close(&tcp);
    } else {
        begin_session(serve, tcp, access);
    }
}

enum err serve_stream_open(struct serve_stream **out, struct requests *requests,
                           const struct addr *listen, struct tls_context *const *tls)
{
    struct serve_stream *serve = calloc(1, sizeof(*serve));
    if (!serve)
        return ERR_NO_MEMORY;
    serve->host.requests = requests;
    serve->host.tls = tls;
    serve->host.on_closed = on_closed;
    list_init(&serve->host.sessions);
    enum err err = acceptor_open(&serve->acceptor, requests->loop, listen, on_accept, serve);
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
    if (closing->acceptor)
        acceptor_close(&closing->acceptor);
    session_close_all(&closing->host);
    free(closing);
}

const struct addr *serve_stream_local(const struct serve_stream *serve)
{
    MUST(serve->acceptor);
    return acceptor_local(serve->acceptor);
}

size_t serve_stream_sessions(const struct serve_stream *serve)
{
    return serve->sessions;
}

void serve_stream_drain(struct serve_stream *serve, void (*on_idle)(void *context), void *context)
{
    serve->on_idle = on_idle;
    serve->context = context;
    if (serve->acceptor)
        acceptor_close(&serve->acceptor);
    session_finish_all(&serve->host);
}
