/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * The table of repeats.h. request.c decides about a repeat. Invariant: repeat->at points to the one
 * pointer that leads to the entry, so an entry leaves the table without a search.
 */
#include "serve/repeats.h"

#include <stdbool.h>
#include <string.h>

#include "base/hash.h"
#include "cache/key.h"

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

struct repeat **repeats_bucket(struct repeats *repeats, const struct query *query,
                               const struct cache_key *key, const struct udp_path *path)
{
    return &repeats->buckets[hash_of(query, key, path) & (REPEATS_BUCKETS - 1)];
}

static bool is_same_path(const struct udp_path *a, const struct udp_path *b)
{
    return addr_equal(&a->peer, &b->peer) &&
           addr_equal(udp_path_receiver(a), udp_path_receiver(b)) &&
           addr_family(&a->local) == addr_family(&b->local) &&
           (addr_family(&a->local) == 0 || addr_equal(&a->local, &b->local));
}

static bool is_same_edns(const struct query *a, const struct query *b)
{
    return a->has_edns == b->has_edns && a->udp_size == b->udp_size &&
           a->dnssec_ok == b->dnssec_ok && a->has_padding == b->has_padding &&
           a->has_nsid == b->has_nsid;
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
           a->question.cls == b->question.cls &&
           name_equal_exact(a->question.name, b->question.name);
}

struct repeat *repeats_find(struct repeat *first, const struct sink *sink,
                            const struct query *query, const struct udp_path *path)
{
    for (struct repeat *repeat = first; repeat; repeat = repeat->next) {
        if (repeat->sink == sink && is_same_question(repeat->query, query) &&
            is_same_path(repeat->path, path) && is_same_edns(repeat->query, query) &&
            is_same_cookie(repeat->query, query))
            return repeat;
    }
    return NULL;
}

void repeats_add(struct repeat **bucket, struct repeat *repeat)
{
    repeat->next = *bucket;
    repeat->at = bucket;
    if (*bucket)
        (*bucket)->at = &repeat->next;
    *bucket = repeat;
}

void repeats_remove(struct repeat *repeat)
{
    if (!repeat->at)
        return;
    *repeat->at = repeat->next;
    if (repeat->next)
        repeat->next->at = repeat->at;
    repeat->at = NULL;
}
