/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Finds the waiting query that a datagram repeats. request.c decides what becomes of the repeat.
 * Invariant: a request in the table waits, and its link.at points to the one pointer that leads to
 * it, so that it leaves the table without a search.
 */
#include "serve/repeats.h"

#include <stdbool.h>
#include <string.h>

#include "base/hash.h"
#include "cache/key.h"
#include "serve/request_inside.h"

/* The hash of the key has a secret seed, so clients cannot choose a bucket. */
static uint64_t hash_of(const struct query *query, const struct cache_key *key,
                        const struct udp_path *path)
{
    const struct addr *peer = &path->peer;
    if (addr_family(peer) != AF_INET)
        return addr_hash(peer, key->hash ^ query->id);
    uint64_t sender = (uint64_t)peer->in.sin_addr.s_addr << 16 | addr_port(peer);
    return hash_word(sender << 16 | query->id, key->hash);
}

struct request **repeats_bucket(struct repeats *repeats, const struct query *query,
                                const struct cache_key *key, const struct udp_path *path)
{
    return &repeats->buckets[hash_of(query, key, path) & (REPEATS_BUCKETS - 1)];
}

static bool is_same_path(const struct udp_path *a, const struct udp_path *b)
{
    return addr_equal(&a->peer, &b->peer) && addr_family(&a->local) == addr_family(&b->local) &&
           (addr_family(&a->local) == 0 || addr_equal(&a->local, &b->local));
}

static bool is_same_edns(const struct query *a, const struct query *b)
{
    return a->has_edns == b->has_edns && a->udp_size == b->udp_size &&
           a->dnssec_ok == b->dnssec_ok && a->has_padding == b->has_padding;
}

static bool is_same_cookie(const struct query *a, const struct query *b)
{
    if (a->sends_cookie != b->sends_cookie || a->has_valid_cookie != b->has_valid_cookie)
        return false;
    return !a->sends_cookie || memcmp(a->cookie, b->cookie, COOKIE_CLIENT_BYTES) == 0;
}

static bool is_same_question(const struct query *a, const struct query *b)
{
    return a->id == b->id && a->flags == b->flags && a->question.type == b->question.type &&
           a->question.cls == b->question.cls && name_equal(a->question.name, b->question.name);
}

struct request *repeats_find(struct request *first, const struct sink *sink,
                             const struct query *query, const struct udp_path *path)
{
    for (struct request *request = first; request; request = request->link.next) {
        const struct query *waiting = &request->query;
        if (request->sink == sink && is_same_question(waiting, query) &&
            is_same_path(&request->path, path) && is_same_edns(waiting, query) &&
            is_same_cookie(waiting, query))
            return request;
    }
    return NULL;
}

void repeats_add(struct request **bucket, struct request *request)
{
    request->link.next = *bucket;
    request->link.at = bucket;
    if (*bucket)
        (*bucket)->link.at = &request->link.next;
    *bucket = request;
}

void repeats_remove(struct request *request)
{
    struct repeats_link *link = &request->link;
    if (!link->at)
        return;
    *link->at = link->next;
    if (link->next)
        link->next->link.at = link->at;
    link->at = NULL;
}
