/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_REQUEST_H
#define NAILUP_SERVE_REQUEST_H

/*
 * A client's query, from its message to its answer. The cache answers most queries within the call
 * that brings them. The others become a struct request that waits for the resolver.
 *
 *   struct requests   what all requests of a worker share, with its free ones
 *   struct sink       takes the answers; a UDP socket has one, and each stream session has one
 *   struct request    one query that waits; its sink owns it
 *
 * One thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/span.h"
#include "base/tap.h"
#include "cache/key.h"
#include "net/udp_server.h"
#include "serve/burst.h"
#include "serve/course.h"
#include "serve/gate.h"
#include "serve/query.h"
#include "serve/repeats.h"
#include "serve/notify_taker.h"
#include "serve/reply.h"
#include "serve/server_options.h"
#include "serve/stream_memory.h"
#include "serve/tell.h"
#include "serve/view_choice.h"

struct loop;
struct request;
struct resolver;
struct server_quota;
struct stats;
struct tap;

enum {
    REQUEST_SPARES_MAX = 4096, /* free requests that a worker keeps */
    /* server.discard-timeout applies above this many waiting queries of one client. A household
     * asks fewer at once, and this many answers are not a flood. */
    REQUEST_DISCARD_ABOVE = BURST_WAITING,
    /* A new query that finds no place looks at this many of the oldest waiting ones. */
    REQUEST_DISPLACE_LOOKS = 64,
};

struct requests {
    struct loop *loop;
    const struct server_options *options;
    struct resolver *resolver;
    struct server_quota *quota;
    struct stats *stats;
    struct tap *taps;          /* NULL: none */
    struct tell_wishes wishes; /* of the taps */
    bool is_observed;          /* there are taps, or views with counters: requests_observe() */
    const struct notify_taker *notify_taker; /* NULL: NOTIFY gets NOTIMP */
    struct gate gate;
    struct courses courses;
    struct stream_memory memory;
    bool is_draining;
    size_t waiting_count; /* requests with a client */
    size_t begun_count;   /* the requests from before the drain: the drain waits only for them */
    void (*on_begun_answered)(struct requests *requests); /* begun_count became 0 */
    struct list orphans; /* struct request whose clients have left */
    struct list spares;
    size_t spare_count;
    struct repeats repeats; /* the queries that wait over UDP */
    struct bursts bursts;
};

/* The server sets the members after this call; everything is borrowed. */
void requests_init(struct requests *requests);
/* Orphans leave the resolver; no other request may be waiting (MUST). */
void requests_deinit(struct requests *requests);

/* Switches to these options and this quota; nothing refers to the old ones afterwards. Follows
 * sink_move() of every sink. */
void requests_renew(struct requests *requests, const struct server_options *options,
                    struct server_quota *quota);

/* Follows a change of the taps or the options. */
void requests_observe(struct requests *requests);

/* Begins to drain: counts the waiting requests as begun, and starts no more refreshes. */
void requests_drain(struct requests *requests);

struct sink {
    struct requests *requests;
    struct reply_rules rules;
    const struct prefix_set *views; /* of its listener: view_choice.h */
    const struct addr *client;      /* of a stream; NULL: the path of each query has it */
    /* Returns room for a reply of len bytes, or NULL: the reply is dropped. */
    uint8_t *(*reserve)(struct sink *sink, size_t len);
    /* Sends len bytes of the room. path is that of the query, NULL on streams. */
    void (*commit)(struct sink *sink, size_t len, const struct udp_path *path);
    /* A query that waited has its answer, or there was no room for it. May free the sink. */
    void (*on_answered)(struct sink *sink);
    /* Whether there is room for an answer of any size. If not, the query that waited is parked
     * until sink_unpark(), and the cache keeps its answer. NULL: an answer without room is dropped.
     */
    bool (*has_room)(struct sink *sink);
    /* A query that waited gets no answer. NULL: nothing follows from that. */
    void (*on_dropped)(struct sink *sink);
    /* Names the query of the message that is taken now, or of the reply that leaves now, where
     * replies may need more than the id to find their query: the owner sets it before
     * request_take(), and finds it in reserve(), commit() and on_dropped(). */
    uint32_t exchange;
    struct list waiting;  /* struct request */
    struct list parked;   /* struct request; these hold no place of the quota */
    size_t waiting_count; /* of both lists */
    size_t parked_count;
    /* For taps: the transport, and the local address for queries whose path does not have it. */
    enum transport transport;
    const struct addr *(*local)(const struct sink *sink);
};

/* The client that sent a query by this path. */
static inline const struct addr *sink_client(const struct sink *sink, const struct udp_path *path)
{
    return path ? &path->peer : sink->client;
}

/* Initialises the lists; the owner sets the other members. */
void sink_init(struct sink *sink, struct requests *requests);

/* Answers parked queries while there is room. Returns whether it answered any. */
bool sink_unpark(struct sink *sink);

/* The memory of parked queries, which no place of the quota bounds. */
size_t sink_parked_bytes(const struct sink *sink);

/* The server ends: waiting queries leave the resolver without an answer. */
void sink_abandon(struct sink *sink);

/* The client has left: its waiting queries become orphans. The resolver still works on them, so
 * they keep their places of the quota until they are answered. Otherwise a client that asks and
 * leaves again and again could take all of the resolver. */
void sink_orphan(struct sink *sink);

/* Moves the places of the waiting queries to this quota. */
void sink_move(struct sink *sink, struct server_quota *quota);

enum request_result {
    REQUEST_ANSWERED, /* from the cache or local data */
    REQUEST_WAITING,  /* the sink's commit() and on_answered() come later */
    REQUEST_UNSOUND,  /* answered with an error, or the query had bytes after its last record; the
                         answer may also come later */
    REQUEST_DROPPED,  /* gets no answer */
};

/* Whether the query shows that its stream is in use. Garbage must not keep a connection open. */
static inline bool request_is_use(enum request_result result)
{
    return result == REQUEST_ANSWERED || result == REQUEST_WAITING;
}

/* The client, as the configuration sees it. */
struct request_client {
    unsigned view;
    enum server_access access;
};

static inline struct request_client request_client_of(const struct sink *sink,
                                                      const struct addr *client)
{
    unsigned view = view_choice_find(sink->views, client);
    return (struct request_client){view, view_choice_access(sink->requests->options, view, client)};
}

/*
 * Answers one message of a client into the sink, keeps it waiting, or drops it. client says what
 * the client may do; SERVER_DROP drops. path is copied when it is needed
 * later; it is NULL on streams. Called inside a read section of the cache.
 */
enum request_result request_take(struct sink *sink, struct span message,
                                 struct request_client client, const struct udp_path *path);

/* A message that has been read and is not answered yet; borrows message and path. */
struct request_lookup {
    struct request_client client;
    enum query_verdict verdict;
    enum gate_verdict gate; /* with QUERY_LIMITED */
    const struct udp_path *path;
    struct span message; /* the whole, unless the query is resolved */
    struct query query;
    struct query_error error;
    struct cache_key key; /* with QUERY_RESOLVE and QUERY_LOCAL */
};

/*
 * The steps of request_take(), for a caller with several messages. It takes each step for all
 * messages before the next step, so the memory that one message needs arrives while the caller
 * works on the others.
 */
void request_read(struct sink *sink, struct request_lookup *lookup, struct span message,
                  struct request_client client, const struct udp_path *path);
void request_prefetch(const struct sink *sink, const struct request_lookup *lookup);
enum request_result request_answer(struct sink *sink, const struct request_lookup *lookup);

#endif
