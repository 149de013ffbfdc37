/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_VALIDATE_FORGE_H
#define NAILUP_TESTS_VALIDATE_FORGE_H

/*
 * A forger answers each question of a validation: the client's, and the questions about keys and DS
 * records. The bytes of a test decide about its messages. The forger has every genuine record of
 * the world (forge_world.h). It leaves out and moves records and signatures, adds unsigned ones,
 * and signs with the keys of its own zones. The validation under test judges each of its messages.
 *
 * These rules hold for each verdict:
 * - INSECURE: the first part of the alias chain is genuine, and the name to which it leads is not
 *   secure in the world. The play has verified a genuine record that proves this.
 * - SECURE: the whole chain, the data and the denial are in the world.
 * - The suffix of the QNAME that the verdict calls insecure is not secure in the world.
 */

#include <stdio.h>

#include "unit/validate/forge_world.h"

#include "validate/anchors.h"
#include "validate/trust.h"
#include "validate/validation.h"

enum {
    FORGE_DEPTH_MAX = 10,
    FORGE_KNOWN_MAX = 48,
    FORGE_EVENTS_MAX = 300,
    FORGE_MESSAGE_MAX = 6000,
    FORGE_HOPS_MAX = 8,
    FORGE_UNITS = 100000,
    FORGE_QUESTIONS = 3,
};

/* An answer about keys or DS records. */
struct forge_known {
    struct name name;
    uint16_t type;
    bool is_open; /* the validation of this answer still runs */
    uint16_t ede; /* the error of a failure, which is not remembered for long */
    uint8_t wire[NAME_WIRE_MAX];
    uint8_t bytes[FORGE_MESSAGE_MAX];
    struct answer answer;
};

struct forge {
    const uint8_t *data;
    size_t left;
    unsigned anchors;       /* index into world_anchors */
    struct name configured; /* a zone that the operator configured; the root: none */
    bool configured_is_cut;
    bool configured_failed; /* no answer came about the zone's DS records */
    unsigned units, failures_left;
    bool seen[WORLD_SETS_MAX];
    unsigned known_count;
    struct forge_known known[FORGE_KNOWN_MAX];
};

/* A message, and the facts that a resolver reads in it. */
struct forge_message {
    struct question question;
    uint8_t bytes[FORGE_MESSAGE_MAX];
    size_t len;
    struct message message;
    enum answer_kind kind;
    bool leads_out;
    unsigned hops;
    struct name chain[FORGE_HOPS_MAX + 1];
    bool hop_is_dname[FORGE_HOPS_MAX];
    uint8_t chain_wire[FORGE_HOPS_MAX + 1][NAME_WIRE_MAX];
};

static struct validation_space forge_space;
static struct anchors *forge_anchors[ARRAY_LEN(world_anchors)];
static uint64_t forge_serial;

/* The names in questions, denials and targets. */
static const char *const forge_texts[] = {
    "",         "s",        "a.s",   "b.d.s",   "d.s",     "w.s",     "*.w.s",  "y.w.s",  "y.x.s",
    "c.x.s",    "la.s",     "lk.s",  "lc.s",    "lz.s",    "lg.s",    "g.s",    "du.s",   "a.du.s",
    "dk.s",     "a.dk.s",   "k.s",   "a.k.s",   "y.w.k.s", "y.x.k.s", "g.k.s",  "m.k.s",  "a.m.k.s",
    "n.s",      "a.n.s",    "g.n.s", "i.n.s",   "a.i.n.s", "t",       "a.t",    "b.t",    "y.w.t",
    "y.x.t",    "g1.t",     "g2.t",  "g3.t",    "g4.t",    "g5.t",    "a.g1.t", "a.g4.t", "p.t",
    "a.p.t",    "q.t",      "a.q.t", "rs.t",    "u",       "a.u",     "v.u",    "a.v.u",  "z",
    "a.z",      "y",        "a.y",   "g.y",     "j",       "a.j",     "y.w.j",  "c.j",    "a.c.j",
    "e.s",      "a.e.s",    "o",     "a.o",     "f",       "a.f",     "y.w.f",  "h.f",    "a.h.f",
    "g",        "a.a.s",    "*.x.s", "x.s",     "z.w.k.s", "a.c.x.s", "g.p.t",  "z.w.t",  "c.du.s",
    "a.c.du.s", "g.c.du.s", "g6.t",  "!.b.w.s", "z.b.w.s", "a.g5.t",  "a.g3.t",
};
enum { FORGE_NAMES = ARRAY_LEN(forge_texts) };
static uint8_t forge_wires[FORGE_NAMES][NAME_WIRE_MAX];
static struct name forge_names[FORGE_NAMES];

/* The types of forged records. No question asks for the last one, because both sides of a cut
 * answer it. */
static const uint16_t forge_types[] = {RRTYPE_A,   RRTYPE_DS, RRTYPE_A,     RRTYPE_TXT,
                                       RRTYPE_A,   RRTYPE_DS, RRTYPE_CNAME, RRTYPE_DNSKEY,
                                       RRTYPE_SOA, RRTYPE_NS, RRTYPE_DNAME, RRTYPE_NSEC};
enum { FORGE_TYPES = ARRAY_LEN(forge_types) };

static inline uint8_t forge_byte(struct forge *forge)
{
    if (!forge->left)
        return 0;
    forge->left--;
    return *forge->data++;
}

/* Returns true once in n bytes. Returns false after the last byte, so that the rest is honest. */
static inline bool forge_odd(struct forge *forge, unsigned n)
{
    return forge->left && forge_byte(forge) % n == n - 1;
}

