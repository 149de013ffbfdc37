/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Signs finished answers: each RRset of the answer section, and the SOA record and the
 * proofs of the authority section. Apart from its digests, it uses no code of the validator.
 */
#include "fuzz/worker/signing.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "validate/verify.h"

enum {
    KEY_LEN = 32,
    SIG_LEN = 64,
    SIG_HEAD = 18, /* the bytes of RRSIG RDATA before the signer */
    ALGORITHM = 15,
    DIGEST = 2,
    KEY_RDATA = 4 + KEY_LEN,
    SET_MAX = 128, /* the records of one RRset */
    SEALED_MAX = 24 * 1024,
};

struct zone_key {
    EVP_PKEY *key[2]; /* the second one is an attacker's */
    uint8_t rdata[KEY_RDATA];
    uint16_t tag;
};

static struct zone_key keys[ZONE_COUNT];

enum zone_state { ZONE_PLAIN, ZONE_ISLAND, ZONE_BROKEN, ZONE_SIGNED };

static enum zone_state zone_state(enum truth_zone zone)
{
    switch (zone) {
    case ZONE_B_T0:
    case ZONE_STUB:
    case ZONE_C_E1_T0:
        return ZONE_PLAIN;
    case ZONE_SUB_STUB:
        return ZONE_ISLAND;
    case ZONE_FWD:
        return ZONE_BROKEN;
    default:
        return ZONE_SIGNED;
    }
}

static bool zone_signs(enum truth_zone zone)
{
    return zone_state(zone) == ZONE_SIGNED || zone_state(zone) == ZONE_ISLAND;
}

/* Whether the zone denies by NSEC3 records. */
static bool zone_hashes(enum truth_zone zone)
{
    return zone == ZONE_T1 || zone == ZONE_A_T1 || zone == ZONE_SUB_STUB;
}

static bool zone_has_ds(enum truth_zone zone)
{
    return zone_state(zone) == ZONE_SIGNED || zone_state(zone) == ZONE_BROKEN;
}

enum signing_state signing_state_of(struct name name)
{
    struct truth truth = truth_of(name);
    if (zone_state(truth.zone) == ZONE_BROKEN)
        return SIGNING_BOGUS;
    if (zone_state(truth.zone) != ZONE_SIGNED)
        return SIGNING_INSECURE;
    return truth.kind == TRUTH_LEAF && truth.number % 32 == 11 ? SIGNING_BOGUS : SIGNING_SECURE;
}

static enum signing_state state_where(struct name name, uint16_t unchecked)
{
    return unchecked >> truth_of(name).zone & 1 ? SIGNING_INSECURE : signing_state_of(name);
}

enum signing_state signing_state_of_chain(struct name name, uint16_t type, uint16_t unchecked)
{
    enum signing_state state = state_where(name, unchecked);
    uint8_t wires[2][NAME_WIRE_MAX];
    for (unsigned hops = 0; state != SIGNING_BOGUS && type != RRTYPE_CNAME && hops < 12 &&
                            truth_alias(name, wires[hops & 1], &name);
         hops++) {
        enum signing_state next = state_where(name, unchecked);
        if (next == SIGNING_BOGUS && state == SIGNING_INSECURE)
            return SIGNING_EITHER;
        if (next != SIGNING_SECURE)
            state = next;
    }
    return state;
}

uint32_t signing_life_s(struct name owner)
{
    struct truth truth = truth_of(owner);
    return truth.kind == TRUTH_LEAF && truth.number % 32 == 9 ? SIGNING_SHORT_S : SIGNING_LONG_S;
}

/* ---- keys ---- */

static void free_keys(void)
{
    for (unsigned i = 0; i < 2 * ZONE_COUNT; i++)
        EVP_PKEY_free(keys[i / 2].key[i % 2]);
}

static EVP_PKEY *make_key(enum truth_zone zone, uint8_t salt)
{
    uint8_t seed[VERIFY_DIGEST_MAX];
    struct name name = truth_zone_name(zone);
    MUST(verify_digest(DIGEST, span_of(name.wire, name.len), span_of(&salt, 1), seed) == KEY_LEN);
    EVP_PKEY *key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, seed, KEY_LEN);
    MUST(key);
    return key;
}

