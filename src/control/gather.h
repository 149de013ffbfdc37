/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONTROL_GATHER_H
#define NAILUP_CONTROL_GATHER_H

/*
 * Asks every worker something on its own thread, by mail, and brings the answers together on the
 * main loop. Workers do not wait for each other or for us.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/reply.h"

struct call;
struct control_worker;
struct upstreams;

/* What one worker found. */
struct gather_part {
    size_t worker;                   /* its number */
    struct reply rows;               /* nothing but rows */
    uint64_t number;                 /* whatever the visitor counts */
    const void *wanted;              /* the caller's; outlives the gathering */
    const struct control_worker *of; /* whose thread it is */
    /* A visitor with much to do sets more and keeps its place: it is called again in the worker's
     * next turn, so that no query waits for more than GATHER_TURN_MAX things of it. */
    bool more;
    size_t place;
    uint64_t next; /* among objects that come and go: the number of the next one */
    void *found;   /* what the visitor leaves for gather_take, which may take it; for free() */
};

/* A row costs about three microseconds. Fewer rows in a turn would make the answer slow, because
 * turns of a busy worker take milliseconds. */
enum { GATHER_TURN_MAX = 256 };

/* On the worker's thread; upstreams are the worker's. Not called for a worker that has ended. */
typedef void (*gather_visit)(struct upstreams *upstreams, struct gather_part *part);

/* All answered: the rows stand in the call's reply, in the order of the workers; sum is that of the
 * parts' numbers. The callee ends with call_done(). */
typedef void (*gather_done)(struct call *call, uint64_t sum);

/* Asks all workers of the call's view. Out of memory refuses the call. wanted_len bytes of wanted
 * are copied for the visitors; 0: they get NULL. */
void gather(struct call *call, gather_visit visit, gather_done done, const void *wanted,
            size_t wanted_len);

/* As gather(), but take() gets each part that was visited to the end, in the order of the workers,
 * on the main loop, instead of its rows going to the reply. */
typedef void (*gather_take)(struct call *call, struct gather_part *part);
void gather_parts(struct call *call, gather_visit visit, gather_take take, gather_done done,
                  const void *wanted, size_t wanted_len);

#endif
