/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_EARLY_KEYS_H
#define NAILUP_RESOLVE_EARLY_KEYS_H

/*
 * A referral with DS records leads to a zone whose keys the verdict will need. So they are asked
 * for together with the first query to that zone, and not after its answer: the client waits one
 * round trip less for each zone. The same holds for the first query to a zone whose cut and DS
 * records are known and whose keys have expired. Decides only; task.c asks.
 *
 * No query is sent that would not be sent later: the chain of trust reaches the zone, so its answer
 * has no verdict without the keys. A zone whose servers do not answer is the exception.
 */

#include <stdbool.h>

#include "cache/key.h"
#include "dns/message.h"
#include "dns/name.h"

struct task;

/* Whether this referral says that the zone has usable keys, as far as the message itself tells. */
bool early_keys_are_promised(const struct task *task, const struct message *referral,
                             struct name zone);

/*
 * Whether the promised keys should be asked for now, and under which key of the cache. False: they
 * are known or on the way; the task is not validated; the chain of trust does not reach the zone,
 * or it is unknown whether it does; a negative trust anchor is at the zone or above; the task is a
 * refresh or its budget is short; or its question is for these keys or for signatures, whose
 * verdict needs no more. asked: the zone that sent the referral.
 */
bool early_keys_are_due(const struct task *task, struct name asked, struct name zone,
                        struct cache_key *key);

/*
 * The same for a zone whose cut was known before, so that no referral promises anything: whether
 * its keys have expired and its DS records have not. Also false if something is known about DS
 * records further down, on the way to the QNAME: then the answer may not need these keys.
 */
bool early_keys_have_ended(const struct task *task, struct name zone, struct cache_key *key);

#endif
