/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONTROL_GATHER_H
#define NAILUP_CONTROL_GATHER_H

/*
 * Asks every worker on its own thread, by mail, and collects the answers on the main loop. Workers
 * do not wait for each other or for the main thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/reply.h"

struct call;
struct control_worker;
struct upstreams;

/* The answer of one worker. */
struct gather_part {
    size_t worker;                   /* the worker's number */
    struct reply rows;               /* has rows only */
    uint64_t number;                 /* a count that the visitor chooses */
    const void *wanted;              /* the caller's argument; outlives the gathering */
    const struct control_worker *of; /* the worker whose thread this is */
    /* A visitor with much to do sets more and keeps its place. Its next call comes in the worker's
     * next turn, so no query waits for more than GATHER_TURN_MAX items. */
    bool has_more;
    size_t place;
    uint64_t next; /* the number of the next object, where objects come and go */
    void *found;   /* the visitor's result for gather_take, which may take it; freed with free() */
};

/* A row costs about three microseconds. Fewer rows per turn would make the answer slow, because
 * turns of a busy worker take milliseconds. */
enum { GATHER_TURN_MAX = 256 };

/* Runs on the worker's thread, with the worker's upstreams. Not called for a worker that has ended.
 */
typedef void (*gather_visit)(struct upstreams *upstreams, struct gather_part *part);

/* Called when all have answered. The rows are in the call's reply, in the order of the workers; sum
 * is the sum of the parts' numbers. The callee ends with call_done(). */
typedef void (*gather_done)(struct call *call, uint64_t sum);

/* Asks all workers of the call's view. Out of memory refuses the call. Copies wanted_len bytes of
 * wanted for the visitors; with 0 they get NULL. */
void gather_rows(struct call *call, gather_visit visit, gather_done done, const void *wanted,
                 size_t wanted_len);

/* Like gather_rows(), but take() gets each complete part, in the order of the workers, on the main
 * loop, and the rows do not go to the reply. */
typedef void (*gather_take)(struct call *call, struct gather_part *part);
void gather_parts(struct call *call, gather_visit visit, gather_take take, gather_done done,
                  const void *wanted, size_t wanted_len);

#endif
