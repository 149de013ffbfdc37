/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_VALIDATE_FORGE_WORLD_H
#define NAILUP_TESTS_VALIDATE_FORGE_WORLD_H

/*
 * A small world of signed and unsigned zones, and the truth about its names. Each genuine RRset and
 * its signature are made once. A signature is a hash of the signed bytes and of the zone's number,
 * so only this file makes right signatures.
 *
 * The truth comes from the tables below, and shares no decision with src/validate.
 */

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/hash.h"
#include "dns/edns.h"
#include "dns/header.h"
#include "dns/rrtype.h"
#include "validate/algorithm.h"
#include "validate/canonical.h"
#include "validate/dnskey.h"
#include "validate/rrsets.h"
#include "validate/rrsig.h"
#include "validate/verify.h"

enum { WORLD_NOW_S = 1800000000, WORLD_YEAR_S = 31536000, WORLD_KEY = 64, WORLD_SIG = 16 };

/* How the zone above vouches for a zone. */
enum world_link {
    LINK_NONE,        /* no cut */
    LINK_DS,          /* a DS record */
    LINK_MIXED,       /* two DS records, one of them of an unknown algorithm */
    LINK_UNSUPPORTED, /* a DS record of an unknown algorithm only */
    LINK_NO_DS,       /* an insecure cut */
};

enum world_denial { WORLD_NSEC, WORLD_NSEC3, WORLD_UNSIGNED };

struct world_zone {
    const char *text;
    int parent;
    enum world_link link;
    enum world_denial denial;
    unsigned iterations;
    uint8_t flags;    /* in each NSEC3 record */
    bool has_opt_out; /* the chain omits insecure cuts */
    bool is_forgers;  /* the forger has its key */
    uint8_t wire[NAME_WIRE_MAX];
    struct name name;
};

enum {
    ZONE_ROOT,
    ZONE_S,
    ZONE_KS,
    ZONE_NS,
    ZONE_INS,
    ZONE_T,
    ZONE_PT,
    ZONE_U,
    ZONE_VU,
    ZONE_Z,
    ZONE_Y,
    ZONE_J,
    ZONE_CJ,
    ZONE_ES,
    ZONE_O,
    ZONE_CDU,
    ZONE_F,
    ZONE_MKS,
    ZONE_QT,
    ZONE_RT,
    ZONE_HF,
    WORLD_ZONES
};

static struct world_zone world_zone[WORLD_ZONES] = {
    [ZONE_ROOT] = {.text = "", .parent = -1},
    [ZONE_S] = {.text = "s", .parent = ZONE_ROOT, .link = LINK_DS},
    [ZONE_KS] = {.text = "k.s", .parent = ZONE_S, .link = LINK_DS, .denial = WORLD_NSEC3},
    [ZONE_NS] = {.text = "n.s", .parent = ZONE_S, .link = LINK_NO_DS},
    [ZONE_INS] = {.text = "i.n.s", .parent = ZONE_NS, .link = LINK_DS},
    [ZONE_T] = {.text = "t",
                .parent = ZONE_ROOT,
                .link = LINK_DS,
                .denial = WORLD_NSEC3,
                .has_opt_out = true},
    [ZONE_PT] = {.text = "p.t", .parent = ZONE_T, .link = LINK_DS},
    [ZONE_U] = {.text = "u", .parent = ZONE_ROOT, .link = LINK_NO_DS, .is_forgers = true},
    [ZONE_VU] = {.text = "v.u", .parent = ZONE_U, .link = LINK_DS},
    [ZONE_Z] = {.text = "z", .parent = ZONE_ROOT, .link = LINK_UNSUPPORTED, .is_forgers = true},
    [ZONE_Y] = {.text = "y", .parent = ZONE_ROOT, .link = LINK_MIXED},
    [ZONE_J] = {.text = "j",
                .parent = ZONE_ROOT,
                .link = LINK_DS,
                .denial = WORLD_NSEC3,
                .iterations = 60},
    [ZONE_CJ] = {.text = "c.j", .parent = ZONE_J, .link = LINK_DS},
    [ZONE_ES] = {.text = "e.s", .parent = ZONE_S, .link = LINK_DS, .is_forgers = true},
    [ZONE_O] = {.text = "o", .parent = -1},        /* the root denies this zone */
    [ZONE_CDU] = {.text = "c.du.s", .parent = -1}, /* a DNAME record redirects this zone */
    [ZONE_F] =
        {.text = "f", .parent = ZONE_ROOT, .link = LINK_DS, .denial = WORLD_NSEC3, .flags = 0x80},
    [ZONE_MKS] = {.text = "m.k.s", .parent = ZONE_KS, .link = LINK_NO_DS, .denial = WORLD_UNSIGNED},
    [ZONE_QT] = {.text = "q.t", .parent = ZONE_T, .link = LINK_NO_DS, .denial = WORLD_UNSIGNED},
    [ZONE_RT] = {.text = "rs.t", .parent = ZONE_T, .link = LINK_NO_DS, .denial = WORLD_UNSIGNED},
    [ZONE_HF] = {.text = "h.f", .parent = ZONE_F, .link = LINK_NO_DS, .denial = WORLD_UNSIGNED},
};

