/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * The path of a query: it is checked, looked up, and answered or kept. reply.c writes the bytes,
 * the sink sends them, and the resolver finds answers. A hit allocates nothing, and a miss only
 * when there is no spare request.
 *
 * Invariant: a request that waits is in its sink's list or among the orphans, holds one place of
 * the quota, and has its waiter at the resolver. A parked request has no place and no waiter.
 */
#include "serve/request.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/stats.h"
#include "dns/header.h"
#include "dns/rrtype.h"
#include "loop/loop.h"
#include "resolve/resolver.h"
#include "serve/chaos.h"
#include "serve/repeats.h"
#include "serve/server_quota.h"
#include "serve/tell.h"
#include "serve/view_rows.h"

/* A query that waits, owned by its sink or, without a client, by the orphans. */
struct request {
    struct waiter waiter;
    struct list node; /* of the sink's waiting or parked ones, of the orphans, or of the spares */
    struct requests *requests;
    struct sink *sink; /* NULL: its client has left */
    uint32_t exchange; /* as in struct sink */
    uint64_t client;   /* its number in the quota */
    struct query query;
    struct course course;
    uint64_t asked_at;
    uint64_t heard_at; /* when its datagram came last */
    struct repeat repeat;
    bool has_place; /* of the quota; false: it is parked */
    bool is_stream; /* only the peer of path is set */
    bool is_new;    /* it began to wait while draining */
    struct udp_path path;
    struct udp_detour detour;    /* of path, if it has one */
    uint8_t name[NAME_WIRE_MAX]; /* as the client spelled it */
};

/* ---- life ---- */

