/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_LOCAL_LOCAL_TABLE_H
#define NAILUP_LOCAL_LOCAL_TABLE_H

/*
 * What the table is made of, for who builds it (local_build.c) and who reads it (local_names.c).
 * Places in arrays are counted from 1; 0 is none.
 *
 * A name's number in the map is a rule, for the millions that have nothing else, or a node.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "local/local_action.h"
#include "local/name_map.h"

enum {
    LOCAL_RULES_MAX = 256,         /* numbers below are rules; rule 0 is none */
    LOCAL_RECORDS_MAX = 4000000,   /* in all */
    LOCAL_RRSET_MAX = 1000,        /* records of one name and type */
    LOCAL_RRSET_BYTES_MAX = 32768, /* of their RDATA, so that an answer has room for it */
    LOCAL_RDATA_MAX = 1024 * 1024 * 1024,
};

/* Whose word it is: of two about one name the earlier counts. */
enum local_origin { LOCAL_OF_ZONES, LOCAL_OF_FORWARD, LOCAL_OF_LISTS, LOCAL_OF_SPECIAL };

struct local_rule {
    enum local_action action;
    enum local_origin origin;
    uint16_t ede;
    bool is_delegated; /* the zone's parent has a DS or its denial (RFC 8375 section 4) */
    uint32_t ttl_s;    /* of denials */
    uint32_t rrsets;   /* what a list redirects to */
    uint32_t names;    /* of a list: those that it decides about */
};

/* A name with more than a rule: records, or names with records below. */
struct local_node {
    uint32_t rrsets;
    uint8_t own_rule;  /* given for this name */
    uint8_t rule;      /* that holds: its own, or of the longest name above that has one */
    uint8_t apex_len;  /* of the name that this rule was given for */
    bool has_below;    /* names with records below: it is there (RFC 4592 section 2.2.2) */
    bool has_wildcard; /* "*" below it is one of them */
};

struct local_rrset {
    uint32_t next;
    uint32_t first, last; /* records */
    uint32_t ttl_s;
    uint32_t bytes; /* of RDATA */
    uint16_t type;
    uint16_t count;
};

struct local_record {
    uint32_t next;
    uint32_t at; /* in rdata */
    uint16_t len;
};

struct local_names {
    const struct local_names *base; /* whose all arrays are, and the map; NULL: they are its own */
    struct name_map *spared; /* zones that got upstreams later, or NULL: local_names_spare() */
    struct name_map *map;
    struct local_rule rules[LOCAL_RULES_MAX];
    unsigned rule_count; /* rule 0 counted */
    bool blocks_aliases; /* lists hold for what aliases lead to */
    uint32_t forward_rule;
    uint32_t special_from; /* the first RRset of a name of special use, all later ones too */
    struct local_node *nodes;
    struct local_rrset *rrsets;
    struct local_record *records;
    uint8_t *rdata;
    size_t node_count, rrset_count, record_count, rdata_len;
};

static inline struct local_node *local_node_at(const struct local_names *names, uint32_t number)
{
    return number < LOCAL_RULES_MAX ? NULL : &names->nodes[number - LOCAL_RULES_MAX];
}

static inline struct local_rrset *local_rrset_at(const struct local_names *names, uint32_t place)
{
    return place ? &names->rrsets[place - 1] : NULL;
}

static inline struct local_record *local_record_at(const struct local_names *names, uint32_t place)
{
    return place ? &names->records[place - 1] : NULL;
}

/* The RRset of a type in a chain of them, or NULL. */
static inline struct local_rrset *local_rrset_find(const struct local_names *names, uint32_t chain,
                                                   uint16_t type)
{
    struct local_rrset *rrset = local_rrset_at(names, chain);
    while (rrset && rrset->type != type)
        rrset = local_rrset_at(names, rrset->next);
    return rrset;
}

#endif
