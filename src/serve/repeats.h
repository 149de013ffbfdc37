/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_REPEATS_H
#define NAILUP_SERVE_REPEATS_H

/*
 * Finds the waiting query that a datagram repeats. Such a datagram needs no separate answer: a
 * client that sends a query again gets the answer to the first one. An attacker cannot pile up
 * copies of one query and have all of them answered at once (DNSBomb, CVE-2024-33655).
 *
 * One per worker is enough: the kernel gives all datagrams of a client's address and port to one
 * worker. One thread.
 *
 * A chained hash table of fixed size, under the secret seed of the cache. server.max-waiting bounds
 * its entries.
 */

#include "net/udp_server.h"
#include "serve/query.h"

struct cache_key;
struct sink;

enum { REPEATS_BUCKETS = 1 << 14 }; /* a power of two, above the default of max-waiting */

/* Embedded by a waiting query. The pointers are borrowed and set by its owner. */
struct repeat {
    const struct query *query;
    const struct udp_path *path;
    const struct sink *sink;
    struct repeat *next;
    struct repeat **at; /* the pointer that leads here; NULL: not in the table */
};

struct repeats {
    struct repeat *buckets[REPEATS_BUCKETS];
};

/* The bucket of a query, for repeats_find() and repeats_add(). key is the key of its question, with
 * its hash. */
struct repeat **repeats_bucket(struct repeats *repeats, const struct query *query,
                               const struct cache_key *key, const struct udp_path *path);

/* The waiting query whose answer is also the answer to this one, or NULL. Both have the same client
 * address and port, local address, id, question (compared with case), and everything else that
 * shapes an answer. first is the first entry of the bucket. */
struct repeat *repeats_find(struct repeat *first, const struct sink *sink,
                            const struct query *query, const struct udp_path *path);

void repeats_add(struct repeat **bucket, struct repeat *repeat);

/* Does nothing when the entry is not in the table. */
void repeats_remove(struct repeat *repeat);

#endif
