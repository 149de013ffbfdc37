/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_TASK_READ_H
#define NAILUP_RESOLVE_TASK_READ_H

/* Reads what a server's message says to a task: classified, scrubbed, and searched for zone cuts.
 */

#include <stdint.h>

#include "cache/answer.h"
#include "resolve/classify.h"

struct delegation;
struct exchange_answer;
struct task;

struct task_reading {
    struct response response;
    const struct answer *answer;  /* scrubbed, in the worker's scrub space; NULL: not useful */
    const struct delegation *cut; /* what is believed about a cut, in tasks->cut; or NULL */
    uint32_t minimised_ttl_s;     /* the life of a response to a minimised QNAME; 0: unknown */
    struct answer space;          /* of answer */
};

/* Changes nothing in the task. *out borrows from the message and the worker's spaces. */
void task_read(const struct task *task, const struct exchange_answer *from,
               struct task_reading *out);

#endif
