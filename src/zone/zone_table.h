/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_ZONE_ZONE_TABLE_H
#define NAILUP_ZONE_ZONE_TABLE_H

/*
 * The memory of a zone, for the files of this folder only. Nodes are sorted in canonical order, so
 * one binary search finds a name, the name before it, and with that name the cut above it.
 *
 * A node leads to these bytes, in network order:
 *
 *   owner's length (1), owner, number of RRsets (2), RRsets:
 *     type (2), number of records (2), TTL (4), length of the records (4), records:
 *       length (2), RDATA
 */

#include <stdatomic.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dns/name.h"
#include "zone/zone_record.h"

#define ZONE_NO_NODE UINT32_MAX

enum { ZONE_RRSET_HEADER = 12 }; /* bytes before the records of an RRset */

struct zone_node {
    uint64_t key;    /* first word of the zone_key() of the owner */
    uint32_t offset; /* of its bytes */
    uint32_t cut;    /* the topmost node at or above it with NS (not at the origin) or DNAME, or
                        ZONE_NO_NODE. Below a cut, this zone answers nothing itself. */
};

/* Some of the nodes, in order. */
struct zone_nodes {
    uint32_t *at; /* NULL: none */
    uint32_t count;
};

struct zone_data {
    atomic_uint refs;
    uint8_t origin_wire[NAME_WIRE_MAX];
    struct name origin;
    struct zone_soa soa;
    size_t records;
    uint32_t count; /* of nodes */
    struct zone_node *nodes;
    uint8_t *bytes;
    size_t bytes_len;
    struct zone_nodes nsec3; /* with NSEC3 records of the chain that proves denials */
    struct zone_nodes nsec;  /* with NSEC records, not below a cut; none if such a chain exists */
};

/* The first sixteen bytes of the owner's labels below the origin, from the right, in lower case,
 * each label ended by a zero. Keys that differ order their names (RFC 4034 section 6.1); equal keys
 * say nothing. Nodes keep the first word only. */
struct zone_key {
    uint64_t first, second;
};

struct zone_key zone_key(struct name owner, struct name origin);

/* Reads the fields that NSEC3 and NSEC3PARAM records share. Returns false when the record is short
 * or of another algorithm than SHA-1. The salt borrows from the RDATA. */
bool zone_nsec3_read(struct span rdata, struct zone_nsec3param *out);

/* Borrows the owner of a node, and sets *rrsets to its RRsets unless NULL. */
struct name zone_node_owner(const struct zone_data *data, uint32_t node, struct span *rrsets);

/* Takes the next RRset of a node. Returns false at the end. */
bool zone_node_next(struct span *rrsets, struct zone_rrset *out);

/* Finds the RRset of this type. Returns false when the node has none. */
bool zone_node_find(const struct zone_data *data, uint32_t node, uint16_t type,
                    struct zone_rrset *out);

/* Returns the last node that is not after the name, or ZONE_NO_NODE when the name is outside the
 * zone. *is_exact: the node has this name. */
uint32_t zone_floor(const struct zone_data *data, struct name name, bool *is_exact);

#endif
