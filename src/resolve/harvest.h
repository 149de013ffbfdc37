/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_HARVEST_H
#define NAILUP_RESOLVE_HARVEST_H

/*
 * A referral carries the DS records of the zone that it refers to, or the proof that there are none
 * (RFC 4035 section 3.1.4). A validation asks for them soon, so keeping them saves that query.
 *
 * They are kept in CACHE_VIEW_TRUST as an unchecked answer to (zone, DS), and no other code uses an
 * unchecked answer of that view. The task for (zone, DS) judges them as if a server had just sent
 * them. If they do not validate, the task asks the servers.
 */

#include <stdbool.h>
#include <stdint.h>

#include "cache/answer.h"
#include "dns/message.h"
#include "dns/name.h"

struct task;

enum { HARVEST_TTL_S = 30 /* the client's question that brought the referral ends before */ };

/* Keeps what this referral to the zone says, unless more is known. */
void harvest_keep(const struct task *task, const struct message *referral, struct name zone);

/* Finds what is kept for the question of this task, as a message of an authoritative server.
 * *out borrows from tasks->stitched. False: nothing. */
bool harvest_find(const struct task *task, struct message *out);

/* Gives the scrubbed answer its life. A proof that came with a referral has no SOA to limit it, so
 * its own records do. */
void harvest_bound(const struct task *task, struct answer *answer, uint32_t ttl_max_s);

#endif