static const struct zone_key *key_of(enum truth_zone zone)
{
    struct zone_key *out = &keys[zone];
    static const uint8_t head[4] = {1, 1, 3, ALGORITHM};
    size_t len = KEY_LEN;
    uint32_t sum = 0;
    if (out->key[0])
        return out;
    if (!keys[ZONE_ROOT].key[0] && zone == ZONE_ROOT)
        atexit(free_keys);
    out->key[0] = make_key(zone, 0);
    out->key[1] = make_key(zone, 1);
    memcpy(out->rdata, head, sizeof(head));
    MUST(EVP_PKEY_get_raw_public_key(out->key[0], out->rdata + 4, &len) && len == KEY_LEN);
    for (size_t i = 0; i < KEY_RDATA; i++)
        sum += i & 1 ? out->rdata[i] : (uint32_t)out->rdata[i] << 8;
    out->tag = (uint16_t)(sum + (sum >> 16));
    return out;
}

static size_t ds_rdata(enum truth_zone zone, uint8_t out[4 + VERIFY_DIGEST_MAX])
{
    const struct zone_key *key = key_of(zone);
    struct name name = truth_zone_name(zone);
    put_u16(out, key->tag);
    out[2] = ALGORITHM;
    out[3] = DIGEST;
    return 4 + verify_digest(DIGEST, span_of(name.wire, name.len), span_of(key->rdata, KEY_RDATA),
                             out + 4);
}

const char *signing_anchor(enum truth_zone zone)
{
    static char text[160 + NAME_TEXT_MAX];
    uint8_t rdata[4 + VERIFY_DIGEST_MAX];
    char name[NAME_TEXT_MAX];
    size_t len = ds_rdata(zone, rdata);
    int at = snprintf(text, sizeof(text), "%s DS %u %u %u ",
                      name_format(truth_zone_name(zone), name), get_u16(rdata), rdata[2], rdata[3]);
    for (size_t i = 4; i < len; i++)
        at += snprintf(text + at, sizeof(text) - (size_t)at, "%02X", rdata[i]);
    return text;
}

/* ---- one RRset ---- */

/* An RRset of the answer that is about to be sealed. All names in its RDATA are uncompressed and in
 * lower case. */
struct set {
    enum section section;
    struct name owner; /* in lower case */
    struct name about; /* the name that decides about the signature; of an NSEC3 record, its name */
    uint16_t type;
    uint32_t ttl;
    unsigned count;
    struct span rdata[SET_MAX];
    uint8_t wire[NAME_WIRE_MAX];
};

struct sealing {
    struct writer *out;
    int64_t wall_s;
    enum signing_manner manner;
};

static int compare_rdata(const void *a, const void *b)
{
    const struct span *left = a, *right = b;
    int order = memcmp(left->data, right->data, MIN(left->len, right->len));
    return order ? order : (left->len > right->len) - (left->len < right->len);
}

/* Writes the signed bytes that follow the head of the RDATA (RFC 4034 section 3.1.8.1). */
static size_t put_signed(const struct set *set, uint8_t *out)
{
    struct span sorted[SET_MAX];
    size_t len = 0;
    memcpy(sorted, set->rdata, set->count * sizeof(sorted[0]));
    qsort(sorted, set->count, sizeof(sorted[0]), compare_rdata);
    for (unsigned i = 0; i < set->count; i++) {
        if (i && !compare_rdata(&sorted[i - 1], &sorted[i]))
            continue;
        memcpy(out + len, set->owner.wire, set->owner.len);
        len += set->owner.len;
        put_u16(out + len, set->type);
        put_u16(out + len + 2, RRCLASS_IN);
        put_u32(out + len + 4, set->ttl);
        put_u16(out + len + 8, (uint16_t)sorted[i].len);
        memcpy(out + len + 10, sorted[i].data, sorted[i].len);
        len += 10 + sorted[i].len;
    }
    return len;
}