/* A name with data. Cuts and apexes come from the table of zones. */
struct world_node {
    const char *text;
    int zone;
    uint16_t type;
    const char *target; /* the target of an alias */
    uint8_t wire[NAME_WIRE_MAX], target_wire[NAME_WIRE_MAX];
    struct name name, target_name;
};

static struct world_node world_node[] = {
    {.text = "a.s", .zone = ZONE_S, .type = RRTYPE_A},
    {.text = "b.d.s", .zone = ZONE_S, .type = RRTYPE_A}, /* d.s is an empty non-terminal */
    {.text = "*.w.s", .zone = ZONE_S, .type = RRTYPE_A},
    {.text = "*.x.s", .zone = ZONE_S, .type = RRTYPE_CNAME, .target = "a.u"},
    {.text = "c.x.s", .zone = ZONE_S, .type = RRTYPE_A},
    {.text = "la.s", .zone = ZONE_S, .type = RRTYPE_CNAME, .target = "a.n.s"},
    {.text = "lk.s", .zone = ZONE_S, .type = RRTYPE_CNAME, .target = "a.k.s"},
    {.text = "lc.s", .zone = ZONE_S, .type = RRTYPE_CNAME, .target = "k.s"},
    {.text = "lz.s", .zone = ZONE_S, .type = RRTYPE_CNAME, .target = "z"},
    {.text = "lg.s", .zone = ZONE_S, .type = RRTYPE_CNAME, .target = "g.s"},
    {.text = "du.s", .zone = ZONE_S, .type = RRTYPE_DNAME, .target = "u"},
    {.text = "dk.s", .zone = ZONE_S, .type = RRTYPE_DNAME, .target = "k.s"},
    {.text = "a.k.s", .zone = ZONE_KS, .type = RRTYPE_A},
    {.text = "*.w.k.s", .zone = ZONE_KS, .type = RRTYPE_A},
    {.text = "*.x.k.s", .zone = ZONE_KS, .type = RRTYPE_CNAME, .target = "a.u"},
    {.text = "a.n.s", .zone = ZONE_NS, .type = RRTYPE_A},
    {.text = "a.i.n.s", .zone = ZONE_INS, .type = RRTYPE_A},
    {.text = "a.t", .zone = ZONE_T, .type = RRTYPE_A},
    {.text = "b.t", .zone = ZONE_T, .type = RRTYPE_A},
    {.text = "*.w.t", .zone = ZONE_T, .type = RRTYPE_A},
    {.text = "*.x.t", .zone = ZONE_T, .type = RRTYPE_CNAME, .target = "a.u"},
    {.text = "a.p.t", .zone = ZONE_PT, .type = RRTYPE_A},
    {.text = "a.u", .zone = ZONE_U, .type = RRTYPE_A},
    {.text = "a.v.u", .zone = ZONE_VU, .type = RRTYPE_A},
    {.text = "a.z", .zone = ZONE_Z, .type = RRTYPE_A},
    {.text = "a.y", .zone = ZONE_Y, .type = RRTYPE_A},
    {.text = "a.j", .zone = ZONE_J, .type = RRTYPE_A},
    {.text = "*.w.j", .zone = ZONE_J, .type = RRTYPE_A},
    {.text = "a.c.j", .zone = ZONE_CJ, .type = RRTYPE_A},
    {.text = "a.e.s", .zone = ZONE_ES, .type = RRTYPE_A},
    {.text = "a.o", .zone = ZONE_O, .type = RRTYPE_A},
    {.text = "a.c.du.s", .zone = ZONE_CDU, .type = RRTYPE_A},
    {.text = "a.f", .zone = ZONE_F, .type = RRTYPE_A},
    {.text = "*.w.f", .zone = ZONE_F, .type = RRTYPE_A},
};
enum { WORLD_NODES = ARRAY_LEN(world_node) };

/* A genuine RRset with its signature. */
struct world_set {
    int zone; /* the signer */
    uint16_t type;
    uint8_t count;
    bool spans_opt_out; /* an NSEC3 record with the flag opt-out */
    uint16_t rdata_len[2], sig_len;
    uint8_t rdata[2][128], sig[128];
    uint8_t owner_wire[NAME_WIRE_MAX], hash[VERIFY_NSEC3_HASH], next_hash[VERIFY_NSEC3_HASH];
    struct name owner, next; /* next is that of an NSEC record, borrowed */
    uint64_t signed_hash;
};
enum { WORLD_SETS_MAX = 256 };

