/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * The way of a query: checked, looked up, answered or kept. Bytes are reply.c's, the transport the
 * sink's, answers the resolver's. Nothing is allocated for a hit, and for a miss only when there is
 * no spare.
 * Invariant: each request that waits holds one place of the quota, stands in its sink's list and
 * has its waiter at the resolver, from start_waiting() to release().
 */
#include "serve/request.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/stats.h"
#include "dns/header.h"
#include "dns/rrtype.h"
#include "loop/loop.h"
#include "resolve/resolver.h"
#include "serve/server_quota.h"

struct request {
    struct waiter waiter;
    struct list node; /* of the sink's waiting, or of the spares */
    struct sink *sink;
    struct query query;
    uint64_t asked_at;
    bool is_stream; /* path is not set */
    struct udp_path path;
    uint8_t name[NAME_WIRE_MAX]; /* as the client spelled it */
};

/* ---- the pool ---- */

void requests_init(struct requests *requests)
{
    *requests = (struct requests){0};
    list_init(&requests->spares);
}

void requests_deinit(struct requests *requests)
{
    for (struct list *node; (node = list_take_first(&requests->spares));)
        free(LIST_ITEM(node, struct request, node));
}

static struct request *request_new(struct requests *requests)
{
    struct list *node = list_take_first(&requests->spares);
    if (!node)
        return malloc(sizeof(struct request));
    requests->spare_count--;
    return LIST_ITEM(node, struct request, node);
}

static void request_free(struct requests *requests, struct request *request)
{
    if (requests->spare_count >= REQUEST_SPARES_MAX) {
        free(request);
        return;
    }
    requests->spare_count++;
    list_prepend(&requests->spares, &request->node);
}

/* ---- sinks ---- */

void sink_init(struct sink *sink, struct requests *requests)
{
    *sink = (struct sink){.requests = requests};
    list_init(&sink->waiting);
}

/* Undoes start_waiting(); the resolver has let the waiter go. */
static void release(struct request *request)
{
    struct sink *sink = request->sink;
    list_remove(&request->node);
    sink->waiting_count--;
    server_quota_give_waiting(sink->requests->quota);
    request_free(sink->requests, request);
}

void sink_abandon(struct sink *sink)
{
    for (struct list *node; (node = list_first(&sink->waiting));) {
        struct request *request = LIST_ITEM(node, struct request, node);
        resolver_leave(sink->requests->resolver, &request->waiter);
        release(request);
    }
}

/* ---- replies ---- */

static void count_reply(struct stats *stats, uint16_t rcode)
{
    static const enum stat by_rcode[] = {
        [RCODE_NOERROR] = stat_answers_noerror,   [RCODE_FORMERR] = stat_answers_formerr,
        [RCODE_SERVFAIL] = stat_answers_servfail, [RCODE_NXDOMAIN] = stat_answers_nxdomain,
        [RCODE_NOTIMP] = stat_answers_notimp,     [RCODE_REFUSED] = stat_answers_refused,
    };
    stats_add_at(stats, rcode < ARRAY_LEN(by_rcode) ? by_rcode[rcode] : stat_answers_other, 1);
}

static enum request_result send_reply(struct sink *sink, const struct reply *reply,
                                      const struct udp_path *path)
{
    struct requests *requests = sink->requests;
    uint8_t *out = sink->reserve(sink, reply->len);
    if (!out) {
        STATS_INC(requests->stats, dropped_full);
        return REQUEST_DROPPED;
    }
    reply_write(reply, out, loop_now(requests->loop));
    count_reply(requests->stats, reply->rcode);
    sink->commit(sink, reply->len, path);
    return REQUEST_ANSWERED;
}

static enum request_result send_answer(struct sink *sink, const struct query *query,
                                       const struct answer *answer, const struct udp_path *path)
{
    struct reply reply;
    reply_plan_answer(&reply, query, answer, &sink->rules);
    return send_reply(sink, &reply, path);
}

static enum request_result send_error(struct sink *sink, const struct query *query,
                                      const struct query_error *error, enum server_access access,
                                      const struct udp_path *path)
{
    struct reply reply;
    reply_plan_error(&reply, query, error, access == SERVER_ALLOW, &sink->rules);
    return send_reply(sink, &reply, path);
}

/* ---- waiting ---- */

/* Called by the resolver inside a read section. */
static void on_answer(struct waiter *waiter, const struct answer *answer)
{
    struct request *request = CONTAINER_OF(waiter, struct request, waiter);
    struct sink *sink = request->sink;
    struct requests *requests = sink->requests;
    uint64_t waited_us = loop_now(requests->loop) - request->asked_at;
    stats_histogram_add(&requests->stats->answer_latency, waited_us);
    send_answer(sink, &request->query, answer, request->is_stream ? NULL : &request->path);
    release(request);
    sink->on_answered(sink);
}

static void fill_request(struct request *request, struct sink *sink, const struct query *query,
                         const struct udp_path *path)
{
    list_init(&request->waiter.node);
    request->waiter.on_answer = on_answer;
    request->waiter.takes_stale = true;
    request->sink = sink;
    request->query = *query;
    query_keep(&request->query, request->name);
    request->asked_at = loop_now(sink->requests->loop);
    request->is_stream = !path;
    if (path)
        request->path = *path;
}

