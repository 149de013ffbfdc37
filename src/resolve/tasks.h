/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_TASKS_H
#define NAILUP_RESOLVE_TASKS_H

/*
 * The tasks of a worker: found by key, so that equal questions join; taken from a free list, so
 * that a miss allocates nothing once the list is warm; bounded. What tasks share lives here too.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/stats.h"
#include "base/units.h"
#include "cache/cache.h"
#include "cache/compose.h"
#include "loop/loop.h"
#include "loop/timer.h"
#include "resolve/retry.h"
#include "resolve/route.h"
#include "recurse/strangers.h"
#include "resolve/strategy.h"
#include "resolve/waiter.h"
#include "recurse/zone_load.h"
#include "upstream/exchange.h"

enum {
    TASK_SUBS_MAX = 6,          /* subtasks of one task at once: A and AAAA of three servers */
    TASK_DEPTH_MAX = 12,        /* subtasks below each other */
    TASK_EVENTS_MAX = 200,      /* events of one task: a strategy that never ends is stopped */
    TASK_LAME_ATTEMPTS_MAX = 3, /* of a question to servers that were all lame lately */
    TASKS_SLAB = 32,            /* tasks allocated at once */
    TASK_LEADERS = 512,         /* a power of two */
    TASK_REFRESH_SHARE = 4, /* of all tasks, the part that may be refreshes: clients come first */
    TASK_ZONE_SHARE = 4,   /* of all tasks, the part that may ask one zone met in recursion at once,
                              where it is alone; where other zones have much, of what they leave */
    TASK_LINGER_SHARE = 4, /* of all tasks, the part that may wait for late answers (linger.h) */
    TASK_SUB_SHARE = 2,    /* of all tasks, the part that may be subtasks: they have no client's
                              bounds, so clients need room beside them */
};

/* All that a question may take: its own exchange and that of one more zone at their slowest, or
 * many fast ones. Clients give up soon after. */
#define TASK_WALL_US (2 * EXCHANGE_WALL_US)

/* How long a task waits at most for another that asks the same of a zone: then it asks itself. */
#define TASK_FOLLOW_US (400 * US_PER_MS)

/* What the servers of a zone have at most where somebody stands in for them (first: yes), or where
 * silence to a part of the question is followed by the whole. */
#define TASK_FIRST_US (2 * US_PER_S)

struct iterate_world;
struct lame;
struct task;
struct tasks;
struct trace;

/* One question a task waits for. In use while child is set. */
struct subtask {
    struct waiter waiter; /* in the child's list */
    struct task *parent, *child;
    uint16_t tag; /* of the step */
    bool joined;  /* the child was started for somebody else */
};

enum task_state {
    TASK_FREE,
    TASK_RUNNING,
    TASK_ANSWERED,  /* its answer waits to be delivered */
    TASK_FAILED,    /* its failure waits to be delivered */
    TASK_LINGERING, /* the failure is delivered; a late answer may come (linger.h) */
};

/* One question being resolved. Runs from tasks_take() to tasks_give(). */
struct task {
    struct task *next; /* in its bucket */
    struct list node;  /* free, waiting to be delivered, or lingering */
    struct tasks *tasks;
    const struct zone *zone; /* held */
    struct list waiters;
    enum task_state state;
    uint8_t depth;
    uint8_t subs;    /* in use */
    bool is_late;    /* clients need not wait for it longer where a stale answer is */
    bool lingers;    /* TASK_FAILED: its exchange goes on (linger.h) */
    bool is_refresh; /* of an answer that is still live, or a part of that */
    uint16_t events_left;
    uint32_t local_changes; /* of the tasks when it began */
    union strategy_memory memory;
    struct budget *budget; /* of the client's question; a reference, NULL where nothing needs one */
    struct trace *trace;   /* who watches; a reference, NULL: nobody */
    struct question asked; /* the last question to servers; its name borrows from key */
    struct name asked_zone; /* whose servers these were; of the zone, or in the memory */
    struct upstream *met[DELEGATION_ADDRS_MAX]; /* held while they are asked */
    uint8_t met_count;
    uint8_t tries;  /* queries that it may send to these; 0: as many as an exchange may */
    bool gives_way; /* to another question to strangers, when wait is due */
    struct strangers_ask strangers; /* in the table while some of met never answered */
    uint64_t client;          /* struct waiter.client of the question that it was started for */
    uint16_t load_place;      /* of the zone asked, while met_count is set */
    bool has_no_server;       /* wait is for the end of an exchange without a server to ask */
    bool zone_full;           /* and why: too many ask that zone, or too many servers are asked */
    uint64_t leads;           /* the mark of what it asks, for others to follow; 0: nothing */
    uint64_t followed;        /* that of what it waited for last */
    struct list followers;    /* struct task.follows, while it leads */
    struct list follows;      /* in its leader's */
    struct answer *head;      /* kept by STEP_KEEP; ours, for free() */
    struct answer answer;     /* TASK_ANSWERED; borrows from the scrub space or from owned */
    struct answer *owned;     /* what answer borrows from; ours, for free(), or NULL */
    struct failure failure;   /* TASK_FAILED */
    struct tap_source source; /* who answered last, useful or not */
    struct timer wait;
    uint64_t ends_at;  /* TASK_WALL_US after its start */
    struct timer wall; /* then; before it is late, when it will be */
    struct subtask sub[TASK_SUBS_MAX];
    struct exchange exchange;
    struct question question; /* borrows its name from key */
    struct cache_key key;
};