static struct world_set world_set[WORLD_SETS_MAX];
static unsigned world_sets;
static struct rrsets world_rrsets;
static uint8_t world_bytes[CANONICAL_MAX];

/* ---- names and records ---- */

static inline struct name world_name(uint8_t *wire, const char *text)
{
    uint8_t parsed[NAME_WIRE_MAX];
    struct name name;
    MUST(name_parse(&name, parsed, *text ? text : ".", *text ? strlen(text) : 1) == ERR_OK);
    return name_copy(name, wire);
}

static inline bool world_is_wildcard(struct name name)
{
    return name.len > 2 && name.wire[0] == 1 && name.wire[1] == '*';
}

static inline void world_put(uint8_t *bytes, size_t *len, enum section section, struct name owner,
                             uint16_t type, const uint8_t *rdata, size_t rdata_len)
{
    memcpy(bytes + *len, owner.wire, owner.len);
    *len += owner.len;
    put_u16(bytes + *len, type);
    put_u16(bytes + *len + 2, RRCLASS_IN);
    memcpy(bytes + *len + 4, "\0\0\1\54", 4); /* 300 */
    put_u16(bytes + *len + 8, (uint16_t)rdata_len);
    memcpy(bytes + *len + 10, rdata, rdata_len);
    *len += 10 + rdata_len;
    header_set_count(bytes, section, (uint16_t)(header_count(bytes, section) + 1));
}

static inline void world_head(uint8_t *bytes, size_t *len, struct name name, uint16_t type)
{
    memset(bytes, 0, HEADER_LEN);
    header_set_flags(bytes, HEADER_QR | HEADER_AA);
    header_set_count(bytes, SECTION_QUESTION, 1);
    memcpy(bytes + HEADER_LEN, name.wire, name.len);
    *len = HEADER_LEN + name.len;
    put_u16(bytes + *len, type);
    put_u16(bytes + *len + 2, RRCLASS_IN);
    *len += 4;
}

/* Writes the DNSKEY record of the zone. Returns its length. */
static inline size_t world_dnskey(int zone, uint8_t out[4 + WORLD_KEY])
{
    memcpy(out, "\1\1\3\15", 4);
    memset(out + 4, zone + 1, WORLD_KEY);
    return 4 + WORLD_KEY;
}

/* Returns the zone that has this key, or -1. */
static inline int world_zone_of_key(struct span key)
{
    for (int zone = 0; zone < WORLD_ZONES; zone++) {
        uint8_t bytes[4 + WORLD_KEY];
        world_dnskey(zone, bytes);
        if (span_equal(key, span_of(bytes + 4, WORLD_KEY)))
            return zone;
    }
    return -1;
}

static inline size_t world_ds(int zone, uint8_t algorithm, uint8_t out[64])
{
    uint8_t bytes[4 + WORLD_KEY];
    struct dnskey key;
    MUST(dnskey_read(&key, span_of(bytes, world_dnskey(zone, bytes))));
    put_u16(out, key.tag);
    out[2] = algorithm;
    out[3] = DIGEST_SHA256;
    struct name name = world_zone[zone].name;
    return 4 + verify_digest(DIGEST_SHA256, span_of(name.wire, name.len), key.rdata, out + 4);
}

/* ---- signatures ---- */

static inline uint64_t world_hash(int zone, struct span data)
{
    return hash_bytes(data.data, data.len, (uint64_t)zone + 1);
}

/* Writes the fields of an RRSIG record before its signature. Returns their length. */
static inline size_t world_sig_head(int zone, uint16_t type, unsigned labels, uint8_t *out)
{
    uint8_t bytes[4 + WORLD_KEY];
    struct dnskey key;
    MUST(dnskey_read(&key, span_of(bytes, world_dnskey(zone, bytes))));
    put_u16(out, type);
    out[2] = key.algorithm;
    out[3] = (uint8_t)labels;
    memcpy(out + 4, "\0\0\1\54", 4);
    uint32_t until = WORLD_NOW_S + WORLD_YEAR_S, from = WORLD_NOW_S - WORLD_YEAR_S;
    put_u16(out + 8, (uint16_t)(until >> 16));
    put_u16(out + 10, (uint16_t)until);
    put_u16(out + 12, (uint16_t)(from >> 16));
    put_u16(out + 14, (uint16_t)from);
    put_u16(out + 16, key.tag);
    struct name name = world_zone[zone].name;
    memcpy(out + 18, name.wire, name.len);
    return 18u + name.len;
}

static inline unsigned world_labels(struct name owner)
{
    return name_label_count(owner) - world_is_wildcard(owner);
}

