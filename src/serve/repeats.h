/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_REPEATS_H
#define NAILUP_SERVE_REPEATS_H

/*
 * The waiting queries that came over UDP, found by their datagram: a datagram that repeats one of
 * them needs no answer of its own. A client that sends a query again gets the answer to the first,
 * and an attacker cannot make copies of one query pile up and be answered all at once (DNSBomb,
 * CVE-2024-33655). One per worker, which suffices: the kernel gives all datagrams of a client's
 * address and port to one worker. One thread.
 *
 * A chained hash table of a fixed size under the secret seed of the cache. server.max-waiting
 * bounds what is in it.
 */

#include "net/udp_server.h"
#include "serve/query.h"

struct cache_key;
struct request;
struct sink;

enum { REPEATS_BUCKETS = 1 << 14 }; /* a power of two; more than max-waiting has by default */

struct repeats {
    struct request *buckets[REPEATS_BUCKETS];
};

/* The bucket of a query, for repeats_find() and repeats_add(). key is the key of the question, with
 * its hash. */
struct request **repeats_bucket(struct repeats *repeats, const struct query *query,
                                const struct cache_key *key, const struct udp_path *path);

/* The request whose answer is the answer to this query too, or NULL. Client address and port,
 * our address, id, question and everything else that shapes an answer are the same; upper and
 * lower case may differ. first is the first request of the bucket. */
struct request *repeats_find(struct request *first, const struct sink *sink,
                             const struct query *query, const struct udp_path *path);

void repeats_add(struct request **bucket, struct request *request);

/* Nothing happens to a request that is not in the table. */
void repeats_remove(struct request *request);

#endif
