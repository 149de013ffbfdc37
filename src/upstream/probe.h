/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_PROBE_H
#define NAILUP_UPSTREAM_PROBE_H

/*
 * Asks a question of an upstream that was silent recently, in parallel with the client's exchange
 * and independent of its end. So nailup finds a server that is back, and no client waits for that.
 * A worker has at most PROBES_MAX at once. The answer is dropped; its effect on the upstream's
 * health stays.
 */

#include "upstream/env.h"

struct exchange_question;
struct upstream;

enum { PROBES_MAX = 64 };

/* Sends a probe if there is room; copies the question. */
void probe_start(struct upstream *upstream, const struct exchange_question *question);

/* Ends all probes. Call it before the upstreams are freed. */
void probe_stop_all(struct upstream_env *env);

#endif
