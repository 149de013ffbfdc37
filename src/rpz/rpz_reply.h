/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RPZ_RPZ_REPLY_H
#define NAILUP_RPZ_RPZ_REPLY_H

/* Writes what a rule gives to a client, in the form of cache/answer.h. It is never cached. */

#include <stdbool.h>
#include <stdint.h>

#include "cache/compose.h"
#include "rpz/rpz_policy.h"

/* Whether the action gives records or a denial: RPZ_NXDOMAIN, RPZ_NODATA, RPZ_DATA, RPZ_CNAME. */
bool rpz_action_writes(enum rpz_action action);

/*
 * Writes the answer of a decision whose action writes one (MUST). former is the answer that it
 * replaces, or NULL: the aliases that lead to decision->name stay, with the TTL that is left. The
 * SOA of the policy zone is in the additional section (draft section 6), and ede_count and ede have
 * the error of the zone. An answer that does not fit becomes SERVFAIL. *out borrows from the space.
 *
 * Returns true when a CNAME of the rule leads to *target, whose records are to follow; it borrows
 * from wire. A target that would be too long makes YXDOMAIN, as a DNAME does (RFC 6672
 * section 2.2).
 */
bool rpz_reply_write(struct answer *out, struct compose_space *space,
                     const struct question *question, const struct rpz_decision *decision,
                     const struct answer *former, uint64_t now, uint8_t wire[NAME_WIRE_MAX],
                     struct name *target);

#endif
