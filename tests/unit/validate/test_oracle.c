/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * ldns as the oracle: it signs random RRsets with every algorithm. The message that carries them
 * has other case, another order, duplicates, wildcard owners and compression. Our signed bytes and
 * our verdicts must be those of ldns, on honest and on changed RRsets.
 */
#include "unit/dns/sample.h"

#include <ldns/ldns.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "dns/rrtype.h"
#include "validate/canonical.h"
#include "validate/dnskey.h"
#include "validate/rrsets.h"
#include "validate/verify.h"

enum { ROUNDS = 1500, RECORDS_MAX = 40, LINE_MAX_BYTES = 4096, NOW = 1790000000 };

static const ldns_signing_algorithm algorithms[] = {
    LDNS_SIGN_RSASHA1,         LDNS_SIGN_RSASHA1_NSEC3,   LDNS_SIGN_RSASHA256, LDNS_SIGN_RSASHA512,
    LDNS_SIGN_ECDSAP256SHA256, LDNS_SIGN_ECDSAP384SHA384, LDNS_SIGN_ED25519,   LDNS_SIGN_ED448,
};

/* A key of the zone "Zone.Test.", and its DNSKEY record. */
struct oracle_key {
    ldns_key_list *list;
    ldns_rr *rr;
    struct dnskey key;
    uint8_t wire[2048];
};

static struct oracle_key keys[ARRAY_LEN(algorithms)];
static struct verifier *verifier;
static struct rrsets sets;
static uint8_t ours[CANONICAL_MAX];
static uint64_t random_state = 20261123;

/* Returns the next number of a fixed sequence, so that a failure can be repeated. */
static unsigned draw(unsigned bound)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(random_state >> 33) % bound;
}

/* ---- keys ---- */

static void make_key(struct oracle_key *out, ldns_signing_algorithm algorithm)
{
    static const uint16_t rsa_bits = 1024;
    ldns_key *key = ldns_key_new_frm_algorithm(algorithm, rsa_bits);
    assert_non_null(key);
    ldns_key_set_pubkey_owner(key, ldns_dname_new_frm_str("Zone.Test."));
    ldns_key_set_origttl(key, 3600);
    ldns_key_set_inception(key, NOW - 1000);
    ldns_key_set_expiration(key, NOW + 1000);
    out->rr = ldns_key2rr(key);
    ldns_key_set_keytag(key, ldns_calc_keytag(out->rr));
    out->list = ldns_key_list_new();
    ldns_key_list_push_key(out->list, key);

    uint8_t *wire;
    size_t len;
    struct name owner;
    assert_int_equal(ldns_rr2wire(&wire, out->rr, LDNS_SECTION_ANSWER, &len), LDNS_STATUS_OK);
    assert_true(len < sizeof(out->wire));
    memcpy(out->wire, wire, len);
    LDNS_FREE(wire);
    size_t at = name_view(span_of(out->wire, len), 0, &owner) + 10;
    assert_true(dnskey_read(&out->key, span_of(out->wire + at, len - at)));
    assert_int_equal(out->key.tag, ldns_calc_keytag(out->rr));
}

static int setup(void **state)
{
    (void)state;
    verifier = verifier_new();
    for (size_t i = 0; i < ARRAY_LEN(algorithms); i++)
        make_key(&keys[i], algorithms[i]);
    return verifier ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    verifier_free(verifier);
    for (size_t i = 0; i < ARRAY_LEN(algorithms); i++) {
        ldns_key_list_free(keys[i].list);
        ldns_rr_free(keys[i].rr);
    }
    return 0;
}

/* ---- random RRsets ---- */

static void draw_name(char out[NAME_TEXT_MAX])
{
    static const char *const labels[] = {"a",     "WWW",  "Example", "mail-1",
                                         "x\\.Y", "_tcp", "\\007z",  "longer-Label-here"};
    size_t len = 0;
    for (unsigned count = draw(4); count > 0; count--)
        len += (size_t)snprintf(out + len, NAME_TEXT_MAX - len, "%s.", labels[draw(8)]);
    snprintf(out + len, NAME_TEXT_MAX - len, draw(2) ? "Zone.Test." : "other.org.");
}

