/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Counts the places of all workers. Waiting queries come by the hundred thousand a second: one
 * atomic counts all, and two counters count each client. A client's hash finds its counters in an
 * array of fixed size, and the smaller one is never less than the client's count. Connections come
 * far less often. A table behind one mutex counts them by client prefix; a client is in it only
 * while it has a connection, so max_clients (of this quota or the one before) and the few refused
 * clients bound it.
 *
 * Invariant: nothing is taken above its bound, except by connections that move here. A client
 * without connections has no place.
 */
#include "serve/server_quota.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/rand.h"
#include "serve/client_prefix.h"
#include "serve/rate_limit.h"
#include "serve/view_choice.h"
#include "serve/view_rows.h"

enum {
    PLACE_NONE = UINT32_MAX,
    PLACE_KINDS = PLACE_PROXY + 1,
    BUCKETS_MIN = 16,
    COUNTERS_PER_PLACE = 8, /* of waiting queries: most are zero even when all places are taken */
};

/* One client with connections of one kind, in the chain of its bucket or in that of free places. */
struct place {
    struct addr addr;
    enum place_kind kind;
    uint32_t next;
    uint32_t count;
};

/* Connections of the process and the bytes that they hold. Quotas that follow each other share
 * them: while workers move from one quota to the next, each quota sees only a part. */
struct client_count {
    unsigned quotas; /* that share it; one thread makes and frees quotas */
    atomic_uint_fast32_t files_max[PLACE_KINDS];
    _Alignas(64) atomic_uint_fast32_t taken[PLACE_KINDS];
    _Alignas(64) atomic_size_t memory;
    atomic_size_t weights[SERVER_QUOTA_WEIGHTS];
    atomic_uint_least64_t trimmed_at;
};

struct server_quota {
    /* Immutable. */
    uint32_t max_waiting, max_waiting_per_client;
    uint32_t max_clients[PLACE_KINDS], max_each[PLACE_KINDS];
    size_t max_memory;
    struct client_masks masks;
    uint32_t counter_mask;
    uint64_t seed;                   /* clients choose their addresses */
    struct rate_limit **rate_limits; /* by view, of rate_limit_count; NULL: none */
    size_t rate_limit_count;
    struct view_rows *view_rows;
    _Atomic uint32_t *counters; /* of clients' waiting queries */
    struct client_count *all;
    _Alignas(64) atomic_uint_fast32_t waiting;
    _Alignas(64) pthread_mutex_t mutex; /* of everything below */
    uint32_t clients;
    uint32_t free_place;
    uint32_t unused_place; /* places from here on were never used: their memory is untouched */
    uint32_t bucket_mask;
    uint32_t *buckets;
    uint32_t place_count; /* immutable */
    struct place *places;
};

static uint32_t bucket_count(uint64_t places)
{
    uint32_t count = BUCKETS_MIN;
    while (count < places && count < UINT32_C(1) << 31)
        count *= 2;
    return count;
}

static bool are_same_clients(const struct client_masks *a, const struct client_masks *b)
{
    return a->v4 == b->v4 && a->v6[0] == b->v6[0] && a->v6[1] == b->v6[1];
}

static const struct rate_limit *any_rate_limit(const struct server_quota *quota)
{
    const struct rate_limit *any = NULL;
    for (size_t i = 0; quota && i < quota->rate_limit_count && !any; i++)
        any = quota->rate_limits[i];
    return any;
}

/* Makes a limit for each view. All count in one table, because a client hardly ever has two views.
 * False: out of memory. */
static bool limit_rate(struct server_quota *quota, const struct server_options *options,
                       const struct server_quota *before)
{
    bool goes_on = before && are_same_clients(&quota->masks, &before->masks);
    const struct rate_limit *table = goes_on ? any_rate_limit(before) : NULL;
    size_t count = options->view_count + 1;
    quota->rate_limits = calloc(count, sizeof(*quota->rate_limits));
    if (!quota->rate_limits)
        return false;
    quota->rate_limit_count = count;
    for (size_t i = 0; i < count; i++) {
        uint32_t qps = view_choice_rate(options, (unsigned)i);
        if (qps == 0)
            continue;
        quota->rate_limits[i] = rate_limit_new(qps, options->rate_limit_clients, table);
        if (!quota->rate_limits[i])
            return false;
        table = quota->rate_limits[i];
    }
    return true;
}