/* Signs the set with the key of its zone. */
static inline void world_sign(struct world_set *set, unsigned labels)
{
    uint8_t bytes[1024];
    size_t len, head = world_sig_head(set->zone, set->type, labels, set->sig);
    struct message message;
    struct rrsig sig;
    world_head(bytes, &len, set->owner, set->type);
    for (unsigned i = 0; i < set->count; i++)
        world_put(bytes, &len, SECTION_ANSWER, set->owner, set->type, set->rdata[i],
                  set->rdata_len[i]);
    set->sig_len = (uint16_t)(head + WORLD_SIG);
    memset(set->sig + head, 0, WORLD_SIG);
    MUST(message_parse(&message, span_of(bytes, len)) == MESSAGE_OK);
    MUST(rrsets_read(&world_rrsets, &message, RRCLASS_IN) && world_rrsets.count == 1);
    MUST(rrsig_read(&sig, span_of(set->sig, set->sig_len)));
    size_t size = canonical_write(world_bytes, sizeof(world_bytes), &world_rrsets,
                                  &world_rrsets.set[0], &sig);
    set->signed_hash = world_hash(set->zone, span_of(world_bytes, size));
    memcpy(set->sig + head, &set->signed_hash, sizeof(set->signed_hash));
}

/* ---- making the world ---- */

static inline struct world_set *world_add(int zone, struct name owner, uint16_t type)
{
    MUST(world_sets < WORLD_SETS_MAX);
    struct world_set *set = &world_set[world_sets++];
    set->zone = zone;
    set->type = type;
    set->owner = name_copy(owner, set->owner_wire);
    return set;
}

static inline size_t world_bitmap(uint8_t *out, const uint16_t *types, unsigned count)
{
    memset(out, 0, 34);
    uint8_t top = 0;
    for (unsigned i = 0; i < count; i++) {
        out[2 + types[i] / 8] |= (uint8_t)(0x80 >> types[i] % 8);
        top = MAX(top, (uint8_t)(types[i] / 8 + 1));
    }
    out[1] = top;
    return top ? 2u + top : 0;
}

/* Collects the types at a name of the zone for a bitmap. Returns their number; 0: the name is
 * absent or an empty non-terminal. */
static inline unsigned world_types(int zone, struct name name, uint16_t types[8])
{
    unsigned count = 0;
    if (name_equal(name, world_zone[zone].name)) {
        types[count++] = RRTYPE_SOA;
        types[count++] = RRTYPE_NS;
        types[count++] = RRTYPE_DNSKEY;
    }
    for (int i = 0; i < WORLD_ZONES; i++) {
        if (world_zone[i].parent != zone || !name_equal(world_zone[i].name, name))
            continue;
        types[count++] = RRTYPE_NS;
        if (world_zone[i].link != LINK_NO_DS)
            types[count++] = RRTYPE_DS;
    }
    for (unsigned i = 0; i < WORLD_NODES; i++)
        if (world_node[i].zone == zone && name_equal(world_node[i].name, name))
            types[count++] = world_node[i].type;
    return count;
}

/* Returns whether the name is in the zone, perhaps as an empty non-terminal. */
static inline bool world_exists(int zone, struct name name)
{
    if (name_equal(world_zone[zone].name, name))
        return true;
    for (int i = 0; i < WORLD_ZONES; i++)
        if (world_zone[i].parent == zone && name_is_below(world_zone[i].name, name))
            return true;
    for (unsigned i = 0; i < WORLD_NODES; i++)
        if (world_node[i].zone == zone && name_is_below(world_node[i].name, name))
            return true;
    return false;
}

/* Returns whether the name is an insecure cut that the chain omits. */
static inline bool world_is_left_out(int zone, struct name name)
{
    for (int i = 0; world_zone[zone].has_opt_out && i < WORLD_ZONES; i++)
        if (world_zone[i].parent == zone && world_zone[i].link == LINK_NO_DS &&
            name_equal(world_zone[i].name, name))
            return true;
    return false;
}

/* Collects the owners in the zone's chain. */
static inline unsigned world_owners(int zone, struct name out[64])
{
    bool is_hashed = world_zone[zone].denial == WORLD_NSEC3;
    unsigned count = 0, apex = name_label_count(world_zone[zone].name);
    for (unsigned i = 0; i < WORLD_NODES + WORLD_ZONES; i++) {
        bool is_node = i < WORLD_NODES;
        const struct world_zone *child = &world_zone[is_node ? 0 : i - WORLD_NODES];
        struct name name = is_node ? world_node[i].name : child->name;
        bool is_in = is_node ? world_node[i].zone == zone
                             : child->parent == zone || child == &world_zone[zone];
        if (!is_in || world_is_left_out(zone, name))
            continue;
        for (unsigned labels = name_label_count(name);; labels--) {
            struct name suffix = name_suffix(name, labels);
            bool is_known = false;
            for (unsigned j = 0; j < count; j++)
                is_known = is_known || name_equal(out[j], suffix);
            uint16_t types[8];
            if (!is_known && (is_hashed || world_types(zone, suffix, types)))
                out[count++] = suffix;
            if (labels == apex)
                break;
        }
    }
    MUST(count < 64);
    return count;
}

