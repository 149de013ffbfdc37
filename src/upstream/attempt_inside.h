/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_ATTEMPT_INSIDE_H
#define NAILUP_UPSTREAM_ATTEMPT_INSIDE_H

/* What attempt.c asks of attempt_tell.c, which shows queries to upstreams, and what came back for
 * them, to who watches. To be called while there are env->taps. */

#include "base/span.h"

struct attempt;
struct conn;

/* The query as it leaves: over UDP when its socket is open; else on conn, before it takes the
 * query. */
__attribute__((cold)) void attempt_tell_sent(struct attempt *attempt, struct span query,
                                             struct conn *conn);

/* A message that came for the query, whatever it is worth. */
__attribute__((cold)) void attempt_tell_heard(const struct attempt *attempt, struct span message);

#endif