static void put_sig(const struct sealing *sealing, const struct set *set, enum truth_zone signer)
{
    static uint8_t bytes[SEALED_MAX];
    uint8_t rdata[SIG_HEAD + NAME_WIRE_MAX + SIG_LEN];
    const struct zone_key *key = key_of(signer);
    struct name zone = truth_zone_name(signer);
    size_t head = SIG_HEAD + zone.len, sig_len = SIG_LEN;
    bool is_old = sealing->manner == SIGNING_EXPIRED;
    int64_t end_s =
        is_old ? sealing->wall_s - 9 * 86400 : sealing->wall_s + signing_life_s(set->about);
    put_u16(rdata, set->type);
    rdata[2] = ALGORITHM;
    rdata[3] = (uint8_t)name_label_count(set->owner);
    put_u32(rdata + 4, set->ttl);
    put_u32(rdata + 8, (uint32_t)end_s);
    put_u32(rdata + 12, (uint32_t)(sealing->wall_s - (is_old ? 19 * 86400 : 86400)));
    put_u16(rdata + 16, key->tag);
    memcpy(rdata + SIG_HEAD, zone.wire, zone.len);
    memcpy(bytes, rdata, head);
    size_t len = head + put_signed(set, bytes + head);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    MUST(context &&
         EVP_DigestSignInit(context, NULL, NULL, NULL,
                            key->key[sealing->manner == SIGNING_FOREIGN]) == 1 &&
         EVP_DigestSign(context, rdata + head, &sig_len, bytes, len) == 1);
    EVP_MD_CTX_free(context);
    bool is_wrong =
        sealing->manner == SIGNING_WRONG || signing_state_of(set->about) == SIGNING_BOGUS;
    if (is_wrong)
        rdata[head + 5] ^= 4;
    writer_record(sealing->out, set->section, set->owner, RRTYPE_RRSIG, set->ttl,
                  span_of(rdata, head + SIG_LEN));
}

/* Writes the RRset, and its signature if the zone signs. */
static void put_set(const struct sealing *sealing, const struct set *set, enum truth_zone zone)
{
    for (unsigned i = 0; i < set->count; i++)
        writer_record(sealing->out, set->section, set->owner, set->type, set->ttl, set->rdata[i]);
    if (zone_signs(zone) && sealing->manner != SIGNING_STRIPS)
        put_sig(sealing, set, zone);
}

static void set_one(struct set *set, enum section section, struct name owner, uint16_t type,
                    uint32_t ttl, struct span rdata)
{
    set->section = section;
    set->owner = set->about = name_fold(owner, set->wire);
    set->type = type;
    set->ttl = ttl;
    set->count = 1;
    set->rdata[0] = rdata;
}

/* ---- proofs ---- */

static void add_type(uint8_t bitmap[32], unsigned type)
{
    bitmap[type / 8] |= (uint8_t)(0x80 >> type % 8);
}