static inline struct name forge_any_name(struct forge *forge)
{
    return forge_names[forge_byte(forge) % FORGE_NAMES];
}

static inline struct name forge_last(const struct forge_message *out)
{
    return out->chain[out->hops];
}

/* ---- records of a message ---- */

static inline bool forge_has_room(const struct forge_message *out)
{
    return out->len < FORGE_MESSAGE_MAX - 1024;
}

static inline void forge_put(struct forge_message *out, enum section section, struct name owner,
                             uint16_t type, const uint8_t *rdata, size_t len)
{
    /* sections must come in order, so a later answer record cannot follow an authority record */
    if (forge_has_room(out) &&
        (section == SECTION_AUTHORITY || !header_count(out->bytes, SECTION_AUTHORITY)))
        world_put(out->bytes, &out->len, section, owner, type, rdata, len);
}

static inline void forge_put_set(struct forge_message *out, enum section section,
                                 const struct world_set *set, struct name owner, bool is_signed)
{
    for (unsigned i = 0; i < set->count; i++)
        forge_put(out, section, owner, set->type, set->rdata[i], set->rdata_len[i]);
    if (is_signed)
        forge_put(out, section, owner, RRTYPE_RRSIG, set->sig, set->sig_len);
}

/* Adds the zone's chain records about the name. They match or cover the names on the way down, the
 * next closer name and each wildcard. */
static inline void forge_put_chain(struct forge_message *out, int zone, struct name name)
{
    bool is_in[WORLD_SETS_MAX] = {false};
    unsigned apex = name_label_count(world_zone[zone].name);
    if (!name_is_below(name, world_zone[zone].name))
        return;
    for (unsigned labels = apex; labels <= name_label_count(name); labels++) {
        uint8_t wire[NAME_WIRE_MAX] = "\1*";
        struct name suffix = name_suffix(name, labels);
        memcpy(wire + 2, suffix.wire, suffix.len);
        struct name wildcard = {wire, (uint8_t)(suffix.len + 2)};
        for (unsigned i = 0; i < world_sets; i++) {
            const struct world_set *set = &world_set[i];
            bool is_chain = set->type == RRTYPE_NSEC || set->type == RRTYPE_NSEC3;
            if (is_chain && set->zone == zone && !is_in[i])
                is_in[i] = world_matches(set, suffix) || world_covers(set, suffix) ||
                           world_matches(set, wildcard) || world_covers(set, wildcard);
        }
    }
    for (unsigned i = 0; i < world_sets; i++)
        if (is_in[i])
            forge_put_set(out, SECTION_AUTHORITY, &world_set[i], world_set[i].owner, true);
}

static inline void forge_put_soa(struct forge_message *out, int zone, bool is_signed)
{
    const struct world_set *soa = world_find(zone, world_zone[zone].name, RRTYPE_SOA);
    if (soa)
        forge_put_set(out, SECTION_AUTHORITY, soa, soa->owner, is_signed);
}

/* ---- the honest answer ---- */

/* Returns the deepest zone with servers for the name. */
static inline int forge_zone_of(struct name name, uint16_t type)
{
    struct name home = type == RRTYPE_DS && !name_is_root(name) ? name_parent(name) : name;
    int best = ZONE_ROOT;
    for (int i = 0; i < WORLD_ZONES; i++)
        if (name_is_below(home, world_zone[i].name) &&
            world_zone[i].name.len > world_zone[best].name.len)
            best = i;
    return best;
}

/* Adds the answer of the zone's servers about the name. It contains at most one alias. */
static inline void forge_honest_at(struct forge_message *out, struct name name, uint16_t type)
{
    int zone = forge_zone_of(name, type);
    uint8_t wire[NAME_WIRE_MAX];
    struct name source = name;
    const struct world_node *dname = truth_dname(zone, name);
    if (dname) {
        const struct world_set *set = world_find(zone, dname->name, RRTYPE_DNAME);
        forge_put_set(out, SECTION_ANSWER, set, set->owner, true);
        return;
    }
    bool is_there = truth_source(zone, name, wire, &source);
    const struct world_set *set = is_there ? world_find(zone, source, type) : NULL;
    if (is_there && !set)
        set = world_find(zone, source, RRTYPE_CNAME);
    if (set) {
        forge_put_set(out, SECTION_ANSWER, set, name, true);
        if (!name_equal(source, name))
            forge_put_chain(out, zone, name);
        return;
    }
    forge_put_soa(out, zone, true);
    forge_put_chain(out, zone, name);
    if (!is_there)
        header_set_rcode(out->bytes, RCODE_NXDOMAIN);
}

/* ---- the forger ---- */

static inline size_t forge_rdata(struct forge *forge, uint16_t type, uint8_t *out)
{
    struct name target = forge_any_name(forge);
    static const uint16_t types[] = {RRTYPE_NS, RRTYPE_A, RRTYPE_SOA, RRTYPE_DS, RRTYPE_DNAME};
    uint16_t some[5] = {RRTYPE_NS};
    unsigned count = 0, bits = 0;
    switch (type) {
    case RRTYPE_CNAME:
    case RRTYPE_DNAME:
    case RRTYPE_NS:
        memcpy(out, target.wire, target.len);
        return target.len;
    case RRTYPE_SOA:
        memset(out, 0, 22);
        return 22;
    case RRTYPE_DNSKEY:
        return world_dnskey(ZONE_U, out);
    case RRTYPE_DS:
        bits = forge_byte(forge);
        return world_ds(bits & 1 ? ZONE_Z : ZONE_U, bits & 2 ? 200 : ALGORITHM_ECDSA_P256, out);
    case RRTYPE_NSEC:
        memcpy(out, target.wire, target.len);
        bits = forge_byte(forge);
        for (unsigned i = 0; i < ARRAY_LEN(types); i++)
            if (bits >> i & 1)
                some[count++] = types[i];
        return target.len + world_bitmap(out + target.len, some, count);
    default:
        memcpy(out, "\306\63\144\102", 4);
        return 4;
    }
}

