/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_LOCAL_LOCAL_NAMES_H
#define NAILUP_LOCAL_LOCAL_NAMES_H

/*
 * Local data: names that nailup answers itself. The table has the operator's records, zones with an
 * action, block lists and special-use names. local_build.h builds it; then it is immutable, and all
 * workers share it.
 *
 * The longest name of the table at or above the QNAME decides. If the QNAME has records, they are
 * the answer, except that LOCAL_TYPETRANSPARENT leaves types without records to upstreams.
 * Otherwise the action of its zone decides.
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

/* Makes a table with the same names for zones that get upstreams at run time. It borrows from base,
 * which must outlive it. Returns NULL when out of memory. */
struct local_names *local_names_new_over(const struct local_names *base);

/* Exempts special-use names in the zone (lower case); the operator's rules stay. Only for a table
 * of local_names_new_over() that no other thread has yet. ERR_NO_MEMORY, ERR_LIMIT. */
MUST_USE enum err local_names_exempt(struct local_names *names, struct name zone);

/* Puts the table on top of another one, which it borrows. The lower table decides about names that
 * this table does not have. Only for a table that no other thread has yet. NULL: no lower table. */
void local_names_set_under(struct local_names *names, const struct local_names *under);

/* Whether the table is on top of another one. */
bool local_names_is_over(const struct local_names *names);

enum local_verdict {
    LOCAL_NOT,       /* ask an upstream */
    LOCAL_ANSWERED,  /* local data has the whole answer */
    LOCAL_ELSEWHERE, /* the hops lead to target, which is not in local data */
    LOCAL_DROPPED,   /* the client gets no answer */
};

/* An RRset. The owner borrows from the question or the table. */
struct local_hop {
    struct name owner;
    const struct local_names *table; /* the table that has the RRset */
    const struct local_rrset *rrset;
};

/* The contents of an answer. Borrows from the question's name and from the table. */
struct local_result {
    uint16_t rcode;
    uint16_t ede; /* EDE_NONE: none */
    uint8_t hops;
    uint8_t special_len; /* of the special-use zone that decides about the QNAME; 0: none does */
    bool has_soa;        /* the answer is a denial with an SOA */
    bool is_dropped;     /* with LOCAL_DROPPED */
    struct name soa_owner;
    const struct local_names *soa_table; /* the table that has soa */
    const struct local_rrset *soa;       /* NULL: local_answer() makes one with soa_ttl_s */
    uint32_t soa_ttl_s;
    struct name target; /* for LOCAL_ELSEWHERE; keeps its case */
    struct local_hop hop[LOCAL_HOPS_MAX + 1];
};

/* Returns false when local_names_find() would return LOCAL_NOT. Very cheap; true may be wrong. */
bool local_names_may_have(const struct local_names *names, struct name name);

/* Decides a question of class IN with its name in lower case. Fills *result unless it returns
 * LOCAL_NOT. No allocation, no lock; any thread. */
enum local_verdict local_names_find(const struct local_names *names,
                                    const struct question *question, struct local_result *result);

/* Returns whether local data answers this type of the name (lower case). Cached answers for such a
 * question must no longer be used. Only LOCAL_TYPETRANSPARENT makes a difference between types. */
bool local_names_has(const struct local_names *names, struct name name, uint16_t type);

/* Returns whether local data answers any type of the name (lower case) from this table, and not
 * from the one below it. */
bool local_names_has_over(const struct local_names *names, struct name name);

/* Returns whether local data without special-use names answers any type of the name. */
bool local_names_has_own(const struct local_names *names, struct name name);

/* Returns whether block lists apply to targets of aliases. False without lists. */
bool local_names_block_aliases(const struct local_names *names);

/* Returns whether a block list denies or redirects the target (lower case) of an alias. Then
 * *result is the list's answer, except for the QNAME. It borrows from the QNAME and the table. */
bool local_names_block(const struct local_names *names, struct name target,
                       const struct question *question, struct local_result *result);

/* The rule for a name, for operators. */
struct local_view {
    struct name zone; /* the zone or listed name with the rule; "": none */
    enum local_action action;
    const char *origin; /* source of the rule: "local-zones", "block-lists" ... */
    bool has_records;   /* its own records, or a wildcard's or redirect's */
};

/* Returns false when no rule applies to the name (lower case). out->zone borrows from name. */
bool local_names_view(const struct local_names *names, struct name name, struct local_view *out);

/* Return the names in the table, including those above names with records, and its bytes. */
size_t local_names_count(const struct local_names *names);
size_t local_names_bytes(const struct local_names *names);

/* Returns the names that this list decides, without those of earlier rules. The first list is 0. */
size_t local_names_listed(const struct local_names *names, size_t list);

/* ---- reading an RRset ---- */

uint16_t local_rrset_type(const struct local_rrset *rrset);
uint32_t local_rrset_ttl(const struct local_rrset *rrset);

/* Gives the uncompressed RDATA of the records one by one. *at is 0 at first. Returns false at the
 * end. */
bool local_rrset_next(const struct local_names *names, const struct local_rrset *rrset,
                      uint32_t *at, struct span *rdata);

#endif
