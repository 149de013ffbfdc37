/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_TASKS_H
#define NAILUP_RESOLVE_TASKS_H

/*
 * The tasks of a worker: found by key, so that equal questions join; taken from a free list, so
 * that a miss allocates nothing once the list is warm; bounded. Also holds what all tasks share.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/stats.h"
#include "base/units.h"
#include "cache/cache.h"
#include "cache/compose.h"
#include "dns/rrtype.h"
#include "loop/loop.h"
#include "loop/timer.h"
#include "recurse/delegation.h"
#include "recurse/large_zones.h"
#include "recurse/unproven.h"
#include "recurse/zone_load.h"
#include "resolve/held_message.h"
#include "resolve/retry.h"
#include "resolve/route.h"
#include "resolve/space.h"
#include "resolve/strategy.h"
#include "resolve/task_state.h"
#include "resolve/verify_turn.h"
#include "resolve/waiter.h"
#include "upstream/exchange.h"

enum {
    /* Subtasks of one task at once: A and AAAA of three servers, and one more. The last place is
     * reserved for a validation. */
    TASK_SUBS_MAX = 7,
    TASK_SUB_VALIDATION = TASK_SUBS_MAX - 1,
    TASK_DEPTH_MAX = 12, /* targets of aliases below each other */
    /* All subtasks below each other: the keys and DS records of six zones may be unknown below an
     * alias chain. The budget bounds the number of tasks whatever their depth is. */
    TASK_DEPTH_ALL_MAX = 24,
    TASK_LOOKUPS_DEPTH_MAX = 7, /* look-ups of servers' addresses below each other */
    TASK_EVENTS_MAX = 200,      /* events of one task: a strategy that never ends is stopped */
    TASK_LAME_ATTEMPTS_MAX = 3, /* queries to servers that were all lame recently */
    TASK_USELESS_MAX = 5,       /* useless answers of a cut's servers to one question */
    TASKS_SLAB = 32,            /* tasks allocated at once */
    TASK_LEADERS = 512,         /* a power of two */
    TASK_REFRESH_SHARE = 4,    /* the part of all tasks that may be refreshes: clients come first */
    TASK_ZONE_SHARE = 4,       /* the part of all tasks that may ask one zone at once; where other
                                  zones have many tasks, the part of what they leave */
    TASK_LINGER_SHARE = 4,     /* the part of all tasks that may wait for late answers (linger.h) */
    TASKS_FINISHED_LOOKS = 64, /* tasks that one search among ended ones looks at */
    TASK_SUB_SHARE = 2, /* the part of all tasks that may be subtasks: the bounds of clients do not
                           cover them, so they leave room for clients */
};

/* The time a task may take: its own exchange and that of one more zone at their slowest, or many
 * fast ones. Clients give up soon after. */
#define TASK_WALL_US (2 * EXCHANGE_WALL_US)

/* The time for a zone's servers where the zone has a substitute (first: yes), or where the whole
 * QNAME follows a minimised one that got no answer. */
#define TASK_FIRST_US (2 * US_PER_S)

/* How long a client waits for a verdict that changes nothing (VALIDATE_LOG), unless the timeout for
 * stale answers sets another time. */
#define TASK_VERDICT_US (1800 * US_PER_MS)

struct held_message;
struct iterate_world;
struct lame;
struct task;
struct task_bogus;
struct tasks;
struct trace;
struct validator;
struct zone_set;

/* A question that a task waits for (subtasks.h). In use while child is set. */
struct subtask {
    struct waiter waiter; /* in the child's list */
    struct task *parent, *child;
    uint16_t tag;   /* of the step */
    bool is_joined; /* the child was started for another waiter */
};

/* The servers of a zone cut that a task asks (task_ask.h). */
struct task_group {
    struct upstream *servers[DELEGATION_ADDRS_MAX]; /* held until task_ask_drop() */
    uint8_t count;
    uint8_t attempts_max; /* queries that may go to them; 0: as many as an exchange may send */
    bool is_full;         /* empty because too many tasks ask this zone, or too many servers */
    uint64_t zone_hash;   /* of the zone, from zone_load_take(), while count is set */
    struct unproven_query unproven; /* in tasks->unproven while some servers never answered */
    struct timer yield;             /* due when the group lost its place to a newer query */
    uint64_t leads;                 /* mark of the query that others may follow; 0: none */
    uint64_t followed;              /* mark of the query that was followed last */
    struct list followers;          /* struct task_group.follows, while it leads */
    struct list follows;            /* in its leader's list */
};