/* Marks the types of the name in this zone. The zone above has only the cut. */
static void add_types(uint8_t bitmap[32], struct name name, enum truth_zone zone)
{
    static const uint16_t types[] = {RRTYPE_A, RRTYPE_AAAA, RRTYPE_TXT};
    struct truth truth = truth_of(name);
    uint8_t wire[NAME_WIRE_MAX];
    struct name target;
    if (truth.kind == TRUTH_APEX)
        add_type(bitmap, RRTYPE_NS);
    if (truth.kind == TRUTH_APEX && truth.zone != zone && zone_has_ds(truth.zone))
        add_type(bitmap, RRTYPE_DS);
    if (truth.kind == TRUTH_APEX && truth.zone == zone) {
        add_type(bitmap, RRTYPE_SOA);
        add_type(bitmap, RRTYPE_DNSKEY);
    }
    if (truth.kind == TRUTH_LEAF && truth_alias(name, wire, &target)) {
        add_type(bitmap, RRTYPE_CNAME);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (truth.kind == TRUTH_LEAF && truth_has(name, types[i]))
            add_type(bitmap, types[i]);
}

/* Writes the bitmap, which ends with its last type. Returns its length. */
static size_t put_types(uint8_t *out, const uint8_t bitmap[32])
{
    uint8_t len = 32;
    while (len && !bitmap[len - 1])
        len--;
    out[0] = 0;
    out[1] = len;
    memcpy(out + 2, bitmap, len);
    return len ? 2u + len : 0;
}

/* A compact denial. */
static void put_nsec(const struct sealing *sealing, struct name name, enum truth_zone zone)
{
    uint8_t rdata[NAME_WIRE_MAX + 2 + 2 + 32] = {1, 0}, bitmap[32] = {0};
    struct set set;
    if (name.len + 2 > NAME_WIRE_MAX)
        return;
    name_fold(name, rdata + 2);
    add_type(bitmap, RRTYPE_RRSIG);
    add_type(bitmap, RRTYPE_NSEC);
    if (truth_of(name).kind == TRUTH_NOWHERE)
        add_type(bitmap, RRTYPE_NXNAME);
    add_types(bitmap, name, zone);
    size_t len = 2 + (size_t)name.len + put_types(rdata + 2 + name.len, bitmap);
    set_one(&set, SECTION_AUTHORITY, name, RRTYPE_NSEC, 30, span_of(rdata, len));
    put_set(sealing, &set, zone);
}

/* ---- proofs by hashes ---- */

enum { HASH_TEXT = 32 /* digits of base32hex */ };

static void hash_step(uint8_t hash[VERIFY_NSEC3_HASH], int step)
{
    for (unsigned i = VERIFY_NSEC3_HASH; i--;) {
        hash[i] = (uint8_t)(hash[i] + step);
        if (hash[i] != (step > 0 ? 0 : 0xff))
            return;
    }
}

static struct name hash_owner(const uint8_t hash[VERIFY_NSEC3_HASH], enum truth_zone zone,
                              uint8_t wire[NAME_WIRE_MAX])
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuv";
    struct name apex = truth_zone_name(zone);
    wire[0] = HASH_TEXT;
    for (unsigned i = 0; i < HASH_TEXT; i++) {
        unsigned at = 5 * i, two = (unsigned)hash[at / 8] << 8;
        if (at / 8 + 1 < VERIFY_NSEC3_HASH)
            two |= hash[at / 8 + 1];
        wire[1 + i] = (uint8_t)digits[two >> (11 - at % 8) & 31];
    }
    memcpy(wire + 1 + HASH_TEXT, apex.wire, apex.len);
    return (struct name){wire, (uint8_t)(1 + HASH_TEXT + apex.len)};
}

/* Writes the record of the name, or one whose span contains its hash and no other. about: the
 * denied name. */
static void put_nsec3(const struct sealing *sealing, struct name name, bool is_there,
                      struct name about, enum truth_zone zone)
{
    uint8_t rdata[6 + VERIFY_NSEC3_HASH + 2 + 32] = {1, 0, 0, 0, 0, VERIFY_NSEC3_HASH};
    uint8_t first[VERIFY_NSEC3_HASH], *next = rdata + 6, bitmap[32] = {0}, wire[NAME_WIRE_MAX];
    struct set set;
    MUST(verify_nsec3_hash(first, span_of(name.wire, name.len), span_of(NULL, 0), 0));
    memcpy(next, first, sizeof(first));
    hash_step(next, 1);
    if (!is_there)
        hash_step(first, -1);
    else if (truth_of(name).kind != TRUTH_EMPTY)
        add_type(bitmap, RRTYPE_RRSIG);
    if (is_there)
        add_types(bitmap, name, zone);
    size_t len = 6 + VERIFY_NSEC3_HASH + put_types(next + VERIFY_NSEC3_HASH, bitmap);
    set_one(&set, SECTION_AUTHORITY, hash_owner(first, zone, wire), RRTYPE_NSEC3, 30,
            span_of(rdata, len));
    set.about = about;
    put_set(sealing, &set, zone);
}

/* The name, or its closest encloser, the next closer name and the wildcard (RFC 5155 section 7.2).
 */
static void put_hashed(const struct sealing *sealing, struct name name, enum truth_zone zone)
{
    uint8_t wire[NAME_WIRE_MAX] = {1, '*'}, folded[NAME_WIRE_MAX];
    name = name_fold(name, folded);
    struct name closer = name, encloser = name;
    if (truth_of(name).kind != TRUTH_NOWHERE) {
        put_nsec3(sealing, name, true, name, zone);
        return;
    }
    while (truth_of(encloser).kind == TRUTH_NOWHERE) {
        closer = encloser;
        encloser = name_parent(encloser);
    }
    put_nsec3(sealing, encloser, true, name, zone);
    put_nsec3(sealing, closer, false, name, zone);
    memcpy(wire + 2, encloser.wire, encloser.len);
    put_nsec3(sealing, (struct name){wire, (uint8_t)(encloser.len + 2)}, false, name, zone);
}

