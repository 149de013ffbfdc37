/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_PROBE_H
#define NAILUP_UPSTREAM_PROBE_H

/*
 * A question asked of an upstream that was silent lately, beside the client's own exchange and
 * living on when that is over: so a server that is back is found without a client waiting for it.
 * At most PROBES_MAX at once in a worker; the answer is thrown away, what was learned stays.
 */

#include "upstream/env.h"

struct exchange_question;
struct upstream;

enum { PROBES_MAX = 64 };

/* Asks, if there is room; the question is copied. */
void probe_start(struct upstream *upstream, const struct exchange_question *question);

/* Ends all of them: before the upstreams are freed. */
void probe_stop_all(struct upstream_env *env);

#endif
