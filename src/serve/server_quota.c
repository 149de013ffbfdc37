/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Counts what all workers take together. Waiting queries come by the hundred thousand a second: an
 * atomic for all, and two for each client, found by its hash in an array of a fixed size: the
 * smaller of the two is never less than what the client has. Connections come far less often and
 * are counted per address: a table behind one mutex, never longer than max_clients, since a client
 * stands in it only while it has a connection. Invariant: a count is never above its bound, and a
 * client without connections has no place.
 */
#include "serve/server_quota.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/rand.h"
#include "serve/client_prefix.h"
#include "serve/rate_limit.h"

enum {
    PLACE_NONE = UINT32_MAX,
    BUCKETS_MIN = 16,
    COUNTERS_PER_PLACE = 8, /* of waiting queries: most are zero even when all places are taken */
};

/* One client with connections, in the chain of its bucket or in that of free places. */
struct place {
    struct addr addr;
    uint32_t next;
    uint32_t count;
};

struct server_quota {
    /* Immutable. */
    uint32_t max_waiting, max_waiting_per_client, max_clients, max_clients_per_address;
    struct client_masks masks;
    uint32_t counter_mask;
    uint64_t seed;                 /* clients choose their addresses */
    struct rate_limit *rate_limit; /* NULL: none */
    _Atomic uint32_t *counters;    /* of clients' waiting queries */
    _Alignas(64) atomic_uint_fast32_t waiting;
    _Alignas(64) pthread_mutex_t mutex; /* of everything below */
    uint32_t clients;
    uint32_t free_place;
    uint32_t unused_place; /* places from here on were never used: their memory is untouched */
    uint32_t bucket_mask;
    uint32_t *buckets;
    struct place *places;
};

static uint32_t bucket_count(uint64_t places)
{
    uint32_t count = BUCKETS_MIN;
    while (count < places && count < UINT32_C(1) << 31)
        count *= 2;
    return count;
}

/* False: out of memory. */
static bool limit_rate(struct server_quota *quota, const struct server_options *options)
{
    if (options->rate_limit_qps == 0)
        return true;
    quota->rate_limit = rate_limit_new(options->rate_limit_qps, options->rate_limit_clients);
    return quota->rate_limit;
}

struct server_quota *server_quota_new(const struct server_options *options)
{
    struct server_quota *quota = aligned_alloc(64, sizeof(*quota));
    if (!quota)
        return NULL;
    uint32_t buckets = bucket_count(options->max_clients);
    uint32_t counters = bucket_count((uint64_t)options->max_waiting * COUNTERS_PER_PLACE);
    *quota = (struct server_quota){
        .max_waiting = options->max_waiting,
        .max_waiting_per_client = options->max_waiting_per_client,
        .masks = client_masks_of(options->client_prefix_v4, options->client_prefix_v6),
        .counter_mask = counters - 1,
        .counters = calloc(counters, sizeof(*quota->counters)),
        .max_clients = options->max_clients,
        .max_clients_per_address = options->max_clients_per_address,
        .free_place = PLACE_NONE,
        .bucket_mask = buckets - 1,
        .seed = rand_u64(),
        .buckets = malloc(buckets * sizeof(*quota->buckets)),
        .places = calloc((size_t)options->max_clients + 1, sizeof(*quota->places)),
    };
    MUST(pthread_mutex_init(&quota->mutex, NULL) == 0);
    if (!quota->buckets || !quota->places || !quota->counters || !limit_rate(quota, options)) {
        server_quota_free(quota);
        return NULL;
    }
    for (uint32_t i = 0; i < buckets; i++)
        quota->buckets[i] = PLACE_NONE;
    return quota;
}

void server_quota_free(struct server_quota *quota)
{
    if (!quota)
        return;
    pthread_mutex_destroy(&quota->mutex);
    rate_limit_free(quota->rate_limit);
    free((void *)quota->counters);
    free(quota->buckets);
    free(quota->places);
    free(quota);
}

struct rate_limit *server_quota_rate_limit(const struct server_quota *quota)
{
    return quota->rate_limit;
}

uint64_t server_quota_client(const struct server_quota *quota, const struct addr *client)
{
    return client_hash(&quota->masks, client, quota->seed);
}

/* ---- waiting queries ---- */

static _Atomic uint32_t *first_counter(struct server_quota *quota, uint64_t client)
{
    return &quota->counters[client & quota->counter_mask];
}

