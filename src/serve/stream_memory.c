/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Counts the bytes of a worker's stream clients and makes room (stream_memory.h). session.c and
 * net/link.c measure the bytes of a client.
 *
 * A sweep looks at each client twice and frees an eighth of the bound at least, so its cost is
 * small beside that of the bytes that had to arrive before it. It groups clients by the logarithm
 * of their weight, because sorting them would gain nothing.
 *
 * Invariant: told_bytes are in the quota's count, and held_bytes is the sum over the clients.
 */
#include "serve/stream_memory.h"

#include <malloc.h>
#include <pthread.h>
#include <string.h>

#include "base/check.h"
#include "base/log.h"
#include "base/stats.h"
#include "serve/server_quota.h"

enum { CLASSES = SERVER_QUOTA_WEIGHTS };

static void stream_memory_tell(struct stream_memory *memory)
{
    server_quota_add_memory(memory->quota, memory->told_bytes, memory->held_bytes);
    memory->told_bytes = memory->held_bytes;
}

static bool is_near_bound(const struct stream_memory *memory)
{
    return server_quota_memory(memory->quota) > server_quota_max_memory(memory->quota) / 2;
}

static void stream_memory_look_later(struct stream_memory *memory)
{
    bool holds_much = memory->held_bytes >= STREAM_MEMORY_LOOK_BYTES;
    bool held_more = memory->most_bytes - memory->held_bytes >= STREAM_MEMORY_TRIM_BYTES;
    uint64_t wait_us = is_near_bound(memory) ? STREAM_MEMORY_LOOK_SOON_US : STREAM_MEMORY_LOOK_US;
    if ((holds_much || held_more) && !timer_is_armed(&memory->look))
        timer_start(memory->loop, &memory->look, loop_now(memory->loop) + wait_us);
}

static void change(struct stream_memory *memory, size_t from, size_t to)
{
    memory->held_bytes += to - from; /* wraps, and comes out right */
    STATS_ADD(memory->stats, stream_memory_bytes, to - from);
    memory->most_bytes = MAX(memory->most_bytes, memory->held_bytes);
    size_t apart =
        MAX(memory->held_bytes, memory->told_bytes) - MIN(memory->held_bytes, memory->told_bytes);
    if (apart < STREAM_MEMORY_STEP_BYTES)
        return;
    stream_memory_tell(memory);
    stream_memory_look_later(memory);
    bool is_over = server_quota_memory(memory->quota) > server_quota_max_memory(memory->quota);
    if (is_over && to > from) /* the other workers look soon */
        loop_at_turn_end(memory->loop, &memory->sweep);
}

/* ---- making room ---- */

uint64_t stream_memory_weight(size_t held_bytes, uint64_t without_progress_us)
{
    size_t more = held_bytes - MIN(held_bytes, (size_t)STREAM_MEMORY_IDLE_BYTES);
    return (1 + more / 1024) * (1 + without_progress_us / US_PER_MS);
}

static unsigned stream_memory_class_of(const struct stream_memory_client *client, uint64_t now)
{
    uint64_t weight = stream_memory_weight(client->held_bytes, now - client->progress_at(client));
    return CLASSES - 1 - (unsigned)__builtin_clzll(weight);
}

/* Replaces what the other workers see of this worker's clients. */
static void tell_weights(struct stream_memory *memory, const size_t held[CLASSES])
{
    server_quota_add_weights(memory->quota, memory->told_weights, held);
    memcpy(memory->told_weights, held, sizeof(memory->told_weights));
}

/* Counts what the clients hold by the class of their weight, and tells the other workers. */
static void weigh_clients(struct stream_memory *memory)
{
    size_t held[CLASSES] = {0};
    uint64_t now = loop_now(memory->loop);
    LIST_EACH(node, &memory->clients)
    {
        const struct stream_memory_client *client =
            LIST_ITEM(node, struct stream_memory_client, node);
        held[stream_memory_class_of(client, now)] += client->held_bytes;
    }
    tell_weights(memory, held);
}

/* If this worker left an old count of clients that are gone, the other workers would spare their
 * own clients. */
static void forget_weights(struct stream_memory *memory)
{
    static const size_t none[CLASSES];
    if (memcmp(memory->told_weights, none, sizeof(none)) != 0)
        tell_weights(memory, none);
}

/* The lowest class of clients to reset, and the bytes of this worker that stay. */
struct plan {
    unsigned lowest;
    size_t leave_bytes;
};

/* Plans to free excess bytes of these classes. Workers that hold parts of the lowest class free
 * their shares of it. */
static struct plan plan_sweep(const struct stream_memory *memory, const size_t all[CLASSES],
                              size_t excess)
{
    const size_t *own = memory->told_weights;
    size_t above = 0, own_above = 0;
    unsigned class = CLASSES - 1;
    for (; class > 0 && above + all[class] < excess; class --) {
        above += all[class];
        own_above += own[class];
    }
    double part = all[class] ? MIN(1.0, (double)(excess - above) / (double)all[class]) : 1.0;
    size_t freed = own_above + (size_t)((double)own[class] * part);
    return (struct plan){class, memory->held_bytes - MIN(freed, memory->held_bytes)};
}