static inline int forge_own_zone(struct forge *forge)
{
    static const int own[] = {ZONE_ES, ZONE_U, ZONE_Z};
    return own[forge_byte(forge) % ARRAY_LEN(own)];
}

/* Returns a name for a forged record. */
static inline struct name forge_victim(struct forge *forge, const struct forge_message *out)
{
    switch (forge_byte(forge) % 4) {
    case 0:
        return forge_any_name(forge);
    case 1:
        return out->question.name;
    default:
        return forge_last(out);
    }
}

/* Returns a zone above the name, or sometimes any zone. */
static inline int forge_zone_above(struct forge *forge, struct name name)
{
    int above[WORLD_ZONES + 1] = {0};
    unsigned count = 0;
    if (forge_odd(forge, 6))
        return forge_byte(forge) % WORLD_ZONES;
    for (int i = 0; i < WORLD_ZONES; i++)
        if (name_is_below(name, world_zone[i].name))
            above[count++] = i;
    return above[forge_byte(forge) % count];
}

/* Adds a wrong signature that names some zone as its signer. */
static inline void forge_put_wrong_sig(struct forge *forge, struct forge_message *out,
                                       enum section section, struct name owner, uint16_t type)
{
    uint8_t sig[512] = {0};
    unsigned labels = world_labels(owner);
    int zone = forge_zone_above(forge, owner);
    size_t head = world_sig_head(zone, type, labels - (labels && forge_odd(forge, 8)), sig);
    forge_put(out, section, owner, RRTYPE_RRSIG, sig, head + WORLD_SIG);
}

/* Adds an RRset that the forger makes up: without a signature, with a bad one, or signed by one of
 * the forger's zones. */
static inline void forge_put_forged(struct forge *forge, struct forge_message *out)
{
    struct world_set set = {.zone = forge_own_zone(forge), .count = 1};
    uint8_t how = forge_byte(forge);
    set.owner = forge_victim(forge, out);
    set.type = how & 1 ? out->question.type : forge_types[forge_byte(forge) % FORGE_TYPES];
    if (set.type == RRTYPE_TXT) {
        memcpy(set.rdata[0], "\1x", 2);
        set.rdata_len[0] = 2;
    } else {
        set.rdata_len[0] = (uint16_t)forge_rdata(forge, set.type, set.rdata[0]);
    }
    bool is_proof = set.type == RRTYPE_NSEC || (set.type == RRTYPE_SOA && how & 2);
    bool is_signed = how & 4;
    if (is_signed) {
        unsigned labels = world_labels(set.owner);
        world_sign(&set, how & 8 && labels ? labels - 1 : labels);
        if (how & 16)
            set.sig[set.sig_len - WORLD_SIG]++;
    }
    enum section section = is_proof ? SECTION_AUTHORITY : SECTION_ANSWER;
    if (how & 32)
        forge_put_wrong_sig(forge, out, section, set.owner, set.type);
    forge_put_set(out, section, &set, set.owner, is_signed);
}

/* Adds a genuine RRset, perhaps at another owner, in another section, or without its signature. */
static inline void forge_put_replayed(struct forge *forge, struct forge_message *out)
{
    unsigned at = forge_byte(forge);
    at += 256u * forge_byte(forge);
    const struct world_set *set = &world_set[at % world_sets];
    bool is_proof =
        set->type == RRTYPE_NSEC || set->type == RRTYPE_NSEC3 || set->type == RRTYPE_SOA;
    uint8_t how = forge_byte(forge);
    struct name owner = set->owner;
    if (how & 1 && world_is_wildcard(owner))
        owner = forge_victim(forge, out);
    if (how & 2 && how & 4)
        is_proof = !is_proof;
    enum section section = is_proof ? SECTION_AUTHORITY : SECTION_ANSWER;
    if (how & 16)
        forge_put_wrong_sig(forge, out, section, owner, set->type);
    forge_put_set(out, section, set, owner, !(how & 8));
}

/* Adds a wildcard's RRset at a name below the wildcard, or its NSEC record at another such name. */
static inline void forge_put_expanded(struct forge *forge, struct forge_message *out)
{
    struct name name = forge_last(out);
    bool is_proof = forge_odd(forge, 4);
    unsigned first = is_proof ? forge_byte(forge) : 0;
    for (unsigned i = 0; i < world_sets; i++) {
        const struct world_set *set = &world_set[i];
        struct name above = name_parent(set->owner);
        if (!world_is_wildcard(set->owner) || (set->type == RRTYPE_NSEC) != is_proof ||
            !name_is_below(name, above))
            continue;
        for (unsigned j = 0; is_proof && j < FORGE_NAMES; j++) {
            name = forge_names[(first + j) % FORGE_NAMES];
            if (name_is_below(name, above))
                break;
        }
        forge_put_set(out, is_proof ? SECTION_AUTHORITY : SECTION_ANSWER, set, name,
                      !forge_odd(forge, 8));
        return;
    }
}

static inline void forge_read(struct forge_message *out, struct name asked_zone);

