/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_SUB_ANSWERS_H
#define NAILUP_RESOLVE_SUB_ANSWERS_H

/*
 * Answers for a subtask's question that need no server: of the cache, of special-use names, of the
 * block list of alias targets, and of zones held here.
 */

#include <stdint.h>

#include "cache/answer.h"
#include "cache/key.h"
#include "dns/name.h"
#include "resolve/tasks.h"

enum sub_answers_result {
    SUB_ANSWERS_NONE,  /* the question must be asked, under its key */
    SUB_ANSWERS_FOUND, /* answer is the answer */
    /* answer has aliases of a zone held here, which lead to target in another zone. No server may
     * be asked for the question itself. */
    SUB_ANSWERS_ALIAS,
};

/* Must not be copied: target may borrow from wire. */
struct sub_answers {
    struct cache_key key;
    struct answer answer;
    struct name target;
    uint8_t wire[NAME_WIRE_MAX];
};

/*
 * Makes the key of the question that the task wants an answer to, and looks for that answer. tag
 * says what the answer is for: 0 is the target of an alias, TASK_TAG_VALIDATION keys or DS records,
 * others addresses. In a read section, in which out->answer stays valid.
 */
enum sub_answers_result sub_answers_find(const struct task *task, const struct question *question,
                                         uint16_t tag, struct sub_answers *out);

#endif
