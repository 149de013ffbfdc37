/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_REQUEST_H
#define NAILUP_SERVE_REQUEST_H

/*
 * What a client asked, from its message to its answer. Most are answered within the call that
 * brought them, from the cache; the others become a struct request that waits for the resolver.
 *
 *   struct requests   a worker's: what its requests need, its free ones, how many wait
 *   struct sink       where answers go: one of a UDP socket, one of each stream session
 *   struct request    one query that waits; owned by its sink
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
#include "serve/gate.h"
#include "serve/query.h"
#include "serve/repeats.h"
#include "serve/reply.h"
#include "serve/server_options.h"
#include "serve/stream_memory.h"

struct loop;
struct request;
struct resolver;
struct server_quota;
struct stats;
struct tap;

enum {
    REQUEST_SPARES_MAX = 4096, /* free requests that a worker keeps for the next ones */
    /* Queries of one client that may wait before server.discard-timeout concerns them: more than a
     * household asks at once, and small answers to so many are no flood. */
    REQUEST_DISCARD_ABOVE = BURST_WAITING,
    /* The oldest waiting queries that are looked at when a new one finds no place. */
    REQUEST_DISPLACE_LOOKS = 64,
};

struct requests {
    struct loop *loop;
    const struct server_options *options;
    struct resolver *resolver;
    struct server_quota *quota;
    struct stats *stats;
    struct tap *taps; /* NULL: nobody watches */
    struct gate gate;
    struct stream_memory memory; /* of the sessions */
    /* Draining waits for requests from before the stop, not for new ones. */
    bool is_draining;
    size_t waiting_count; /* requests with a client */
    size_t begun_count;   /* of these, when draining: from before the stop */
    void (*on_begun_answered)(struct requests *requests); /* begun_count became 0 */
    struct list orphans; /* struct request whose clients have left */
    struct list spares;
    size_t spare_count;
    struct repeats repeats; /* what waits over UDP, by datagram */
    struct bursts bursts;
};

/* The members are the server's to set between these two; everything is borrowed. */
void requests_init(struct requests *requests);
/* Orphans leave the resolver; no other request may be waiting (MUST). */
void requests_deinit(struct requests *requests);

/* From now on these options and this quota; nothing refers to those before. After sink_move() of
 * every sink. */
void requests_renew(struct requests *requests, const struct server_options *options,
                    struct server_quota *quota);

/* Counts the waiting requests as begun. From now on nothing is refreshed. */
void requests_drain(struct requests *requests);

struct sink {
    struct requests *requests;
    struct reply_rules rules;
    const struct addr *client; /* of a stream; NULL: each query's path says it */
    /* Room for a reply of len bytes, or NULL: then it is dropped. */
    uint8_t *(*reserve)(struct sink *sink, size_t len);
    /* len bytes of the room are to be sent. path is that of the query, NULL on streams. */
    void (*commit)(struct sink *sink, size_t len, const struct udp_path *path);
    /* A query that waited has its answer, or it found no room; the sink may be freed. */
    void (*on_answered)(struct sink *sink);
    /* An answer of any size finds room. NULL: it may be dropped. Without room, the answer to a
     * query that waited is left in the cache, and the query is parked until sink_unpark(). */
    bool (*has_room)(struct sink *sink);
    struct list waiting;  /* struct request */
    struct list parked;   /* likewise; they hold no place of the quota */
    size_t waiting_count; /* of both lists */
    size_t parked_count;
    /* For who watches: how clients come, and the address they reached where paths do not say it. */
    enum transport transport;
    const struct addr *(*local)(const struct sink *sink);
};

/* Who sent a query that came by this path. */
static inline const struct addr *sink_client(const struct sink *sink, const struct udp_path *path)
{
    return path ? &path->peer : sink->client;
}

/* Sets the lists; the other members are the owner's to set. */
void sink_init(struct sink *sink, struct requests *requests);

/* There may be room now: answers parked queries while there is. True: it has answered some. */
bool sink_unpark(struct sink *sink);

/* The memory of parked queries, which no place of the quota bounds. */
size_t sink_parked_bytes(const struct sink *sink);

/* The server ends: what waits leaves the resolver, without an answer. */
void sink_abandon(struct sink *sink);

/* The client is gone: what waits becomes an orphan. The resolver works on it all the same, so it
 * keeps its places of the quota until it is answered; or who asks and leaves, again and again,
 * could take all of the resolver. */
void sink_orphan(struct sink *sink);

/* What waits takes its places from this quota, and gives them back to the one it had. */
void sink_move(struct sink *sink, struct server_quota *quota);

enum request_result {
    REQUEST_ANSWERED, /* from the cache or local data */
    REQUEST_WAITING,  /* the sink's commit() and on_answered() come later */
    REQUEST_UNSOUND,  /* its answer is an error, or bytes follow its last record; may wait too */
    REQUEST_DROPPED,  /* no answer will come */
};

/* Only such a query shows that a stream is in use: garbage must not keep a connection open. */
static inline bool request_is_use(enum request_result result)
{
    return result == REQUEST_ANSWERED || result == REQUEST_WAITING;
}

/*
 * One message of a client: answered into the sink, kept waiting, or dropped. access is what the
 * access list says of the client; SERVER_DROP drops. path is copied when it is needed later; NULL
 * on streams. Called inside a read section of the cache.
 */
enum request_result request_take(struct sink *sink, struct span message, enum server_access access,
                                 const struct udp_path *path);

/* A message that has been read and is not answered yet; borrows message and path. */
struct request_lookup {
    enum server_access access;
    enum query_verdict verdict;
    enum gate_verdict gate; /* with QUERY_CUT */
    const struct udp_path *path;
    struct query query;
    struct query_error error;
    struct cache_key key; /* with QUERY_RESOLVE */
};

/*
 * The steps of request_take(), for who has several messages at once: step by step for all of them
 * the memory that one needs is on its way while the others are looked at, where one after the other
 * each would wait for its own.
 */
void request_read(struct sink *sink, struct request_lookup *lookup, struct span message,
                  enum server_access access, const struct udp_path *path);
void request_prefetch(const struct sink *sink, const struct request_lookup *lookup);
enum request_result request_answer(struct sink *sink, const struct request_lookup *lookup);

#endif