static inline size_t world_chain_types(int zone, struct name owner, uint8_t *out)
{
    uint16_t types[10];
    bool is_hashed = world_zone[zone].denial == WORLD_NSEC3;
    unsigned count = world_types(zone, owner, types);
    bool is_bare_cut = count == 1 && types[0] == RRTYPE_NS;
    if (count && !(is_hashed && is_bare_cut))
        types[count++] = RRTYPE_RRSIG;
    if (!is_hashed)
        types[count++] = RRTYPE_NSEC;
    return world_bitmap(out, types, count);
}

static inline void world_add_nsec(int zone)
{
    struct name owner[64];
    unsigned count = world_owners(zone, owner), first = world_sets;
    for (unsigned i = 0; i < count; i++) {
        struct name next = world_zone[zone].name;
        bool is_last = true;
        for (unsigned j = 0; j < count; j++)
            if (name_compare(owner[j], owner[i]) > 0 &&
                (is_last || name_compare(owner[j], next) < 0)) {
                next = owner[j];
                is_last = false;
            }
        struct world_set *set = world_add(zone, owner[i], RRTYPE_NSEC);
        set->count = 1;
        memcpy(set->rdata[0], next.wire, next.len);
        set->rdata_len[0] =
            (uint16_t)(next.len + world_chain_types(zone, owner[i], set->rdata[0] + next.len));
        set->next = (struct name){set->rdata[0], next.len};
    }
    for (unsigned i = first; i < world_sets; i++)
        world_sign(&world_set[i], world_labels(world_set[i].owner));
}

/* Hashes a name as the zone's NSEC3 records do. It remembers hashes, because they take most of the
 * time of a play. */
static inline void world_hash_name(int zone, struct name name, uint8_t out[VERIFY_NSEC3_HASH])
{
    static struct {
        int zone;
        struct name name;
        uint8_t wire[NAME_WIRE_MAX], hash[VERIFY_NSEC3_HASH];
    } known[1024];
    size_t at = name_hash(name, (uint64_t)zone) % ARRAY_LEN(known);
    if (!known[at].name.len || known[at].zone != zone || !name_equal(known[at].name, name)) {
        known[at].zone = zone;
        known[at].name = name_copy(name, known[at].wire);
        MUST(verify_nsec3_hash(known[at].hash, span_of(name.wire, name.len), span_of("", 0),
                               (uint16_t)world_zone[zone].iterations));
    }
    memcpy(out, known[at].hash, VERIFY_NSEC3_HASH);
}

static inline bool world_hash_is_between(const uint8_t *hash, const uint8_t *owner,
                                         const uint8_t *next)
{
    bool is_after = memcmp(hash, owner, VERIFY_NSEC3_HASH) > 0;
    bool is_before = memcmp(hash, next, VERIFY_NSEC3_HASH) < 0;
    return memcmp(owner, next, VERIFY_NSEC3_HASH) < 0 ? is_after && is_before
                                                      : is_after || is_before;
}

static inline bool world_span_is_opt_out(const struct world_set *set)
{
    for (int i = 0; i < WORLD_ZONES; i++) {
        uint8_t hash[VERIFY_NSEC3_HASH];
        if (world_zone[i].parent != set->zone || !world_is_left_out(set->zone, world_zone[i].name))
            continue;
        world_hash_name(set->zone, world_zone[i].name, hash);
        if (world_hash_is_between(hash, set->hash, set->next_hash))
            return true;
    }
    return false;
}

static inline void world_label(const uint8_t hash[VERIFY_NSEC3_HASH], uint8_t out[33])
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuv";
    out[0] = 32;
    for (unsigned i = 0; i < 32; i++) {
        unsigned bit = 5 * i, value = 0;
        for (unsigned b = 0; b < 5; b++, bit++)
            value = value << 1 | (hash[bit / 8] >> (7 - bit % 8) & 1);
        out[1 + i] = (uint8_t)digits[value];
    }
}

