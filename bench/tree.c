/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Zones made from names. The depth of a name or zone is its number of labels. All zones in a
 * question are above one queried name, so the depth identifies a zone.
 */

#include "tree.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/hash.h"

enum {
    LABELS_MAX = WIRE_NAME_MAX / 2 + 1,
    CUT_TTL_S = 3600,
    HOSTERS = 8, /* this many zones have the servers of other zones */
    ALIASED_ZONES = 1000,
    ALIASED_TLDS = 8,
    ELSEWHERE_EVERY = 4, /* one zone in four has its servers in another zone */
};

struct labels {
    const uint8_t *name; /* in lower case */
    unsigned depth;
    uint8_t at[LABELS_MAX]; /* [d]: where the name of depth d begins */
};

static void read_labels(struct labels *labels, const struct wire_query *query)
{
    uint8_t starts[LABELS_MAX];
    unsigned at = 0, count = 0;
    for (; query->lower[at]; at += query->lower[at] + 1u)
        starts[count++] = (uint8_t)at;
    labels->name = query->lower;
    labels->depth = count;
    labels->at[0] = (uint8_t)at;
    for (unsigned depth = 1; depth <= count; depth++)
        labels->at[depth] = starts[count - depth];
}

/* Returns whether the first label of the name of that depth begins with this text. */
static bool begins(const struct labels *labels, unsigned depth, const char *with)
{
    const uint8_t *label = labels->name + labels->at[depth];
    size_t len = strlen(with);
    return label[0] >= len && memcmp(label + 1, with, len) == 0;
}

/* Returns 0 for ns0, 1 for ns1, or -1. */
static int server_number(const struct labels *labels, unsigned depth)
{
    const uint8_t *label = labels->name + labels->at[depth];
    bool is_server = depth > 0 && label[0] == 3 && begins(labels, depth, "ns") &&
                     (label[3] == '0' || label[3] == '1');
    return is_server ? label[3] - '0' : -1;
}

/* Returns whether the name is a zone cut if the names above it are. */
static bool is_cut(const struct labels *labels, unsigned depth)
{
    if (begins(labels, depth, "nx") || server_number(labels, depth) >= 0)
        return false;
    return depth <= 2 || begins(labels, depth, "sub");
}

static enum tree_level tree_level_of(const struct labels *labels, unsigned depth)
{
    if (depth < 2)
        return depth == 0 ? TREE_ROOT : TREE_TLD;
    return begins(labels, 1, "near") ? TREE_NEAR : TREE_FAR;
}

static bool serves(const struct tree_place *place, const struct labels *labels, unsigned depth)
{
    return tree_level_of(labels, depth) == place->level &&
           (depth < 2 || depth % 2 == place->number % 2);
}

/* Finds the deepest zone that this place serves, and the next cut below it, or 0. Returns false if
 * the place serves none of the zones. */
static bool find_zone(const struct tree_place *place, const struct labels *labels, unsigned *zone,
                      unsigned *cut)
{
    bool is_found = false;
    *zone = *cut = 0;
    for (unsigned depth = 0; depth <= labels->depth; depth++) {
        if (depth > 0 && begins(labels, depth, "nx"))
            break; /* no zone is below */
        if (depth > 0 && !is_cut(labels, depth))
            continue;
        if (serves(place, labels, depth)) {
            is_found = true;
            *zone = depth;
            *cut = 0;
        } else if (is_found && *cut == 0) {
            *cut = depth;
        }
    }
    return is_found;
}

static uint64_t hash_of_zone(const struct labels *labels, unsigned depth)
{
    return hash_bytes(labels->name + labels->at[depth], labels->at[0] - labels->at[depth] + 1u, 0);
}

