/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_ALIAS_H
#define NAILUP_RESOLVE_ALIAS_H

/*
 * The one chain of CNAME records that leads from the question through an answer section, and where
 * it ends. Records may stand in any order. A DNAME gives the CNAME its server left out (RFC 6672
 * section 3.1). Pure; any thread.
 *
 * Bounds: ALIAS_HOPS_MAX hops, and as many passes over the section plus one; the first
 * ALIAS_DNAMES_MAX DNAME records are looked at.
 */

#include <stdbool.h>
#include <stdint.h>

#include "dns/message.h"
#include "dns/question.h"

struct zone;

enum { ALIAS_HOPS_MAX = 12, ALIAS_DNAMES_MAX = 16 };

enum alias_end {
    ALIAS_DATA,     /* records of the type asked for */
    ALIAS_NOTHING,  /* a name of the zone without such records in this answer */
    ALIAS_LEFT,     /* a name that is not the zone's: another zone must say what it is */
    ALIAS_LOOP,     /* a name met before */
    ALIAS_LONG,     /* more than ALIAS_HOPS_MAX hops */
    ALIAS_OVERFLOW, /* a DNAME makes the name longer than names are (RFC 6672 section 2.2) */
    ALIAS_UNSOUND,  /* an alias without a sound target */
};

/* One step: a CNAME as sent, or made from the DNAME; the DNAME also when it explains the CNAME. */
struct alias_hop {
    bool has_cname, has_dname;
    struct rr cname, dname;
};

/* Not to be copied: name borrows from wire. */
struct alias_chain {
    enum alias_end end;
    uint8_t hops;
    bool is_made;     /* the CNAME asked for was made from a DNAME */
    struct rr dname;  /* that one, or the one of ALIAS_OVERFLOW */
    struct name name; /* the last name reached; the question's without hops */
    uint8_t wire[NAME_WIRE_MAX];
    struct alias_hop hop[ALIAS_HOPS_MAX];
};

/* Follows the chain. message has parsed OK; names of other zones than `zone` end it. Questions for
 * CNAME and ANY have no chain. */
void alias_follow(struct alias_chain *chain, const struct message *message,
                  const struct question *question, const struct zone *zone);

/* Where a hop leads from owner, copied to out. False when the target is unsound or too long. */
MUST_USE bool alias_target(const struct message *message, const struct alias_hop *hop,
                           struct name owner, uint8_t out[NAME_WIRE_MAX], struct name *target);

#endif