/* The resolution of one question, from tasks_take() to tasks_give(). */
struct task {
    struct task *next; /* in its bucket */
    struct list node;  /* free, waiting for delivery or for a verification, or lingering */
    struct tasks *tasks;
    struct space *space;     /* held */
    const struct zone *zone; /* held */
    struct list waiters;
    enum task_state state;
    enum task_state former_state; /* before the last move: the trace shows it */
    enum task_deadline deadline;
    uint8_t depth;
    uint8_t lookups_above; /* look-ups of addresses that need this task, below each other */
    uint8_t subs;          /* in use */
    bool asks_here;        /* the last query was for a zone held here, in place of its servers */
    bool avoids_here;      /* such an answer was bogus: servers are asked */
    bool is_early;         /* nothing waited for it at its start (early_keys.h) */
    bool is_refresh;       /* renews an answer that is still live, or a part of it */
    uint16_t events_left;
    uint32_t local_changes; /* of the space when it began */
    union strategy_memory memory;
    struct budget *budget;     /* of the client's question; a reference, NULL where not needed */
    struct trace *trace;       /* a reference; NULL: nothing watches */
    struct question asked;     /* the last question to servers; its name borrows from key */
    struct name asked_zone;    /* the zone of those servers; of the zone, or in the memory */
    struct task_group group;   /* those servers, where recursion chose them */
    uint64_t client;           /* struct waiter.client of the question that started it */
    struct answer *head;       /* kept by STEP_KEEP; owned */
    struct held_message *held; /* VALIDATING; owned */
    struct task_bogus *bogus;  /* after a bogus answer, until a better one comes; owned */
    struct answer answer;      /* ANSWERED; borrows from the scrub space or from owned */
    struct answer *owned;      /* the memory that answer borrows from; owned, or NULL */
    struct failure failure;    /* FAILED, PARTING */
    char *failure_text;        /* that failure borrows; owned, or NULL */
    struct tap_source source;  /* the server that answered last, useful or not */
    struct timer wait;         /* ASKING_HERE, FOLLOWING, UNASKED: when the state ends */
    struct timer clock;        /* all running states: when `deadline` is due */
    uint64_t ends_at;          /* TASK_WALL_US after its start */
    struct subtask sub[TASK_SUBS_MAX];
    struct exchange exchange;
    struct question question; /* its name borrows from key */
    struct cache_key key;
};

struct tasks {
    struct loop *loop;
    struct cache *cache;
    struct stats *stats;
    struct upstreams *upstreams;
    struct space shared;          /* of all views that set nothing that resolution depends on */
    const struct zone_set *zones; /* held here, for all spaces; NULL: none */
    bool minimal_responses;
    struct recursion_options recursion;   /* the current ones; they point into the configuration */
    struct validation_options validation; /* the same; each space has its own mode */
    const struct iterate_world *world;    /* NULL: no recursion */
    struct validator *validator;          /* NULL: nothing was validated so far */

    struct task **buckets;
    size_t bucket_mask;
    size_t count, max;
    size_t refreshing;         /* tasks that are refreshes */
    size_t sub_count;          /* subtasks */
    struct list lingering;     /* struct task, the oldest first */
    size_t lingering_count;    /* of these; count includes them */
    struct held_messages held; /* messages that wait for a verdict */
    unsigned traces;           /* held by tasks or their readers */
    struct list idle;          /* free tasks */
    struct list slabs;         /* their memory */

    struct retries retries; /* of refreshes */

    struct verify_turn turn;

    struct list finished;    /* waiting for delivery */
    struct turn_end deliver; /* where no caller up the stack delivers */
    bool delivering;
    bool closing; /* nothing new starts */

    struct compose_space scrubbed; /* the answer that came last */
    struct compose_space judged;   /* the answer whose verdict came last, after a wait */
    struct compose_space stitched;
    struct compose_space local_space;   /* answers from local data */
    struct delegation cut;              /* the cut that came last */
    struct task *leaders[TASK_LEADERS]; /* task_group.h */
    struct zone_load load;
    struct large_zones large;
    struct unproven unproven;
    struct lame *lame;
};

