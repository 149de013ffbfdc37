/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Shares the CPU time for handshakes among clients: round robin over clients, first come first
 * served within one. The session reads and closes. Invariant: the oldest waiting handshake of each
 * client, and no other, is linked into clients and its bucket; a timer ends the turn whenever a
 * step was taken or a handshake waits. There is one exception: when HANDSHAKES_ADMITTED_MAX are
 * admitted, the next of them to read or leave starts the timer.
 */
#include "serve/handshake_queue.h"

#include "base/check.h"
#include "loop/loop.h"

void handshake_init(struct handshake *handshake)
{
    *handshake = (struct handshake){.state = HANDSHAKE_IDLE};
    list_init(&handshake->mates);
    list_init(&handshake->turn);
    list_init(&handshake->bucket);
}

static struct handshake *at_turn(struct list *node)
{
    return LIST_ITEM(node, struct handshake, turn);
}

/* ---- one client's handshakes ---- */

static struct list *client_bucket(struct handshake_queue *queue, uint64_t client)
{
    return &queue->buckets[client % HANDSHAKE_BUCKETS];
}

/* The oldest waiting handshake of this client, or NULL. */
static struct handshake *oldest_of(struct handshake_queue *queue, uint64_t client)
{
    LIST_EACH(node, client_bucket(queue, client))
    {
        struct handshake *handshake = LIST_ITEM(node, struct handshake, bucket);
        if (handshake->client == client)
            return handshake;
    }
    return NULL;
}

static void handshake_queue_add(struct handshake_queue *queue, struct handshake *handshake)
{
    struct handshake *oldest = oldest_of(queue, handshake->client);
    handshake->state = HANDSHAKE_WAITING;
    queue->waiting++;
    if (oldest) {
        list_insert_before(&handshake->mates, &oldest->mates);
        oldest->count++;
        return;
    }
    handshake->count = 1;
    list_append(&queue->clients, &handshake->turn);
    list_append(client_bucket(queue, handshake->client), &handshake->bucket);
}

/* The client's next handshake takes the place of the oldest one. */
static void handshake_queue_succeed(struct handshake *oldest)
{
    if (list_is_linked(&oldest->mates)) {
        struct handshake *next = LIST_ITEM(oldest->mates.next, struct handshake, mates);
        next->count = oldest->count - 1;
        list_insert_before(&next->turn, &oldest->turn);
        list_insert_before(&next->bucket, &oldest->bucket);
    }
    list_remove(&oldest->turn);
    list_remove(&oldest->bucket);
}

static void handshake_queue_take_out(struct handshake_queue *queue, struct handshake *handshake)
{
    struct handshake *oldest = oldest_of(queue, handshake->client);
    MUST(oldest && queue->waiting > 0);
    queue->waiting--;
    if (oldest == handshake)
        handshake_queue_succeed(handshake);
    else
        oldest->count--;
    list_remove(&handshake->mates);
    handshake->state = HANDSHAKE_IDLE;
}

/* ---- turns ---- */

/* The next turn follows without a wait, after the loop has looked at all sockets. */
static void await_turn(struct handshake_queue *queue)
{
    if (!timer_is_armed(&queue->next_turn))
        timer_start(queue->loop, &queue->next_turn, 0);
}

/* The client whose turn it is goes to the end of the line if it has more handshakes. */
static struct handshake *handshake_queue_take_next(struct handshake_queue *queue)
{
    struct handshake *next = at_turn(list_first(&queue->clients));
    bool has_more = next->count > 1;
    handshake_queue_take_out(queue, next);
    if (has_more)
        list_append(&queue->clients, list_take_first(&queue->clients));
    return next;
}

static bool may_admit(const struct handshake_queue *queue)
{
    return queue->waiting > 0 && queue->steps < HANDSHAKE_STEPS_PER_TURN &&
           queue->admitted < HANDSHAKES_ADMITTED_MAX;
}

static void queue_on_next_turn(struct timer *timer)
{
    struct handshake_queue *queue = CONTAINER_OF(timer, struct handshake_queue, next_turn);
    queue->steps = 0;
    while (may_admit(queue)) {
        struct handshake *handshake = handshake_queue_take_next(queue);
        queue->steps++;
        queue->admitted++;
        handshake->state = HANDSHAKE_ADMITTED;
        queue->on_admitted(handshake);
    }
    if (queue->steps > 0)
        await_turn(queue);
}

/* ---- too many ---- */

static struct handshake *oldest_of_greediest(struct handshake_queue *queue)
{
    struct handshake *greediest = at_turn(list_first(&queue->clients));
    LIST_EACH(node, &queue->clients)
    {
        if (at_turn(node)->count > greediest->count)
            greediest = at_turn(node);
    }
    return greediest;
}

bool handshake_queue_displace(struct handshake_queue *queue, uint64_t client)
{
    if (queue->waiting == 0)
        return false;
    struct handshake *own = oldest_of(queue, client);
    struct handshake *greediest = oldest_of_greediest(queue);
    uint32_t own_count = own ? own->count : 0;
    if (greediest->count <= own_count + 1)
        return false;
    struct handshake *newest = LIST_ITEM(greediest->mates.prev, struct handshake, mates);
    handshake_queue_take_out(queue, newest);
    queue->on_displaced(newest);
    return true;
}

/* ---- events ---- */

enum handshake_verdict handshake_queue_ask(struct handshake_queue *queue,
                                           struct handshake *handshake, uint64_t client)
{
    await_turn(queue);
    if (handshake->state == HANDSHAKE_ADMITTED) {
        handshake->state = HANDSHAKE_IDLE;
        queue->admitted--;
        return HANDSHAKE_GO;
    }
    MUST(handshake->state == HANDSHAKE_IDLE);
    if (queue->waiting == 0 && queue->steps < HANDSHAKE_STEPS_PER_TURN) {
        queue->steps++;
        return HANDSHAKE_GO;
    }
    if (queue->waiting >= HANDSHAKES_WAITING_MAX && !handshake_queue_displace(queue, client))
        return HANDSHAKE_FULL;
    handshake->client = client;
    handshake_queue_add(queue, handshake);
    return HANDSHAKE_WAIT;
}

void handshake_queue_leave(struct handshake_queue *queue, struct handshake *handshake)
{
    if (handshake->state == HANDSHAKE_WAITING) {
        handshake_queue_take_out(queue, handshake);
    } else if (handshake->state == HANDSHAKE_ADMITTED) {
        queue->admitted--;
        await_turn(queue);
    }
    handshake->state = HANDSHAKE_IDLE;
}

void handshake_queue_init(struct handshake_queue *queue, struct loop *loop,
                          void (*on_admitted)(struct handshake *handshake),
                          void (*on_displaced)(struct handshake *handshake))
{
    *queue = (struct handshake_queue){
        .loop = loop, .on_admitted = on_admitted, .on_displaced = on_displaced};
    timer_init(&queue->next_turn, queue_on_next_turn);
    list_init(&queue->clients);
    for (size_t i = 0; i < HANDSHAKE_BUCKETS; i++)
        list_init(&queue->buckets[i]);
}

void handshake_queue_deinit(struct handshake_queue *queue)
{
    MUST(queue->waiting == 0 && queue->admitted == 0);
    timer_stop(&queue->next_turn);
}