static void put_proof(const struct sealing *sealing, struct name name, enum truth_zone zone)
{
    if (!zone_signs(zone) || sealing->manner == SIGNING_STRIPS)
        return;
    if (zone_hashes(zone))
        put_hashed(sealing, name, zone);
    else
        put_nsec(sealing, name, zone);
}

/* ---- records of an attacker ---- */

void signing_put_false(struct writer *out, enum section section, enum truth_zone zone,
                       uint16_t type, int64_t wall_s)
{
    struct sealing sealing = {.out = out, .wall_s = wall_s, .manner = SIGNING_WRONG};
    uint8_t rdata[4 + VERIFY_DIGEST_MAX];
    struct span bytes = span_of(key_of(zone)->rdata, KEY_RDATA);
    struct set set;
    if (type == RRTYPE_DS)
        bytes = span_of(rdata, ds_rdata(zone, rdata));
    set_one(&set, section, truth_zone_name(zone), type, TRUTH_TTL, bytes);
    writer_record(out, section, set.owner, type, set.ttl, bytes);
    put_sig(&sealing, &set, type == RRTYPE_DS ? truth_parent(zone) : zone);
}

void signing_put_genuine(struct writer *out, struct name name, enum truth_zone zone, int64_t wall_s)
{
    struct sealing sealing = {.out = out, .wall_s = wall_s};
    put_proof(&sealing, name, zone);
}

/* ---- the answer ---- */

/* Returns the zone with this apex, or ZONE_COUNT. */
static enum truth_zone zone_named(struct name name)
{
    struct truth truth = truth_of(name);
    return truth.kind == TRUTH_APEX ? truth.zone : ZONE_COUNT;
}

/* Answers a question for keys. Returns false if this server has none. */
static bool put_keys(const struct sealing *sealing, const struct message *query, uint16_t mask)
{
    enum truth_zone zone = zone_named(query->question.name);
    struct set set;
    if (query->question.type != RRTYPE_DNSKEY || zone == ZONE_COUNT || !zone_signs(zone) ||
        (mask && !(mask & 1u << zone)))
        return false;
    set_one(&set, SECTION_ANSWER, query->question.name, RRTYPE_DNSKEY, TRUTH_TTL,
            span_of(key_of(zone)->rdata, KEY_RDATA));
    put_set(sealing, &set, zone);
    return true;
}

/* Answers a question for the DS record of a zone, from the zone above. Returns false for other
 * questions. */
static bool put_ds(const struct sealing *sealing, const struct message *query, uint16_t mask)
{
    enum truth_zone zone = zone_named(query->question.name), above;
    uint8_t rdata[4 + VERIFY_DIGEST_MAX];
    struct set set;
    if (query->question.type != RRTYPE_DS || zone == ZONE_COUNT || zone == ZONE_ROOT)
        return false;
    above = truth_parent(zone);
    if (mask && !(mask & 1u << above))
        return false;
    if (zone_has_ds(zone)) {
        size_t len = ds_rdata(zone, rdata);
        set_one(&set, SECTION_ANSWER, query->question.name, RRTYPE_DS, TRUTH_TTL,
                span_of(rdata, len));
        put_set(sealing, &set, above);
        return true;
    }
    uint8_t bytes[512];
    struct writer soa = {.data = bytes, .max = sizeof(bytes)};
    struct message message;
    writer_begin(&soa, bytes, sizeof(bytes), query, 0);
    truth_deny(&soa, above);
    MUST(message_parse(&message, span_of(soa.data, soa.len)) == MESSAGE_OK);
    struct rr_iter iter = message_rrs(&message, SECTION_AUTHORITY);
    struct rr rr;
    MUST(message_rr_next(&iter, &rr));
    set_one(&set, SECTION_AUTHORITY, truth_zone_name(above), RRTYPE_SOA, rr.ttl,
            message_rdata(&message, &rr));
    put_set(sealing, &set, above);
    put_proof(sealing, query->question.name, above);
    return true;
}

