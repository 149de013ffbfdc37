/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_OVERLOAD_H
#define NAILUP_SERVE_OVERLOAD_H

/*
 * Decides which datagrams are dropped unread while more come than the CPU can serve. Otherwise the
 * kernel's queue is full, and each query is answered after its client has left.
 *
 * Two things show the overload: the age of the queue, which is the time that the oldest datagram of
 * a read waited in the kernel, and datagrams that the kernel drops because the queue is full. When
 * the pressure stays, the number of queries served in a window is the capacity, and the clients
 * share it. The level is the highest number of queries per client and window that the capacity
 * allows. A client that usually asks more loses its queries above the level. A client below the
 * level loses nothing, and the served queries are young.
 *
 * A hit costs little more than reading and dropping a datagram. So the kernel thins the datagrams
 * of the busiest clients before they are queued: it keeps a random share of them, which is a little
 * more than the level.
 *
 * Pure: time and ages are arguments. One per socket.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/units.h"

enum {
    OVERLOAD_WINDOW_US = 50 * 1000, /* clients are counted and the queue is judged */
    OVERLOAD_WINDOW_MAX_US = 400 * 1000,
    OVERLOAD_GAPS = 4,             /* a window is as long as this many gaps between reads */
    OVERLOAD_YOUNG_US = 20 * 1000, /* a younger queue: CPU time is left, so more is served */
    OVERLOAD_FULL_US = 1000, /* a queue that is older and loses datagrams is not read fast enough */
    OVERLOAD_OLD_US = 50 * 1000,   /* a queue that stays older means overload */
    OVERLOAD_DEAD_US = 300 * 1000, /* a query of this age is dropped for every client */
    OVERLOAD_OLD_WINDOWS = 2,      /* this many windows under pressure are not just a burst */
    OVERLOAD_CALM_WINDOWS = 20,    /* this many windows without pressure end it */
    OVERLOAD_SWAMPED_WINDOWS = 8,  /* this many full windows in a row: the level drops nothing */
    OVERLOAD_RISE = 64,            /* the capacity rises by a 64th for each young window */
    OVERLOAD_RISES = 4,            /* in a row, up to this many, */
    OVERLOAD_FALL = 2,             /* and falls by a half at a time, at most; */
    OVERLOAD_SPARE = 16,           /* a 16th of what was sustained stays free for the queue */
    OVERLOAD_SMOOTH = 8,           /* windows in an average */
    OVERLOAD_ROWS = 2,             /* a client is in one counter of each; the smaller one counts */
    OVERLOAD_COUNTERS = 1024,      /* in a row; a power of two */
    OVERLOAD_LEVEL_MAX = 1 << 20,
    OVERLOAD_ASKED_MAX = 1 << 28,   /* in sixteenths; prevents overflows */
    OVERLOAD_ONE = 16,              /* queries are counted in sixteenths */
    OVERLOAD_THIN_US = 250 * 1000,  /* the kernel's shares change this often at most */
    OVERLOAD_BUSY_MAX = 64,         /* clients with a share */
    OVERLOAD_BUSY_TRIES = 4,        /* places where one of them may be */
    OVERLOAD_SHARE_WHOLE = 1 << 16, /* a client with this share loses nothing */
    OVERLOAD_SHARE_LEAST = 1 << 8,
    OVERLOAD_QUIET_US = 1000 * 1000, /* without a read, ends it */
};

enum overload_state {
    OVERLOAD_CALM,     /* nothing is counted */
    OVERLOAD_COUNTING, /* the queue was not young recently: clients are counted */
    OVERLOAD_SHEDDING, /* it stays old: queries above the level are dropped */
};

/* A client above the level. */
struct overload_busy {
    bool is_taken; /* false: a free place */
    uint64_t client;
    struct addr addr;
    uint32_t share;       /* of its datagrams that the kernel keeps */
    uint32_t weight;      /* how many datagrams one that arrives represents, in sixteenths */
    uint32_t last_weight; /* that of datagrams from before the last change */
    uint32_t seen;        /* in this window */
};

struct overload {
    enum overload_state state;
    bool is_unshared;       /* the kernel thins nothing */
    unsigned share_changes; /* since the start; the caller compares it */
    uint32_t lost;          /* the kernel's count, as last seen */
    /* OVERLOAD_SHEDDING: */
    uint32_t capacity;    /* queries that may be served in OVERLOAD_WINDOW_US */
    uint32_t fair;        /* queries of one client in OVERLOAD_WINDOW_US, in sixteenths */
    uint32_t fair_rest;   /* of earlier windows, in sixteenths */
    uint32_t level;       /* whole queries of one client in this window */
    uint32_t sustained;   /* what the worker could serve when the capacity was lowered last */
    uint32_t best;        /* the most that a window served since then */
    uint64_t fell_at;     /* when the capacity was lowered last */
    uint64_t age_us;      /* of this read */
    uint64_t shared_at;   /* the shares changed last */
    bool is_read_shared;  /* the datagrams of this read came after that change */
    uint64_t last_age_us; /* the least age in the previous window */
    /* This window. */
    uint64_t began_at;
    uint64_t length_us;          /* at least */
    uint64_t read_at;            /* the last read */
    uint64_t gap_us;             /* the longest recent time between two reads */
    uint64_t least_age_us;       /* of all reads */
    uint32_t lost_before;        /* the kernel's count when it began */
    bool is_half_full;           /* the kernel's queue */
    uint32_t asked;              /* datagrams, in sixteenths */
    uint32_t read, served, dead; /* datagrams; the last were dropped for their age */
    uint32_t counts[OVERLOAD_ROWS][OVERLOAD_COUNTERS];
    /* The average of counts, OVERLOAD_SMOOTH times: a queue that is read in bursts makes no small
     * client look large. */
    uint32_t usual[OVERLOAD_ROWS][OVERLOAD_COUNTERS];
    /* Windows in a row. */
    unsigned calm_windows, old_windows, young_windows, overflow_windows;
    struct overload_busy busy[OVERLOAD_BUSY_MAX];
};

/* The kernel's queue of datagrams at the time of a read. */
struct overload_queue {
    uint64_t age_us; /* the time that the oldest datagram has waited */
    uint32_t lost;   /* datagrams that the kernel has dropped so far; wraps around */
    bool is_half_full;
};

void overload_init(struct overload *overload);

/* Notes that datagrams have been read. */
void overload_note_read(struct overload *overload, uint64_t now,
                        const struct overload_queue *queue);

/* Ends everything if nothing has been read for OVERLOAD_QUIET_US: the kernel would thin the first
 * queries after a pause. */
void overload_note_quiet(struct overload *overload, uint64_t now);

/* Whether the caller must ask overload_drops() about each datagram. */
static inline bool overload_is_on(const struct overload *overload)
{
    return overload->state != OVERLOAD_CALM;
}

/* Notes that the kernel cannot thin the datagrams of this socket. */
void overload_forbid_shares(struct overload *overload);

/* Notes that it can from now on. */
void overload_allow_shares(struct overload *overload);

/* Counts a datagram of this read and says whether it is dropped. client is the hash of its client
 * (client_prefix.h), and addr the address. */
bool overload_drops(struct overload *overload, uint64_t client, const struct addr *addr);

/* Whether the kernel should thin the datagrams of this client. */
static inline bool overload_is_thinned(const struct overload_busy *busy)
{
    return busy->is_taken && busy->share < OVERLOAD_SHARE_WHOLE;
}

#endif