/* RESOLVER_FULL also when a bound of ours is reached. */
static enum resolver_result start_waiting(struct sink *sink, const struct query *query,
                                          const struct cache_key *key, const struct udp_path *path)
{
    struct requests *requests = sink->requests;
    if (!server_quota_take_waiting(requests->quota))
        return RESOLVER_FULL;
    struct request *request = request_new(requests);
    if (!request) {
        server_quota_give_waiting(requests->quota);
        return RESOLVER_FULL;
    }
    fill_request(request, sink, query, path);
    list_append(&sink->waiting, &request->node);
    sink->waiting_count++;
    enum resolver_result result = resolver_ask(requests->resolver, key, &request->waiter);
    if (result != RESOLVER_WAITING)
        release(request);
    return result;
}

/* ---- taking ---- */

static const struct query_error error_prohibited = {RCODE_REFUSED, EDE_PROHIBITED, ""};
static const struct query_error error_not_recursive = {RCODE_REFUSED, EDE_NOT_AUTHORITATIVE, ""};
static const struct query_error error_no_route = {RCODE_REFUSED, EDE_NOT_AUTHORITATIVE,
                                                  "no zone for this name"};
static const struct query_error error_draining = {RCODE_SERVFAIL, EDE_NOT_READY, "shutting down"};
static const struct query_error error_full = {RCODE_SERVFAIL, EDE_OTHER, "too many queries wait"};

/* The cache has nothing: NULL when the query waits, else what it is told. */
static const struct query_error *ask(struct sink *sink, const struct query *query,
                                     const struct cache_key *key, const struct udp_path *path)
{
    if (!(query->flags & HEADER_RD))
        return &error_not_recursive;
    if (sink->requests->is_draining)
        return &error_draining;
    switch (start_waiting(sink, query, key, path)) {
    case RESOLVER_WAITING:
        return NULL;
    case RESOLVER_NO_ROUTE:
        return &error_no_route;
    default:
        return &error_full;
    }
}

/* Behind the answer. Who asked without RD wants nothing asked of others. */
static enum request_result refresh(struct sink *sink, const struct request_lookup *lookup,
                                   enum request_result result)
{
    struct requests *requests = sink->requests;
    if ((lookup->query.flags & HEADER_RD) && !requests->is_draining)
        resolver_refresh(requests->resolver, &lookup->key);
    return result;
}

static enum request_result resolve(struct sink *sink, const struct request_lookup *lookup)
{
    const struct query *query = &lookup->query;
    struct answer answer;
    if (resolver_find(sink->requests->resolver, &lookup->key, &answer)) {
        enum request_result result = send_answer(sink, query, &answer, lookup->path);
        return answer.is_due ? refresh(sink, lookup, result) : result;
    }
    const struct query_error *error = ask(sink, query, &lookup->key, lookup->path);
    return error ? send_error(sink, query, error, SERVER_ALLOW, lookup->path) : REQUEST_WAITING;
}

static bool is_resolved(const struct request_lookup *lookup)
{
    return lookup->access == SERVER_ALLOW && lookup->verdict == QUERY_RESOLVE;
}

void request_read(const struct sink *sink, struct request_lookup *lookup, struct span message,
                  enum server_access access, const struct udp_path *path)
{
    const struct resolver *resolver = sink->requests->resolver;
    struct query *query = &lookup->query;
    lookup->access = access;
    lookup->path = path;
    if (access == SERVER_DROP)
        return;
    lookup->verdict = query_check(query, &lookup->error, message);
    if (!is_resolved(lookup))
        return;
    resolver_key(resolver, &lookup->key, &query->question, query->dnssec_ok,
                 query->flags & HEADER_CD);
    resolver_prefetch(resolver, &lookup->key);
}

void request_prefetch(const struct sink *sink, const struct request_lookup *lookup)
{
    if (is_resolved(lookup))
        resolver_prefetch_entry(sink->requests->resolver, &lookup->key);
}

enum request_result request_answer(struct sink *sink, const struct request_lookup *lookup)
{
    struct stats *stats = sink->requests->stats;
    if (lookup->access == SERVER_DROP) {
        STATS_INC(stats, dropped_acl);
        return REQUEST_DROPPED;
    }
    if (lookup->verdict == QUERY_DROP) {
        STATS_INC(stats, dropped_malformed);
        return REQUEST_DROPPED;
    }
    if (lookup->access == SERVER_REFUSE)
        return send_error(sink, &lookup->query, &error_prohibited, lookup->access, lookup->path);
    if (lookup->verdict == QUERY_ERROR)
        return send_error(sink, &lookup->query, &lookup->error, lookup->access, lookup->path);
    return resolve(sink, lookup);
}

enum request_result request_take(struct sink *sink, struct span message, enum server_access access,
                                 const struct udp_path *path)
{
    struct request_lookup lookup;
    request_read(sink, &lookup, message, access, path);
    return request_answer(sink, &lookup);
}
