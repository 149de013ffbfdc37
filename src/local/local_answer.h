/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_LOCAL_LOCAL_ANSWER_H
#define NAILUP_LOCAL_LOCAL_ANSWER_H

/* Answers in the form of cache/answer.h for what is decided here: names answered here, and ANY.
 * None of them may be cached (ttl_s is 0): a hit in the cache must not look at names. */

#include <stdint.h>

#include "cache/compose.h"
#include "local/local_names.h"

enum {
    LOCAL_ANY_TTL_S = 3789
}; /* RFC 8482 section 4.2 leaves it to us; not a round number, so
      that it is recognised */

/* The answer that the result means, of LOCAL_ELSEWHERE the aliases alone; it borrows from the
 * space. AA is set: nobody knows better. What does not come out whole is a SERVFAIL. The question's
 * name is in lower case. */
void local_answer(struct answer *out, struct compose_space *space, const struct local_names *names,
                  const struct question *question, const struct local_result *result, uint64_t now);

/* RFC 8482 section 4.2: one HINFO record for ANY, whatever the name has. Asking upstreams would
 * bring answers that are large, seldom whole, and wanted by forgers most of all. */
void local_answer_any(struct answer *out, struct compose_space *space,
                      const struct question *question, uint64_t now);

#endif