struct tasks {
    struct loop *loop;
    struct cache *cache;
    struct stats *stats;
    struct upstreams *upstreams;
    const struct routes *routes;     /* those that hold now */
    const struct local_names *local; /* names answered here; NULL: none */
    uint32_t local_changes;          /* how often they were changed */
    bool blocks_aliases;             /* local_names_block_aliases() of them */
    bool minimal_responses;
    struct recursion_options
        recursion; /* that hold now; what they point to is the configuration's */
    const struct iterate_world *world; /* of recursion (task_cut.h); NULL: there is none */

    struct task **buckets;
    size_t bucket_mask;
    size_t count, max;
    size_t refreshing;      /* tasks that are refreshes */
    size_t sub_count;       /* subtasks */
    struct list lingering;  /* struct task, the oldest first */
    size_t lingering_count; /* of these; count includes them */
    unsigned traces;        /* that there are, held by tasks or their readers */
    struct list idle;       /* free tasks */
    struct list slabs;      /* their memory */

    struct retries retries; /* of refreshes */

    struct list finished;    /* to be delivered */
    struct turn_end deliver; /* when nobody up the stack will do it */
    bool delivering;
    bool closing; /* nothing is started any more */

    struct compose_space scrubbed; /* of the answer that came last */
    struct compose_space stitched;
    struct compose_space local_space;   /* of what is answered here */
    struct delegation cut;              /* that came last */
    struct task *leaders[TASK_LEADERS]; /* task_follow.h */
    struct zone_load load;              /* of the zones that are asked */
    struct strangers strangers;         /* that are asked */
    struct lame *lame;                  /* of zones that hold themselves what they are asked for */
};

/* Buckets for max tasks; the shared members above the blank line are the caller's to fill in. False
 * out of memory. */
MUST_USE bool tasks_init(struct tasks *tasks, size_t max);

/* No task may run any more (MUST). */
void tasks_deinit(struct tasks *tasks);

/* Another bound on them; those that run above it go on. False: out of memory, nothing has changed.
 */
MUST_USE bool tasks_set_max(struct tasks *tasks, size_t max);

/* The running task of the key that equal questions join, or NULL. */
struct task *tasks_find(const struct tasks *tasks, const struct cache_key *key);

/* Whether it would go the same way if it began now: neither the routes nor, where it is of a name
 * answered here, those names changed since. What others bring may be out of date: nobody joins
 * them, and it is not kept. */
bool task_is_current(const struct task *task);

/* A new task, running and in the table, its exchange initialised by the caller; NULL when max run
 * already or memory is out. */
struct task *tasks_take(struct tasks *tasks, const struct cache_key *key);

/* Puts back a task that tasks_unlink() took out; no other task may have its key. */
void tasks_link(struct tasks *tasks, struct task *task);

/* Takes it out of the table: equal questions no longer join. */
void tasks_unlink(struct tasks *tasks, struct task *task);

/* Ends the life of a task that was unlinked; frees what it owns. */
void tasks_give(struct tasks *tasks, struct task *task);

/* It waits for none of its subtasks any more; these go on. */
void tasks_leave_subs(struct task *task);

/* Whether one more refresh has room. */
bool tasks_may_refresh(const struct tasks *tasks);

/* Makes a task that was just taken a refresh. */
void tasks_set_refresh(struct task *task);

/* Any running task, or NULL. */
struct task *tasks_any(const struct tasks *tasks);

/* Whether task waits for other, itself or through its subtasks: other must not wait for task then.
 * Says yes when that takes too many steps to find out. */
bool task_depends_on(const struct task *task, const struct task *other);

#endif
