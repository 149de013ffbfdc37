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

/* How long a cut without a server that can be found is kept, whatever TTL its parent gave: a
 * referral that lacks the glue it needs may have it the next time. */
enum { TASK_CUT_LOST_S = 30 };

/* What recursion stands on; borrowed by the tasks, which a NULL leaves without it. Once it is there
 * it stays as long as they do: a reload changes what is in it, as tasks have something to drop. */
struct iterate_world {
    struct iterate_rules rules;
    struct delegation hints;
    /* The upstreams at these addresses, of which the ports have no meaning, at most `most`; without
     * those that must not be asked. Each is held until drop(). Returns how many; *strangers: how
     * many of them never answered. */
    size_t (*hold)(void *context, const struct addr *ips, size_t count, struct upstream **out,
                   size_t most, size_t *strangers);
    void (*drop)(void *context, struct upstream *const *group, size_t count);
    /* Whether this machine has no way to servers of the IP version (AF_INET, AF_INET6) just now.
     * NULL: it has one to both. */
    bool (*lacks)(void *context, int family);
    void *context;
};

/* What strategies are told of recursion now: without addresses of an IP version that leads nowhere,
 * unless neither does. */
struct iterate_rules task_cut_rules(const struct task *task);

/* What is known on the way up from a name. */
struct task_cut_found {
    struct delegation *cut; /* the caller's, filled in when is_cut */
    struct answer *absent;  /* the caller's, when is_absent; borrows from the tasks' space */
    bool is_cut, is_absent;
    uint8_t
        passed; /* labels of the longest name that is known to be there, in the cut's zone; or 0 */
};

/* The closest cut at or above name, below the task's zone; or that zone's own servers, or the
 * hints; or that nothing is below a name nearer. */
void task_cut_find(struct task *task, struct name name, struct task_cut_found *out);

/* Takes hold of whom to ask, in task->met; the exchange must have stopped. False when none of the
 * addresses may be asked, or too many ask that zone (zone_full). */
bool task_cut_hold(struct task *task, const struct step_ask_cut *ask);

/* A bit for each of the group that was lame lately for the zone that is asked (exchange_question.
 * doubtful). */
uint64_t task_cut_doubtful(const struct task *task, struct upstream *const *group, size_t count);

/* Remembers whether the server at this address has the zone that was asked, by what it said. */
void task_cut_note(struct task *task, const struct addr *server, const struct response *response,
                   const struct message *message);

/* Those that were asked are held no longer; when the exchange has ended. */
void task_cut_drop(struct task *task);

/* It gave way to another question to strangers: its exchange ends. True: what it asked has failed
 * for lack of room. False: it was over before. */
bool task_cut_give_way(struct task *task);

/* For the score of the zone that named the strangers asked (recurse/strangers.h), if any are: all
 * stayed silent; or one of them gave a useful answer. */
void task_cut_note_silence(struct task *task);
void task_cut_note_answer(struct task *task);

/* Whether another's question to the cut could help: it is the first to these servers, and their
 * zone has not failed before. */
bool task_cut_may_follow(const struct task *task, const struct step_ask_cut *ask);

/* The zone whose servers were asked, for judging what they say: *out borrows from the task. */
void task_cut_zone(const struct task *task, struct zone *out);

/* What the response says of a cut: of the one it refers to, or of the zone asked. False: nothing
 * that is believed. */
bool task_cut_read(const struct task *task, const struct response *response,
                   const struct exchange_answer *from, struct delegation *out);

/* Puts the glue that known cuts have of the servers of this one into it. */
void task_cut_add_glue(struct task *task, struct delegation *cut);

void task_cut_learn(struct task *task, const struct delegation *cut);

/* How long a response to a part of the question holds; 0: nobody says. */
uint32_t task_cut_ttl(const struct response *response, const struct message *message);

/* Name is there, in the zone asked, and is no cut. */
void task_cut_learn_passed(struct task *task, struct name name, uint32_t ttl_s);

/* Nothing is below name: the NXDOMAIN of the task's question says so. */
void task_cut_learn_absent(struct task *task, struct name name, const struct answer *answer);

#endif