/* Writes the RRsets of a section. The records of an RRset are neighbours. */
static void put_section(const struct sealing *sealing, const struct message *plain,
                        enum section section, struct name end)
{
    struct set set = {.count = 0};
    struct rr_iter iter = message_rrs(plain, section);
    for (struct rr rr; message_rr_next(&iter, &rr);) {
        uint8_t wire[NAME_WIRE_MAX];
        struct name owner = message_owner(plain, &rr, wire);
        enum truth_zone zone = truth_of(owner).zone;
        struct span rdata = message_rdata(plain, &rr);
        if (section != SECTION_ANSWER && rr.type != RRTYPE_SOA) {
            writer_record(sealing->out, section, owner, rr.type, rr.ttl, rdata);
            continue;
        }
        if (set.count && rr.type == set.type && name_equal(owner, set.owner) &&
            set.count < SET_MAX) {
            set.rdata[set.count++] = rdata;
            continue;
        }
        if (set.count)
            put_set(sealing, &set, truth_of(set.owner).zone);
        set_one(&set, section, owner, rr.type, rr.ttl, rdata);
        if (rr.type == RRTYPE_SOA && section == SECTION_AUTHORITY) {
            put_set(sealing, &set, zone);
            put_proof(sealing, end, zone);
            set.count = 0;
        }
    }
    if (set.count)
        put_set(sealing, &set, truth_of(set.owner).zone);
}

/* Writes the DS records of a referral, or the proof that there are none. */
static void put_cut(const struct sealing *sealing, const struct message *plain)
{
    struct rr_iter iter = message_rrs(plain, SECTION_AUTHORITY);
    uint8_t wire[NAME_WIRE_MAX], rdata[4 + VERIFY_DIGEST_MAX];
    struct rr rr;
    struct set set;
    if (plain->counts[SECTION_ANSWER] || !message_rr_next(&iter, &rr) || rr.type != RRTYPE_NS)
        return;
    enum truth_zone zone = zone_named(message_owner(plain, &rr, wire));
    if (zone == ZONE_COUNT || zone == ZONE_ROOT)
        return;
    if (!zone_has_ds(zone)) {
        put_proof(sealing, truth_zone_name(zone), truth_parent(zone));
        return;
    }
    set_one(&set, SECTION_AUTHORITY, truth_zone_name(zone), RRTYPE_DS, TRUTH_TTL,
            span_of(rdata, ds_rdata(zone, rdata)));
    put_set(sealing, &set, truth_parent(zone));
}

/* Returns the last target of the alias chain in the answer section. */
static struct name end_of(const struct message *plain, uint8_t wire[NAME_WIRE_MAX])
{
    struct name end = name_fold(plain->question.name, wire);
    struct rr_iter iter = message_rrs(plain, SECTION_ANSWER);
    for (struct rr rr; message_rr_next(&iter, &rr);) {
        uint8_t target_wire[NAME_WIRE_MAX];
        struct name target;
        if (rr.type == RRTYPE_CNAME && plain->question.type != RRTYPE_CNAME &&
            message_target(plain, &rr, target_wire, &target))
            end = name_copy(target, wire);
    }
    return end;
}

void signing_seal(struct writer *out, const struct message *query, uint16_t mask, int64_t wall_s,
                  enum signing_manner manner)
{
    static uint8_t bytes[SEALED_MAX];
    uint8_t wire[NAME_WIRE_MAX];
    struct message plain;
    struct sealing sealing = {.out = out, .wall_s = wall_s, .manner = manner};
    if (!query->edns.present || !query->edns.dnssec_ok || out->is_full || out->len > SEALED_MAX)
        return;
    memcpy(bytes, out->data, out->len);
    if (message_parse(&plain, span_of(bytes, out->len)) != MESSAGE_OK || !plain.has_question)
        return;
    uint16_t flags = plain.flags & (HEADER_AA | HEADER_RA | HEADER_RCODE_MASK);
    writer_begin(out, out->data, out->max, query, flags);
    if (manner != SIGNING_STRIPS &&
        (put_keys(&sealing, query, mask) || put_ds(&sealing, query, mask)))
        return;
    struct name end = end_of(&plain, wire);
    for (enum section section = SECTION_ANSWER; section < SECTION_COUNT; section++) {
        put_section(&sealing, &plain, section, end);
        if (section == SECTION_AUTHORITY && manner != SIGNING_STRIPS)
            put_cut(&sealing, &plain);
    }
}
