/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_STALE_H
#define NAILUP_RESOLVE_STALE_H

/* Finds the expired answer that serves when upstreams fail or are slow (RFC 8767). */

#include "cache/answer.h"
#include "resolve/tasks.h"

/* RFC 8767 section 5: the TTL of stale records unless an option says otherwise, and the pause
 * before the upstreams are asked again. */
enum { STALE_TTL_S = 30 };

/*
 * Returns a copy of the cached answer to the task's question, or NULL. The caller frees it. A
 * client with CD may get an answer to a query without CD, and a client with DO one to a query
 * without DO that is not secure. A live answer, which another worker stored, stays as it is. An
 * expired one gets stale_s, the option's TTL, EDE 3 or 19 followed by the reason of the failure,
 * and a life of STALE_TTL_S. failure: of the task; NULL: the task is slow.
 *
 * The answer never has AD: its signatures may have expired too, and a validating client checks
 * them. The result is NULL after a DNSSEC failure, which old data must not hide, and while the
 * resolver closes.
 */
struct answer *stale_take(const struct task *task, const struct failure *failure);

#endif
