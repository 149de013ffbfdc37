/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_VARIANT_H
#define NAILUP_RESOLVE_VARIANT_H

/*
 * One validated answer under two keys. Every query of a validating zone has DO, so the answer for a
 * client with DO has all that one without it gets. The validated keys and DS records of a zone are
 * also the answer to a client's question for them. Both save the upstream query.
 */

#include <stdbool.h>

#include "cache/answer.h"

struct task;

/* Makes the answer to the task's question from a validated one that the cache has under another
 * key. It lives as long as that one, and borrows from tasks->stitched. A refresh has none, because
 * it would renew nothing. */
bool variant_find(const struct task *task, struct answer *out);

#endif