enum kind {
    A,
    AAAA,
    NS,
    CNAME,
    SOA,
    MX,
    TXT,
    SRV,
    NAPTR,
    DNAME,
    RP,
    AFSDB,
    DS,
    NSEC,
    HINFO,
    PTR,
    KX,
    RT,
    MINFO,
    OPAQUE,
    KINDS
};

static const char *type_of(enum kind kind)
{
    static const char *const types[KINDS] = {
        "A",  "AAAA",  "NS", "CNAME", "SOA",   "MX",  "TXT", "SRV", "NAPTR", "DNAME",
        "RP", "AFSDB", "DS", "NSEC",  "HINFO", "PTR", "KX",  "RT",  "MINFO", "TYPE60001"};
    return types[kind];
}

static void draw_rdata(char out[LINE_MAX_BYTES], enum kind kind)
{
    char a[NAME_TEXT_MAX], b[NAME_TEXT_MAX];
    draw_name(a);
    draw_name(b);
    switch (kind) {
    case A:
        snprintf(out, LINE_MAX_BYTES, "%u.0.2.%u", draw(256), draw(256));
        break;
    case AAAA:
        snprintf(out, LINE_MAX_BYTES, "2001:db8::%x", draw(65536));
        break;
    case NS:
    case CNAME:
    case DNAME:
    case PTR:
        snprintf(out, LINE_MAX_BYTES, "%s", a);
        break;
    case SOA:
        snprintf(out, LINE_MAX_BYTES, "%s %s %u 2 3 4 5", a, b, draw(1000));
        break;
    case MX:
    case AFSDB:
    case KX:
    case RT:
        snprintf(out, LINE_MAX_BYTES, "%u %s", draw(3), a);
        break;
    case TXT:
        snprintf(out, LINE_MAX_BYTES, "\"Some %u\" \"%.*s\"", draw(3), (int)draw(20),
                 "xxxxxxxxxxxxxxxxxxxx");
        break;
    case SRV:
        snprintf(out, LINE_MAX_BYTES, "1 2 %u %s", draw(65536), a);
        break;
    case NAPTR:
        snprintf(out, LINE_MAX_BYTES, "1 2 \"U\" \"E2U\" \"!a!%u!\" %s", draw(9), a);
        break;
    case RP:
    case MINFO:
        snprintf(out, LINE_MAX_BYTES, "%s %s", a, b);
        break;
    case DS:
        snprintf(out, LINE_MAX_BYTES, "%u 8 2 00112233445566778899aabbccddeeff", draw(65536));
        break;
    case NSEC:
        snprintf(out, LINE_MAX_BYTES, "%s A NS RRSIG NSEC", a);
        break;
    case HINFO:
        snprintf(out, LINE_MAX_BYTES, "\"Cpu\" \"Os%u\"", draw(9));
        break;
    default: {
        unsigned len = draw(7);
        int at = snprintf(out, LINE_MAX_BYTES, "\\# %u ", len);
        for (unsigned i = 0; i < len; i++)
            at += snprintf(out + at, LINE_MAX_BYTES - (size_t)at, "%02x", draw(3));
        break;
    }
    }
}

static ldns_rr *draw_rr(const char *owner, enum kind kind)
{
    char rdata[LINE_MAX_BYTES], line[2 * LINE_MAX_BYTES];
    draw_rdata(rdata, kind);
    ldns_rr *rr = NULL;
    snprintf(line, sizeof(line), "%s 3600 IN %s %s", owner, type_of(kind), rdata);
    if (ldns_rr_new_frm_str(&rr, line, 3600, NULL, NULL) != LDNS_STATUS_OK)
        fail_msg("ldns refuses %s", line);
    return rr;
}

static bool list_has(const ldns_rr_list *list, const ldns_rr *rr)
{
    ldns_rr *wanted = ldns_rr_clone(rr);
    ldns_rr2canonical(wanted);
    bool has = false;
    for (size_t i = 0; i < ldns_rr_list_rr_count(list) && !has; i++) {
        ldns_rr *other = ldns_rr_clone(ldns_rr_list_rr(list, i));
        ldns_rr2canonical(other);
        has = ldns_rr_compare(wanted, other) == 0;
        ldns_rr_free(other);
    }
    ldns_rr_free(wanted);
    return has;
}

