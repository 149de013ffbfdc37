/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_LOCAL_LOCAL_BLOCK_H
#define NAILUP_LOCAL_LOCAL_BLOCK_H

/*
 * Applies block lists to targets of aliases (block-aliases), because trackers hide behind a name of
 * the visited site. The check runs before an answer is stored, so a hit costs nothing. For an
 * answer without aliases it reads only the first record.
 */

#include <stdbool.h>

#include "base/span.h"
#include "local/local_names.h"

/* Returns whether an alias in the answer section leads to a name of a block list, and fills *result
 * with the list's answer for the QNAME. The result borrows from the QNAME and the table. message is
 * in the form of cache/answer.h; the question's name is in lower case. names may be NULL. */
bool local_block_find(const struct local_names *names, struct span message,
                      const struct question *question, struct local_result *result);

#endif
