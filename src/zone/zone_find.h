/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_ZONE_ZONE_FIND_H
#define NAILUP_ZONE_ZONE_FIND_H

/*
 * Finds what a zone has for a name, as its authoritative server would (RFC 1034 section 4.3.2, RFC
 * 4592 for wildcards, RFC 6672 for DNAME). Follows no alias. Pure; any thread. Nodes are numbers in
 * one version of a zone; ZONE_NODE_NONE is none.
 */

#include <stdbool.h>
#include <stdint.h>

#include "dns/name.h"
#include "zone/zone_data.h"

#define ZONE_NODE_NONE UINT32_MAX

enum zone_found {
    ZONE_FOUND_DATA,     /* the node has records of the type */
    ZONE_FOUND_ALIAS,    /* the node has a CNAME record */
    ZONE_FOUND_DNAME,    /* the node is above the name and has a DNAME record */
    ZONE_FOUND_REFERRAL, /* the node is a cut at or above the name */
    ZONE_FOUND_NODATA,   /* the name exists; its node is ZONE_NODE_NONE if only names below do */
    ZONE_FOUND_NXDOMAIN, /* the name does not exist */
};

struct zone_match {
    enum zone_found kind;
    uint32_t node;
    uint32_t before;      /* the last node not after the name; for zone_find_nsec() */
    bool is_wildcard;     /* the name does not exist itself: a wildcard below encloser decides */
    struct name encloser; /* the closest encloser, where the name does not exist itself; borrows
                             from the name */
};

/* Finds the name, which is at or below the origin. */
void zone_find(const struct zone_data *data, struct name name, uint16_t type,
               struct zone_match *out);

/* Borrows the owner of a node. */
struct name zone_find_owner(const struct zone_data *data, uint32_t node);

/* Finds the RRset of this type at a node. Returns false when the node has none. */
bool zone_find_rrset(const struct zone_data *data, uint32_t node, uint16_t type,
                     struct zone_rrset *out);

/* ---- proofs ---- */

/* Finds the parameters of the chain that proves denials: the first NSEC3PARAM record of SHA-1
 * without flags. Returns false when the zone has no such chain. */
bool zone_find_nsec3param(const struct zone_data *data, struct zone_nsec3param *out);

/* Writes the name of the wildcard below a name. Returns false when it is too long. */
bool zone_find_wildcard_name(struct name encloser, uint8_t wire[NAME_WIRE_MAX], struct name *out);

/* Returns the node with the NSEC record at or before this node, or ZONE_NODE_NONE. */
uint32_t zone_find_nsec(const struct zone_data *data, uint32_t node);

/* Returns the node with the NSEC record at or before the wildcard below `encloser`, or
 * ZONE_NODE_NONE. The wildcard itself need not exist. */
uint32_t zone_find_wildcard_nsec(const struct zone_data *data, struct name encloser);

/* Returns the node with the NSEC3 record of that chain whose owner is this name (*is_match) or is
 * the last before it; the last node of the chain precedes the first. ZONE_NODE_NONE: the zone has
 * none. */
uint32_t zone_find_nsec3(const struct zone_data *data, struct name owner, bool *is_match);

#endif
