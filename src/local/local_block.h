/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_LOCAL_LOCAL_BLOCK_H
#define NAILUP_LOCAL_LOCAL_BLOCK_H

/*
 * Block lists hold for the targets of aliases too (block-aliases). Trackers hide behind a name of
 * the site that is visited, so the answer to that name is decided when it is made, before it is
 * stored: a hit looks at nothing. An answer without aliases costs a look at its first record.
 */

#include <stdbool.h>

#include "base/span.h"
#include "cache/answer.h"
#include "dns/name.h"
#include "local/local_names.h"

/* Whether an alias of the answer section leads to a name of a block list. message is as in
 * cache/answer.h, and the question's name is in lower case. Fills *result, which borrows from the
 * question's name and the table, with what the list says, for the question's own name. names may be
 * NULL. */
bool local_block_find(const struct local_names *names, struct span message,
                      const struct question *question, struct local_result *result);

/* Whether an answer that is kept, with this question name, must go now that the table is in use:
 * an alias leads to a listed name, or the answer was decided by a list before. */
bool local_block_changes(const struct local_names *names, struct name name,
                         const struct answer *answer);

#endif
