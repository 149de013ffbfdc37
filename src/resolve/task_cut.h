/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_TASK_CUT_H
#define NAILUP_RESOLVE_TASK_CUT_H

/*
 * What a task does for recursion: finds and keeps zone cuts in the cache, asks addresses, and takes
 * from a response what it says of cuts. Of a task's own thread.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/addr.h"
#include "resolve/tasks.h"

/* What recursion stands on; borrowed by the tasks, which a NULL leaves without it. */
struct iterate_world {
    struct iterate_rules rules;
    struct delegation hints;
    /* The upstreams at these addresses, of which the ports have no meaning, at most `most`; without
     * those that must not be asked. Each is held until drop(). Returns how many. */
    size_t (*hold)(void *context, const struct addr *ips, size_t count, struct upstream **out,
                   size_t most);
    void (*drop)(void *context, struct upstream *const *group, size_t count);
    void *context;
};

/* The closest cut at or above name, below the task's zone; or that zone's own servers, or the
 * hints, into *cut. *absent, borrowed from the tasks' space, is set instead when nothing is known
 * to be below a name nearer. Returns false when there is none of all that. */
bool task_cut_find(struct task *task, struct name name, struct delegation *cut,
                   struct answer *absent, bool *is_absent);

/* Asks; false when none of the addresses may be asked. */
bool task_cut_ask(struct task *task, const struct step_ask_cut *ask,
                  const struct exchange_question *question);

/* Those that were asked are held no longer; when the exchange has ended. */
void task_cut_drop(struct task *task);

/* The zone whose servers were asked, for judging what they say: *out borrows from the task. */
void task_cut_zone(const struct task *task, struct zone *out);

/* What the response says of a cut: of the one it refers to, or of the zone asked. False: nothing
 * that is believed. */
bool task_cut_read(const struct task *task, const struct response *response,
                   const struct message *message, struct delegation *out);

void task_cut_learn(struct task *task, const struct delegation *cut);

/* Nothing is below name: the NXDOMAIN of the task's question says so. */
void task_cut_learn_absent(struct task *task, struct name name, const struct answer *answer);

#endif
