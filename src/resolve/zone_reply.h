/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_ZONE_REPLY_H
#define NAILUP_RESOLVE_ZONE_REPLY_H

/*
 * Writes the answer of a zone held here, as its authoritative server would: with AA, signatures,
 * and the proofs of NSEC (RFC 4035 section 3.1.3) and NSEC3 (RFC 5155 section 7.2). Aliases inside
 * the zone are followed. The question is of class IN, its name is in lower case and in the zone.
 */

#include <stdbool.h>
#include <stdint.h>

#include "cache/compose.h"

struct zone_data;

enum {
    /* Work for the hashes of one answer, in units of nsec3_hash.h. A zone whose hashes cost more
     * gets no proofs; RFC 9276 section 3.1 asks for none of that work. */
    ZONE_REPLY_HASH_UNITS = 16,
};

enum zone_reply_end {
    ZONE_REPLY_WHOLE,     /* *out is the answer */
    ZONE_REPLY_ELSEWHERE, /* *out has the aliases; the target is not in this zone's data */
    ZONE_REPLY_BELOW,     /* another zone has the name, below a cut; nothing is written */
};

/* How the answer is used. */
struct zone_reply_wish {
    bool dnssec_ok; /* with signatures and proofs */
    bool refers;    /* a name below a cut gets a referral; without it, ZONE_REPLY_BELOW */
    bool follows;   /* an alias out of the zone ends with ZONE_REPLY_ELSEWHERE; without it, with
                       ZONE_REPLY_WHOLE */
};

/* Writes to space, which *out borrows. *target is the end of the aliases for ZONE_REPLY_ELSEWHERE
 * and borrows target_wire. An alias loop or an answer that does not fit becomes SERVFAIL. */
enum zone_reply_end zone_reply(struct answer *out, struct compose_space *space,
                               const struct zone_data *data, const struct question *question,
                               const struct zone_reply_wish *wish, uint64_t now,
                               uint8_t target_wire[NAME_WIRE_MAX], struct name *target);

#endif