static ldns_rr_list *draw_rrset(const char *owner, enum kind kind)
{
    bool is_single = kind == CNAME || kind == SOA || kind == DNAME || kind == NSEC;
    unsigned count = is_single ? 1 : draw(4) ? 1 + draw(5) : 1 + draw(RECORDS_MAX);
    ldns_rr_list *list = ldns_rr_list_new();
    for (unsigned i = 0; i < count; i++) {
        ldns_rr *rr = draw_rr(owner, kind);
        if (list_has(list, rr))
            ldns_rr_free(rr);
        else
            ldns_rr_list_push_rr(list, rr);
    }
    return list;
}

/* ---- the message ---- */

static void change_case(ldns_rdf *name)
{
    uint8_t *wire = ldns_rdf_data(name);
    for (size_t at = 0; wire[at]; at += (size_t)wire[at] + 1)
        for (size_t i = at + 1; i <= at + wire[at]; i++)
            if (((wire[i] | 0x20) >= 'a' && (wire[i] | 0x20) <= 'z') && draw(2))
                wire[i] ^= 0x20;
}

/* Changes the case of the owner. Also changes that of names in RDATA, unless the type preserves it.
 */
static void change_cases(ldns_rr *rr)
{
    ldns_rr_type type = ldns_rr_get_type(rr);
    change_case(ldns_rr_owner(rr));
    if (type == LDNS_RR_TYPE_NSEC)
        return;
    for (size_t i = 0; i < ldns_rr_rd_count(rr); i++)
        if (ldns_rdf_get_type(ldns_rr_rdf(rr, i)) == LDNS_RDF_TYPE_DNAME)
            change_case(ldns_rr_rdf(rr, i));
}

static void set_owner(ldns_rr *rr, const char *owner)
{
    ldns_rdf_deep_free(ldns_rr_owner(rr));
    ldns_rr_set_owner(rr, ldns_dname_new_frm_str(owner));
}

static void shuffle(ldns_rr_list *list)
{
    for (size_t i = ldns_rr_list_rr_count(list); i > 1; i--) {
        size_t other = draw((unsigned)i);
        ldns_rr *rr = ldns_rr_list_set_rr(list, ldns_rr_list_rr(list, other), i - 1);
        ldns_rr_list_set_rr(list, rr, other);
    }
}

/* Makes the wire form of an answer with these records. Takes the list. */
static struct span make_message(ldns_rr_list *list, uint8_t **wire)
{
    ldns_rdf *name = ldns_dname_new_frm_str("www.Zone.Test.");
    ldns_pkt *packet = ldns_pkt_query_new(name, LDNS_RR_TYPE_A, LDNS_RR_CLASS_IN, 0);
    ldns_pkt_set_qr(packet, true);
    shuffle(list);
    ldns_pkt_push_rr_list(packet, LDNS_SECTION_ANSWER, list);
    size_t len;
    assert_int_equal(ldns_pkt2wire(wire, packet, &len), LDNS_STATUS_OK);
    ldns_pkt_free(packet);
    ldns_rr_list_free(list);
    return span_of(*wire, len);
}

/* ---- ours ---- */

struct reading {
    struct message message;
    const struct rrset *set;
    struct rrsig sig;
    size_t len; /* the length of our bytes */
    enum rrsig_fault fault;
};

static void read_ours(struct reading *reading, struct span wire)
{
    struct name owner;
    reading->message = sample_parse(wire);
    assert_true(rrsets_read(&sets, &reading->message, 1));
    assert_int_equal(sets.count, 1);
    reading->set = &sets.set[0];
    assert_int_equal(reading->set->sig_count, 1);
    assert_true(rrsig_read(&reading->sig, rrsets_rdata(&sets, reading->set->first_sig)));
    owner = rrsets_owner(&sets, reading->set);
    struct rrsig_clock clock = {.now_s = NOW};
    reading->fault = rrsig_check(&reading->sig, owner, reading->set->type, &clock);
    reading->len = canonical_write(ours, sizeof(ours), &sets, reading->set, &reading->sig);
}

static bool is_right(const struct reading *reading, const struct oracle_key *key)
{
    struct verify_job job = {.algorithm = reading->sig.algorithm,
                             .key = key->key.key,
                             .data = span_of(ours, reading->len),
                             .signature = reading->sig.signature};
    return reading->fault == RRSIG_USABLE && reading->sig.algorithm == key->key.algorithm &&
           reading->sig.tag == key->key.tag && verify_run(verifier, &job);
}

