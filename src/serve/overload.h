/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_OVERLOAD_H
#define NAILUP_SERVE_OVERLOAD_H

/*
 * Decides which datagrams are dropped unread while more come than the CPU can serve. Otherwise the
 * kernel's queue is full, and each query is answered after its client has left.
 *
 * The age of the queue shows the overload: the time that the oldest datagram of a read waited in
 * the kernel. When the age stays high, the number of queries served in a window is the capacity,
 * and the clients share it. The level is the highest number of queries per client and window that
 * the capacity allows. A client that usually asks more loses its queries above the level. A client
 * below the level loses nothing, and the served queries are young.
 *
 * Pure: time and ages are arguments. One per socket.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"

enum {
    OVERLOAD_WINDOW_US = 50 * 1000, /* clients are counted and the queue is judged */
    OVERLOAD_YOUNG_US = 20 * 1000,  /* a younger queue leaves the CPU time: more is served */
    OVERLOAD_OLD_US = 100 * 1000,   /* one that stays older is an overload */
    OVERLOAD_DEAD_US = 400 * 1000,  /* a query of this age is dropped for every client */
    OVERLOAD_OLD_WINDOWS = 3,       /* this many windows with an old queue are no burst */
    OVERLOAD_CALM_WINDOWS = 20,     /* this many windows without pressure end it */
    OVERLOAD_RISE = 64,             /* the capacity rises by a 64th for each young window */
    OVERLOAD_RISES = 4,             /* in a row, up to this many, */
    OVERLOAD_FALL = 4,              /* and falls by a quarter at most */
    OVERLOAD_SMOOTH = 8,            /* windows that averages are of */
    OVERLOAD_ROWS = 2,              /* a client is in one counter of each; the smaller one counts */
    OVERLOAD_COUNTERS = 1024,       /* in a row; a power of two */
    OVERLOAD_LEVEL_MAX = 1 << 24,
};

enum overload_state {
    OVERLOAD_CALM,     /* nothing is counted */
    OVERLOAD_COUNTING, /* the queue was not young lately: clients are counted */
    OVERLOAD_SHEDDING, /* it stays old: queries above the level are dropped */
};

struct overload {
    enum overload_state state;
    /* OVERLOAD_SHEDDING: */
    uint32_t capacity;     /* queries that may be served in a window */
    uint32_t level;        /* of one client */
    uint32_t usual_served; /* the average of what was served in a window, OVERLOAD_SMOOTH times */
    uint64_t age_us;       /* of this read */
    uint64_t last_age_us;  /* the least of the window before */
    /* This window. */
    uint64_t began_at;
    uint64_t least_age_us;        /* of all reads */
    uint32_t asked, served, dead; /* datagrams; the last were dropped for their age */
    uint32_t counts[OVERLOAD_ROWS][OVERLOAD_COUNTERS];
    /* The average of counts, OVERLOAD_SMOOTH times: a queue that is read in bursts makes no small
     * client look large. */
    uint32_t usual[OVERLOAD_ROWS][OVERLOAD_COUNTERS];
    /* Windows in a row. */
    unsigned calm_windows, old_windows, young_windows;
};

void overload_init(struct overload *overload);

/* Datagrams have been read; the oldest of them waited for age_us. */
void overload_note_read(struct overload *overload, uint64_t now, uint64_t age_us);

/* Whether the caller must ask overload_drops() about each datagram. */
static inline bool overload_is_on(const struct overload *overload)
{
    return overload->state != OVERLOAD_CALM;
}

/* Counts a datagram of this read and says whether it is dropped. client is the hash of its client
 * (client_prefix.h). */
bool overload_drops(struct overload *overload, uint64_t client);

#endif