/* False: out of memory. */
static bool make_tables(struct server_quota *quota)
{
    size_t buckets = (size_t)quota->bucket_mask + 1;
    quota->counters = calloc((size_t)quota->counter_mask + 1, sizeof(*quota->counters));
    quota->buckets = malloc(buckets * sizeof(*quota->buckets));
    quota->places = calloc((size_t)quota->place_count + 1, sizeof(*quota->places));
    for (size_t i = 0; quota->buckets && i < buckets; i++)
        quota->buckets[i] = PLACE_NONE;
    return quota->counters && quota->buckets && quota->places;
}

/* NULL: out of memory. */
static struct client_count *share_count(const struct server_quota *before)
{
    struct client_count *all =
        before ? before->all : aligned_alloc(64, sizeof(struct client_count));
    if (!all)
        return NULL;
    if (!before)
        *all = (struct client_count){.files_max = {UINT32_MAX, UINT32_MAX, UINT32_MAX}};
    all->quotas++;
    return all;
}

static void server_quota_leave_count(struct client_count *all)
{
    if (all && --all->quotas == 0)
        free(all);
}

struct server_quota *server_quota_new(const struct server_options *options,
                                      const struct server_quota *before)
{
    struct server_quota *quota = aligned_alloc(64, sizeof(*quota));
    if (!quota)
        return NULL;
    uint32_t places = options->max_clients + SERVER_QUOTA_REFUSED_MAX + SERVER_QUOTA_PROXY_MAX;
    places = MAX(places, before ? before->place_count : 0);
    *quota = (struct server_quota){
        .max_waiting = options->max_waiting,
        .max_waiting_per_client = options->max_waiting_per_client,
        .masks = client_masks_of(options->client_prefix_v4, options->client_prefix_v6),
        .counter_mask = bucket_count((uint64_t)options->max_waiting * COUNTERS_PER_PLACE) - 1,
        .max_clients = {options->max_clients, SERVER_QUOTA_REFUSED_MAX, SERVER_QUOTA_PROXY_MAX},
        .max_each = {options->max_clients_per_address, SERVER_QUOTA_REFUSED_EACH_MAX,
                     SERVER_QUOTA_PROXY_MAX},
        .max_memory = options->max_stream_memory ? options->max_stream_memory : SIZE_MAX,
        .free_place = PLACE_NONE,
        .bucket_mask = bucket_count(places) - 1,
        .seed = before ? before->seed : rand_u64(),
        .place_count = places,
        .all = share_count(before),
    };
    MUST(pthread_mutex_init(&quota->mutex, NULL) == 0);
    quota->view_rows = view_rows_new(options, before ? before->view_rows : NULL);
    if (!quota->view_rows || !quota->all || !make_tables(quota) ||
        !limit_rate(quota, options, before)) {
        server_quota_free(quota);
        return NULL;
    }
    return quota;
}

void server_quota_free(struct server_quota *quota)
{
    if (!quota)
        return;
    pthread_mutex_destroy(&quota->mutex);
    for (size_t i = 0; i < quota->rate_limit_count; i++)
        rate_limit_free(quota->rate_limits[i]);
    free(quota->rate_limits);
    view_rows_free(quota->view_rows);
    server_quota_leave_count(quota->all);
    free((void *)quota->counters);
    free(quota->buckets);
    free(quota->places);
    free(quota);
}

const struct view_rows *server_quota_view_rows(const struct server_quota *quota)
{
    return quota->view_rows;
}

struct rate_limit *server_quota_rate_limit(const struct server_quota *quota, unsigned view)
{
    return quota->rate_limits[view < quota->rate_limit_count ? view : 0];
}

bool server_quota_limits_rate(const struct server_quota *quota)
{
    return any_rate_limit(quota) != NULL;
}

uint64_t server_quota_client(const struct server_quota *quota, const struct addr *client)
{
    return client_hash(&quota->masks, client, quota->seed);
}

uint8_t server_quota_prefix_bits(const struct server_quota *quota, const struct addr *client)
{
    return client_prefix_bits(&quota->masks, client);
}

/* ---- waiting queries ---- */

static _Atomic uint32_t *first_counter(struct server_quota *quota, uint64_t client)
{
    return &quota->counters[client & quota->counter_mask];
}

/* Never the first counter, or the client would be counted twice there. */
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

uint32_t server_quota_waiting_of(struct server_quota *quota, uint64_t client)
{
    uint32_t first = atomic_load_explicit(first_counter(quota, client), memory_order_relaxed);
    uint32_t second = atomic_load_explicit(second_counter(quota, client), memory_order_relaxed);
    return MIN(first, second);
}