static inline void forge_put_any(struct forge *forge, struct forge_message *out)
{
    struct name name = out->question.name;
    int zone;
    forge_read(out, name_root());
    switch (forge_byte(forge) % 8) {
    case 0:
        forge_put_replayed(forge, out);
        break;
    case 1:
        forge_put_expanded(forge, out);
        break;
    case 2:
    case 3:
        forge_put_forged(forge, out);
        break;
    case 4:
        name = forge_victim(forge, out);
        zone = forge_zone_above(forge, name);
        if (forge_odd(forge, 4))
            forge_put_wrong_sig(forge, out, SECTION_AUTHORITY, world_zone[zone].name, RRTYPE_NSEC);
        forge_put_chain(out, zone, name);
        break;
    case 5:
        forge_put_soa(out, forge_zone_above(forge, forge_last(out)), !forge_odd(forge, 4));
        break;
    case 6:
        forge_honest_at(out, forge_last(out), out->question.type);
        break;
    case 7:
        name = forge_last(out);
        zone = forge_zone_above(forge, name);
        forge_put_soa(out, zone, true);
        forge_put_chain(out, zone, name);
        break;
    }
}

/* Removes the chosen records: signatures, proofs, or the whole authority section. */
static inline void forge_strip(struct forge_message *out, unsigned how)
{
    struct forge_message *copy = malloc(sizeof(*copy));
    struct message message;
    MUST(copy && message_parse(&message, span_of(out->bytes, out->len)) == MESSAGE_OK);
    world_head(copy->bytes, &copy->len, out->question.name, out->question.type);
    header_set_flags(copy->bytes, header_flags(out->bytes));
    for (unsigned section = SECTION_ANSWER; section <= SECTION_AUTHORITY; section++) {
        struct rr_iter iter = message_rrs(&message, (enum section)section);
        for (struct rr rr; message_rr_next(&iter, &rr);) {
            uint8_t wire[NAME_WIRE_MAX];
            struct span rdata = message_rdata(&message, &rr);
            bool is_proof = rr.type == RRTYPE_NSEC || rr.type == RRTYPE_NSEC3;
            bool goes = (how & 1 && rr.type == RRTYPE_RRSIG && section == SECTION_ANSWER) ||
                        (how & 2 && rr.type == RRTYPE_RRSIG && section == SECTION_AUTHORITY) ||
                        (how & 4 && is_proof) || (how & 8 && section == SECTION_AUTHORITY);
            if (!goes)
                world_put(copy->bytes, &copy->len, (enum section)section,
                          message_owner(&message, &rr, wire), rr.type, rdata.data, rdata.len);
        }
    }
    memcpy(out->bytes, copy->bytes, copy->len);
    out->len = copy->len;
    free(copy);
}

static inline void forge_compose(struct forge *forge, struct forge_message *out, unsigned depth)
{
    uint8_t how = forge_byte(forge);
    world_head(out->bytes, &out->len, out->question.name, out->question.type);
    forge_read(out, name_root());
    unsigned mode = depth ? how % 8 < 5 ? 0 : how % 8 : how % 8;
    if (mode == 0) {
        forge_honest_at(out, out->question.name, out->question.type);
        if (depth)
            return;
        /* further parts of the chain, as a resolver adds them */
        for (unsigned i = how >> 6; i > 0; i--) {
            forge_read(out, name_root());
            if (!out->hops || header_count(out->bytes, SECTION_AUTHORITY))
                break;
            forge_honest_at(out, forge_last(out), out->question.type);
        }
        return;
    }
    if (mode == 5) {
        forge_honest_at(out, out->question.name, out->question.type);
        forge_strip(out, forge_byte(forge));
        return;
    }
    for (unsigned i = 1 + forge_byte(forge) % 4; i > 0; i--)
        forge_put_any(forge, out);
    if (how >> 6 == 3)
        forge_strip(out, forge_byte(forge));
    header_set_rcode(out->bytes, how & 8 ? RCODE_NXDOMAIN : RCODE_NOERROR);
}

/* ---- the reader ---- */

/* Follows the alias of the last name in the chain. Returns false without one, or if the chain
 * loops. */
static inline bool forge_hop(struct forge_message *out)
{
    struct name name = forge_last(out);
    struct name next = {out->chain_wire[out->hops + 1], 0};
    for (int pass = 0; pass < 2; pass++) {
        struct rr_iter iter = message_rrs(&out->message, SECTION_ANSWER);
        for (struct rr rr; message_rr_next(&iter, &rr);) {
            uint8_t wire[NAME_WIRE_MAX], to[NAME_WIRE_MAX];
            struct name owner = message_owner(&out->message, &rr, wire), target;
            size_t kept = 0;
            if (pass == 0 && (rr.type != RRTYPE_CNAME || !name_equal(owner, name)))
                continue;
            if (pass == 1 &&
                (rr.type != RRTYPE_DNAME || owner.len >= name.len || !name_is_below(name, owner)))
                continue;
            if (!message_target(&out->message, &rr, to, &target))
                return false;
            kept = pass ? (size_t)name.len - owner.len : 0;
            memcpy(out->chain_wire[out->hops + 1], name.wire, kept);
            memcpy(out->chain_wire[out->hops + 1] + kept, target.wire, target.len);
            next.len = (uint8_t)(kept + target.len);
            out->hop_is_dname[out->hops] = pass;
            for (unsigned i = 0; i <= out->hops; i++)
                if (name_equal(out->chain[i], next))
                    return false;
            out->chain[++out->hops] = next;
            return true;
        }
    }
    return false;
}

static inline bool forge_has_data(const struct forge_message *out)
{
    struct rr_iter iter = message_rrs(&out->message, SECTION_ANSWER);
    for (struct rr rr; message_rr_next(&iter, &rr);) {
        uint8_t wire[NAME_WIRE_MAX];
        if (rr.type == out->question.type &&
            name_equal(message_owner(&out->message, &rr, wire), forge_last(out)))
            return true;
    }
    return false;
}