void requests_init(struct requests *requests)
{
    memset(requests, 0, sizeof(*requests));
    list_init(&requests->spares);
    list_init(&requests->orphans);
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

/* The client of this request waits no longer. A drain ends with the last one that it waits for. */
static void uncount_waiting(struct requests *requests, const struct request *request)
{
    requests->waiting_count--;
    if (requests->begun_count > 0 && !request->is_new && --requests->begun_count == 0)
        requests->on_begun_answered(requests);
}

void requests_drain(struct requests *requests)
{
    requests->is_draining = true;
    requests->begun_count = requests->waiting_count;
}

static void request_give_place(struct request *request)
{
    if (request->has_place)
        server_quota_give_waiting(request->requests->quota, request->client);
    request->has_place = false;
}

static void request_release(struct request *request)
{
    course_deinit(&request->course);
    list_remove(&request->node);
    repeats_remove(&request->repeat);
    if (request->sink) {
        request->sink->waiting_count--;
        uncount_waiting(request->requests, request);
    }
    request_give_place(request);
    request_free(request->requests, request);
}

static void abandon(struct request *request)
{
    resolver_leave(request->requests->resolver, &request->waiter);
    request_release(request);
}

void requests_deinit(struct requests *requests)
{
    for (struct list *node; (node = list_first(&requests->orphans));)
        abandon(LIST_ITEM(node, struct request, node));
    for (struct list *node; (node = list_take_first(&requests->spares));)
        free(LIST_ITEM(node, struct request, node));
    courses_deinit(&requests->courses);
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

static const struct addr *local_of(const struct sink *sink, const struct udp_path *path)
{
    if (path && path->detour)
        return &path->detour->frontend;
    bool is_in_path = path && addr_family(&path->local) != AF_UNSPEC;
    return is_in_path ? &path->local : sink->local(sink);
}

/* The name of the client's view; NULL: it has none. */
static const char *view_name_of(const struct sink *sink, const struct udp_path *path)
{
    unsigned view = view_choice_find(sink->views, sink_client(sink, path));
    return view ? sink->requests->options->views[view - 1].name : NULL;
}

static __attribute__((cold)) struct tap_message
tap_message_of(const struct sink *sink, struct span bytes, const struct udp_path *path)
{
    return (struct tap_message){
        .transport = sink->transport,
        .asker = sink_client(sink, path),
        .asked = local_of(sink, path),
        .asked_at = loop_now(sink->requests->loop),
        .view = view_name_of(sink, path),
        .bytes = bytes,
    };
}

static __attribute__((cold, noinline)) void show_query(const struct sink *sink, struct span bytes,
                                                       const struct udp_path *path)
{
    struct tap_message message = tap_message_of(sink, bytes, path);
    tell_query(sink->requests->taps, &message);
}

static __attribute__((cold, noinline)) void
show_reply(const struct sink *sink, const struct reply *reply, const uint8_t *out,
           const struct udp_path *path, const struct tell_how *how)
{
    struct span bytes = span_of(out, out ? reply->len : 0);
    struct tap_message message = tap_message_of(sink, bytes, path);
    tell_reply(sink->requests->taps, &message, reply, how);
}

/* ---- counters of views ---- */

/* The counters of a view, by its number from 1. */
static struct view_stats *request_view_stats(const struct requests *requests, unsigned view)
{
    const struct view_rows *rows = server_quota_view_rows(requests->quota);
    return &requests->stats->views[view_rows_find(rows, view)];
}

/* The counters of the client's view; NULL: it has none. */
static struct view_stats *request_client_stats(const struct sink *sink, const struct udp_path *path)
{
    unsigned view = view_choice_find(sink->views, sink_client(sink, path));
    return view ? request_view_stats(sink->requests, view) : NULL;
}

/* The same at the end of a query. An answer at hand comes from a look-up, which knows the view, so
 * a hit need not search for it again. */
static struct view_stats *request_end_stats(const struct sink *sink, const struct reply *reply,
                                            const struct udp_path *path, const struct tell_how *how)
{
    if (how != &tell_at_hand)
        return request_client_stats(sink, path);
    unsigned view = CONTAINER_OF(reply->query, struct request_lookup, query)->client.view;
    return view ? request_view_stats(sink->requests, view) : NULL;
}

/* A block list or a rule says so, or private addresses were removed. The error of an access list
 * has no answer. */
static bool is_view_blocked(const struct reply *reply)
{
    for (unsigned i = 0; reply->answer && i < reply->ede_count; i++)
        if (reply->ede[i] >= EDE_BLOCKED && reply->ede[i] <= EDE_PROHIBITED)
            return true;
    return false;
}

static void count_view_reply(struct view_stats *stats, const struct reply *reply)
{
    switch (reply->rcode) {
    case RCODE_NOERROR:
        STATS_INC(stats, noerror);
        break;
    case RCODE_NXDOMAIN:
        STATS_INC(stats, nxdomain);
        break;
    case RCODE_SERVFAIL:
        STATS_INC(stats, servfail);
        break;
    case RCODE_REFUSED:
        STATS_INC(stats, refused);
        break;
    default:
        STATS_INC(stats, other);
    }
    if (is_view_blocked(reply))
        STATS_INC(stats, blocked);
}

/* A rule or a local zone drops the query of a client. Its end is counted separately. */
static void count_view_rule(const struct sink *sink, const struct udp_path *path)
{
    struct view_stats *stats = request_client_stats(sink, path);
    if (stats)
        STATS_INC(stats, blocked);
}

/* ---- observing ---- */

static __attribute__((noinline)) void
observe_query(const struct sink *sink, const struct request_lookup *lookup, struct span bytes)
{
    if (lookup->client.view)
        STATS_INC(request_view_stats(sink->requests, lookup->client.view), queries);
    if (sink->requests->wishes.queries)
        show_query(sink, bytes, lookup->path);
}

static __attribute__((noinline)) void observe_reply(const struct sink *sink,
                                                    const struct reply *reply, const uint8_t *out,
                                                    const struct udp_path *path,
                                                    const struct tell_how *how)
{
    struct view_stats *stats = request_end_stats(sink, reply, path, how);
    if (stats && out)
        count_view_reply(stats, reply);
    else if (stats)
        STATS_INC(stats, dropped);
    const struct tell_wishes *wishes = &sink->requests->wishes;
    bool has_failed = out && reply->rcode == RCODE_SERVFAIL;
    if (wishes->replies || (wishes->failures && has_failed))
        show_reply(sink, reply, out, path, how);
}

/* Shows the end of a query to taps, and counts it for its view. Without both this costs one look at
 * a flag. */
static inline void request_tell(struct sink *sink, const struct reply *reply, const uint8_t *out,
                                const struct udp_path *path, const struct tell_how *how)
{
    if (sink->requests->is_observed)
        observe_reply(sink, reply, out, path, how);
}

/* ---- sending ---- */

static enum request_result request_send_reply(struct sink *sink, const struct reply *reply,
                                              const struct udp_path *path,
                                              const struct tell_how *how)
{
    struct requests *requests = sink->requests;
    uint8_t *out = sink->reserve(sink, reply->len);
    if (!out) {
        STATS_INC(requests->stats, dropped_full);
        request_tell(sink, reply, NULL, path, how);
        return REQUEST_DROPPED;
    }
    reply_write(reply, out, loop_now(requests->loop));
    count_reply(requests->stats, reply->rcode);
    request_tell(sink, reply, out, path, how);
    sink->commit(sink, reply->len, path);
    return REQUEST_ANSWERED;
}

static enum request_result unsound(enum request_result result)
{
    return result == REQUEST_DROPPED ? REQUEST_DROPPED : REQUEST_UNSOUND;
}

static enum request_result request_send_answer(struct sink *sink, const struct query *query,
                                               const struct answer *answer,
                                               const struct udp_path *path,
                                               const struct tell_how *how)
{
    struct reply reply;
    reply_plan_answer(&reply, query, answer, &sink->rules);
    enum request_result result = request_send_reply(sink, &reply, path, how);
    return reply.rcode == RCODE_REFUSED ? unsound(result) : result; /* by a local zone */
}

static enum request_result send_error(struct sink *sink, const struct query *query,
                                      const struct query_error *error, enum server_access access,
                                      const struct udp_path *path, const struct tell_how *how)
{
    struct reply reply;
    reply_plan_error(&reply, query, error, server_may_ask(access), &sink->rules);
    return unsound(request_send_reply(sink, &reply, path, how));
}

/* ---- waiting ---- */

static bool is_address_proven(const struct request *request)
{
    return request->is_stream || request->query.has_valid_cookie;
}

/*
 * An attacker with a slow server can pile up answers for a forged address, which then leave all at
 * once (DNSBomb, CVE-2024-33655). So old queries get no answer while many queries of their client
 * wait: the client has given up or asked again. Waiters are answered in the order in which they
 * came, so the newest DISCARD_ABOVE of them always get their answers.
 */
static bool is_discarded(const struct request *request)
{
    const struct requests *requests = request->requests;
    uint64_t timeout_us = requests->options->discard_timeout_us;
    if (timeout_us == 0 || loop_now(requests->loop) - request->heard_at <= timeout_us)
        return false;
    return !is_address_proven(request) &&
           server_quota_waiting_of(requests->quota, request->client) > REQUEST_DISCARD_ABOVE;
}

/* Ends a query that waited without an answer, for this reason. */
static void drop_waiting(struct request *request, enum stat reason)
{
    struct reply reply = {.query = &request->query};
    stats_add_at(request->requests->stats, reason, 1);
    if (reason == stat_dropped_policy || reason == stat_dropped_local)
        count_view_rule(request->sink, request->is_stream ? NULL : &request->path);
    request_tell(request->sink, &reply, NULL, request->is_stream ? NULL : &request->path,
                 &tell_limited);
    if (request->sink->on_dropped)
        request->sink->on_dropped(request->sink);
    request_release(request);
}

/* Truncates a large answer that leaves together with many others for an address that may be forged.
 * False: the answer stays as it is. */
static bool truncate_burst(const struct request *request, struct reply *reply)
{
    struct requests *requests = request->requests;
    struct reply truncated;
    if (is_address_proven(request) || requests->options->discard_timeout_us == 0 ||
        addr_is_loopback(&request->path.peer))
        return false;
    reply_plan_truncated(&truncated, &request->query, &request->sink->rules);
    uint32_t waiting = server_quota_waiting_of(requests->quota, request->client);
    if (bursts_allow(&requests->bursts, request->client, waiting, reply->len, truncated.len,
                     loop_now(requests->loop)))
        return false;
    *reply = truncated;
    STATS_INC(requests->stats, bursts_truncated);
    return true;
}

static void answer_waiting(struct request *request, const struct answer *answer)
{
    struct requests *requests = request->requests;
    struct tell_how how = {TELL_WAITED, request->asked_at, request->waiter.source};
    const struct udp_path *path = request->is_stream ? NULL : &request->path;
    struct reply reply;
    stats_histogram_add(&requests->stats->answer_latency,
                        loop_now(requests->loop) - request->asked_at);
    reply_plan_answer(&reply, &request->query, answer, &request->sink->rules);
    bool is_truncated = truncate_burst(request, &reply);
    request_send_reply(request->sink, &reply, path, is_truncated ? &tell_limited : &how);
    request_release(request);
}

/* Parks a query whose client takes its answers slowly. The cache keeps the answer. The query gives
 * its place back: a client that never reads must not use up the places of others. */
static void park(struct request *request)
{
    request->waiter.source = NULL;
    request_give_place(request);
    list_remove(&request->node);
    list_append(&request->sink->parked, &request->node);
    request->sink->parked_count++;
}

static void request_take_answer(struct request *request, const struct answer *answer);

/* Called by the resolver inside a read section. */
static void request_on_answer(struct waiter *waiter, const struct answer *answer)
{
    struct request *request = CONTAINER_OF(waiter, struct request, waiter);
    struct sink *sink = request->sink;
    if (!sink) {
        request_release(request);
        return;
    }
    sink->exchange = request->exchange;
    if (is_discarded(request))
        drop_waiting(request, stat_dropped_late);
    else if (sink->has_room && !sink->has_room(sink))
        park(request);
    else
        request_take_answer(request, answer);
    sink->on_answered(sink);
}

static void keep_path(struct request *request, const struct udp_path *path)
{
    request->path = *path;
    if (!path->detour)
        return;
    request->detour = *path->detour;
    request->path.detour = &request->detour;
}

static void fill_request(struct request *request, struct sink *sink, const struct query *query,
                         const struct udp_path *path)
{
    list_init(&request->waiter.node);
    request->waiter.on_answer = request_on_answer;
    request->requests = sink->requests;
    request->waiter.takes_stale = true;
    request->waiter.source = NULL;
    request->sink = sink;
    request->exchange = sink->exchange;
    request->query = *query;
    query_keep(&request->query, request->name);
    request->course = (struct course){.rest = POLICE_WHOLE};
    request->asked_at = request->heard_at = loop_now(sink->requests->loop);
    request->repeat =
        (struct repeat){.query = &request->query, .path = &request->path, .sink = sink};
    request->has_place = true;
    request->is_stream = !path;
    request->is_new = sink->requests->is_draining;
    if (path)
        keep_path(request, path);
    else
        request->path.peer = *sink->client;
}

static const struct query_error error_prohibited = {RCODE_REFUSED, EDE_PROHIBITED, ""};
static const struct query_error error_not_recursive = {RCODE_REFUSED, EDE_NOT_AUTHORITATIVE, ""};
static const struct query_error error_no_route = {RCODE_REFUSED, EDE_NOT_AUTHORITATIVE,
                                                  "no zone for this name"};
static const struct query_error error_full = {RCODE_SERVFAIL, EDE_OTHER, "too many queries wait"};
static const struct query_error error_client_full = {RCODE_SERVFAIL, EDE_OTHER,
                                                     "too many of your queries wait"};

static const struct query_error *count_refused(struct stats *stats, enum server_quota_result result)
{
    if (result == QUOTA_CLIENT_FULL) {
        STATS_INC(stats, waiting_refused_client);
        return &error_client_full;
    }
    STATS_INC(stats, waiting_refused_all);
    return &error_full;
}

/* Whether the request may lose its place. Its task continues for other waiters, so the request
 * costs only its place. */
static bool may_be_displaced(const struct request *request, enum server_quota_result why,
                             uint64_t client)
{
    const struct requests *requests = request->requests;
    if (is_address_proven(request) || !resolver_is_shared(requests->resolver, &request->waiter))
        return false;
    if (why == QUOTA_CLIENT_FULL)
        return request->client == client;
    return server_quota_waiting_of(requests->quota, request->client) > REQUEST_DISCARD_ABOVE;
}

/* Gives the place of the oldest copy of a question to a new query. Copies that wait for a forged
 * address must not keep others from asking. */
static bool request_displace(struct sink *sink, enum server_quota_result why, uint64_t client)
{
    unsigned looks = 0;
    LIST_EACH(node, &sink->waiting)
    {
        struct request *request = LIST_ITEM(node, struct request, node);
        if (looks++ == REQUEST_DISPLACE_LOOKS)
            return false;
        if (!may_be_displaced(request, why, client))
            continue;
        resolver_leave(sink->requests->resolver, &request->waiter);
        drop_waiting(request, stat_dropped_late);
        return true;
    }
    return false;
}

/* Takes a place for a query of the client. Returns NULL, or the error that the query gets. */
static inline const struct query_error *request_take_place(struct sink *sink, uint64_t client)
{
    struct requests *requests = sink->requests;
    enum server_quota_result result = server_quota_take_waiting(requests->quota, client);
    if (result != QUOTA_TAKEN && request_displace(sink, result, client))
        result = server_quota_take_waiting(requests->quota, client);
    return result == QUOTA_TAKEN ? NULL : count_refused(requests->stats, result);
}

/* Makes a waiting request, which holds the place that was taken for the client. NULL: out of
 * memory, and the place is given back. */
static struct request *request_hold(struct sink *sink, const struct query *query, uint64_t client,
                                    const struct udp_path *path)
{
    struct request *request = request_new(sink->requests);
    if (!request) {
        server_quota_give_waiting(sink->requests->quota, client);
        return NULL;
    }
    fill_request(request, sink, query, path);
    request->client = request->waiter.client = client;
    list_append(&sink->waiting, &request->node);
    sink->waiting_count++;
    sink->requests->waiting_count++;
    return request;
}

/* Asks the resolver for the request. NULL: the request waits for the answer. */
static const struct query_error *request_ask_resolver(struct request *request, unsigned view,
                                                      const struct cache_key *key)
{
    switch (resolver_ask(request->requests->resolver, view, key, &request->waiter)) {
    case RESOLVER_WAITING:
        return NULL;
    case RESOLVER_NO_ROUTE:
        return &error_no_route;
    case RESOLVER_FULL:
        break;
    }
    return &error_full;
}

/* Returns NULL when the query waits for the answer of the key, or the error that it gets. bucket:
 * NULL for a stream. Takes the course, if there is one. */
static const struct query_error *
request_start_waiting(struct sink *sink, const struct request_lookup *lookup,
                      const struct cache_key *key, struct course *course, struct repeat **bucket)
{
    const struct query *query = &lookup->query;
    const struct udp_path *path = lookup->path;
    struct requests *requests = sink->requests;
    uint64_t client = server_quota_client(requests->quota, sink_client(sink, path));
    const struct query_error *error = request_take_place(sink, client);
    if (error)
        return error;
    struct request *request = request_hold(sink, query, client, path);
    if (!request)
        return &error_full;
    if (course) {
        request->course = *course;
        course->redirect = NULL;
    }
    if (bucket)
        repeats_add(bucket, &request->repeat);
    error = request_ask_resolver(request, lookup->client.view, key);
    if (error)
        request_release(request);
    return error;
}

/* Takes a place again for a query that gave it back. */
static const struct query_error *request_retake_place(struct request *request)
{
    struct requests *requests = request->requests;
    if (request->has_place)
        return NULL;
    uint64_t client = server_quota_client(requests->quota, &request->path.peer);
    const struct query_error *error = request_take_place(request->sink, client);
    if (error)
        return error;
    request->client = client;
    request->has_place = true;
    return NULL;
}

/* The view of the client under the present options. */
static unsigned request_view(const struct request *request)
{
    return view_choice_find(request->sink->views, &request->path.peer);
}

/* Asks the resolver again for a query that waits. */
static void request_ask_again(struct request *request, const struct cache_key *key)
{
    if (resolver_drops(request->requests->resolver, key)) {
        drop_waiting(request, stat_dropped_local);
        return;
    }
    const struct query_error *error = request_retake_place(request);
    if (!error)
        error = request_ask_resolver(request, request_view(request), key);
    if (!error)
        return;
    send_error(request->sink, &request->query, error, SERVER_ALLOW,
               request->is_stream ? NULL : &request->path, &tell_limited);
    request_release(request);
}

/* ---- steps of a query that waits ---- */

static void truncate_waiting(struct request *request)
{
    struct reply reply;
    reply_plan_truncated(&reply, &request->query, &request->sink->rules);
    request_send_reply(request->sink, &reply, request->is_stream ? NULL : &request->path,
                       &tell_limited);
    request_release(request);
}

static struct course_query course_query_of(const struct request *request)
{
    return (struct course_query){.query = &request->query,
                                 .client = &request->path.peer,
                                 .view = request_view(request),
                                 .is_stream = request->is_stream,
                                 .is_resolved = true,
                                 .may_look = true};
}

/* Goes on with an answer until one is for the client, or another one must be resolved first. Out of
 * line, so that other configurations do not pay for it. */
static __attribute__((noinline)) void request_go_on(struct request *request, struct answer answer)
{
    struct requests *requests = request->requests;
    struct course_query about = course_query_of(request);
    struct cache_key key;
    enum course_end end;
    do
        end = course_take(&request->course, &requests->courses, &about, &key, &answer);
    while (end == COURSE_ASK && resolver_find(requests->resolver, about.view, &key, &answer));
    switch (end) {
    case COURSE_ASK:
    case COURSE_RESOLVE:
        request_ask_again(request, &key);
        break;
    case COURSE_REPLY:
        answer_waiting(request, &answer);
        break;
    case COURSE_DROP:
        drop_waiting(request, stat_dropped_policy);
        break;
    case COURSE_TRUNCATE:
        truncate_waiting(request);
        break;
    }
}

static bool course_is_under_way(const struct course *course)
{
    return course->redirect || course->is_looking || course->stage != DNS64_NONE;
}

static void request_take_answer(struct request *request, const struct answer *answer)
{
    if (courses_have_steps(&request->requests->courses) || course_is_under_way(&request->course))
        request_go_on(request, *answer);
    else
        answer_waiting(request, answer);
}

/* ---- room again ---- */

/* Answers from the cache, or asks again if the cache has lost the answer or never had it. */
static void answer_parked(struct request *request)
{
    struct sink *sink = request->sink;
    struct course_query about = course_query_of(request);
    struct cache_key key;
    struct answer answer;
    sink->exchange = request->exchange;
    list_remove(&request->node);
    list_append(&sink->waiting, &request->node);
    sink->parked_count--;
    course_key(&request->course, &sink->requests->courses, &about, &key);
    if (resolver_find(sink->requests->resolver, about.view, &key, &answer))
        request_take_answer(request, &answer);
    else
        request_ask_again(request, &key);
}

bool sink_unpark(struct sink *sink)
{
    bool has_answered = false;
    cache_read_begin();
    while (!list_is_empty(&sink->parked) && sink->has_room(sink)) {
        answer_parked(LIST_ITEM(list_first(&sink->parked), struct request, node));
        has_answered = true;
    }
    cache_read_end();
    return has_answered;
}

/* ---- taking ---- */

static const struct tell_how *how_of(const struct query_error *error)
{
    bool is_limit = error == &error_full || error == &error_client_full;
    return is_limit ? &tell_limited : &tell_refused;
}

/* Drops a datagram that repeats a waiting query: one answer is for both. The repeat shows that the
 * client still waits. */
static enum request_result request_join(struct sink *sink, struct request *waiting,
                                        const struct request_lookup *lookup)
{
    struct reply reply = {.query = &lookup->query};
    waiting->heard_at = loop_now(sink->requests->loop);
    STATS_INC(sink->requests->stats, dropped_repeat);
    request_tell(sink, &reply, NULL, lookup->path, &tell_limited);
    return REQUEST_DROPPED;
}

/* Drops a query because of its name. */
static enum request_result request_drop_local(struct sink *sink,
                                              const struct request_lookup *lookup)
{
    struct reply reply = {.query = &lookup->query};
    STATS_INC(sink->requests->stats, dropped_local);
    count_view_rule(sink, lookup->path);
    request_tell(sink, &reply, NULL, lookup->path, &tell_limited);
    return REQUEST_DROPPED;
}

/* A miss. The key is that of the client's question, or of the next one of its course. */
static enum request_result request_ask(struct sink *sink, const struct request_lookup *lookup,
                                       const struct cache_key *key, struct course *course)
{
    const struct query *query = &lookup->query;
    const struct udp_path *path = lookup->path;
    struct repeat **bucket = NULL;
    if (resolver_drops(sink->requests->resolver, key))
        return request_drop_local(sink, lookup);
    if (!(query->flags & HEADER_RD))
        return send_error(sink, query, &error_not_recursive, SERVER_ALLOW, path, &tell_refused);
    if (path) {
        bucket = repeats_bucket(&sink->requests->repeats, query, &lookup->key, path);
        struct repeat *waiting = repeats_find(*bucket, sink, query, path);
        if (waiting)
            return request_join(sink, CONTAINER_OF(waiting, struct request, repeat), lookup);
    }
    const struct query_error *error = request_start_waiting(sink, lookup, key, course, bucket);
    if (!error)
        return REQUEST_WAITING;
    return send_error(sink, query, error, SERVER_ALLOW, path, how_of(error));
}

/* Refreshes the entry of an answer that is due. A query without RD never causes a query to another
 * server. */
static void request_refresh(struct sink *sink, const struct request_lookup *lookup,
                            const struct cache_key *key)
{
    struct requests *requests = sink->requests;
    if ((lookup->query.flags & HEADER_RD) && !requests->is_draining)
        resolver_refresh(requests->resolver, lookup->client.view, key);
}

/* ---- steps of a query whose answers may be known ---- */

static enum request_result request_end_course(struct sink *sink,
                                              const struct request_lookup *lookup,
                                              enum course_end end, const struct answer *answer)
{
    struct reply reply = {.query = &lookup->query};
    switch (end) {
    case COURSE_DROP:
        STATS_INC(sink->requests->stats, dropped_policy);
        count_view_rule(sink, lookup->path);
        request_tell(sink, &reply, NULL, lookup->path, &tell_limited);
        return REQUEST_DROPPED;
    case COURSE_TRUNCATE:
        reply_plan_truncated(&reply, &lookup->query, &sink->rules);
        return request_send_reply(sink, &reply, lookup->path, &tell_limited);
    default:
        return request_send_answer(sink, &lookup->query, answer, lookup->path, &tell_at_hand);
    }
}

/* Finds an answer where the query may look, and refreshes it when it is due. */
static bool request_find(struct sink *sink, const struct request_lookup *lookup,
                         const struct cache_key *key, struct answer *answer)
{
    struct resolver *resolver = sink->requests->resolver;
    if (lookup->verdict == QUERY_LOCAL)
        return resolver_find_local(resolver, lookup->client.view, key, answer);
    if (!resolver_find(resolver, lookup->client.view, key, answer))
        return false;
    if (answer->is_due)
        request_refresh(sink, lookup, key);
    return true;
}

/* Takes the steps of a query. first: the answer in the cache, when nothing concerns the query
 * before it; NULL: the course begins. */
static enum request_result
request_take_steps(struct sink *sink, const struct request_lookup *lookup, struct answer *first)
{
    struct requests *requests = sink->requests;
    bool is_local = lookup->verdict == QUERY_LOCAL;
    struct course_query about = {.query = &lookup->query,
                                 .client = sink_client(sink, lookup->path),
                                 .view = lookup->client.view,
                                 .is_stream = !lookup->path,
                                 .is_local = is_local,
                                 .may_look = lookup->query.flags & HEADER_RD};
    struct course course = {.rest = POLICE_CLEAR};
    struct cache_key key;
    struct answer answer;
    enum course_end end;
    if (first) {
        answer = *first;
        end = course_take(&course, &requests->courses, &about, &key, &answer);
    } else {
        end = course_begin(&course, &requests->courses, &about, &key, &answer);
    }
    while (end == COURSE_ASK && request_find(sink, lookup, &key, &answer))
        end = course_take(&course, &requests->courses, &about, &key, &answer);
    enum request_result result = end == COURSE_ASK || end == COURSE_RESOLVE
                                     ? request_ask(sink, lookup, &key, &course)
                                     : request_end_course(sink, lookup, end, &answer);
    course_deinit(&course);
    return result;
}

/* Answers a query when policy or DNS64 is configured. Most queries meet none of it. Out of line, so
 * that a hit without both does not pay for it. */
static __attribute__((noinline)) enum request_result
request_resolve_with_steps(struct sink *sink, const struct request_lookup *lookup)
{
    struct courses *courses = &sink->requests->courses;
    const struct cache_key *key = &lookup->key;
    struct answer answer;
    if (courses_concern_query(courses, &lookup->query, sink_client(sink, lookup->path),
                              lookup->client.view, key))
        return request_take_steps(sink, lookup, NULL);
    if (!request_find(sink, lookup, key, &answer))
        return request_ask(sink, lookup, key, NULL);
    if (courses_concern_answer(courses, lookup->client.view, key, &answer))
        return request_take_steps(sink, lookup, &answer);
    return request_send_answer(sink, &lookup->query, &answer, lookup->path, &tell_at_hand);
}

/* ---- */

/* Answers a query without RD of a client that may not see the cache: from local data only. */
static enum request_result request_answer_locally(struct sink *sink,
                                                  const struct request_lookup *lookup)
{
    const struct query *query = &lookup->query;
    struct answer answer;
    if (courses_have_steps(&sink->requests->courses))
        return request_resolve_with_steps(sink, lookup);
    if (resolver_find_local(sink->requests->resolver, lookup->client.view, &lookup->key, &answer))
        return request_send_answer(sink, query, &answer, lookup->path, &tell_at_hand);
    if (resolver_drops(sink->requests->resolver, &lookup->key))
        return request_drop_local(sink, lookup);
    return send_error(sink, query, &error_not_recursive, SERVER_ALLOW, lookup->path, &tell_refused);
}

static enum request_result request_resolve(struct sink *sink, const struct request_lookup *lookup)
{
    const struct query *query = &lookup->query;
    struct answer answer;
    if (courses_have_steps(&sink->requests->courses))
        return request_resolve_with_steps(sink, lookup);
    if (!resolver_find(sink->requests->resolver, lookup->client.view, &lookup->key, &answer))
        return request_ask(sink, lookup, &lookup->key, NULL);
    enum request_result result =
        request_send_answer(sink, query, &answer, lookup->path, &tell_at_hand);
    if (answer.is_due)
        request_refresh(sink, lookup, &lookup->key);
    return result;
}

/* Answers a query that is not resolved: with the reason, or with one of the CHAOS names. */
static enum request_result answer_error(struct sink *sink, const struct request_lookup *lookup)
{
    const struct query *query = &lookup->query;
    struct chaos_space space;
    struct answer answer;
    if (lookup->error.rcode == RCODE_REFUSED &&
        chaos_answer(&answer, &space, &query->question, sink->requests->options))
        return request_send_answer(sink, query, &answer, lookup->path, &tell_at_hand);
    return send_error(sink, query, &lookup->error, lookup->client.access, lookup->path,
                      &tell_refused);
}

/* Asks the gate about a query that would get an answer. An error is as small as the reply to a
 * query that slips through, so it is sent instead. */
static void request_judge(struct sink *sink, struct request_lookup *lookup)
{
    lookup->gate = gate_judge(&sink->requests->gate, &lookup->query,
                              sink_client(sink, lookup->path), lookup->client.view, !lookup->path);
    if (lookup->gate == GATE_DROP ||
        (lookup->gate != GATE_PASS && lookup->verdict == QUERY_RESOLVE))
        lookup->verdict = QUERY_LIMITED;
}

_Static_assert(TRANSPORT_UDP == 0 && TRANSPORT_TCP == 1 && TRANSPORT_TLS == 2 &&
                   TRANSPORT_HTTPS == 3,
               "the order of the rows of questions_total");

/* Adds to the row of the type and the transport. Clients cannot create rows: all other types share
 * one.
 */
static void count_question(const struct sink *sink, uint16_t type)
{
#define ROW(type) (stat_questions_##type##_udp - stat_questions_other_udp)
    static const uint8_t rows[RRTYPE_HTTPS + 1] = {
        [RRTYPE_A] = ROW(a),        [RRTYPE_NS] = ROW(ns),         [RRTYPE_CNAME] = ROW(cname),
        [RRTYPE_SOA] = ROW(soa),    [RRTYPE_PTR] = ROW(ptr),       [RRTYPE_MX] = ROW(mx),
        [RRTYPE_TXT] = ROW(txt),    [RRTYPE_AAAA] = ROW(aaaa),     [RRTYPE_SRV] = ROW(srv),
        [RRTYPE_DS] = ROW(ds),      [RRTYPE_DNSKEY] = ROW(dnskey), [RRTYPE_SVCB] = ROW(svcb),
        [RRTYPE_HTTPS] = ROW(https)};
#undef ROW
    unsigned row = type < ARRAY_LEN(rows) ? rows[type] : 0;
    stats_add_at(sink->requests->stats, stat_questions_other_udp + row + sink->transport, 1);
}

void request_read(struct sink *sink, struct request_lookup *lookup, struct span message,
                  struct request_client client, const struct udp_path *path)
{
    struct query *query = &lookup->query;
    lookup->client = client;
    lookup->path = path;
    lookup->verdict = QUERY_DROP;
    if (lookup->client.access == SERVER_DROP)
        return;
    lookup->verdict = query_check(query, &lookup->error, message);
    if (lookup->verdict == QUERY_DROP) /* *query is not set */
        return;
    if (query->has_question)
        count_question(sink, query->question.type);
    if (lookup->verdict == QUERY_RESOLVE && !server_may_ask(lookup->client.access))
        lookup->verdict = QUERY_REFUSED;
    if (sink->requests->is_observed)
        observe_query(sink, lookup, message);
    if (gate_concerns(&sink->requests->gate, query))
        request_judge(sink, lookup);
    if (lookup->verdict != QUERY_RESOLVE) {
        lookup->message = message;
        return;
    }
    const struct resolver *resolver = sink->requests->resolver;
    resolver_key(resolver, lookup->client.view, &lookup->key, &query->question, query->dnssec_ok,
                 query->flags & HEADER_CD);
    if (!(query->flags & HEADER_RD) && lookup->client.access != SERVER_SNOOP) {
        lookup->verdict = QUERY_LOCAL;
        return;
    }
    resolver_prefetch(resolver, &lookup->key);
}

void request_prefetch(const struct sink *sink, const struct request_lookup *lookup)
{
    if (lookup->verdict == QUERY_RESOLVE)
        resolver_prefetch_entry(sink->requests->resolver, &lookup->key);
}

/* Answers a query that only asks for a cookie (RFC 7873 section 5.4). */
static enum request_result send_cookie(struct sink *sink, const struct request_lookup *lookup)
{
    const struct query *query = &lookup->query;
    struct query_error answer = {RCODE_NOERROR, EDE_NONE, ""};
    if (!query->sends_cookie) /* cookies are off */
        answer.rcode = RCODE_FORMERR;
    else if (query->cookie_len > COOKIE_CLIENT_BYTES && !query->has_valid_cookie)
        answer.rcode = RCODE_BADCOOKIE;
    return send_error(sink, query, &answer, lookup->client.access, lookup->path, &tell_refused);
}

/* Answers or drops a query above the rate limit. */
static enum request_result answer_limited(struct sink *sink, const struct request_lookup *lookup)
{
    static const struct query_error bad_cookie = {RCODE_BADCOOKIE, EDE_NONE, ""};
    struct stats *stats = sink->requests->stats;
    struct reply reply;
    if (lookup->client.view)
        STATS_INC(request_view_stats(sink->requests, lookup->client.view), limited);
    if (lookup->gate == GATE_DROP) {
        STATS_INC(stats, limited_dropped);
        reply.query = &lookup->query;
        request_tell(sink, &reply, NULL, lookup->path, &tell_limited);
        return REQUEST_DROPPED;
    }
    if (lookup->gate == GATE_BAD_COOKIE) {
        STATS_INC(stats, limited_badcookie);
        return send_error(sink, &lookup->query, &bad_cookie, lookup->client.access, lookup->path,
                          &tell_limited);
    }
    STATS_INC(stats, limited_truncated);
    reply_plan_truncated(&reply, &lookup->query, &sink->rules);
    return request_send_reply(sink, &reply, lookup->path, &tell_limited);
}

static bool is_notify(const struct request_lookup *lookup)
{
    return lookup->verdict == QUERY_ERROR &&
           (lookup->query.flags & HEADER_OPCODE_MASK) == OPCODE_NOTIFY << 11;
}

/* Gives a NOTIFY to its taker and sends the reply. Returns false when there is no taker. */
static bool request_take_notify(struct sink *sink, const struct request_lookup *lookup,
                                enum request_result *result)
{
    const struct notify_taker *taker = sink->requests->notify_taker;
    uint8_t bytes[NOTIFY_REPLY_MAX];
    if (!taker || !is_notify(lookup))
        return false;
    size_t len = taker->take(taker->owner, lookup->message, sink_client(sink, lookup->path), bytes,
                             sizeof(bytes));
    if (len == 0)
        return false;
    struct reply reply = {.query = &lookup->query, .len = len, .rcode = header_rcode(bytes)};
    uint8_t *out = sink->reserve(sink, len);
    *result = REQUEST_DROPPED;
    if (!out) {
        STATS_INC(sink->requests->stats, dropped_full);
        return true;
    }
    memcpy(out, bytes, len);
    count_reply(sink->requests->stats, reply.rcode);
    bool is_taken = reply.rcode == RCODE_NOERROR;
    request_tell(sink, &reply, out, lookup->path, is_taken ? &tell_taken : &tell_refused);
    sink->commit(sink, len, lookup->path);
    *result = is_taken ? REQUEST_ANSWERED : REQUEST_UNSOUND;
    return true;
}

static enum request_result answer_unresolved(struct sink *sink, const struct request_lookup *lookup)
{
    if (lookup->verdict == QUERY_LIMITED)
        return answer_limited(sink, lookup);
    if (lookup->client.access == SERVER_REFUSE)
        return send_error(sink, &lookup->query, &error_prohibited, lookup->client.access,
                          lookup->path, &tell_refused);
    if (lookup->verdict == QUERY_COOKIE)
        return send_cookie(sink, lookup);
    return answer_error(sink, lookup);
}

/* A refused message is not read, so its view has not counted it yet. */
static enum request_result request_drop(const struct requests *requests,
                                        const struct request_lookup *lookup)
{
    bool is_refused = lookup->client.access == SERVER_DROP;
    stats_add_at(requests->stats, is_refused ? stat_dropped_acl : stat_dropped_malformed, 1);
    if (!is_refused || !lookup->client.view)
        return REQUEST_DROPPED;
    struct view_stats *stats = request_view_stats(requests, lookup->client.view);
    STATS_INC(stats, queries);
    STATS_INC(stats, dropped);
    return REQUEST_DROPPED;
}

/* Answers or drops a query that needs no look-up. Out of line, so that others do not pay for it. */
static __attribute__((noinline)) enum request_result
request_answer_at_once(struct sink *sink, const struct request_lookup *lookup)
{
    if (lookup->verdict == QUERY_DROP)
        return request_drop(sink->requests, lookup);
    /* A primary need not be among the clients. */
    enum request_result result;
    if (request_take_notify(sink, lookup, &result))
        return result;
    return unsound(answer_unresolved(sink, lookup));
}

enum request_result request_answer(struct sink *sink, const struct request_lookup *lookup)
{
    enum request_result result;
    if (lookup->verdict == QUERY_RESOLVE)
        result = request_resolve(sink, lookup);
    else if (lookup->verdict == QUERY_LOCAL)
        result = request_answer_locally(sink, lookup);
    else
        return request_answer_at_once(sink, lookup);
    return lookup->query.has_trailing ? unsound(result) : result;
}

enum request_result request_take(struct sink *sink, struct span message,
                                 struct request_client client, const struct udp_path *path)
{
    struct request_lookup lookup;
    request_read(sink, &lookup, message, client, path);
    return request_answer(sink, &lookup);
}

/* ---- a reload ---- */

static void move_all(struct list *waiting, struct server_quota *to, struct server_quota *from)
{
    LIST_EACH(node, waiting)
    {
        struct request *request = LIST_ITEM(node, struct request, node);
        request->client = server_quota_move_waiting(to, from, request->client, &request->path.peer);
    }
}

void requests_renew(struct requests *requests, const struct server_options *options,
                    struct server_quota *quota)
{
    move_all(&requests->orphans, quota, requests->quota);
    requests->options = options;
    requests->courses.dns64 = options->dns64;
    police_set_options(&requests->courses.police, options);
    requests->quota = quota;
    gate_renew(&requests->gate, options, quota);
    stream_memory_renew(&requests->memory, quota);
    requests_observe(requests);
}

void requests_observe(struct requests *requests)
{
    requests->wishes = tell_wishes(requests->taps);
    requests->is_observed = requests->taps || requests->options->view_count > 0;
}

/* ---- sinks ---- */

void sink_init(struct sink *sink, struct requests *requests)
{
    *sink = (struct sink){.requests = requests};
    list_init(&sink->waiting);
    list_init(&sink->parked);
}

/* The resolver has let these go already. */
static void release_parked(struct sink *sink)
{
    for (struct list *node; (node = list_first(&sink->parked));)
        request_release(LIST_ITEM(node, struct request, node));
    sink->parked_count = 0;
}

void sink_abandon(struct sink *sink)
{
    release_parked(sink);
    for (struct list *node; (node = list_first(&sink->waiting));)
        abandon(LIST_ITEM(node, struct request, node));
}

void sink_orphan(struct sink *sink)
{
    release_parked(sink);
    for (struct list *node; (node = list_take_first(&sink->waiting));) {
        struct request *request = LIST_ITEM(node, struct request, node);
        request->sink = NULL;
        uncount_waiting(sink->requests, request);
        list_append(&sink->requests->orphans, node);
    }
    sink->waiting_count = 0;
}

void sink_move(struct sink *sink, struct server_quota *quota)
{
    move_all(&sink->waiting, quota, sink->requests->quota);
}

size_t sink_parked_bytes(const struct sink *sink)
{
    return sink->parked_count * sizeof(struct request);
}