uint64_t server_quota_move_waiting(struct server_quota *to, struct server_quota *from,
                                   uint64_t client, const struct addr *addr)
{
    uint64_t here = server_quota_client(to, addr);
    atomic_fetch_add_explicit(&to->waiting, 1, memory_order_relaxed);
    count_up(first_counter(to, here));
    count_up(second_counter(to, here));
    server_quota_give_waiting(from, client);
    return here;
}

uint32_t server_quota_waiting(const struct server_quota *quota)
{
    return (uint32_t)atomic_load_explicit(&quota->waiting, memory_order_relaxed);
}

/* ---- connections; static functions need the mutex ---- */

/* A place as it is counted: by the prefix of its client. */
static struct client_place counted_place(const struct server_quota *quota,
                                         const struct client_place *place)
{
    return (struct client_place){client_prefix(&quota->masks, &place->client), place->kind};
}

static bool server_quota_is_of(const struct place *place, const struct client_place *counted)
{
    return place->kind == counted->kind && addr_equal_ip(&place->addr, &counted->client);
}

/* The link that holds the prefix's place, or the one at the end of its chain. */
static uint32_t *find_link(struct server_quota *quota, const struct client_place *counted)
{
    uint32_t *link =
        &quota->buckets[addr_hash_ip(&counted->client, quota->seed) & quota->bucket_mask];
    while (*link != PLACE_NONE && !server_quota_is_of(&quota->places[*link], counted))
        link = &quota->places[*link].next;
    return link;
}

/* Returns a free place. A place is free for each client that may be taken or moves here: all quotas
 * together never have more connections than the highest of their bounds. */
static uint32_t new_place(struct server_quota *quota, const struct client_place *counted)
{
    uint32_t at = quota->free_place;
    if (at != PLACE_NONE)
        quota->free_place = quota->places[at].next;
    else
        at = quota->unused_place++;
    MUST(at < quota->place_count);
    quota->places[at] =
        (struct place){.addr = counted->client, .kind = counted->kind, .next = PLACE_NONE};
    return at;
}

static void count_client(struct server_quota *quota, const struct client_place *counted)
{
    uint32_t *link = find_link(quota, counted);
    if (*link == PLACE_NONE)
        *link = new_place(quota, counted);
    quota->places[*link].count++;
    quota->clients++;
}

static bool server_quota_has_room(struct server_quota *quota, const struct client_place *counted)
{
    uint32_t at = *find_link(quota, counted);
    uint32_t count = at == PLACE_NONE ? 0 : quota->places[at].count;
    return count < quota->max_each[counted->kind];
}

static void give_total(struct client_count *all, enum place_kind kind)
{
    atomic_fetch_sub_explicit(&all->taken[kind], 1, memory_order_relaxed);
}

static enum server_quota_result take_total(const struct server_quota *quota, enum place_kind kind)
{
    struct client_count *all = quota->all;
    uint_fast32_t taken = atomic_fetch_add_explicit(&all->taken[kind], 1, memory_order_relaxed);
    bool is_full = taken >= quota->max_clients[kind];
    if (!is_full && taken < atomic_load_explicit(&all->files_max[kind], memory_order_relaxed))
        return QUOTA_TAKEN;
    give_total(all, kind);
    return is_full ? QUOTA_FULL : QUOTA_NO_FILES;
}

static enum server_quota_result take_client(struct server_quota *quota,
                                            const struct client_place *counted)
{
    if (!server_quota_has_room(quota, counted))
        return QUOTA_CLIENT_FULL;
    enum server_quota_result result = take_total(quota, counted->kind);
    if (result == QUOTA_TAKEN)
        count_client(quota, counted);
    return result;
}

