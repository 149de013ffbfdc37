/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_TASK_READ_H
#define NAILUP_RESOLVE_TASK_READ_H

/* Reads what a server's message says to a task: classified, scrubbed, and searched for zone cuts.
 */

#include <stdint.h>

#include "cache/answer.h"
#include "resolve/classify.h"

struct compose_space;
struct delegation;
struct exchange_answer;
struct message;
struct task;
struct validation;
struct verdict;

/* A validation that has ended with a verdict other than bogus. */
struct task_judged {
    const struct validation *validation;
    const struct verdict *verdict;
};

struct task_reading {
    struct response response;
    const struct answer *answer;  /* scrubbed, in the space of the caller; NULL: not useful */
    const struct delegation *cut; /* what is believed about a cut, in tasks->cut; or NULL */
    bool is_noted;                /* the task has remembered what it shows about its server */
    uint32_t minimised_ttl_s;     /* the life of a response to a minimised QNAME; 0: unknown */
    uint8_t insecure_labels;      /* of the verdict; VERDICT_NO_LABELS without one */
    struct answer space;          /* of answer */
};

/* Sets out->response. Changes nothing in the task; borrows from the message. */
void task_read_kind(const struct task *task, const struct message *message,
                    struct task_reading *out);

/* Sets the other members after task_read_kind(). judged: the validation of this message, whose
 * RRsets are in the validator's space; NULL: it was not validated. The answer borrows from space,
 * and *out from the message and the worker's spaces. */
void task_read(const struct task *task, const struct exchange_answer *from,
               const struct task_judged *judged, struct compose_space *space,
               struct task_reading *out);

#endif