/* Reads the message as the resolver does: the chain, its end and the kind. */
static inline void forge_read(struct forge_message *out, struct name asked_zone)
{
    MUST(message_parse(&out->message, span_of(out->bytes, out->len)) == MESSAGE_OK);
    out->hops = 0;
    out->chain[0] = out->question.name;
    out->leads_out = false;
    bool has_data = forge_has_data(out);
    bool follows = out->question.type != RRTYPE_CNAME;
    while (!has_data && follows && out->hops < FORGE_HOPS_MAX && forge_hop(out)) {
        out->leads_out = !name_is_below(forge_last(out), asked_zone);
        if (out->leads_out)
            break;
        has_data = forge_has_data(out);
    }
    if (has_data || out->leads_out)
        out->kind = ANSWER_POSITIVE;
    else if (header_rcode(out->bytes) == RCODE_NXDOMAIN)
        out->kind = ANSWER_NXDOMAIN;
    else
        out->kind = ANSWER_NODATA;
    bool has_soa = false;
    struct rr_iter iter = message_rrs(&out->message, SECTION_AUTHORITY);
    for (struct rr rr; message_rr_next(&iter, &rr);)
        has_soa = has_soa || rr.type == RRTYPE_SOA;
    if (out->kind == ANSWER_NODATA && out->hops && !has_soa) {
        out->kind = ANSWER_POSITIVE; /* another query asks for the end of the chain */
        out->leads_out = true;
    }
}

static inline void forge_cut_at_alias(struct forge_message *out)
{
    out->hops = 1;
    out->kind = ANSWER_POSITIVE;
    out->leads_out = true;
}

/* ---- a readable trace: NAILUP_FORGE_TRACE ---- */

static bool forge_traces;

static inline void forge_trace_records(const struct forge_message *out)
{
    for (unsigned section = SECTION_ANSWER; section <= SECTION_AUTHORITY; section++) {
        struct rr_iter iter = message_rrs(&out->message, (enum section)section);
        for (struct rr rr; message_rr_next(&iter, &rr);) {
            uint8_t wire[NAME_WIRE_MAX], next_wire[NAME_WIRE_MAX];
            char owner[NAME_TEXT_MAX], type[RRTYPE_TEXT_MAX], more[NAME_TEXT_MAX] = "";
            char covered[RRTYPE_TEXT_MAX] = "";
            struct span rdata = message_rdata(&out->message, &rr);
            struct rrsig sig;
            struct name next;
            if (rr.type == RRTYPE_RRSIG && rrsig_read(&sig, rdata))
                name_format(sig.signer, more), rrtype_name(sig.covered, covered);
            else if (rr.type == RRTYPE_NSEC && name_view(rdata, 0, &next))
                name_format(name_copy(next, next_wire), more);
            else if (message_target(&out->message, &rr, next_wire, &next))
                name_format(next, more);
            printf("    %s %s %s %s %s\n", section == SECTION_ANSWER ? "answer" : "authority",
                   name_format(message_owner(&out->message, &rr, wire), owner),
                   rrtype_name(rr.type, type), covered, more);
        }
    }
}

static inline void forge_trace(const struct forge *forge, const struct forge_message *out,
                               struct name asked_zone, const struct verdict *verdict)
{
    char name[NAME_TEXT_MAX], type[RRTYPE_TEXT_MAX], zone[NAME_TEXT_MAX], end[NAME_TEXT_MAX];
    if (!forge_traces)
        return;
    printf("  %s %s of %s: %s%s, end %s: %s, labels %u, %s\n",
           name_format(out->question.name, name), rrtype_name(out->question.type, type),
           name_format(asked_zone, zone), answer_kind_name(out->kind),
           out->leads_out ? " (leads out)" : "", name_format(forge_last(out), end),
           security_name(verdict->security), verdict->insecure_labels, verdict->fault);
    forge_trace_records(out);
    printf("  anchors %u, configured %s\n", forge->anchors, name_format(forge->configured, name));
    fflush(stdout);
}

/* ---- the rules ---- */

/* Returns whether the operator's zone contains the name and may count as private, because it is not
 * signed. */
static inline bool forge_is_private(const struct forge *forge, struct name name, bool is_ds)
{
    struct name zone = forge->configured;
    struct name home = is_ds && !name_is_root(name) ? name_parent(name) : name;
    if (name_is_root(zone) || !name_is_below(home, zone))
        return false;
    if (forge->configured_failed)
        return true;
    struct truth truth = truth_of(&world_anchors[forge->anchors], zone, true, false, forge->seen);
    return truth.kind != TRUTH_SECURE || !truth_data(truth.zone, zone, RRTYPE_DS);
}

/* Returns whether the chain may be insecure at this name. */
static inline bool forge_may_be_insecure(const struct forge *forge, const struct truth *truth,
                                         struct name name, bool is_ds)
{
    return (truth->kind != TRUTH_SECURE && truth->has_proof) ||
           forge_is_private(forge, name, is_ds);
}