/* ---- theirs ---- */

/* Returns the bytes that ldns has signed: the RDATA of the signature without the signature, and the
 * RRset in canonical form. */
static ldns_buffer *signed_by_ldns(const ldns_rr_list *rrset, const ldns_rr *sig)
{
    ldns_buffer *buffer = ldns_buffer_new(65536);
    ldns_rr_list *list = ldns_rr_list_clone(rrset);
    ldns_rr *canonical_sig = ldns_rr_clone(sig);
    ldns_rr2canonical(canonical_sig);
    assert_int_equal(ldns_rrsig2buffer_wire(buffer, canonical_sig), LDNS_STATUS_OK);
    for (size_t i = 0; i < ldns_rr_list_rr_count(list); i++)
        ldns_rr2canonical(ldns_rr_list_rr(list, i));
    ldns_rr_list_sort(list);
    assert_int_equal(ldns_rr_list2buffer_wire(buffer, list), LDNS_STATUS_OK);
    ldns_rr_list_deep_free(list);
    ldns_rr_free(canonical_sig);
    return buffer;
}

/* Returns the verdict of ldns about a message. Its answer section has the RRset and the signature.
 */
static bool is_right_by_ldns(struct span wire, const struct oracle_key *key)
{
    ldns_pkt *packet;
    assert_int_equal(ldns_wire2pkt(&packet, wire.data, wire.len), LDNS_STATUS_OK);
    ldns_rr_list *rrset = ldns_rr_list_new();
    ldns_rr *sig = NULL;
    for (size_t i = 0; i < ldns_rr_list_rr_count(ldns_pkt_answer(packet)); i++) {
        ldns_rr *rr = ldns_rr_list_rr(ldns_pkt_answer(packet), i);
        if (ldns_rr_get_type(rr) == LDNS_RR_TYPE_RRSIG)
            sig = rr;
        else
            ldns_rr_list_push_rr(rrset, rr);
    }
    bool verdict = ldns_verify_rrsig_time(rrset, sig, key->rr, NOW) == LDNS_STATUS_OK;
    ldns_rr_list_free(rrset);
    ldns_pkt_free(packet);
    return verdict;
}

/* ---- the comparison ---- */

/* An RRset and its signature. */
struct signed_set {
    const struct oracle_key *key;
    ldns_rr_list *rrset;
    ldns_rr_list *sigs;
    char owner[NAME_TEXT_MAX]; /* the owner in the message */
    enum kind kind;
};

static void draw_signed(struct signed_set *out)
{
    char owner[NAME_TEXT_MAX];
    bool is_wildcard = draw(3) == 0;
    static const char *const owners[] = {"Zone.Test.", "www.Zone.Test.", "a.b.C.zone.test.",
                                         "x\\.y.zone.test."};
    snprintf(owner, sizeof(owner), "%s", is_wildcard ? "*.Wild.zone.test." : owners[draw(4)]);
    static const char *const expanded[] = {"*.Wild.zone.test.", "a.wild.zone.test.",
                                           "a.b.c.WILD.zone.test.", "*.x.wild.zone.test."};
    snprintf(out->owner, sizeof(out->owner), "%s", is_wildcard ? expanded[draw(4)] : owner);
    out->kind = (enum kind)draw(KINDS);
    if (out->kind == DS && !is_wildcard && strcmp(owner, "Zone.Test.") == 0)
        out->kind = A;
    out->key = &keys[draw(ARRAY_LEN(keys))];
    out->rrset = draw_rrset(owner, out->kind);
    out->sigs = ldns_sign_public(out->rrset, out->key->list);
    assert_non_null(out->sigs);
}

static void signed_free(struct signed_set *set)
{
    ldns_rr_list_deep_free(set->rrset);
    ldns_rr_list_deep_free(set->sigs);
}

/* Copies the records and the signature for a message, with other case and TTLs, and with the
 * expanded owner. */