static void reset_clients(struct stream_memory *memory, unsigned lowest, size_t leave_bytes)
{
    uint64_t now = loop_now(memory->loop);
    for (unsigned above = 0; above < 2; above++) { /* the lowest class last */
        LIST_EACH(node, &memory->clients)
        {
            struct stream_memory_client *client =
                LIST_ITEM(node, struct stream_memory_client, node);
            if (memory->held_bytes <= leave_bytes)
                return;
            if (stream_memory_class_of(client, now) + above > lowest) {
                STATS_INC(memory->stats, client_resets_memory);
                client->reset(client);
            }
        }
    }
}

/* Workers that have not counted their clients yet free a proportional part of the excess later. */
static struct plan plan_together(const struct stream_memory *memory, size_t all, size_t goal)
{
    size_t weights[CLASSES], counted = 0;
    server_quota_weights(memory->quota, weights);
    for (unsigned i = 0; i < CLASSES; i++)
        counted += weights[i];
    double part = MIN(1.0, (double)counted / (double)all);
    return plan_sweep(memory, weights, (size_t)((double)(all - goal) * part));
}

/* Each worker leaves the same share of what its clients hold. */
static struct plan plan_alone(const struct stream_memory *memory, size_t all, size_t goal)
{
    size_t leave = (size_t)((double)memory->held_bytes * (double)goal / (double)all);
    return plan_sweep(memory, memory->told_weights, memory->held_bytes - leave);
}

static void sweep(struct stream_memory *memory)
{
    uint64_t now = loop_now(memory->loop);
    stream_memory_tell(memory);
    size_t all = server_quota_memory(memory->quota), max = server_quota_max_memory(memory->quota);
    bool is_urgent = all > max + max / 8;
    if (all <= max || (now < memory->patient_until_at && !is_urgent))
        return;
    size_t goal = max - max / 8;
    weigh_clients(memory);
    struct plan plan = is_urgent ? plan_alone(memory, all, goal) : plan_together(memory, all, goal);
    LOG_SHARED(LOG_NOTICE, "serve",
               "resetting the stream clients that use the most memory: "
               "server.max-stream-memory is reached");
    reset_clients(memory, plan.lowest, plan.leave_bytes);
    stream_memory_tell(memory);
    weigh_clients(memory);
    if (server_quota_memory(memory->quota) > max)
        memory->patient_until_at = now + STREAM_MEMORY_PATIENCE_US;
    stream_memory_look_later(memory);
}

static void stream_memory_on_turn_end(struct turn_end *end)
{
    sweep(CONTAINER_OF(end, struct stream_memory, sweep));
}

static void *stream_memory_trim_heap(void *unused)
{
    (void)unused;
    malloc_trim(0);
    return NULL;
}

/* Hits need no heap, so a worker serves them meanwhile. False: the process may not have a further
 * thread now. */
static bool begin_trim(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, stream_memory_trim_heap, NULL) != 0)
        return false;
    pthread_detach(thread);
    return true;
}

/* The heap keeps freed buffers between live ones. */
static void stream_memory_give_back(struct stream_memory *memory)
{
    if (memory->most_bytes - memory->held_bytes < STREAM_MEMORY_TRIM_BYTES ||
        !server_quota_may_trim(memory->quota, loop_now(memory->loop), STREAM_MEMORY_TRIM_US))
        return;
    if (begin_trim())
        memory->most_bytes = memory->held_bytes;
}

static void on_look_due(struct timer *timer)
{
    struct stream_memory *memory = CONTAINER_OF(timer, struct stream_memory, look);
    stream_memory_give_back(memory);
    sweep(memory);
    if (is_near_bound(memory))
        weigh_clients(memory);
    else
        forget_weights(memory);
    stream_memory_look_later(memory);
}

/* ---- clients ---- */

void stream_memory_init(struct stream_memory *memory, struct loop *loop, struct server_quota *quota,
                        struct stats *stats)
{
    *memory = (struct stream_memory){.loop = loop, .quota = quota, .stats = stats};
    list_init(&memory->clients);
    turn_end_init(&memory->sweep, stream_memory_on_turn_end);
    timer_init(&memory->look, on_look_due);
}

void stream_memory_deinit(struct stream_memory *memory)
{
    MUST(memory->held_bytes == 0);
    stream_memory_tell(memory);
    weigh_clients(memory);
    turn_end_cancel(&memory->sweep);
    timer_stop(&memory->look);
}

void stream_memory_renew(struct stream_memory *memory, struct server_quota *quota)
{
    memory->quota = quota; /* the count continues there */
    if (memory->held_bytes > 0)
        loop_at_turn_end(memory->loop, &memory->sweep);
}

void stream_memory_join(struct stream_memory *memory, struct stream_memory_client *client)
{
    client->held_bytes = 0;
    list_append(&memory->clients, &client->node);
}

void stream_memory_leave(struct stream_memory *memory, struct stream_memory_client *client)
{
    list_remove(&client->node);
    change(memory, client->held_bytes, 0);
}

void stream_memory_hold(struct stream_memory *memory, struct stream_memory_client *client,
                        size_t bytes)
{
    size_t before = client->held_bytes;
    if (bytes == before)
        return;
    client->held_bytes = bytes;
    change(memory, before, bytes);
}
