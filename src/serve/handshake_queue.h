/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_HANDSHAKE_QUEUE_H
#define NAILUP_SERVE_HANDSHAKE_QUEUE_H

/*
 * The order in which TLS handshakes of clients go on. One flight of a handshake costs as much CPU
 * as hundreds of answers, so a turn of the loop admits HANDSHAKE_STEPS_PER_TURN of them; datagrams
 * and streams come between. Handshakes beyond that wait. Clients (client_prefix.h) take turns, and
 * each client's own handshakes go in the order in which they came.
 *
 * An admitted handshake reads when the kernel names its stream, together with the queries of other
 * streams. No more than HANDSHAKES_ADMITTED_MAX are admitted and have not read, so these queries
 * wait for this many at most, and clients keep their turns.
 *
 * While nothing else has work, turns follow each other without a pause, and a queue of one client
 * moves as fast as without a queue. The bytes that wait stay in the kernel.
 *
 * When HANDSHAKES_WAITING_MAX wait, the client with the most of them loses its newest one to a
 * client that has fewer. One queue a worker, one thread.
 */

#include <stdint.h>

#include "base/list.h"
#include "loop/timer.h"

struct loop;

enum {
    HANDSHAKE_STEPS_PER_TURN = 2,  /* a full handshake takes two: the hello, and its last message */
    HANDSHAKES_ADMITTED_MAX = 16,  /* some ten milliseconds of CPU */
    HANDSHAKES_WAITING_MAX = 4096, /* some five seconds of a worker's CPU */
    HANDSHAKE_BUCKETS = 1024,
};

enum handshake_state {
    HANDSHAKE_IDLE,     /* waits for its client */
    HANDSHAKE_WAITING,  /* bytes of its client wait in the kernel */
    HANDSHAKE_ADMITTED, /* it may read when its stream has its turn */
};

/* Embedded by its session; initialised by handshake_init(). */
struct handshake {
    enum handshake_state state;
    uint64_t client;
    struct list mates;  /* all waiting handshakes of the client, the newest before the oldest */
    uint32_t count;     /* of mates; like turn and bucket for the oldest one only */
    struct list turn;   /* in the queue's clients */
    struct list bucket; /* in one of the queue's buckets */
};

struct handshake_queue {
    struct loop *loop;
    struct timer next_turn;
    unsigned steps;      /* of this turn */
    uint32_t waiting;    /* handshakes */
    uint32_t admitted;   /* that have not read yet */
    struct list clients; /* the oldest handshake of each, in the order of their turns */
    struct list buckets[HANDSHAKE_BUCKETS]; /* the same handshakes by client */
    void (*on_admitted)(struct handshake *handshake);
    /* The handshake has lost its place to another client's. May free it. */
    void (*on_displaced)(struct handshake *handshake);
};

void handshake_init(struct handshake *handshake);

void handshake_queue_init(struct handshake_queue *queue, struct loop *loop,
                          void (*on_admitted)(struct handshake *handshake),
                          void (*on_displaced)(struct handshake *handshake));
/* No handshake may wait (MUST). */
void handshake_queue_deinit(struct handshake_queue *queue);

enum handshake_verdict {
    HANDSHAKE_GO,   /* read now */
    HANDSHAKE_WAIT, /* on_admitted comes, not within the call */
    HANDSHAKE_FULL, /* too many wait, and no other client has more of them */
};

/* Bytes of this handshake have arrived. client is its client's number (server_quota_client()). */
enum handshake_verdict handshake_queue_ask(struct handshake_queue *queue,
                                           struct handshake *handshake, uint64_t client);

/* The client with the most waiting handshakes loses its newest one, if it has more of them than
 * this client will have: on_displaced comes within the call. False: there is no such client. */
bool handshake_queue_displace(struct handshake_queue *queue, uint64_t client);

/* The handshake is over. Does nothing if it does not wait. */
void handshake_queue_leave(struct handshake_queue *queue, struct handshake *handshake);

#endif