static ldns_rr_list *disguise(const struct signed_set *set, bool with_duplicates)
{
    ldns_rr_list *list = ldns_rr_list_new();
    for (size_t i = 0; i < ldns_rr_list_rr_count(set->rrset); i++)
        for (unsigned copies = with_duplicates && draw(4) == 0 ? 2 : 1; copies > 0; copies--) {
            ldns_rr *rr = ldns_rr_clone(ldns_rr_list_rr(set->rrset, i));
            set_owner(rr, set->owner);
            change_cases(rr);
            ldns_rr_set_ttl(rr, draw(3600));
            ldns_rr_list_push_rr(list, rr);
        }
    ldns_rr *sig = ldns_rr_clone(ldns_rr_list_rr(set->sigs, 0));
    set_owner(sig, set->owner);
    change_cases(sig);
    ldns_rr_list_push_rr(list, sig);
    return list;
}

static void test_signed_bytes_are_those_of_ldns(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct signed_set set;
        struct reading reading;
        uint8_t *wire;
        draw_signed(&set);
        read_ours(&reading, make_message(disguise(&set, true), &wire));
        ldns_buffer *theirs = signed_by_ldns(set.rrset, ldns_rr_list_rr(set.sigs, 0));
        assert_int_equal(reading.fault, RRSIG_USABLE);
        assert_int_equal(reading.len, ldns_buffer_position(theirs));
        assert_memory_equal(ours, ldns_buffer_begin(theirs), reading.len);
        assert_true(is_right(&reading, set.key));
        ldns_buffer_free(theirs);
        LDNS_FREE(wire);
        signed_free(&set);
    }
}

/* Changes the list so that a signature must notice it, or leaves it unchanged. */
static void tamper(ldns_rr_list *list, const struct signed_set *set, const struct oracle_key **key)
{
    size_t count = ldns_rr_list_rr_count(list);
    ldns_rr *sig = ldns_rr_list_rr(list, count - 1);
    ldns_rdf *signature = ldns_rr_rdf(sig, 8);
    switch (draw(6)) {
    case 0:
        ldns_rdf_data(signature)[draw((unsigned)ldns_rdf_size(signature))] ^=
            (uint8_t)(1 << draw(8));
        break;
    case 1: { /* removes a record */
        if (count < 3)
            break;
        ldns_rr_free(ldns_rr_list_rr(list, 0));
        ldns_rr_list_set_rr(list, ldns_rr_list_rr(list, count - 2), 0);
        ldns_rr_list_set_rr(list, sig, count - 2);
        ldns_rr_list_set_rr_count(list, count - 1);
        break;
    }
    case 2: { /* adds a record, possibly one that exists */
        ldns_rdf *signed_owner = ldns_rr_owner(ldns_rr_list_rr(set->rrset, 0));
        ldns_rr *rr = draw_rr(set->owner, set->kind), *before = ldns_rr_clone(rr);
        ldns_rdf_deep_free(ldns_rr_owner(before));
        ldns_rr_set_owner(before, ldns_rdf_clone(signed_owner));
        if (list_has(set->rrset, before))
            ldns_rr_free(rr);
        else
            ldns_rr_list_push_rr(list, rr);
        ldns_rr_free(before);
        break;
    }
    case 3: /* changes the original TTL */
        ldns_rdf_data(ldns_rr_rdf(sig, 3))[3] ^= (uint8_t)draw(2);
        break;
    case 4:
        *key = &keys[draw(ARRAY_LEN(keys))];
        break;
    default:
        break;
    }
}

static void test_verdicts_are_those_of_ldns(void **state)
{
    (void)state;
    unsigned right = 0;
    for (int round = 0; round < ROUNDS; round++) {
        struct signed_set set;
        struct reading reading;
        uint8_t *bytes;
        draw_signed(&set);
        const struct oracle_key *key = set.key;
        ldns_rr_list *list = disguise(&set, false);
        tamper(list, &set, &key);
        struct span wire = make_message(list, &bytes);
        read_ours(&reading, wire);
        bool verdict = is_right(&reading, key);
        if (verdict != is_right_by_ldns(wire, key))
            fail_msg("round %d: type %s, %s", round, type_of(set.kind),
                     verdict ? "we accept it" : "ldns accepts it");
        right += verdict;
        LDNS_FREE(bytes);
        signed_free(&set);
    }
    assert_in_range(right, ROUNDS / 10, ROUNDS - ROUNDS / 10); /* both verdicts occur often */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_signed_bytes_are_those_of_ldns),
        cmocka_unit_test(test_verdicts_are_those_of_ldns),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
