/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_ALIAS_H
#define NAILUP_RESOLVE_ALIAS_H

/*
 * Follows the chain of CNAME records from the question through an answer section to its end.
 * Records may come in any order. A DNAME yields the CNAME that its server left out (RFC 6672
 * section 3.1). Pure; any thread.
 *
 * Bounds: ALIAS_HOPS_MAX hops, as many passes over the section plus one, and the first
 * ALIAS_DNAMES_MAX DNAME records.
 */

#include <stdbool.h>
#include <stdint.h>

#include "dns/message.h"
#include "dns/question.h"

struct zone;

enum { ALIAS_HOPS_MAX = 12, ALIAS_DNAMES_MAX = 16 };

enum alias_end {
    ALIAS_DATA,     /* at records of the QTYPE */
    ALIAS_NOTHING,  /* at a name of the zone without such records in this answer */
    ALIAS_LEFT,     /* at a name of another zone, which must be asked */
    ALIAS_LOOP,     /* at a name that is already in the chain */
    ALIAS_LONG,     /* after more than ALIAS_HOPS_MAX hops */
    ALIAS_OVERFLOW, /* at a name that a DNAME makes too long (RFC 6672 section 2.2) */
    ALIAS_UNSOUND,  /* at an alias without a sound target */
};

/* One step: a CNAME as sent, or made from the DNAME. A DNAME beside a CNAME explains it. */
struct alias_hop {
    bool has_cname, has_dname;
    struct rr cname, dname;
};

/* Must not be copied: name borrows from wire. */
struct alias_chain {
    enum alias_end end;
    uint8_t hops;
    bool is_made;     /* the CNAME asked for was made from a DNAME */
    struct rr dname;  /* with is_made or ALIAS_OVERFLOW: the DNAME record that caused it */
    struct name name; /* the last name of the chain; the QNAME without hops */
    uint8_t wire[NAME_WIRE_MAX];
    struct alias_hop hop[ALIAS_HOPS_MAX];
};

/* Follows the chain. message has parsed OK. A name outside of `zone` ends the chain. Questions
 * for CNAME and ANY have no chain. */
void alias_follow(struct alias_chain *chain, const struct message *message,
                  const struct question *question, const struct zone *zone);

/* Copies the target of a hop from owner to out. False: the target is unsound or too long. */
MUST_USE bool alias_target(const struct message *message, const struct alias_hop *hop,
                           struct name owner, uint8_t out[NAME_WIRE_MAX], struct name *target);

#endif
