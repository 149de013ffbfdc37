/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_STITCH_H
#define NAILUP_RESOLVE_STITCH_H

/*
 * Joins the aliases of one zone with the answer of another zone for their target: one answer for
 * the client.
 */

#include <stdint.h>

#include "base/err.h"
#include "cache/answer.h"
#include "cache/compose.h"
#include "dns/question.h"

/*
 * head has the aliases of the question, and tail the answer for their target. scrub() or stitch()
 * made each some time before now, and their TTLs are lowered by that time. Kind and rcode are the
 * tail's; AD is set when both have it; the security is the lesser of both; ttl_s is the lower of
 * what both have left, and 0 when one of them must not be kept. *out borrows from space. False:
 * together they have more than ALIAS_HOPS_MAX aliases, or do not fit.
 */
MUST_USE bool stitch(struct answer *out, struct compose_space *space,
                     const struct question *question, const struct answer *head,
                     const struct answer *tail, uint64_t now);

#endif