static void discount_client(struct server_quota *quota, const struct client_place *counted)
{
    uint32_t *link = find_link(quota, counted);
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

/* A connection that keeps its kind keeps its place in the total. */
static enum server_quota_result change_client(struct server_quota *quota,
                                              const struct client_place *from,
                                              const struct client_place *to)
{
    bool changes_kind = from->kind != to->kind;
    discount_client(quota, from);
    enum server_quota_result result =
        server_quota_has_room(quota, to) ? QUOTA_TAKEN : QUOTA_CLIENT_FULL;
    if (result == QUOTA_TAKEN && changes_kind)
        result = take_total(quota, to->kind);
    count_client(quota, result == QUOTA_TAKEN ? to : from);
    if (result == QUOTA_TAKEN && changes_kind)
        give_total(quota->all, from->kind);
    return result;
}

void server_quota_bound_files(struct server_quota *quota, uint32_t max)
{
    struct client_count *all = quota->all;
    uint32_t refused = MIN(max / SERVER_QUOTA_REFUSED_FILES, SERVER_QUOTA_REFUSED_MAX);
    uint32_t proxy = MIN(max / SERVER_QUOTA_PROXY_FILES, SERVER_QUOTA_PROXY_MAX);
    atomic_store_explicit(&all->files_max[PLACE_ALLOWED], max - refused - proxy,
                          memory_order_relaxed);
    atomic_store_explicit(&all->files_max[PLACE_REFUSED], refused, memory_order_relaxed);
    atomic_store_explicit(&all->files_max[PLACE_PROXY], proxy, memory_order_relaxed);
}

enum server_quota_result server_quota_take_client(struct server_quota *quota,
                                                  const struct client_place *place)
{
    struct client_place counted = counted_place(quota, place);
    pthread_mutex_lock(&quota->mutex);
    enum server_quota_result result = take_client(quota, &counted);
    pthread_mutex_unlock(&quota->mutex);
    return result;
}

void server_quota_give_client(struct server_quota *quota, const struct client_place *place)
{
    struct client_place counted = counted_place(quota, place);
    pthread_mutex_lock(&quota->mutex);
    discount_client(quota, &counted);
    pthread_mutex_unlock(&quota->mutex);
    give_total(quota->all, place->kind);
}

enum server_quota_result server_quota_change_client(struct server_quota *quota,
                                                    struct client_place *place,
                                                    const struct client_place *to)
{
    struct client_place from = counted_place(quota, place), next = counted_place(quota, to);
    pthread_mutex_lock(&quota->mutex);
    enum server_quota_result result = change_client(quota, &from, &next);
    pthread_mutex_unlock(&quota->mutex);
    if (result == QUOTA_TAKEN)
        *place = *to;
    return result;
}

void server_quota_move_client(struct server_quota *to, struct server_quota *from,
                              const struct client_place *place)
{
    struct client_place counted = counted_place(to, place);
    pthread_mutex_lock(&to->mutex);
    count_client(to, &counted);
    pthread_mutex_unlock(&to->mutex);
    counted = counted_place(from, place);
    pthread_mutex_lock(&from->mutex);
    discount_client(from, &counted);
    pthread_mutex_unlock(&from->mutex);
}

void server_quota_add_memory(struct server_quota *quota, size_t told_bytes, size_t held_bytes)
{
    atomic_fetch_add_explicit(&quota->all->memory, held_bytes - told_bytes, memory_order_relaxed);
}

size_t server_quota_memory(const struct server_quota *quota)
{
    return atomic_load_explicit(&quota->all->memory, memory_order_relaxed);
}

size_t server_quota_max_memory(const struct server_quota *quota)
{
    return quota->max_memory;
}

void server_quota_add_weights(struct server_quota *quota,
                              const size_t told_bytes[SERVER_QUOTA_WEIGHTS],
                              const size_t held_bytes[SERVER_QUOTA_WEIGHTS])
{
    for (int i = 0; i < SERVER_QUOTA_WEIGHTS; i++)
        atomic_fetch_add_explicit(&quota->all->weights[i], held_bytes[i] - told_bytes[i],
                                  memory_order_relaxed);
}

void server_quota_weights(const struct server_quota *quota, size_t bytes[SERVER_QUOTA_WEIGHTS])
{
    for (int i = 0; i < SERVER_QUOTA_WEIGHTS; i++)
        bytes[i] = atomic_load_explicit(&quota->all->weights[i], memory_order_relaxed);
}

bool server_quota_may_trim(struct server_quota *quota, uint64_t now, uint64_t interval_us)
{
    uint_least64_t before = atomic_load_explicit(&quota->all->trimmed_at, memory_order_relaxed);
    if (before != 0 && now < before + interval_us)
        return false;
    return atomic_compare_exchange_strong_explicit(&quota->all->trimmed_at, &before, now,
                                                   memory_order_relaxed, memory_order_relaxed);
}

uint32_t server_quota_clients(struct server_quota *quota)
{
    pthread_mutex_lock(&quota->mutex);
    uint32_t clients = quota->clients;
    pthread_mutex_unlock(&quota->mutex);
    return clients;
}
