/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Datagrams in, replies out: the socket's batches belong to net, the queries to request.c. A whole
 * batch is one read section of the cache, and is looked up step by step.
 * Invariants: a datagram that no reply could reach, or that a server sent, is not looked at; what
 * was read in a batch is answered before its end.
 */
#include "serve/serve_udp.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/log.h"
#include "base/stats.h"
#include "cache/cache.h"
#include "loop/loop.h"
#include "net/listen_socket.h"
#include "net/udp_server.h"
#include "serve/acl.h"
#include "serve/overload.h"
#include "serve/request.h"
#include "serve/server_quota.h"

enum { LOOKUPS_MAX = 32 }; /* taken at once: as many as one read brings */

struct serve_udp {
    struct sink sink;
    struct udp_server *socket;
    bool in_batch;
    bool is_shared;        /* the socket: others have it too */
    bool is_heard;         /* false: its address ends, and there may be datagrams that are unread */
    bool has_ended;        /* it was left, or its address ends */
    unsigned lookup_count; /* read and not answered */
    struct request_lookup lookups[LOOKUPS_MAX];
    uint64_t dropped; /* replies that the kernel did not take, as far as they are counted */
    struct overload overload;
    void (*on_idle)(void *context); /* NULL: neither draining nor ending */
    void *context;
};

static uint8_t *serve_udp_reserve(struct sink *sink, size_t len)
{
    struct serve_udp *serve = CONTAINER_OF(sink, struct serve_udp, sink);
    MUST(len <= UDP_REPLY_MAX);
    return udp_server_reserve(serve->socket);
}

static void serve_udp_commit(struct sink *sink, size_t len, const struct udp_path *path)
{
    struct serve_udp *serve = CONTAINER_OF(sink, struct serve_udp, sink);
    udp_server_commit(serve->socket, len, path);
}

static const struct addr *serve_udp_local(const struct sink *sink)
{
    return udp_server_local(CONTAINER_OF(sink, const struct serve_udp, sink)->socket);
}

static void serve_udp_tell_if_idle(struct serve_udp *serve)
{
    if (serve->on_idle && serve_udp_is_idle(serve))
        serve->on_idle(serve->context);
}

static void serve_udp_on_answered(struct sink *sink)
{
    serve_udp_tell_if_idle(CONTAINER_OF(sink, struct serve_udp, sink));
}

static void note_read(struct serve_udp *serve)
{
    enum overload_state before = serve->overload.state;
    uint64_t age_us = udp_server_age_us(serve->socket);
    if (age_us == 0 && !overload_is_on(&serve->overload)) /* nearly always */
        return;
    overload_note_read(&serve->overload, loop_now(serve->sink.requests->loop), age_us);
    if (before != OVERLOAD_SHEDDING && serve->overload.state == OVERLOAD_SHEDDING)
        LOG_LIMITED(LOG_WARNING, "serve",
                    "more queries come over UDP than can be served: the "
                    "clients that ask most lose some");
}

static void on_batch_begin(void *owner)
{
    struct serve_udp *serve = owner;
    uint64_t dropped = udp_server_dropped(serve->socket);
    if (dropped != serve->dropped)
        STATS_ADD(serve->sink.requests->stats, dropped_full, dropped - serve->dropped);
    serve->dropped = dropped;
    serve->in_batch = true;
    note_read(serve);
    cache_read_begin();
}

static void answer_lookups(struct serve_udp *serve)
{
    unsigned count = serve->lookup_count;
    serve->lookup_count = 0;
    for (unsigned i = 0; i < count; i++)
        request_prefetch(&serve->sink, &serve->lookups[i]);
    for (unsigned i = 0; i < count; i++)
        request_answer(&serve->sink, &serve->lookups[i]);
}

static void on_batch_end(void *owner)
{
    struct serve_udp *serve = owner;
    answer_lookups(serve);
    cache_read_end();
    serve->in_batch = false;
}

/* Looks only at the client's address: a datagram that is dropped must cost next to nothing. */
static bool is_shed(struct serve_udp *serve, const struct udp_path *path)
{
    const struct requests *requests = serve->sink.requests;
    if (!overload_drops(&serve->overload, server_quota_client(requests->quota, &path->peer)))
        return false;
    STATS_INC(requests->stats, dropped_overload);
    return true;
}

static void serve_udp_on_datagram(void *owner, struct span datagram, const struct udp_path *path)
{
    struct serve_udp *serve = owner;
    struct requests *requests = serve->sink.requests;
    STATS_INC(requests->stats, queries_udp);
    if (addr_port(&path->peer) == 0) { /* nobody can be there: forged */
        STATS_INC(requests->stats, dropped_malformed);
        return;
    }
    if (overload_is_on(&serve->overload) && is_shed(serve, path))
        return;
    enum server_access access = acl_find(requests->options->access, &path->peer);
    request_read(&serve->sink, &serve->lookups[serve->lookup_count++], datagram, access, path);
    if (serve->lookup_count == LOOKUPS_MAX)
        answer_lookups(serve);
}

static const struct udp_server_handler handler = {
    .on_batch_begin = on_batch_begin,
    .on_datagram = serve_udp_on_datagram,
    .on_batch_end = on_batch_end,
};

void serve_udp_renew(struct serve_udp *serve)
{
    const struct server_options *options = serve->sink.requests->options;
    serve->sink.rules = reply_rules_udp(options->max_udp_size);
    serve->sink.rules.rotates = options->rotate_answers;
}

void serve_udp_move(struct serve_udp *serve, struct server_quota *quota)
{
    sink_move(&serve->sink, quota);
}

enum err serve_udp_open(struct serve_udp **out, struct requests *requests,
                        struct listen_socket *socket)
{
    struct serve_udp *serve = calloc(1, sizeof(*serve));
    if (!serve)
        return ERR_NO_MEMORY;
    sink_init(&serve->sink, requests);
    overload_init(&serve->overload);
    serve_udp_renew(serve);
    serve->is_shared = socket->is_shared;
    serve->is_heard = true;
    serve->sink.reserve = serve_udp_reserve;
    serve->sink.commit = serve_udp_commit;
    serve->sink.local = serve_udp_local;
    serve->sink.on_answered = serve_udp_on_answered;
    enum err err = udp_server_open(&serve->socket, requests->loop, socket, &handler, serve);
    if (err) {
        free(serve);
        return err;
    }
    *out = serve;
    return ERR_OK;
}

void serve_udp_close(struct serve_udp **serve)
{
    struct serve_udp *closing = *serve;
    *serve = NULL;
    MUST(!closing->in_batch);
    sink_abandon(&closing->sink);
    udp_server_close(&closing->socket);
    free(closing);
}

bool serve_udp_is_idle(const struct serve_udp *serve)
{
    return serve->sink.waiting_count == 0 && serve->is_heard;
}

void serve_udp_drain(struct serve_udp *serve, void (*on_idle)(void *context), void *context)
{
    serve->on_idle = on_idle;
    serve->context = context;
    if (!serve->is_shared || serve->has_ended)
        return;
    serve->has_ended = true;
    udp_server_leave(serve->socket);
}

static void serve_udp_on_quiet(void *owner)
{
    struct serve_udp *serve = owner;
    serve->is_heard = true;
    serve_udp_tell_if_idle(serve);
}

void serve_udp_end(struct serve_udp *serve, void (*on_idle)(void *context), void *context)
{
    serve->on_idle = on_idle;
    serve->context = context;
    if (serve->has_ended)
        return;
    serve->has_ended = true;
    serve->is_heard = false;
    udp_server_end(serve->socket, serve_udp_on_quiet);
}
