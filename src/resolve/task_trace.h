/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_TASK_TRACE_H
#define NAILUP_RESOLVE_TASK_TRACE_H

/* The rows that a task adds to its trace (trace.h). The caller checks task_is_traced() first, so
 * other tasks pay only for that check. Decides nothing. */

#include <stdbool.h>

#include "resolve/tasks.h"
#include "resolve/trace.h"

struct answer;
struct delegation;
struct exchange_answer;
struct exchange_failure;
struct exchange_loss;
struct response;
struct cut_found;
struct verdict;
struct verify_job;

static inline bool task_is_traced(const struct task *task)
{
    return __builtin_expect(task->trace != NULL, 0);
}

/* Adds the start of the task. */
void task_trace_begun(const struct task *task);

/* Adds the zone cut where its descent starts. */
void task_trace_cut(const struct task *task, const struct cut_found *found);

/* Adds an answer, before the strategy sees it. delegation: of a referral; or NULL. */
void task_trace_answered(const struct task *task, const struct exchange_answer *from,
                         const struct response *response, const struct delegation *delegation);
void task_trace_lost(const struct task *task, const struct exchange_loss *loss);
void task_trace_given_up(const struct task *task, const struct exchange_failure *failure);

/* Notes that the task follows another task, which sends the zone the same query. */
void task_trace_follows(const struct task *task, struct name zone, const struct question *part);

/* Notes that the former zone has failed, and that the task continues without it. */
void task_trace_passed_over(const struct task *task, struct name former);

/* A subtask's question: TRACE_CACHE with the answer, TRACE_JOINED, or TRACE_REFUSED because of
 * ede. */
void task_trace_sub_cached(const struct task *task, const struct question *question,
                           const struct answer *answer);
void task_trace_sub_joined(const struct task *task, const struct question *question);
void task_trace_sub_refused(const struct task *task, const struct question *question, uint16_t ede);

/* A validation needs the records of this type at the zone: they are in the cache, or are asked for,
 * or are done without. It will need the early ones. */
enum task_trace_need { TRACE_NEED_CACHED, TRACE_NEED_ASKED, TRACE_NEED_UNKNOWN, TRACE_NEED_EARLY };
void task_trace_needs(const struct task *task, struct name zone, uint16_t type,
                      enum task_trace_need how);

/* A signature under a key of the zone was verified in us microseconds, or had been verified before:
 * then us is 0. */
enum task_trace_signature { TRACE_SIGNATURE_WRONG, TRACE_SIGNATURE_RIGHT, TRACE_SIGNATURE_KNOWN };
void task_trace_verified(const struct task *task, struct name zone, const struct verify_job *job,
                         enum task_trace_signature signature, uint64_t us);
void task_trace_verdict(const struct task *task, const struct verdict *verdict);

/* Adds the end of the task: it was answered, or it failed. */
void task_trace_ended(const struct task *task);

/* For a question without a task. word is static. */
void trace_say(struct trace *trace, enum trace_kind kind, unsigned depth,
               const struct question *question, const char *word, uint64_t now);

#endif