/* Another one, or the client would be counted twice in the first. */
static _Atomic uint32_t *second_counter(struct server_quota *quota, uint64_t client)
{
    uint64_t at = client >> 32 & quota->counter_mask;
    return &quota->counters[at ^ (at == (client & quota->counter_mask))];
}

static uint32_t count_up(_Atomic uint32_t *counter)
{
    return atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

static void count_down(_Atomic uint32_t *counter)
{
    atomic_fetch_sub_explicit(counter, 1, memory_order_relaxed);
}

enum server_quota_result server_quota_take_waiting(struct server_quota *quota, uint64_t client)
{
    if (atomic_fetch_add_explicit(&quota->waiting, 1, memory_order_relaxed) >= quota->max_waiting) {
        atomic_fetch_sub_explicit(&quota->waiting, 1, memory_order_relaxed);
        return QUOTA_FULL;
    }
    uint32_t first = count_up(first_counter(quota, client));
    uint32_t second = count_up(second_counter(quota, client));
    if (MIN(first, second) < quota->max_waiting_per_client)
        return QUOTA_TAKEN;
    server_quota_give_waiting(quota, client);
    return QUOTA_CLIENT_FULL;
}

void server_quota_give_waiting(struct server_quota *quota, uint64_t client)
{
    count_down(first_counter(quota, client));
    count_down(second_counter(quota, client));
    atomic_fetch_sub_explicit(&quota->waiting, 1, memory_order_relaxed);
}

uint32_t server_quota_waiting(const struct server_quota *quota)
{
    return (uint32_t)atomic_load_explicit(&quota->waiting, memory_order_relaxed);
}

/* ---- connections; the mutex is held in all static functions ---- */

/* The link that holds the prefix's place, or the one at the end of its chain. */
static uint32_t *find_link(struct server_quota *quota, const struct addr *addr)
{
    uint32_t *link = &quota->buckets[addr_hash_ip(addr, quota->seed) & quota->bucket_mask];
    while (*link != PLACE_NONE && !addr_equal_ip(&quota->places[*link].addr, addr))
        link = &quota->places[*link].next;
    return link;
}

/* A place with no connection yet; there is one as long as a client may be taken. */
static uint32_t new_place(struct server_quota *quota, const struct addr *addr)
{
    uint32_t at = quota->free_place;
    if (at != PLACE_NONE)
        quota->free_place = quota->places[at].next;
    else
        at = quota->unused_place++;
    MUST(at < quota->max_clients);
    quota->places[at] = (struct place){.addr = *addr, .next = PLACE_NONE};
    return at;
}

static bool take_client(struct server_quota *quota, const struct addr *client)
{
    if (quota->clients >= quota->max_clients || quota->max_clients_per_address == 0)
        return false;
    uint32_t *link = find_link(quota, client);
    if (*link == PLACE_NONE)
        *link = new_place(quota, client);
    struct place *place = &quota->places[*link];
    if (place->count >= quota->max_clients_per_address)
        return false;
    place->count++;
    quota->clients++;
    return true;
}

static void give_client(struct server_quota *quota, const struct addr *client)
{
    uint32_t *link = find_link(quota, client);
    MUST(*link != PLACE_NONE && quota->clients > 0);
    quota->clients--;
    uint32_t at = *link;
    struct place *place = &quota->places[at];
    if (--place->count > 0)
        return;
    *link = place->next;
    place->next = quota->free_place;
    quota->free_place = at;
}

bool server_quota_take_client(struct server_quota *quota, const struct addr *client)
{
    struct addr prefix = client_prefix(&quota->masks, client);
    pthread_mutex_lock(&quota->mutex);
    bool taken = take_client(quota, &prefix);
    pthread_mutex_unlock(&quota->mutex);
    return taken;
}

void server_quota_give_client(struct server_quota *quota, const struct addr *client)
{
    struct addr prefix = client_prefix(&quota->masks, client);
    pthread_mutex_lock(&quota->mutex);
    give_client(quota, &prefix);
    pthread_mutex_unlock(&quota->mutex);
}

uint32_t server_quota_clients(struct server_quota *quota)
{
    pthread_mutex_lock(&quota->mutex);
    uint32_t clients = quota->clients;
    pthread_mutex_unlock(&quota->mutex);
    return clients;
}