static inline void world_add_nsec3(int zone)
{
    struct name owner[64];
    uint8_t hash[64][VERIFY_NSEC3_HASH];
    unsigned count = world_owners(zone, owner);
    for (unsigned i = 0; i < count; i++)
        world_hash_name(zone, owner[i], hash[i]);
    for (unsigned i = 0; i < count; i++) {
        unsigned next = i, low = i;
        for (unsigned j = 0; j < count; j++) {
            if (memcmp(hash[j], hash[low], VERIFY_NSEC3_HASH) < 0)
                low = j;
            if (memcmp(hash[j], hash[i], VERIFY_NSEC3_HASH) > 0 &&
                (next == i || memcmp(hash[j], hash[next], VERIFY_NSEC3_HASH) < 0))
                next = j;
        }
        next = next == i ? low : next;
        uint8_t wire[128];
        struct name zone_name = world_zone[zone].name;
        world_label(hash[i], wire);
        memcpy(wire + 33, zone_name.wire, zone_name.len);
        struct world_set *set =
            world_add(zone, (struct name){wire, (uint8_t)(33 + zone_name.len)}, RRTYPE_NSEC3);
        memcpy(set->hash, hash[i], VERIFY_NSEC3_HASH);
        memcpy(set->next_hash, hash[next], VERIFY_NSEC3_HASH);
        set->spans_opt_out = world_span_is_opt_out(set);
        uint8_t *rdata = set->rdata[0];
        rdata[0] = 1;
        rdata[1] = (uint8_t)(world_zone[zone].flags | set->spans_opt_out);
        put_u16(rdata + 2, (uint16_t)world_zone[zone].iterations);
        rdata[4] = 0;
        rdata[5] = VERIFY_NSEC3_HASH;
        memcpy(rdata + 6, hash[next], VERIFY_NSEC3_HASH);
        set->count = 1;
        set->rdata_len[0] = (uint16_t)(26 + world_chain_types(zone, owner[i], rdata + 26));
        world_sign(set, world_labels(set->owner));
    }
}

static inline void world_add_apex(int zone)
{
    struct world_set *set = world_add(zone, world_zone[zone].name, RRTYPE_SOA);
    set->count = 1;
    set->rdata_len[0] = 22; /* two root names and five numbers */
    set->rdata[0][21] = 60;
    world_sign(set, world_labels(set->owner));
    set = world_add(zone, world_zone[zone].name, RRTYPE_DNSKEY);
    set->count = 1;
    set->rdata_len[0] = (uint16_t)world_dnskey(zone, set->rdata[0]);
    world_sign(set, world_labels(set->owner));
}

static inline void world_add_ds(int zone)
{
    const struct world_zone *child = &world_zone[zone];
    if (child->parent < 0 || child->link == LINK_NO_DS)
        return;
    struct world_set *set = world_add(child->parent, child->name, RRTYPE_DS);
    if (child->link != LINK_UNSUPPORTED)
        set->rdata_len[set->count] =
            (uint16_t)world_ds(zone, ALGORITHM_ECDSA_P256, set->rdata[set->count]),
        set->count++;
    if (child->link != LINK_DS)
        set->rdata_len[set->count] = (uint16_t)world_ds(zone, 200, set->rdata[set->count]),
        set->count++;
    world_sign(set, world_labels(set->owner));
}

static inline void world_add_node(unsigned at)
{
    const struct world_node *node = &world_node[at];
    struct world_set *set = world_add(node->zone, node->name, node->type);
    set->count = 1;
    if (node->type == RRTYPE_A) {
        memcpy(set->rdata[0], "\300\0\2", 3);
        set->rdata[0][3] = (uint8_t)at;
        set->rdata_len[0] = 4;
    } else {
        memcpy(set->rdata[0], node->target_name.wire, node->target_name.len);
        set->rdata_len[0] = node->target_name.len;
    }
    world_sign(set, world_labels(set->owner));
}

static inline void world_make(void)
{
    if (world_sets)
        return;
    for (int i = 0; i < WORLD_ZONES; i++)
        world_zone[i].name = world_name(world_zone[i].wire, world_zone[i].text);
    for (unsigned i = 0; i < WORLD_NODES; i++) {
        struct world_node *node = &world_node[i];
        node->name = world_name(node->wire, node->text);
        if (node->target)
            node->target_name = world_name(node->target_wire, node->target);
    }
    for (int i = 0; i < WORLD_ZONES; i++) {
        world_add_ds(i);
        if (world_zone[i].denial == WORLD_UNSIGNED)
            continue;
        world_add_apex(i);
        if (world_zone[i].denial == WORLD_NSEC)
            world_add_nsec(i);
        else
            world_add_nsec3(i);
    }
    for (unsigned i = 0; i < WORLD_NODES; i++)
        world_add_node(i);
}

/* Returns the genuine RRset, or NULL. */
static inline const struct world_set *world_find(int zone, struct name owner, uint16_t type)
{
    for (unsigned i = 0; i < world_sets; i++)
        if (world_set[i].zone == zone && world_set[i].type == type &&
            name_equal(world_set[i].owner, owner))
            return &world_set[i];
    return NULL;
}

/* Returns whether this NSEC or NSEC3 record is at the name. */
static inline bool world_matches(const struct world_set *set, struct name name)
{
    uint8_t hash[VERIFY_NSEC3_HASH];
    if (set->type == RRTYPE_NSEC)
        return name_equal(set->owner, name);
    world_hash_name(set->zone, name, hash);
    return !memcmp(hash, set->hash, VERIFY_NSEC3_HASH);
}