/* Makes buckets for max tasks; the caller fills in the members above the blank line. False out of
 * memory. */
MUST_USE bool tasks_init(struct tasks *tasks, size_t max);

/* All tasks must have ended (MUST). */
void tasks_deinit(struct tasks *tasks);

/* Changes the bound; tasks above it go on. False: out of memory, nothing has changed. */
MUST_USE bool tasks_set_max(struct tasks *tasks, size_t max);

/* Returns the running task of the key that equal questions join, or NULL. */
struct task *tasks_find(const struct tasks *tasks, const struct cache_key *key);

/* Returns a task of the key that has ended and waits for its delivery, or NULL. A waiter that is
 * added to it is called with the others. Looks at a few tasks at most. */
struct task *tasks_find_finished(const struct tasks *tasks, const struct cache_key *key);

/* Whether the task would take the same path if it began now: the routes of its space are the same
 * and, for a name from local data, that data is the same. The results of all other tasks may be out
 * of date: such tasks are not joined and their results are not kept. */
bool task_is_current(const struct task *task);

/* Returns a new task in the table, DECIDING; the caller initialises its exchange and timers. NULL:
 * max tasks run already, or out of memory. */
struct task *tasks_take(struct tasks *tasks, struct space *space, const struct cache_key *key);

/* Makes a move of the table in task_state.h (MUST). */
static inline void task_move(struct task *task, enum task_state state)
{
    MUST(task_state_may_follow(task->state, state));
    task->former_state = task->state;
    task->state = state;
}

/* Whether answers to this task are validated. Keys and DS records are, whatever their zone says,
 * because other zones depend on them. */
static inline bool task_validates(const struct task *task)
{
    return (task->zone->validates || task->key.view == CACHE_VIEW_TRUST) &&
           !(task->key.flags & CACHE_KEY_CD) && task->key.cls == RRCLASS_IN;
}

/* Whether an answer found under this key of the space may be used as it is. Where answers are
 * validated, one without a verdict may not, unless the key has CD. */
bool tasks_has_verdict(const struct space *space, const struct cache_key *key,
                       const struct answer *answer);

static inline bool tasks_may_use(const struct space *space, const struct cache_key *key,
                                 const struct answer *answer)
{
    bool needs_verdict = space->mode == VALIDATE_YES || key->view == CACHE_VIEW_TRUST;
    return !needs_verdict || answer->security != SECURITY_UNCHECKED ||
           tasks_has_verdict(space, key, answer);
}

/* Puts a task back that tasks_unlink() took out; no other task may have its key. */
void tasks_link(struct tasks *tasks, struct task *task);

/* Returns the local data for a task of this space; NULL: none. */
static inline const struct local_names *tasks_local(const struct tasks *tasks,
                                                    const struct space *space)
{
    return space->is_retired ? tasks->shared.local : space->local;
}

/* Takes a task out of the table: equal questions no longer join it. */
void tasks_unlink(struct tasks *tasks, struct task *task);

/* Gives the task a budget where the zone's questions need one. The question may have begun in a
 * zone that is not validated, and an alias may lead to one that is. Keys and DS records are
 * validated in every zone. False: out of memory. */
MUST_USE bool tasks_give_budget(struct task *task, const struct zone *zone);

/* Gives the task a new budget: it runs as if it had started now, and the time of the former one may
 * be over. Out of memory: it keeps that one. */
void tasks_renew_budget(struct task *task);

/* Drops a task's reference to a budget. The last one counts the work. NULL is fine. */
void tasks_drop_budget(struct tasks *tasks, struct budget *budget);

/* Frees an unlinked task and what it owns. */
void tasks_give(struct tasks *tasks, struct task *task);

/* Whether one more refresh has room. */
bool tasks_may_refresh(const struct tasks *tasks);

/* Makes a task that was just taken a refresh. */
void tasks_set_refresh(struct task *task);

/* Returns any running task, or NULL. */
struct task *tasks_any(const struct tasks *tasks);

/* Whether servers get the whole question and not a minimised QNAME. The pointers are compared
 * first: a whole question mostly has the very same name. */
static inline bool task_asks_whole(const struct task *task, const struct question *question)
{
    return (question->name.wire == task->question.name.wire &&
            question->type == task->question.type) ||
           question_equal(question, &task->question);
}

#endif
