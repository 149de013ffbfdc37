/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_TASK_STATE_H
#define NAILUP_RESOLVE_TASK_STATE_H

/*
 * The life of a task. Subtasks may run in any state from DECIDING to WAITING; the state names what
 * the task itself waits for.
 *
 *   free --> deciding <--> asking, asking here, following, unasked, waiting, validating
 *                |
 *                |--> answered --> free
 *                |--> failed ----> free
 *                '--> parting ---> lingering --> free, or deciding again
 */

#include <stdbool.h>
#include <stdint.h>

/* TASK_STATE(name, text, may follow: a mask of TASK_BIT, sentence) */
#define TASK_STATES(TASK_STATE)                                                                    \
    TASK_STATE(FREE, "free", TASK_BIT(DECIDING), "has no question; its memory waits for reuse")    \
    TASK_STATE(DECIDING, "deciding",                                                               \
               TASK_BIT(ASKING) | TASK_BIT(ASKING_HERE) | TASK_BIT(FOLLOWING) |                    \
                   TASK_BIT(UNASKED) | TASK_BIT(WAITING) | TASK_BIT(VALIDATING) |                  \
                   TASK_BIT(LINGERING) | TASK_ENDS,                                                \
               "is on the stack: its strategy chooses the next steps")                             \
    TASK_STATE(ASKING, "asking", TASK_BIT(DECIDING) | TASK_ENDS,                                   \
               "has an exchange under way; the exchange has its own deadline")                     \
    TASK_STATE(ASKING_HERE, "asking here", TASK_BIT(DECIDING) | TASK_ENDS,                         \
               "asks a zone held here in place of its servers, at the end of this turn")           \
    TASK_STATE(FOLLOWING, "following", TASK_BIT(DECIDING) | TASK_ENDS,                             \
               "waits for a task that sends the same query; TASK_FOLLOW_US")                       \
    TASK_STATE(UNASKED, "unasked", TASK_BIT(DECIDING) | TASK_ENDS,                                 \
               "may ask no server of the cut and learns so at the end of this turn")               \
    TASK_STATE(WAITING, "waiting", TASK_BIT(DECIDING) | TASK_ENDS,                                 \
               "waits for subtasks only; each has its own deadline")                               \
    TASK_STATE(VALIDATING, "validating", TASK_BIT(DECIDING) | TASK_ENDS,                           \
               "holds a server's message whose verdict needs keys or DS records")                  \
    TASK_STATE(ANSWERED, "answered", TASK_BIT(FREE), "its answer waits for delivery")              \
    TASK_STATE(FAILED, "failed", TASK_BIT(FREE), "its failure waits for delivery")                 \
    TASK_STATE(PARTING, "parting", TASK_BIT(LINGERING) | TASK_BIT(FREE),                           \
               "its failure waits for delivery, and its exchange continues")                       \
    TASK_STATE(LINGERING, "lingering", TASK_BIT(DECIDING) | TASK_BIT(FREE),                        \
               "has failed; a late answer may come as long as its exchange lives (linger.h)")

enum task_state {
#define TASK_STATE(name, text, follow, sentence) TASK_##name,
    TASK_STATES(TASK_STATE)
#undef TASK_STATE
        TASK_STATE_COUNT
};

#define TASK_BIT(name) (1u << TASK_##name)

/* The ends of a task that runs. */
#define TASK_ENDS (TASK_BIT(ANSWERED) | TASK_BIT(FAILED) | TASK_BIT(PARTING))

/* The event when the clock of a running task (struct task.clock) expires. */
enum task_deadline {
    /* Clients get a stale answer if there is one, or an answer whose verdict would change nothing;
     * the task continues. */
    TASK_DEADLINE_PATIENCE,
    TASK_DEADLINE_END, /* the task fails */
};

/* Static storage. */
const char *task_state_name(enum task_state state);

/* The masks of the table, by state. */
extern const uint16_t task_state_followers[TASK_STATE_COUNT];

/* Whether the move is one of the table's. */
static inline bool task_state_may_follow(enum task_state from, enum task_state to)
{
    return task_state_followers[from] & 1u << to;
}

/* Whether a task in this state still looks for its answer. */
static inline bool task_state_is_running(enum task_state state)
{
    return state >= TASK_DECIDING && state <= TASK_VALIDATING;
}

#endif
