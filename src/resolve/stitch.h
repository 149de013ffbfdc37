/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_STITCH_H
#define NAILUP_RESOLVE_STITCH_H

/*
 * Joins the aliases one zone gave with the answer another gave for the name they lead to: one
 * answer for the client.
 */

#include <stdint.h>

#include "base/err.h"
#include "cache/answer.h"
#include "cache/compose.h"
#include "dns/question.h"

/*
 * head holds the aliases of question, tail the answer of the name they end at, each as made by
 * scrub() or stitch() some time before now; their TTLs are lowered by that time. Kind and rcode are
 * the tail's, AD is set when both have it, ttl_s is the lesser of what both have left, 0 when
 * either may not be kept. *out borrows from space. False when both together have more than
 * ALIAS_HOPS_MAX aliases, or would not fit.
 */
MUST_USE bool stitch(struct answer *out, struct compose_space *space,
                     const struct question *question, const struct answer *head,
                     const struct answer *tail, uint64_t now);

#endif