/* Returns the address of the first or second server of a zone. */
static const uint8_t *server_of(const struct tree *tree, const struct labels *labels,
                                unsigned depth, unsigned which)
{
    enum tree_level level = tree_level_of(labels, depth);
    unsigned count = tree->counts[level], parity = 0;
    if (depth >= 2) {
        parity = depth % 2;
        count = (count + 1 - parity) / 2;
    }
    unsigned at = (unsigned)((hash_of_zone(labels, depth) + which) % count);
    return tree->servers[level][depth >= 2 ? at * 2 + parity : at];
}

static bool has_servers_elsewhere(const struct labels *labels, unsigned depth)
{
    return depth == 2 && tree_level_of(labels, 2) == TREE_FAR && !begins(labels, 1, "hosts") &&
           hash_of_zone(labels, 2) % ELSEWHERE_EVERY == 0;
}

static uint16_t pointer_to(const struct labels *labels, unsigned depth)
{
    return depth == 0 ? (uint16_t)DRAFT_ROOT
                      : (uint16_t)(DRAFT_POINTER | (WIRE_HEADER_BYTES + labels->at[depth]));
}

/* Writes a label, then the name after it: a name of the hosters, or a pointer. */
static void put_label(struct draft *draft, const char *text)
{
    *draft->p++ = (uint8_t)strlen(text);
    draft_bytes(draft, text, strlen(text));
}

/* Writes an NS record. Returns the offset of the server's name. */
static uint16_t put_server(struct draft *draft, const struct labels *labels, unsigned zone,
                           unsigned which)
{
    char server[] = "ns0", hoster[] = "dns0";
    server[2] = (char)('0' + which);
    draft_record(draft, pointer_to(labels, zone), WIRE_TYPE_NS, CUT_TTL_S, 0);
    uint8_t *data = draft->p;
    put_label(draft, server);
    if (has_servers_elsewhere(labels, zone)) {
        hoster[3] = (char)('0' + hash_of_zone(labels, zone) / ELSEWHERE_EVERY % HOSTERS);
        put_label(draft, hoster);
        put_label(draft, "hosts");
        *draft->p++ = 0;
    } else {
        draft_name(draft, pointer_to(labels, zone));
    }
    put_u16(data - 2, (uint16_t)(draft->p - data));
    return (uint16_t)(DRAFT_POINTER | (data - draft->start));
}

static void put_ip4(struct draft *draft, uint16_t owner, const uint8_t *address)
{
    draft_record(draft, owner, WIRE_TYPE_A, CUT_TTL_S, 4);
    draft_bytes(draft, address, 4);
}

/* Writes both servers of a zone, as answers or as authorities, with glue. */
static void put_servers(const struct tree *tree, struct draft *draft, const struct labels *labels,
                        unsigned zone, uint16_t *count)
{
    uint16_t owners[2];
    for (unsigned i = 0; i < 2; i++)
        owners[i] = put_server(draft, labels, zone, i);
    *count = 2;
    if (has_servers_elsewhere(labels, zone))
        return;
    for (unsigned i = 0; i < 2; i++)
        put_ip4(draft, owners[i], server_of(tree, labels, zone, i));
    draft->additionals = 2;
}

/* Writes the alias for "al...": it leads to an address in another zone, always the same for a name.
 */
static void tree_put_alias(struct draft *draft, const struct labels *labels, uint32_t ttl_s)
{
    char zone[8], tld[8];
    uint64_t hash = hash_of_zone(labels, labels->depth);
    snprintf(zone, sizeof(zone), "z%u", (unsigned)(hash % ALIASED_ZONES));
    snprintf(tld, sizeof(tld), "far%u", (unsigned)(hash / ALIASED_ZONES % ALIASED_TLDS));
    draft_record(draft, DRAFT_QUESTION, WIRE_TYPE_CNAME, ttl_s, 0);
    uint8_t *data = draft->p;
    put_label(draft, "www");
    put_label(draft, zone);
    put_label(draft, tld);
    *draft->p++ = 0;
    put_u16(data - 2, (uint16_t)(draft->p - data));
    draft->answers = 1;
}

static bool is_absent(const struct labels *labels, unsigned zone)
{
    for (unsigned depth = zone + 1; depth <= labels->depth; depth++)
        if (begins(labels, depth, "nx"))
            return true;
    return false;
}

