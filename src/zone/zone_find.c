/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Two binary searches at most decide about a name: for the name, and for a wildcard. */
#include "zone/zone_find.h"

#include <string.h>

#include "base/check.h"
#include "dns/rrtype.h"
#include "zone/zone_table.h"

_Static_assert(ZONE_NODE_NONE == ZONE_NO_NODE, "both say that there is no node");

struct name zone_find_owner(const struct zone_data *data, uint32_t node)
{
    return zone_node_owner(data, node, NULL);
}

bool zone_find_rrset(const struct zone_data *data, uint32_t node, uint16_t type,
                     struct zone_rrset *out)
{
    return node != ZONE_NO_NODE && zone_node_find(data, node, type, out);
}

/* ---- names ---- */

/* A DS record is data of the zone above the cut (RFC 4035 section 3.1.4.1): a query for it gets
 * no referral. */
static bool find_cut(const struct zone_data *data, struct name name, uint16_t type,
                     struct zone_match *out)
{
    uint32_t cut = data->nodes[out->before].cut;
    struct zone_rrset rrset;
    if (cut == ZONE_NO_NODE)
        return false;
    struct name owner = zone_node_owner(data, cut, NULL);
    if (!name_is_below(name, owner))
        return false;
    bool is_owner = name.len == owner.len;
    bool is_referral = cut > 0 && zone_node_find(data, cut, RRTYPE_NS, &rrset);
    if (is_owner && (!is_referral || type == RRTYPE_DS))
        return false;
    out->kind = is_referral ? ZONE_FOUND_REFERRAL : ZONE_FOUND_DNAME;
    out->node = cut;
    return true;
}

/* A node with an alias has no other data except its signatures and proofs. */
static void match_node(const struct zone_data *data, uint32_t node, uint16_t type,
                       struct zone_match *out)
{
    struct zone_rrset rrset;
    out->node = node;
    if (zone_node_find(data, node, type, &rrset))
        out->kind = ZONE_FOUND_DATA;
    else if (zone_node_find(data, node, RRTYPE_CNAME, &rrset))
        out->kind = ZONE_FOUND_ALIAS;
    else
        out->kind = ZONE_FOUND_NODATA;
}

/* Whether a node is below a name without a node. Such nodes follow the one before the name. */
static bool has_node_below(const struct zone_data *data, uint32_t before, struct name name)
{
    return before + 1 < data->count && name_is_below(zone_node_owner(data, before + 1, NULL), name);
}

/* Whether the node has nothing but an NSEC3 record and its signature. Such an owner is not a name
 * of the zone: it is denied like a name without a node (RFC 5155 section 7.2.8). */
static bool is_only_proof(const struct zone_data *data, uint32_t node)
{
    struct span rest;
    struct zone_rrset rrset;
    if (!zone_node_find(data, node, RRTYPE_NSEC3, &rrset))
        return false;
    struct name owner = zone_node_owner(data, node, &rest);
    bool is_only = !has_node_below(data, node, owner);
    while (is_only && zone_node_next(&rest, &rrset))
        is_only = rrset.type == RRTYPE_NSEC3 || rrset.type == RRTYPE_RRSIG;
    return is_only;
}

/* The closest encloser is a suffix that the name shares with one of its neighbours. */
static struct name find_encloser(const struct zone_data *data, uint32_t before, struct name name)
{
    struct name owner = zone_node_owner(data, before, NULL);
    if (name_is_below(name, owner) && is_only_proof(data, before))
        owner = name_parent(owner);
    unsigned labels = name_common_labels(name, owner);
    if (before + 1 < data->count)
        labels = MAX(labels, name_common_labels(name, zone_node_owner(data, before + 1, NULL)));
    return name_suffix(name, labels);
}

bool zone_find_wildcard_name(struct name encloser, uint8_t wire[NAME_WIRE_MAX], struct name *out)
{
    static const uint8_t label[2] = "\1*";
    if (encloser.len > NAME_WIRE_MAX - sizeof(label))
        return false;
    memcpy(wire, label, sizeof(label));
    memcpy(wire + sizeof(label), encloser.wire, encloser.len);
    *out = (struct name){.wire = wire, .len = (uint8_t)(encloser.len + sizeof(label))};
    return true;
}

/* RFC 4592 section 2.2.1: a wildcard that has only names below it exists as well. */
static void find_wildcard(const struct zone_data *data, uint16_t type, struct zone_match *out)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct name wildcard;
    bool is_exact;
    out->kind = ZONE_FOUND_NXDOMAIN;
    if (!zone_find_wildcard_name(out->encloser, wire, &wildcard))
        return;
    uint32_t node = zone_floor(data, wildcard, &is_exact);
    if (is_exact) {
        out->is_wildcard = true;
        match_node(data, node, type, out);
    } else if (has_node_below(data, node, wildcard)) {
        out->is_wildcard = true;
        out->kind = ZONE_FOUND_NODATA;
    }
}

void zone_find(const struct zone_data *data, struct name name, uint16_t type,
               struct zone_match *out)
{
    bool is_exact;
    *out = (struct zone_match){.node = ZONE_NO_NODE, .encloser = name};
    out->before = zone_floor(data, name, &is_exact);
    MUST(out->before != ZONE_NO_NODE);
    if (find_cut(data, name, type, out))
        return;
    if (is_exact && !is_only_proof(data, out->before)) {
        match_node(data, out->before, type, out);
    } else if (!is_exact && has_node_below(data, out->before, name)) {
        out->kind = ZONE_FOUND_NODATA;
    } else {
        out->encloser = find_encloser(data, out->before, name);
        find_wildcard(data, type, out);
    }
}

/* ---- proofs ---- */

uint32_t zone_find_nsec(const struct zone_data *data, uint32_t node)
{
    uint32_t low = 0, high = data->nsec.count;
    while (low < high) { /* nodes before low are not after the node, nodes from high on are */
        uint32_t middle = low + (high - low) / 2;
        if (data->nsec.at[middle] <= node)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? data->nsec.at[low - 1] : ZONE_NO_NODE;
}

uint32_t zone_find_wildcard_nsec(const struct zone_data *data, struct name encloser)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct name wildcard;
    bool is_exact;
    if (!zone_find_wildcard_name(encloser, wire, &wildcard))
        return ZONE_NO_NODE;
    return zone_find_nsec(data, zone_floor(data, wildcard, &is_exact));
}

/* Records of other algorithms and records with flags have no meaning here (RFC 5155 section 4.1.2).
 */
bool zone_find_nsec3param(const struct zone_data *data, struct zone_nsec3param *out)
{
    struct zone_rrset rrset;
    struct span rdata;
    if (!zone_node_find(data, 0, RRTYPE_NSEC3PARAM, &rrset))
        return false;
    while (zone_rrset_next(&rrset, &rdata))
        if (zone_nsec3_read(rdata, out) && rdata.data[1] == 0)
            return true;
    return false;
}

uint32_t zone_find_nsec3(const struct zone_data *data, struct name owner, bool *is_match)
{
    uint32_t low = 0, high = data->nsec3.count;
    *is_match = false;
    if (high == 0)
        return ZONE_NO_NODE;
    while (low < high) { /* nodes before low are not after the owner, nodes from high on are */
        uint32_t middle = low + (high - low) / 2;
        if (name_compare(zone_node_owner(data, data->nsec3.at[middle], NULL), owner) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    uint32_t node = data->nsec3.at[low ? low - 1 : data->nsec3.count - 1];
    *is_match = low > 0 && name_equal(zone_node_owner(data, node, NULL), owner);
    return node;
}