/* Checks that each verified record of the data is in the world. */
static inline void forge_check_data(const struct forge_message *out, int zone)
{
    struct name name = forge_last(out), target;
    uint8_t wire[NAME_WIRE_MAX], target_wire[NAME_WIRE_MAX];
    const struct world_set *set = truth_data(zone, name, out->question.type);
    struct rr_iter iter = message_rrs(&out->message, SECTION_ANSWER);
    for (struct rr rr; message_rr_next(&iter, &rr);) {
        bool is_found = false;
        struct span rdata = message_rdata(&out->message, &rr);
        if (rr.type != out->question.type ||
            !name_equal(message_owner(&out->message, &rr, wire), name))
            continue;
        for (unsigned i = 0; set && i < set->count; i++)
            is_found = is_found || span_equal(rdata, span_of(set->rdata[i], set->rdata_len[i]));
        if (!is_found && rr.type == RRTYPE_CNAME &&
            message_target(&out->message, &rr, target_wire, &target))
            is_found = truth_leads_to(zone, name, target);
        MUST(is_found);
    }
}

static inline void forge_check_denial(const struct forge_message *out, const struct truth *truth,
                                      const struct verdict *verdict)
{
    struct name end = forge_last(out);
    bool is_nodata = out->kind == ANSWER_NODATA || verdict->is_nodata;
    bool is_above = truth->kind == TRUTH_COSTLY && !truth_is_costly(truth->zone);
    MUST(truth->kind == TRUTH_SECURE || is_above); /* an insecure zone may contain the name */
    MUST(!world_zone[truth->zone].flags);          /* this zone's proofs are unusable */
    if (is_nodata)
        MUST(truth_lacks_type(truth->zone, end, out->question.type));
    else
        MUST(truth_is_absent(truth->zone, end));
}

/* Checks the suffix of the QNAME that the verdict calls insecure as a whole. */
static inline void forge_check_suffix(const struct forge *forge, const struct forge_message *out,
                                      const struct verdict *verdict)
{
    struct name name = out->question.name;
    if (verdict->insecure_labels == VERDICT_NO_LABELS ||
        verdict->insecure_labels > name_label_count(name))
        return;
    struct name suffix = name_suffix(name, verdict->insecure_labels);
    struct truth truth = truth_of(&world_anchors[forge->anchors], suffix, false, true, forge->seen);
    MUST(forge_may_be_insecure(forge, &truth, suffix, false) || truth.kind == TRUTH_FORGERS);
}

static inline void forge_check(const struct forge *forge, const struct forge_message *out,
                               const struct verdict *verdict)
{
    const struct world_anchors *anchors = &world_anchors[forge->anchors];
    bool is_secure = verdict->security == SECURITY_SECURE;
    bool is_ds = out->question.type == RRTYPE_DS;
    if (verdict->security == SECURITY_BOGUS)
        return;
    if (!is_secure)
        forge_check_suffix(forge, out, verdict);
    for (unsigned i = 0; i < out->hops; i++) {
        struct truth truth = truth_of(anchors, out->chain[i], is_ds, false, forge->seen);
        if (!is_secure && forge_may_be_insecure(forge, &truth, out->chain[i], is_ds))
            return;
        if (truth.kind == TRUTH_FORGERS)
            continue;
        MUST(truth.kind != TRUTH_INSECURE);
        MUST(truth_leads_to(truth.zone, out->chain[i], out->chain[i + 1]));
        /* an insecure zone may contain the name to which a wildcard's alias was expanded */
        truth = truth_of(anchors, out->chain[i], is_ds, true, forge->seen);
        if (!is_secure && forge_may_be_insecure(forge, &truth, out->chain[i], is_ds))
            return;
    }
    if (out->leads_out) {
        MUST(is_secure);
        return;
    }
    bool is_denial = out->kind != ANSWER_POSITIVE;
    struct truth truth = truth_of(anchors, forge_last(out), is_ds, is_denial, forge->seen);
    if (!is_secure) {
        MUST(forge_may_be_insecure(forge, &truth, forge_last(out), is_ds));
        return;
    }
    if (truth.kind == TRUTH_FORGERS)
        return;
    MUST(truth.kind != TRUTH_INSECURE);
    if (is_denial)
        forge_check_denial(out, &truth, verdict);
    else
        forge_check_data(out, truth.zone);
    if (verdict->proves_insecure)
        MUST(truth_data(truth.zone, forge_last(out), RRTYPE_DS) == NULL &&
             truth_cut(truth.zone, forge_last(out)) >= 0);
}

/* ---- the validation ---- */

/* Returns whether the signature is right, and notes the genuine RRset that it signs. */
static inline bool forge_verify(struct forge *forge, const struct verify_job *job)
{
    int zone = world_zone_of_key(job->key);
    if (zone < 0 || job->signature.len != WORLD_SIG)
        return false;
    uint64_t hash = world_hash(zone, job->data);
    if (memcmp(job->signature.data, &hash, sizeof(hash)) != 0)
        return false;
    bool is_known = world_zone[zone].is_forgers;
    for (unsigned i = 0; i < world_sets; i++)
        if (world_set[i].zone == zone && world_set[i].signed_hash == hash)
            is_known = forge->seen[i] = true;
    MUST(is_known);
    return true;
}

static inline enum security forge_judge(struct forge *forge, struct forge_message *out,
                                        unsigned depth, struct verdict *verdict,
                                        struct validation *validation);