/* Writes the records of a zone's apex. */
static void put_apex(const struct tree *tree, const struct labels *labels, uint16_t type,
                     const struct tree_ttls *ttls, struct draft *draft)
{
    if (type == WIRE_TYPE_NS) {
        put_servers(tree, draft, labels, labels->depth, &draft->answers);
    } else if (type == WIRE_TYPE_SOA) {
        draft_soa(draft, pointer_to(labels, labels->depth), ttls->negative_s);
        draft->answers = 1;
    }
}

/* Writes the records of a name that is not the apex of its zone. */
static void tree_put_host(const struct tree *tree, const struct labels *labels, unsigned zone,
                          uint16_t type, const struct tree_ttls *ttls, struct draft *draft)
{
    int number = labels->depth == zone + 1 ? server_number(labels, labels->depth) : -1;
    bool is_address = type == WIRE_TYPE_A || type == WIRE_TYPE_AAAA;
    if (number >= 0 && type == WIRE_TYPE_A) {
        put_ip4(draft, DRAFT_QUESTION, server_of(tree, labels, zone, (unsigned)number));
        draft->answers = 1;
    } else if (begins(labels, labels->depth, "w") && is_address) {
        draft_address(draft, DRAFT_QUESTION, type, ttls->answer_s,
                      hash_of_zone(labels, labels->depth));
    } else if (begins(labels, labels->depth, "al")) {
        tree_put_alias(draft, labels, ttls->answer_s);
    }
}

struct tree_answer tree_put(const struct tree_place *place, const struct wire_query *query,
                            const struct tree_ttls *ttls, struct draft *draft)
{
    struct labels labels;
    unsigned zone, cut;
    read_labels(&labels, query);
    if (!find_zone(place, &labels, &zone, &cut))
        return (struct tree_answer){RCODE_REFUSED, false};
    if (cut) {
        put_servers(place->tree, draft, &labels, cut, &draft->authorities);
        return (struct tree_answer){RCODE_NOERROR, false};
    }
    bool absent = is_absent(&labels, zone);
    if (labels.depth == zone)
        put_apex(place->tree, &labels, query->type, ttls, draft);
    else if (!absent)
        tree_put_host(place->tree, &labels, zone, query->type, ttls, draft);
    if (draft->answers == 0) {
        draft_soa(draft, pointer_to(&labels, zone), ttls->negative_s);
        draft->authorities = 1;
    }
    return (struct tree_answer){absent ? RCODE_NXDOMAIN : RCODE_NOERROR, true};
}

enum tree_level tree_level_from_text(const char *text)
{
    static const char *const names[TREE_LEVELS] = {"", "root", "tld", "near", "far"};
    for (unsigned i = TREE_ROOT; i < TREE_LEVELS; i++)
        if (strcmp(text, names[i]) == 0)
            return i;
    return TREE_NONE;
}

bool tree_add(struct tree *tree, enum tree_level level, const struct addr *addr,
              struct tree_place *place)
{
    size_t len;
    const uint8_t *bytes = addr_bytes(addr, &len);
    if (len != 4 || tree->counts[level] == TREE_SERVERS_MAX)
        return false;
    *place = (struct tree_place){tree, level, tree->counts[level]++};
    memcpy(tree->servers[level][place->number], bytes, 4);
    return true;
}

const char *tree_is_whole(const struct tree *tree)
{
    const unsigned *counts = tree->counts;
    if (counts[TREE_ROOT] + counts[TREE_TLD] + counts[TREE_NEAR] + counts[TREE_FAR] == 0)
        return NULL;
    if (counts[TREE_ROOT] == 0 || counts[TREE_TLD] == 0)
        return "a tree needs servers for root and for tld";
    if (counts[TREE_NEAR] < 2 || counts[TREE_FAR] < 2)
        return "a tree needs two servers for near and two for far";
    return NULL;
}
