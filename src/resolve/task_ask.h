/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_TASK_ASK_H
#define NAILUP_RESOLVE_TASK_ASK_H

/*
 * Puts a task's question to servers: chooses and holds them, starts the exchange, and remembers
 * what each answer shows about them. Owns struct task_group.
 *
 * Tasks on their way down often want to send one zone the same minimised QNAME: for the addresses
 * of a zone's servers, or for many clients after a start. One task leads and asks; the others
 * follow it until it has its answer, and look into the cache again. A follower waits
 * TASK_FOLLOW_US at most and once for each query. If it learns nothing, it asks the servers itself.
 *
 * On the worker's thread.
 */

#include "resolve/tasks.h"

/* How long a task follows another at most. */
#define TASK_FOLLOW_US (400 * US_PER_MS)

/* Asks the servers of a configured zone: ASKING. */
void task_ask(struct task *task, const struct step_ask *ask);

/* Asks the servers of a zone cut, or a zone held here in their place: ASKING, ASKING_HERE,
 * FOLLOWING, or UNASKED where no server may be asked. */
void task_ask_cut(struct task *task, const struct step_ask_cut *ask);

/* The last answer lacks signatures that its zone has. From now on the servers of its exchange are
 * asked with EDNS, even if they lacked it recently. */
void task_ask_doubt_no_edns(const struct task *task);

/* Asks the servers of the last exchange again, after an answer of theirs that failed to validate:
 * servers with such answers come last, streams come first, and a forwarder may validate for itself
 * in the end. False: they were released, or the budget is used up. */
MUST_USE bool task_ask_again(struct task *task);

/* Whether each server of the last exchange gave a bogus answer, or they were released. */
bool task_ask_were_all_bogus(const struct task *task);

/* Ends the exchange or the wait: DECIDING. Only subtasks may be under way afterwards. */
void task_ask_stop(struct task *task);

/* Releases the servers, after the exchange has ended. */
void task_ask_drop(struct task *task);

/* Lets the followers continue, because the task has its answer or will get none. */
void task_ask_stop_leading(struct task *task);

/* Remembers whether the server is lame for the asked zone, whether the zone has large answers, and
 * that unproven servers answered. */
void task_ask_note_answer(struct task *task, const struct exchange_answer *from,
                          const struct response *response);

/* Remembers that all unproven servers of the group stayed silent. */
void task_ask_note_silence(struct task *task);

/* The useless answers of some servers of the zone kept others from being asked. They count as lame
 * (lame_note_useless()), so the next question asks the others first. A server that refuses counts
 * so already. One that fails would come first again where it is fast. Call it before the servers
 * are dropped. */
void task_ask_note_useless(struct task *task);

#endif
