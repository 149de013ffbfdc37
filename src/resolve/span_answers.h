/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_SPAN_ANSWERS_H
#define NAILUP_RESOLVE_SPAN_ANSWERS_H

/*
 * Answers that are synthesised from spans (RFC 8198): learns spans from secure answers, and writes
 * the answer to a question that the cache misses. validate/reuse.h decides which records may be
 * kept, and validate/synthesis.h what they prove.
 *
 * Synthesised answers are not stored in the cache. They are made faster than an upstream answers,
 * and a flood of random names would displace other answers.
 */

#include <stdbool.h>

#include "cache/answer.h"
#include "cache/key.h"
#include "resolve/tasks.h"
#include "validate/validation.h"

/* Keeps the spans of the message that this verdict is about. The RRsets in the validator's space
 * are those of the message. */
void span_answers_learn(const struct task *task, const struct validation *validation,
                        const struct verdict *verdict);

/*
 * Writes the answer for a key of the space, if its spans have one, to tasks->local_space, from
 * which *out borrows. They have none for a key with CD, or for a zone of the configuration that is
 * not validated or has aggressive: no. A name at or below a configured zone is denied only by spans
 * of that zone and zones below it, and only where no other anchor or negative anchor is in between.
 */
bool span_answers_find(struct tasks *tasks, const struct space *space, const struct cache_key *key,
                       struct answer *out);

/*
 * Writes the alias that a wildcard makes of the task's name, if the spans have one, to
 * tasks->local_space, from which *head borrows. The whole answer is not stored either. *target is
 * in wire. They have none for a refresh, and for a trace that must ask servers.
 */
bool span_answers_alias(const struct task *task, struct answer *head, uint8_t wire[NAME_WIRE_MAX],
                        struct name *target);

/* Whether span_answers_find() would find an answer, and its rcode: for people. */
bool span_answers_has(const struct tasks *tasks, const struct space *space,
                      const struct cache_key *key, uint16_t *rcode);

#endif
