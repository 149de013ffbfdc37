/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * The requests that wait and those that are free: who holds them, and what they hold of the quota.
 * How one begins to wait and is answered is request.c's.
 * Invariant: each request that waits holds one place of the quota, stands in its sink's list or
 * among the orphans and has its waiter at the resolver, from the beginning to request_release().
 */
#include "serve/request.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "resolve/resolver.h"
#include "serve/request_inside.h"
#include "serve/server_quota.h"

void requests_init(struct requests *requests)
{
    memset(requests, 0, sizeof(*requests));
    list_init(&requests->spares);
    list_init(&requests->orphans);
}

struct request *request_new(struct requests *requests)
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

/* Its client no longer waits: it has the answer, or it has left. */
static void request_pool_leave_count(struct requests *requests, const struct request *request)
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

void request_give_place(struct request *request)
{
    if (request->has_place)
        server_quota_give_waiting(request->requests->quota, request->client);
    request->has_place = false;
}

void request_release(struct request *request)
{
    list_remove(&request->node);
    repeats_remove(request);
    if (request->sink) {
        request->sink->waiting_count--;
        request_pool_leave_count(request->requests, request);
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
    requests->quota = quota;
    gate_renew(&requests->gate, options, quota);
    stream_memory_renew(&requests->memory, quota);
}

/* ---- sinks ---- */

void sink_init(struct sink *sink, struct requests *requests)
{
    *sink = (struct sink){.requests = requests};
    list_init(&sink->waiting);
    list_init(&sink->parked);
}

/* The resolver has answered these already. */
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
        request_pool_leave_count(sink->requests, request);
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
