/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_REQUEST_INSIDE_H
#define NAILUP_SERVE_REQUEST_INSIDE_H

/* Private to request.c, which has queries wait, request_pool.c, which keeps those that do, and
 * repeats.c, which finds them by their datagrams. */

#include "base/list.h"
#include "net/udp_server.h"
#include "resolve/waiter.h"
#include "serve/query.h"

struct requests;
struct sink;

/* A request's place in a bucket of repeats.h. */
struct repeats_link {
    struct request *next;
    struct request **at; /* what points to this request; NULL: it is in no bucket */
};

struct request {
    struct waiter waiter;
    struct list node; /* of the sink's waiting, of the orphans, or of the spares */
    struct requests *requests;
    struct sink *sink; /* NULL: its client has left */
    uint64_t client;   /* as the quota knows it */
    struct query query;
    uint64_t asked_at;
    uint64_t heard_at; /* when its datagram came last */
    struct repeats_link link;
    bool has_place; /* of the quota; false: it is parked */
    bool is_stream; /* of path only the peer is set */
    bool is_new;    /* it began to wait while draining */
    struct udp_path path;
    uint8_t name[NAME_WIRE_MAX]; /* as the client spelled it */
};

/* Not filled; NULL: out of memory. */
struct request *request_new(struct requests *requests);

/* The request gives its place of the quota back, if it has one. */
void request_give_place(struct request *request);

/* It waits no more, and the resolver has let the waiter go: gives back its place of the quota and
 * the request itself. */
void request_release(struct request *request);

#endif
