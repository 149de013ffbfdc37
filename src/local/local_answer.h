/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_LOCAL_LOCAL_ANSWER_H
#define NAILUP_LOCAL_LOCAL_ANSWER_H

/* Writes answers from local data, and answers to ANY, in the form of cache/answer.h. They are never
 * cached (ttl_s is 0), because a cache hit does not look at local data. */

#include <stdint.h>

#include "cache/compose.h"
#include "local/local_names.h"

enum {
    LOCAL_ANY_TTL_S = 3789
}; /* RFC 8482 section 4.2 leaves the value open. An odd number is
      easy to recognise */

/* Writes the answer for the result; for LOCAL_ELSEWHERE only the aliases. It borrows from the
 * space. AA is set. An answer that does not fit becomes SERVFAIL. The question's name is in lower
 * case. */
void local_answer(struct answer *out, struct compose_space *space, const struct question *question,
                  const struct local_result *result, uint64_t now);

/* Answers ANY with one HINFO record for every name (RFC 8482 section 4.2). Answers of upstreams
 * would be large and seldom complete, and they are what amplification attacks want most. */
void local_answer_any(struct answer *out, struct compose_space *space,
                      const struct question *question, uint64_t now);

#endif
