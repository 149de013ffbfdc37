/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_STALE_H
#define NAILUP_RESOLVE_STALE_H

/*
 * Which answer serves when the upstreams of a question failed or are slow (RFC 8767): the one in
 * the cache whose time is over, if it may.
 */

#include "cache/answer.h"
#include "resolve/tasks.h"

/* RFC 8767 section 5: the TTL of stale records unless an option says otherwise, and how long the
 * upstreams are not asked again after they failed. */
enum { STALE_TTL_S = 30 };

/*
 * A copy for free() of what the cache has for the task's question, or NULL; who sent CD may get
 * what others asked for without. If it is live (another worker stored it) it is as it was; else it
 * has stale_s, TTLs of the option's that do not age, the extended error 3 or 19 with the reason of
 * the failure behind it, and a life of STALE_TTL_S from now. failure: what the task ended with;
 * NULL: it is slow.
 *
 * It never has AD: signatures may have ended too, and whoever validates looks at them. Not when the
 * failure is one of DNSSEC, which old data must not hide, and not at the end of the resolver.
 */
struct answer *stale_take(const struct task *task, const struct failure *failure);

#endif