/* Keeps the parts of a judged message that scrub() keeps for later validations. */
static inline void forge_keep(struct forge_known *known, const struct forge_message *out,
                              const struct validation *validation, const struct verdict *verdict)
{
    size_t len;
    struct rrsets *sets = &forge_space.sets;
    bool is_secure = verdict->security == SECURITY_SECURE;
    MUST(!is_secure || rrsets_read(sets, &out->message, RRCLASS_IN));
    world_head(known->bytes, &len, out->question.name, out->question.type);
    header_set_flags(known->bytes, header_flags(out->bytes));
    for (unsigned section = SECTION_ANSWER; section <= SECTION_AUTHORITY; section++) {
        struct rr_iter iter = message_rrs(&out->message, (enum section)section);
        for (struct rr rr; message_rr_next(&iter, &rr);) {
            uint8_t wire[NAME_WIRE_MAX];
            struct name owner = message_owner(&out->message, &rr, wire);
            struct span rdata = message_rdata(&out->message, &rr);
            uint16_t type = rr.type == RRTYPE_RRSIG ? get_u16(rdata.data) : rr.type;
            bool is_alias = out->hops > 0;
            bool is_of_answer =
                is_alias ? (type == RRTYPE_CNAME && name_equal(owner, out->question.name)) ||
                               (type == RRTYPE_DNAME && out->hop_is_dname[0])
                         : type == out->question.type && name_equal(owner, out->question.name);
            if (section == SECTION_ANSWER && !is_of_answer)
                continue;
            if (is_secure &&
                ((section == SECTION_AUTHORITY &&
                  !validation_has_verified(validation, sets, &rr)) ||
                 (rr.type == RRTYPE_RRSIG && !validation_is_verified_sig(validation, sets, &rr))))
                continue;
            if (!is_secure && rr.type == RRTYPE_RRSIG)
                continue;
            world_put(known->bytes, &len, (enum section)section, owner, rr.type, rdata.data,
                      rdata.len);
        }
    }
    known->answer = (struct answer){
        .message = span_of(known->bytes, len),
        .kind = out->kind,
        .security = (uint8_t)verdict->security,
        .ttl_s = 300,
    };
    if (verdict->is_nodata)
        known->answer.kind = ANSWER_NODATA;
    if (verdict->proves_insecure)
        known->answer.security = SECURITY_INSECURE;
    if (verdict->ede != EDE_NONE)
        known->answer.ede[known->answer.ede_count++] = verdict->ede;
    forge_space.owner = 0;
}

static inline struct forge_known *forge_find(struct forge *forge, struct name name, uint16_t type)
{
    for (unsigned i = 0; i < forge->known_count; i++)
        if (forge->known[i].type == type && name_equal(forge->known[i].name, name))
            return &forge->known[i];
    return NULL;
}

static inline struct validation_event forge_failed(struct forge *forge, struct name name,
                                                   uint16_t type, uint16_t ede)
{
    bool is_bogus = ede != EDE_NONE;
    if (type == RRTYPE_DS && !is_bogus && name_equal(name, forge->configured))
        forge->configured_failed = true;
    return (struct validation_event){.kind = VALIDATION_FAILED, .ede = ede};
}

/* Answers a step about keys or DS records, from memory or by another message of the forger. */
static inline struct validation_event
forge_fetch(struct forge *forge, const struct validation_step *step, unsigned depth)
{
    uint16_t type = step->kind == VALIDATION_KEYS ? RRTYPE_DNSKEY : RRTYPE_DS;
    struct forge_known *known = forge_find(forge, step->zone, type);
    if (known && !known->is_open && known->answer.kind != ANSWER_FAILURE)
        return (struct validation_event){
            .kind = VALIDATION_ANSWERED, .answer = &known->answer, .ede = EDE_NONE};
    if (step->only_known)
        return (struct validation_event){.kind = VALIDATION_UNKNOWN, .ede = EDE_NONE};
    if (known)
        return forge_failed(forge, step->zone, type, known->ede);
    if (forge->known_count == FORGE_KNOWN_MAX || depth == FORGE_DEPTH_MAX || forge_odd(forge, 40))
        return forge_failed(forge, step->zone, type, EDE_NONE);
    known = &forge->known[forge->known_count++];
    known->name = name_copy(step->zone, known->wire);
    known->type = type;
    known->is_open = true;
    known->ede = EDE_NONE;
    known->answer.kind = ANSWER_FAILURE;
    struct forge_message *out = malloc(sizeof(*out));
    struct verdict verdict;
    struct validation validation;
    MUST(out);
    out->question = (struct question){.name = known->name, .type = type, .cls = RRCLASS_IN};
    forge_compose(forge, out, depth + 1);
    enum security security = forge_judge(forge, out, depth + 1, &verdict, &validation);
    known->is_open = false;
    known->ede = verdict.ede;
    if (security != SECURITY_BOGUS)
        forge_keep(known, out, &validation, &verdict);
    free(out);
    if (security == SECURITY_BOGUS)
        return forge_failed(forge, known->name, type,
                            verdict.is_unreachable || verdict.is_spent ? EDE_NONE : verdict.ede);
    return (struct validation_event){
        .kind = VALIDATION_ANSWERED, .answer = &known->answer, .ede = EDE_NONE};
}

static inline void forge_validate(struct forge *forge, struct forge_message *out,
                                  struct name asked_zone, bool is_cut, unsigned depth,
                                  struct verdict *verdict, struct validation *validation)
{
    struct validation_event event = {.kind = VALIDATION_STARTED, .ede = EDE_NONE};
    struct validation_step step;
    bool is_configured = !name_is_root(asked_zone) && name_equal(asked_zone, forge->configured);
    struct validation_view view = {
        .message = &out->message,
        .question = &out->question,
        .kind = out->kind,
        .leads_out = out->leads_out,
        .end = forge_last(out),
        .asked_zone = asked_zone,
        .zone_is_configured = is_configured,
        .zone_is_cut = is_configured ? forge->configured_is_cut : is_cut,
        .is_at_qname = !out->hops || (out->hops == 1 && out->leads_out && !out->hop_is_dname[0]),
        .clock = {.now_s = WORLD_NOW_S},
        .anchors = forge_anchors[forge->anchors],
        .space = &forge_space,
        .units_left = &forge->units,
        .failures_left = &forge->failures_left,
    };
    validation_begin(validation, ++forge_serial);
    for (unsigned i = 0; i < FORGE_EVENTS_MAX; i++) {
        forge->units = FORGE_UNITS;
        forge->failures_left = VALIDATION_QUESTION_FAILURES_MAX;
        validation_next(validation, &view, &event, &step);
        if (step.kind == VALIDATION_VERDICT) {
            *verdict = step.verdict;
            return;
        }
        if (step.kind == VALIDATION_VERIFY)
            event = (struct validation_event){.kind = VALIDATION_VERIFIED,
                                              .is_right = forge_verify(forge, &step.job),
                                              .ede = EDE_NONE};
        else
            event = forge_fetch(forge, &step, depth);
    }
    MUST(!"the validation does not end");
}

