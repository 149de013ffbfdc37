/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Puts a worker's client side together: the listeners of each address, and what their requests
 * share. Decides nothing about queries.
 * Invariant: on_drained comes at most once, at the end of a turn or in server_drain(), never from
 * inside a request, so that it may free the server.
 */
#include "serve/server.h"

#include <stdlib.h>

#include "base/check.h"
#include "loop/loop.h"
#include "net/tls_context.h"
#include "serve/request.h"
#include "serve/serve_stream.h"
#include "serve/serve_udp.h"
#include "serve/server_address.h"
#include "serve/server_quota.h"

/* Both are NULL when this machine lacks the address. */
struct listener {
    struct serve_udp *udp; /* NULL with TLS, too */
    struct serve_stream *stream;
};

struct server {
    struct requests requests;
    struct turn_end drained;
    void (*on_drained)(void *context); /* NULL: not draining, or told */
    void *context;
    struct tls_context *tls; /* NULL: there are no TLS clients, or not yet */
    size_t listener_count;
    struct listener listeners[];
};

/* ---- opening ---- */

static void close_listener(struct listener *listener)
{
    if (listener->udp)
        serve_udp_close(&listener->udp);
    if (listener->stream)
        serve_stream_close(&listener->stream);
}

/* Port 0: UDP gets a free one, TCP the same. */
static enum err open_udp_and_tcp(struct listener *listener, struct requests *requests,
                                 const struct addr *listen)
{
    enum err err = serve_udp_open(&listener->udp, requests, listen);
    if (err)
        return err;
    struct addr same = *listen;
    addr_set_port(&same, addr_port(serve_udp_local(listener->udp)));
    err = serve_stream_open(&listener->stream, requests, &same, NULL);
    if (err)
        close_listener(listener);
    return err;
}

static enum err open_listener(struct server *server, struct listener *listener,
                              struct server_address listen)
{
    struct requests *requests = &server->requests;
    if (listen.is_tls)
        return serve_stream_open(&listener->stream, requests, listen.addr, &server->tls);
    return open_udp_and_tcp(listener, requests, listen.addr);
}

static enum err open_listeners(struct server *server, const struct server_options *options,
                               size_t *which)
{
    size_t open = 0;
    for (size_t i = 0; i < server->listener_count; i++) {
        enum err err = open_listener(server, &server->listeners[i], server_address_at(options, i));
        *which = i;
        if (err && err != ERR_ADDRESS_UNKNOWN)
            return err;
        open += !err;
    }
    return open == 0 && server->listener_count > 0 ? ERR_ADDRESS_UNKNOWN : ERR_OK;
}

static void on_turn_end(struct turn_end *end);

static struct server *server_new(struct loop *loop, const struct server_options *options,
                                 struct resolver *resolver, struct server_quota *quota,
                                 struct stats *stats)
{
    size_t count = server_address_count(options);
    size_t size = sizeof(struct server) + count * sizeof(struct listener);
    struct server *server = calloc(1, size);
    if (!server)
        return NULL;
    requests_init(&server->requests);
    server->requests.loop = loop;
    server->requests.options = options;
    server->requests.resolver = resolver;
    server->requests.quota = quota;
    server->requests.stats = stats;
    gate_init(&server->requests.gate, loop, options, quota, stats);
    turn_end_init(&server->drained, on_turn_end);
    server->listener_count = count;
    return server;
}

enum err server_open(struct server **out, struct loop *loop, const struct server_options *options,
                     struct resolver *resolver, struct server_quota *quota, struct stats *stats,
                     size_t *which)
{
    *which = 0;
    struct server *server = server_new(loop, options, resolver, quota, stats);
    if (!server)
        return ERR_NO_MEMORY;
    enum err err = open_listeners(server, options, which);
    if (err) {
        server_free(server);
        return err;
    }
    *out = server;
    return ERR_OK;
}

const struct addr *server_local(const struct server *server, size_t which)
{
    MUST(which < server->listener_count);
    const struct listener *listener = &server->listeners[which];
    return listener->stream ? serve_stream_local(listener->stream) : NULL;
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
}

/* ---- ending ---- */

static bool is_idle(const struct server *server)
{
    for (size_t i = 0; i < server->listener_count; i++) {
        const struct listener *listener = &server->listeners[i];
        if (listener->udp && serve_udp_waiting(listener->udp) > 0)
            return false;
        if (listener->stream && serve_stream_sessions(listener->stream) > 0)
            return false;
    }
    return true;
}

static void tell_if_drained(struct server *server)
{
    void (*on_drained)(void *context) = server->on_drained;
    if (!on_drained || !is_idle(server))
        return;
    server->on_drained = NULL;
    turn_end_cancel(&server->drained);
    on_drained(server->context);
}

/* After the answers of this turn have left. */
static void on_turn_end(struct turn_end *end)
{
    tell_if_drained(CONTAINER_OF(end, struct server, drained));
}

static void on_listener_idle(void *context)
{
    struct server *server = context;
    loop_at_turn_end(server->requests.loop, &server->drained);
}

void server_drain(struct server *server, void (*on_drained)(void *context), void *context)
{
    server->requests.is_draining = true;
    server->on_drained = on_drained;
    server->context = context;
    for (size_t i = 0; i < server->listener_count; i++) {
        struct listener *listener = &server->listeners[i];
        if (listener->udp)
            serve_udp_drain(listener->udp, on_listener_idle, server);
        if (listener->stream)
            serve_stream_drain(listener->stream, on_listener_idle, server);
    }
    tell_if_drained(server);
}

void server_free(struct server *server)
{
    if (!server)
        return;
    turn_end_cancel(&server->drained);
    for (size_t i = 0; i < server->listener_count; i++)
        close_listener(&server->listeners[i]);
    turn_end_cancel(&server->drained);
    requests_deinit(&server->requests);
    tls_context_free(server->tls);
    free(server);
}