/* Returns whether the span of this NSEC or NSEC3 record covers the name. */
static inline bool world_covers(const struct world_set *set, struct name name)
{
    uint8_t hash[VERIFY_NSEC3_HASH];
    if (set->type == RRTYPE_NSEC)
        return name_compare(set->owner, name) < 0 &&
               (name_compare(name, set->next) < 0 ||
                name_equal(set->next, world_zone[set->zone].name));
    world_hash_name(set->zone, name, hash);
    return world_hash_is_between(hash, set->hash, set->next_hash);
}

/* ---- the truth ---- */

/* A set of trust anchors. */
struct world_anchors {
    int trusted[4]; /* zones; -1 ends */
    int negative;   /* a zone, or -1 */
};

static const struct world_anchors world_anchors[] = {
    {{ZONE_ROOT, -1}, -1},          {{ZONE_ROOT, ZONE_INS, ZONE_VU, -1}, -1},
    {{ZONE_ROOT, ZONE_O, -1}, -1},  {{ZONE_S, ZONE_T, -1}, -1},
    {{ZONE_ROOT, -1}, ZONE_KS},     {{ZONE_ROOT, ZONE_PT, ZONE_KS, ZONE_CDU}, -1},
    {{ZONE_ROOT, ZONE_NS, -1}, -1}, {{ZONE_ROOT, ZONE_CJ, ZONE_VU, -1}, ZONE_Y},
};

/* Why a name may have an end without verified data. */
enum truth_kind {
    TRUTH_SECURE,   /* the zone answers, and only a secure verdict is true */
    TRUTH_INSECURE, /* below an insecure cut, a negative anchor or no anchor */
    TRUTH_OPT_OUT,  /* in an opt-out span of the zone */
    TRUTH_COSTLY,   /* the zone has too many iterations, and the name is below its apex */
    TRUTH_FORGERS,  /* the forger has the key of a zone in the chain of trust */
};

struct truth {
    enum truth_kind kind;
    int zone;
    bool has_proof; /* the play has verified a record that proves the kind */
};

/* Finds the next closer name, the highest suffix of the name that the zone lacks. Returns false if
 * the zone lacks no suffix. */
static inline bool truth_next_closer(int zone, struct name name, struct name *out)
{
    unsigned apex = name_label_count(world_zone[zone].name);
    for (unsigned labels = apex + 1; labels <= name_label_count(name); labels++) {
        *out = name_suffix(name, labels);
        if (!world_exists(zone, *out) || world_is_left_out(zone, *out))
            return true;
    }
    return false;
}

/* Returns the zone of the closest anchor at or above the name; -1: none, or a negative one. */
static inline int truth_anchor(const struct world_anchors *anchors, struct name name)
{
    int best = -1;
    for (unsigned i = 0; i < 4 && anchors->trusted[i] >= 0; i++) {
        int zone = anchors->trusted[i];
        if (name_is_below(name, world_zone[zone].name) &&
            (best < 0 || world_zone[zone].name.len > world_zone[best].name.len))
            best = zone;
    }
    int no = anchors->negative;
    if (no >= 0 && name_is_below(name, world_zone[no].name) &&
        (best < 0 || world_zone[no].name.len >= world_zone[best].name.len))
        return -1;
    return best;
}

/* Returns whether the play has verified a genuine record that shows the opt-out span or the
 * insecure cut. */
static inline bool truth_saw_no_ds(int zone, struct name cut, const bool *seen)
{
    for (unsigned i = 0; i < world_sets; i++) {
        const struct world_set *set = &world_set[i];
        bool is_chain = set->type == RRTYPE_NSEC || set->type == RRTYPE_NSEC3;
        if (seen[i] && set->zone == zone && is_chain &&
            (world_matches(set, cut) || (set->spans_opt_out && world_covers(set, cut))))
            return true;
    }
    return false;
}

static inline bool truth_saw(int zone, uint16_t type, struct name *owner, const bool *seen)
{
    for (unsigned i = 0; i < world_sets; i++)
        if (seen[i] && world_set[i].zone == zone && world_set[i].type == type &&
            (!owner || name_equal(world_set[i].owner, *owner)))
            return true;
    return false;
}

/* Returns the cut of the zone at or above the name, or -1. */
static inline int truth_cut(int zone, struct name name)
{
    for (int i = 0; i < WORLD_ZONES; i++)
        if (world_zone[i].parent == zone && name_is_below(name, world_zone[i].name))
            return i;
    return -1;
}

static inline bool truth_is_costly(int zone)
{
    return world_zone[zone].iterations > 50;
}

/* Decides about the name. `seen` tells which genuine RRsets were verified. DS records belong to the
 * zone of the parent. A denial needs records of the zone even about its apex. */
