/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_LOCAL_LOCAL_NAMES_H
#define NAILUP_LOCAL_LOCAL_NAMES_H

/*
 * The names that are answered here and not by an upstream: records of the operator, zones with an
 * action, block lists, names of special use. One table, made by local_build.h, immutable
 * afterwards and shared by all workers.
 *
 * What decides about a name is the longest name of the table that it equals or is below. A name
 * with records has them; else the action of the zone it lies in says what is answered.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/span.h"
#include "dns/question.h"
#include "local/local_action.h"

struct local_names;
struct local_rrset;

void local_names_free(struct local_names *names);

/* The same names, for zones that get upstreams while the table is in use. Borrows from base, which
 * nobody frees before. NULL: out of memory. */
struct local_names *local_names_new_over(const struct local_names *base);

/* Only for one of local_names_new_over(), before anybody else has it. What the table has for names
 * of special use in the zone (lower case) counts no more; what the operator says does.
 * ERR_NO_MEMORY, ERR_LIMIT. */
MUST_USE enum err local_names_spare(struct local_names *names, struct name zone);

enum local_verdict {
    LOCAL_NOT,       /* an upstream is to be asked */
    LOCAL_ANSWERED,  /* all is known here */
    LOCAL_ELSEWHERE, /* the hops lead to target, which is not answered here */
};

/* Records of one owner; the owner borrows from the question or the table. */
struct local_hop {
    struct name owner;
    const struct local_rrset *rrset;
};

/* What is answered. Borrows from the question's name and from the table. */
struct local_result {
    uint16_t rcode;
    uint16_t ede; /* EDE_NONE: none */
    uint8_t hops;
    bool has_soa; /* authority: a denial's SOA */
    struct name soa_owner;
    const struct local_rrset *soa; /* NULL: one is made up, with soa_ttl_s */
    uint32_t soa_ttl_s;
    struct name target; /* of LOCAL_ELSEWHERE, spelled as written */
    struct local_hop hop[LOCAL_HOPS_MAX + 1];
};

/* False: local_names_find() would say LOCAL_NOT. Costs next to nothing; true may be wrong. */
bool local_names_may_have(const struct local_names *names, struct name name);

/* Decides about a question of class IN, whose name is in lower case. Fills *result unless
 * LOCAL_NOT. No allocation, no lock; any thread. */
enum local_verdict local_names_find(const struct local_names *names,
                                    const struct question *question, struct local_result *result);

/* Whether a question for some type of the name (lower case) is answered here. What a cache keeps of
 * such a name from before must not be used any more. */
bool local_names_has(const struct local_names *names, struct name name);

/* Whether block lists hold for what aliases lead to. False where there are no lists. */
bool local_names_block_aliases(const struct local_names *names);

/* Whether a block list decides about a name (lower case) that an alias leads to, and denies or
 * redirects it. Then *result is what the list says, as if it had the question's own name; it
 * borrows from that and from the table. */
bool local_names_block(const struct local_names *names, struct name target,
                       const struct question *question, struct local_result *result);

/* As local_names_has(), if no name were of special use. */
bool local_names_has_own(const struct local_names *names, struct name name);

/* What the table says of a name, for people. */
struct local_view {
    struct name zone; /* the end of the name that a rule was given for; "" is none */
    enum local_action action;
    const char *origin; /* whose rule it is: "local-zones", "block-lists" ... */
    bool has_records;   /* of its own, or those that a wildcard or redirect gives */
};

/* False: the table has nothing to do with the name (lower case), which out->zone borrows from. */
bool local_names_view(const struct local_names *names, struct name name, struct local_view *out);

/* Names in the table, those above names with records counted too, and bytes. */
size_t local_names_count(const struct local_names *names);
size_t local_names_bytes(const struct local_names *names);

/* Names on the list in this place, the first being 0: those that no earlier word was about. */
size_t local_names_listed(const struct local_names *names, size_t list);

/* ---- reading an RRset ---- */

uint16_t local_rrset_type(const struct local_rrset *rrset);
uint32_t local_rrset_ttl(const struct local_rrset *rrset);

/* The records' RDATA, uncompressed, one after the other: *at is 0 at first. False: no more. */
bool local_rrset_next(const struct local_names *names, const struct local_rrset *rrset,
                      uint32_t *at, struct span *rdata);

#endif
