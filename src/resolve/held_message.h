/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_HELD_ANSWER_H
#define NAILUP_RESOLVE_HELD_ANSWER_H

/*
 * An answer whose delivery waits for a verdict, with the whole message that a server sent. Both are
 * copies that the task owns, so the worker's scrub space is free for the next answer. An answer
 * that is delivered at once is never copied here.
 *
 * struct judge is where DNSSEC validation will plug in. It decides about each answer before a task
 * ends with it.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/span.h"
#include "cache/answer.h"

struct task;

/* All held answers of one worker. An answer above this bound fails for lack of room, which is not
 * remembered. */
enum { HELD_ANSWERS_BYTES_MAX = 4 * 1024 * 1024 };

struct held_answer {
    size_t size_bytes;     /* that count towards the bound */
    struct answer *answer; /* as scrubbed; one block for free() */
    size_t message_len;
    uint8_t message[]; /* as the server sent it */
};

/* Copies both and adds their size to *held_bytes. NULL: the bound is reached, or out of memory. */
struct held_answer *held_answer_new(size_t *held_bytes, const struct answer *answer,
                                    struct span message);

/* Gives the size back to *held_bytes. NULL is fine. */
void held_answer_free(size_t *held_bytes, struct held_answer *held);

/* Frees everything but the answer, which belongs to the caller afterwards. */
struct answer *held_answer_take(size_t *held_bytes, struct held_answer *held);

enum verdict {
    VERDICT_GOOD,  /* the answer is delivered */
    VERDICT_BAD,   /* the task fails with the judge's extended error */
    VERDICT_LATER, /* the task holds the answer; task_on_verdict() follows */
};

struct judge {
    /* answer and message are borrowed for the call. *ede is the reason of VERDICT_BAD. */
    enum verdict (*judge)(void *context, struct task *task, const struct answer *answer,
                          struct span message, uint16_t *ede);
    void *context;
};

#endif
