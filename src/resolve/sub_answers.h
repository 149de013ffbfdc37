/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_SUB_ANSWERS_H
#define NAILUP_RESOLVE_SUB_ANSWERS_H

/*
 * Answers for a subtask's question that need no server: of the cache, of special-use names, of the
 * block list of alias targets, and of zones held here.
 */

#include <stdbool.h>
#include <stdint.h>

#include "cache/answer.h"
#include "cache/key.h"
#include "resolve/tasks.h"

/*
 * Makes the key of the question that the task wants an answer to, and looks for that answer. tag
 * says what the answer is for: 0 is the target of an alias, TASK_TAG_VALIDATION keys or DS records,
 * others addresses. In a read section, in which *out stays valid. False: the question must be
 * asked, under this key.
 */
bool sub_answers_find(const struct task *task, const struct question *question, uint16_t tag,
                      struct cache_key *key, struct answer *out);

#endif
