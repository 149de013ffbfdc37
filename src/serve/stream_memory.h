/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_STREAM_MEMORY_H
#define NAILUP_SERVE_STREAM_MEMORY_H

/*
 * Bounds the bytes that the stream clients of all workers hold (server.max-stream-memory). Each
 * client reports its bytes whenever they change. Above the bound, the clients of the process with
 * the highest weight (bytes times the time without progress) are reset, until seven eighths of the
 * bound are held. Each worker publishes the weights of its clients, and resets the ones that are
 * among the heaviest of the process. A worker whose clients are light waits for the others for
 * STREAM_MEMORY_PATIENCE_US, unless nine eighths of the bound are held: then each worker resets its
 * heaviest clients, in proportion to what its clients hold.
 *
 * Memory goes back to the system some time after clients have released it. That search of the heap
 * takes up to a tenth of a second, so a separate thread does it, and the worker serves on. It
 * holds the lock of the heap meanwhile, so it happens once a minute in the process at most.
 *
 * Each worker has one, used by its thread only.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "loop/loop.h"
#include "loop/timer.h"
#include "serve/server_quota.h"

struct stats;

enum {
    /* A worker updates the common count in steps, so it may hold almost a step more. */
    STREAM_MEMORY_STEP_BYTES = 16 * 1024,
    /* A worker with less does not look whether the others need room. */
    STREAM_MEMORY_LOOK_BYTES = 1024 * 1024,
    STREAM_MEMORY_LOOK_US = 250 * 1000,
    STREAM_MEMORY_LOOK_SOON_US = 50 * 1000, /* while the process holds half of the bound */
    STREAM_MEMORY_PATIENCE_US = 100 * 1000,
    /* Fewer freed bytes are not worth a search of the heap for free pages. */
    STREAM_MEMORY_TRIM_BYTES = 16 * 1024 * 1024,
    STREAM_MEMORY_TRIM_US = 60 * 1000000,
    STREAM_MEMORY_IDLE_BYTES =
        48 * 1024, /* of a client that only keeps its connection: most over HTTPS */
};

/* Embedded by a client. */
struct stream_memory_client {
    struct list node;
    size_t held_bytes;
    /* The time at which the client last took bytes of an answer or sent a query that counts. */
    uint64_t (*progress_at)(const struct stream_memory_client *client);
    /* Resets the connection; calls stream_memory_leave(). */
    void (*reset)(struct stream_memory_client *client);
};

struct stream_memory {
    struct loop *loop;
    struct server_quota *quota; /* its bound, and the count of all workers */
    struct stats *stats;
    struct list clients;
    size_t held_bytes, told_bytes;
    size_t most_bytes; /* held since memory was last given back */
    size_t told_weights[SERVER_QUOTA_WEIGHTS];
    uint64_t patient_until_at; /* no sweep before, except above nine eighths of the bound */
    struct turn_end sweep;
    struct timer look;
};

/* Everything is borrowed. */
void stream_memory_init(struct stream_memory *memory, struct loop *loop, struct server_quota *quota,
                        struct stats *stats);
/* After the last client has left. */
void stream_memory_deinit(struct stream_memory *memory);
/* Takes the bound that a reload has changed. */
void stream_memory_renew(struct stream_memory *memory, struct server_quota *quota);

/* The callbacks of client are set. */
void stream_memory_join(struct stream_memory *memory, struct stream_memory_client *client);
void stream_memory_leave(struct stream_memory *memory, struct stream_memory_client *client);

/* Resets clients at the end of the turn, never within the call. */
void stream_memory_hold(struct stream_memory *memory, struct stream_memory_client *client,
                        size_t bytes);

/* The weight of a client: grows with its bytes beyond STREAM_MEMORY_IDLE_BYTES and with the time
 * without progress. Among clients that hold no more than that, only the time counts. Pure. */
uint64_t stream_memory_weight(size_t held_bytes, uint64_t without_progress_us);

#endif
