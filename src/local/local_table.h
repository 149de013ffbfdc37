/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_LOCAL_LOCAL_TABLE_H
#define NAILUP_LOCAL_LOCAL_TABLE_H

/*
 * The parts of the table. Only local_build.c writes it and local_names.c reads it. Places in arrays
 * count from 1; 0 is none.
 *
 * The map gives each name a number: a rule for the millions of names that have nothing else, or a
 * node.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "local/local_action.h"
#include "local/name_map.h"

enum {
    LOCAL_RULES_MAX = 256,         /* smaller numbers are rules; rule 0 is none */
    LOCAL_RECORDS_MAX = 4000000,   /* the most records of a table */
    LOCAL_RRSET_MAX = 1000,        /* records of one name and type */
    LOCAL_RRSET_BYTES_MAX = 32768, /* RDATA of an RRset: it must fit into an answer */
    LOCAL_RDATA_MAX = 1024 * 1024 * 1024,
};

/* The source of a rule. If a name has two rules, the earlier source wins. */
enum local_origin { LOCAL_OF_ZONES, LOCAL_OF_FORWARD, LOCAL_OF_LISTS, LOCAL_OF_SPECIAL };

struct local_rule {
    enum local_action action;
    enum local_origin origin;
    uint16_t ede;
    bool is_delegated; /* the zone's parent has a DS or its denial (RFC 8375 section 4) */
    uint32_t ttl_s;    /* TTL of denials */
    uint32_t rrsets;   /* records that a list redirects to */
    uint32_t names;    /* for a list: how many names it decides */
};

/* A name with records, or with such names below it. */
struct local_node {
    uint32_t rrsets;
    uint8_t own_rule; /* the rule for this name */
    uint8_t rule; /* the rule that applies: the name's own, or the rule of the longest name above */
    uint8_t apex_len;  /* length of the name that this rule belongs to */
    bool has_below;    /* names with records are below, so it exists (RFC 4592 section 2.2.2) */
    bool has_wildcard; /* one of them is the wildcard */
};

struct local_rrset {
    uint32_t next;
    uint32_t first, last; /* records */
    uint32_t ttl_s;
    uint32_t bytes; /* where the RDATA is in bytes */
    uint16_t type;
    uint16_t count;
};

struct local_record {
    uint32_t next;
    uint32_t at; /* offset in rdata */
    uint16_t len;
};

struct local_names {
    const struct local_names *base;  /* owns the arrays and the map; NULL: this table does */
    const struct local_names *under; /* decides about names that this table lacks; NULL: none */
    struct name_map *exempt; /* zones that got upstreams later: local_names_exempt(); or NULL */
    struct name_map *map;
    struct local_rule rules[LOCAL_RULES_MAX];
    unsigned rule_count; /* including rule 0 */
    bool blocks_aliases; /* lists apply to targets of aliases */
    uint32_t forward_rule;
    uint32_t special_from; /* this and all later RRsets belong to special-use names */
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

/* Finds the RRset of a type in a chain, or NULL. */
static inline struct local_rrset *local_rrset_find(const struct local_names *names, uint32_t chain,
                                                   uint16_t type)
{
    struct local_rrset *rrset = local_rrset_at(names, chain);
    while (rrset && rrset->type != type)
        rrset = local_rrset_at(names, rrset->next);
    return rrset;
}

#endif