/* Returns the zone whose servers the resolver asks: the configured one, or some zone at or above
 * the name. Referrals are not signed, so the forger chooses it. */
static inline struct name forge_asked_zone(struct forge *forge, const struct question *question)
{
    struct name home = question->type == RRTYPE_DS && !name_is_root(question->name)
                           ? name_parent(question->name)
                           : question->name;
    if (!name_is_root(forge->configured) && name_is_below(home, forge->configured))
        return forge->configured;
    uint8_t how = forge_byte(forge);
    if (how % 4 == 0)
        return name_root();
    struct name zone = name_suffix(home, how / 4 % (name_label_count(home) + 1));
    return name_equal(zone, forge->configured) ? name_root() : zone;
}

static inline enum security forge_judge(struct forge *forge, struct forge_message *out,
                                        unsigned depth, struct verdict *verdict,
                                        struct validation *validation)
{
    struct name asked_zone = forge_asked_zone(forge, &out->question);
    bool is_cut = forge_odd(forge, 2);
    forge_read(out, asked_zone);
    int anchor = truth_anchor(&world_anchors[forge->anchors],
                              out->question.type == RRTYPE_DS && !name_is_root(out->question.name)
                                  ? name_parent(out->question.name)
                                  : out->question.name);
    if (anchor < 0) { /* the resolver begins no validation here */
        *verdict = (struct verdict){
            .security = SECURITY_INSECURE, .ede = EDE_NONE, .insecure_labels = VERDICT_NO_LABELS};
        validation_begin(validation, ++forge_serial);
        return SECURITY_INSECURE;
    }
    if (depth && out->hops)
        forge_cut_at_alias(out);
    forge_validate(forge, out, asked_zone, is_cut, depth, verdict, validation);
    if (verdict->security == SECURITY_BOGUS && verdict->alias_is_good && out->hops &&
        (out->hops > 1 || !out->leads_out)) {
        forge_cut_at_alias(out);
        forge_validate(forge, out, asked_zone, is_cut, depth, verdict, validation);
    }
    forge_trace(forge, out, asked_zone, verdict);
    forge_check(forge, out, verdict);
    return verdict->security;
}

static inline void forge_begin(void)
{
    world_make();
    forge_traces = getenv("NAILUP_FORGE_TRACE");
    for (unsigned i = 0; i < FORGE_NAMES && !forge_names[i].wire; i++)
        forge_names[i] = world_name(forge_wires[i], forge_texts[i]);
    for (unsigned i = 0; i < ARRAY_LEN(world_anchors) && !forge_anchors[i]; i++) {
        const struct world_anchors *from = &world_anchors[i];
        forge_anchors[i] = anchors_new();
        MUST(forge_anchors[i]);
        for (unsigned j = 0; j < 4 && from->trusted[j] >= 0; j++) {
            uint8_t rdata[64];
            int zone = from->trusted[j];
            size_t len = world_ds(zone, ALGORITHM_ECDSA_P256, rdata);
            MUST(anchors_add(forge_anchors[i], world_zone[zone].name, RRTYPE_DS,
                             span_of(rdata, len)) == ERR_OK);
        }
        if (from->negative >= 0)
            MUST(anchors_add_negative(forge_anchors[i], world_zone[from->negative].name) == ERR_OK);
    }
}

static inline void forge_end(void)
{
    for (unsigned i = 0; i < ARRAY_LEN(world_anchors); i++) {
        anchors_free(forge_anchors[i]);
        forge_anchors[i] = NULL;
    }
}

/* Plays the bytes: a few questions of clients, which share the knowledge about zones. Returns the
 * verdict about the last one. */
static inline enum security forge_run(const uint8_t *data, size_t len, bool *is_denial)
{
    static struct forge forge;
    static struct forge_message out;
    struct verdict verdict;
    struct validation validation;
    enum security security = SECURITY_UNCHECKED;
    forge_begin();
    memset(&forge, 0, offsetof(struct forge, known));
    forge.data = data;
    forge.left = len;
    forge.configured = name_root();
    uint8_t set = forge_byte(&forge);
    forge.anchors = set % ARRAY_LEN(world_anchors);
    if (set >> 5 == 7) {
        forge.configured = forge_any_name(&forge);
        forge.configured_is_cut = forge_odd(&forge, 2);
    }
    for (unsigned i = 0; i < FORGE_QUESTIONS && (!i || forge.left); i++) {
        out.question = (struct question){.name = forge_any_name(&forge), .cls = RRCLASS_IN};
        out.question.type = forge_types[forge_byte(&forge) % (FORGE_TYPES - 1)];
        forge_compose(&forge, &out, 0);
        security = forge_judge(&forge, &out, 0, &verdict, &validation);
        *is_denial = out.kind != ANSWER_POSITIVE;
    }
    return security;
}

#endif
