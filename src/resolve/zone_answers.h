/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_ZONE_ANSWERS_H
#define NAILUP_RESOLVE_ZONE_ANSWERS_H

/* Decides which questions the zones held here answer: for clients, or in place of a zone's servers.
 * On the worker's thread. */

#include <stdbool.h>
#include <stdint.h>

#include "dns/message.h"
#include "dns/name.h"
#include "dns/question.h"

struct answer;
struct space;
struct task;
struct tasks;
struct zone_set;

enum zone_answers_result {
    ZONE_ANSWERS_NOT,       /* no zone for clients has the name, or recursion is to answer it */
    ZONE_ANSWERS_FOUND,     /* *out is the answer */
    ZONE_ANSWERS_ELSEWHERE, /* *out has aliases, and their target is not in this zone */
};

/* Finds the answer for a client. refers: the client gets a referral for a name below a cut, and
 * resolves aliases itself (RD=0). A zone without data and without fallback answers SERVFAIL. A view
 * whose own zone for the name is as long or longer does not use the zone held here. *out borrows
 * the tasks' space for local answers; *target borrows wire. The tasks have zones. */
enum zone_answers_result zone_answers_find(struct tasks *tasks, const struct space *space,
                                           const struct question *question, bool dnssec_ok,
                                           bool refers, struct answer *out,
                                           uint8_t wire[NAME_WIRE_MAX], struct name *target);

/* Whether a zone for clients answers the question in this space, so that a cached answer would hide
 * it. */
bool zone_answers_has(const struct zone_set *zones, const struct space *space,
                      const struct question *question);

/* Whether local data does not answer the question, although it has a special-use zone of this
 * length for the name: a zone held here is at least as long. Zones of the configuration are not in
 * local data, but members of catalogs come and go. zones: NULL for none. */
bool zone_answers_claims(const struct zone_set *zones, const struct question *question,
                         uint8_t special_len);

/* ---- for recursion ---- */

/* Whether recursion finds the zone of this name here, so that no server of it is asked: even if it
 * has no data now and no fallback. */
bool zone_answers_is_cut(const struct task *task, struct name zone);

/* Writes the answer of the task's asked zone to its asked question, as its server would, and parses
 * it. Returns false when the zone has none. The message borrows the tasks' space for local answers.
 */
bool zone_answers_ask(struct task *task, struct message *message);

/* Whether servers may be asked after the asked zone gave a bogus answer. */
bool zone_answers_may_avoid(const struct task *task);

#endif