static inline struct truth truth_of(const struct world_anchors *anchors, struct name name,
                                    bool is_ds, bool is_denial, const bool *seen)
{
    struct name home = is_ds && !name_is_root(name) ? name_parent(name) : name;
    struct truth truth = {.kind = TRUTH_SECURE, .zone = truth_anchor(anchors, home)};
    if (truth.zone < 0)
        return (struct truth){TRUTH_INSECURE, -1, true};
    for (int cut;; truth.zone = cut) {
        int zone = truth.zone;
        if (world_zone[zone].is_forgers)
            return (struct truth){TRUTH_FORGERS, zone, true};
        if (truth_is_costly(zone) && (is_denial || home.len > world_zone[zone].name.len))
            truth = (struct truth){TRUTH_COSTLY, zone, truth_saw(zone, RRTYPE_NSEC3, NULL, seen)};
        cut = truth_cut(zone, home);
        if (cut < 0)
            break;
        struct name at = world_zone[cut].name;
        if (world_zone[zone].flags) /* nothing in this zone proves an insecure cut */
            return world_zone[cut].link == LINK_NO_DS ? (struct truth){TRUTH_SECURE, zone, false}
                                                      : (struct truth){TRUTH_SECURE, cut, false};
        if (world_zone[cut].link == LINK_NO_DS)
            return (struct truth){TRUTH_INSECURE, zone, truth_saw_no_ds(zone, at, seen)};
        if (world_zone[cut].link == LINK_UNSUPPORTED)
            return (struct truth){TRUTH_INSECURE, zone, truth_saw(zone, RRTYPE_DS, &at, seen)};
    }
    struct name next;
    if (truth.kind != TRUTH_SECURE || world_zone[truth.zone].denial != WORLD_NSEC3 ||
        !truth_next_closer(truth.zone, is_denial ? name : home, &next))
        return truth;
    for (unsigned i = 0; i < world_sets; i++)
        if (world_set[i].zone == truth.zone && world_set[i].spans_opt_out &&
            world_covers(&world_set[i], next))
            return (struct truth){TRUTH_OPT_OUT, truth.zone, seen[i]};
    return truth;
}

/* Finds the node or the wildcard that answers for the name in the zone. Returns false if there is
 * none. */
static inline bool truth_source(int zone, struct name name, uint8_t wire[NAME_WIRE_MAX],
                                struct name *source)
{
    struct name next;
    *source = name;
    if (world_exists(zone, name))
        return true;
    if (!truth_next_closer(zone, name, &next))
        return false;
    struct name encloser = name_parent(next);
    wire[0] = 1;
    wire[1] = '*';
    memcpy(wire + 2, encloser.wire, encloser.len);
    *source = (struct name){wire, (uint8_t)(encloser.len + 2)};
    return world_exists(zone, *source);
}

/* Returns the DNAME record above the name, or NULL. */
static inline const struct world_node *truth_dname(int zone, struct name name)
{
    for (unsigned i = 0; i < WORLD_NODES; i++)
        if (world_node[i].zone == zone && world_node[i].type == RRTYPE_DNAME &&
            name.len > world_node[i].name.len && name_is_below(name, world_node[i].name))
            return &world_node[i];
    return NULL;
}

/* Returns whether the name is an alias that leads to the target. */
static inline bool truth_leads_to(int zone, struct name name, struct name target)
{
    const struct world_node *dname = truth_dname(zone, name);
    uint8_t wire[NAME_WIRE_MAX];
    struct name source;
    if (dname) {
        size_t kept = (size_t)name.len - dname->name.len;
        return target.len == kept + dname->target_name.len &&
               !memcmp(target.wire, name.wire, kept) &&
               name_equal((struct name){target.wire + kept, dname->target_name.len},
                          dname->target_name);
    }
    if (!truth_source(zone, name, wire, &source))
        return false;
    for (unsigned i = 0; i < WORLD_NODES; i++)
        if (world_node[i].zone == zone && world_node[i].type == RRTYPE_CNAME &&
            name_equal(world_node[i].name, source))
            return name_equal(world_node[i].target_name, target);
    return false;
}

/* Returns the genuine RRset of this type that answers for the name, or NULL. */
static inline const struct world_set *truth_data(int zone, struct name name, uint16_t type)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct name source;
    if (truth_dname(zone, name) || !truth_source(zone, name, wire, &source))
        return NULL;
    return world_find(zone, source, type);
}

/* Returns whether the zone lacks the name, and no wildcard or DNAME record answers for it. */
static inline bool truth_is_absent(int zone, struct name name)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct name source;
    return !truth_dname(zone, name) && !truth_source(zone, name, wire, &source);
}

/* Returns whether the zone answers for the name, without this type and without an alias. */
static inline bool truth_lacks_type(int zone, struct name name, uint16_t type)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct name source;
    uint16_t types[8];
    if (truth_dname(zone, name) || !truth_source(zone, name, wire, &source))
        return false;
    unsigned count = world_types(zone, source, types);
    for (unsigned i = 0; i < count; i++)
        if (types[i] == type || (types[i] == RRTYPE_CNAME && type != RRTYPE_NSEC))
            return false;
    return type != RRTYPE_NSEC || !count || world_zone[zone].denial != WORLD_NSEC;
}

#endif
