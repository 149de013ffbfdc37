/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_VALIDATE_ZONES_H
#define NAILUP_TESTS_VALIDATE_ZONES_H

/*
 * A small world of zones for the validation of one message, without cryptography: a signature is
 * right if its bytes say so and the key is that of its signer. Each zone has one key of 64 bytes,
 * made from its name. The steps of a validation are written down as words.
 */

#include "unit/recurse/sample.h"

#include "base/hash.h"
#include "dns/edns.h"
#include "validate/algorithm.h"
#include "validate/validation.h"

enum { ZONES_NOW_S = 1800000000 /* January 2027 */, ZONES_MAX = 24, ZONES_TEXTS = 64 };

/* The answer about the DNSKEY or DS records of a name. */
struct zone_answer {
    char zone[256];
    uint16_t type;
    bool is_cached; /* a step with only_known finds it, too */
    bool fails;
    uint16_t ede;
    enum answer_kind kind;
    enum security security;
    struct response_text text;
};

struct zones {
    struct anchors *anchors;
    struct zone_answer *known;
    size_t count;
    struct validation_space space;
    struct validation validation;
    struct verdict verdict;
    struct response_text sent;
    uint64_t serial;
    unsigned units, failures_left;
    unsigned verifications, right;
    unsigned puts_off;       /* how many times a VERIFY is postponed */
    unsigned puts_off_after; /* the verifications before that */
    struct validation_view view;
    char words[4096];
};

static struct zones zones;

/* ---- texts of records ---- */

static inline char *zones_text(void)
{
    static char texts[ZONES_TEXTS][1024];
    static unsigned next;
    return texts[next++ % ZONES_TEXTS];
}

__attribute__((format(printf, 1, 2))) static inline const char *zones_print(const char *format, ...)
{
    char *out = zones_text();
    va_list args;
    va_start(args, format);
    assert_true(vsnprintf(out, 1024, format, args) < 1024);
    va_end(args);
    return out;
}

/* Returns the public key of the zone in base64: 64 bytes that begin with the hash of its name. */
static inline const char *zones_key(const char *zone, unsigned flags)
{
    uint64_t seed = hash_bytes(zone, strlen(zone), flags);
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *out = zones_text();
    for (unsigned i = 0; i < 85; i++)
        out[i] = digits[(seed >> i % 58) & 63];
    memcpy(out + 85, "A==", 4); /* after 64 bytes the last group has two digits */
    return out;
}

static inline const char *zones_dnskey(const char *zone, unsigned flags, unsigned algorithm)
{
    return zones_print("%s 3600 IN DNSKEY %u 3 %u %s", zone, flags, algorithm,
                       zones_key(zone, flags));
}

/* Reads the RDATA of a record from text. */
static inline struct span zones_rdata(const char *text, uint8_t out[1024])
{
    size_t len;
    uint8_t wire[2048];
    struct span whole;
    assert_int_equal(present_rr_from_text(wire, sizeof(wire), &len, text, name_root(), 300),
                     ERR_OK);
    whole = span_of(wire, len);
    size_t at = name_skip(whole, 0) + 10;
    memcpy(out, wire + at, len - at);
    return span_of(out, len - at);
}

static inline struct dnskey zones_read_key(const char *zone, unsigned flags, unsigned algorithm,
                                           uint8_t bytes[1024])
{
    struct dnskey key;
    assert_true(dnskey_read(&key, zones_rdata(zones_dnskey(zone, flags, algorithm), bytes)));
    return key;
}

/* Returns a DS record at owner for the key of the zone. */
static inline const char *zones_ds_at(const char *owner_text, const char *zone, unsigned algorithm,
                                      unsigned digest_type)
{
    uint8_t bytes[1024], wire[NAME_WIRE_MAX], digest[VERIFY_DIGEST_MAX];
    struct dnskey key = zones_read_key(zone, 257, algorithm, bytes);
    struct name owner = sample_name(wire, owner_text);
    char hex[2 * VERIFY_DIGEST_MAX + 1] = "abababab";
    size_t digest_len =
        verify_digest((uint8_t)digest_type, span_of(owner.wire, owner.len), key.rdata, digest);
    for (size_t i = 0; i < digest_len; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    return zones_print("%s 3600 IN DS %u %u %u %s", owner_text, key.tag, algorithm, digest_type,
                       hex);
}

static inline const char *zones_ds(const char *zone, unsigned algorithm, unsigned digest_type)
{
    return zones_ds_at(zone, zone, algorithm, digest_type);
}

struct sig_text {
    const char *owner, *type, *signer;
    unsigned labels; /* 0: as many as the owner has */
    bool is_wrong;
    unsigned algorithm;       /* 0: 13 */
    const char *from, *until; /* the dates; NULL: valid for another year */
    unsigned original_ttl;    /* 0: 300 */
    unsigned tag;             /* 0: the tag of the signer's key */
};

/* Returns an RRSIG record. "R29vZA==" are the bytes "Good". */
static inline const char *zones_sig(const struct sig_text *sig)
{
    uint8_t bytes[1024], wire[NAME_WIRE_MAX];
    unsigned algorithm = sig->algorithm ? sig->algorithm : ALGORITHM_ECDSA_P256;
    struct dnskey key = zones_read_key(sig->signer, 257, algorithm, bytes);
    struct name owner = sample_name(wire, sig->owner);
    unsigned labels = name_label_count(owner) - (owner.len > 1 && owner.wire[1] == '*');
    return zones_print(
        "%s 300 IN RRSIG %s %u %u %u %s %s %u %s %s", sig->owner, sig->type, algorithm,
        sig->labels ? sig->labels : labels, sig->original_ttl ? sig->original_ttl : 300,
        sig->until ? sig->until : "20280101000000", sig->from ? sig->from : "20260101000000",
        sig->tag ? sig->tag : key.tag, sig->signer, sig->is_wrong ? "QmFk" : "R29vZA==");
}

#define SIG(name, rrtype, zone, ...)                                                               \
    zones_sig(&(struct sig_text){.owner = (name), .type = (rrtype), .signer = (zone), __VA_ARGS__})

/* ---- the state of zones ---- */

static inline struct zone_answer *zones_add(const char *zone, uint16_t type, enum security security,
                                            enum answer_kind kind, struct sections sections)
{
    uint8_t wire[NAME_WIRE_MAX];
    assert_true(zones.count < ZONES_MAX);
    struct zone_answer *known = &zones.known[zones.count++];
    memset(known, 0, sizeof(*known));
    assert_true(strlen(zone) < sizeof(known->zone));
    memcpy(known->zone, zone, strlen(zone));
    known->type = type;
    known->kind = kind;
    known->security = security;
    struct question question = {.name = sample_name(wire, zone), .type = type, .cls = RRCLASS_IN};
    response_make(&known->text, 0, &question, &sections);
    return known;
}

/* Makes a zone secure, and all zones above it up to the root. */
static inline void zones_secure(const char *zone)
{
    zones_add(zone, RRTYPE_DNSKEY, SECURITY_SECURE, ANSWER_POSITIVE,
              (struct sections){.answer = {zones_dnskey(zone, 257, ALGORITHM_ECDSA_P256)}});
    zones_add(zone, RRTYPE_DS, SECURITY_SECURE, ANSWER_POSITIVE,
              (struct sections){.answer = {zones_ds(zone, ALGORITHM_ECDSA_P256, DIGEST_SHA256)}});
}

/* Makes a zone insecure: its parent proves that it has no DS record. */
static inline void zones_insecure(const char *zone, const char *parent)
{
    const char *nsec = zones_print("%s 300 IN NSEC \\000.%s NS RRSIG NSEC", zone, zone);
    zones_add(zone, RRTYPE_DS, SECURITY_SECURE, ANSWER_NODATA,
              (struct sections){.authority = {nsec, SIG(zone, "NSEC", parent)}});
}

/* The same, but with the answer as it is stored after it has been judged. */
static inline struct zone_answer *zones_known_insecure(const char *zone)
{
    struct zone_answer *known =
        zones_add(zone, RRTYPE_DS, SECURITY_INSECURE, ANSWER_NODATA, (struct sections){0});
    known->is_cached = true;
    return known;
}

/* Declares that the name exists and is not a zone cut. */
static inline void zones_no_cut(const char *name, const char *zone)
{
    const char *nsec = zones_print("%s 300 IN NSEC \\000.%s A RRSIG NSEC", name, name);
    zones_add(name, RRTYPE_DS, SECURITY_SECURE, ANSWER_NODATA,
              (struct sections){.authority = {nsec, SIG(name, "NSEC", zone)}});
}

static inline void zones_no_name(const char *name)
{
    zones_add(name, RRTYPE_DS, SECURITY_SECURE, ANSWER_NXDOMAIN, (struct sections){0});
}

static inline void zones_fail(const char *zone, uint16_t type, uint16_t ede)
{
    struct zone_answer *known =
        zones_add(zone, type, SECURITY_UNCHECKED, ANSWER_FAILURE, (struct sections){0});
    known->fails = true;
    known->ede = ede;
}

static inline const struct zone_answer *zones_find(struct name zone, uint16_t type)
{
    uint8_t wire[NAME_WIRE_MAX];
    for (size_t i = zones.count; i-- > 0;)
        if (zones.known[i].type == type && name_equal(sample_name(wire, zones.known[i].zone), zone))
            return &zones.known[i];
    return NULL;
}

/* ---- the run ---- */

static inline void zones_say(const char *word, struct name zone)
{
    char text[NAME_TEXT_MAX];
    size_t at = strlen(zones.words);
    snprintf(zones.words + at, sizeof(zones.words) - at, "%s%s %s", at ? ", " : "", word,
             name_format(zone, text));
}

/* Returns whether an honest verifier would find this job right. */
static inline bool zones_is_right(const struct validation_step *step)
{
    uint8_t bytes[1024];
    char signer[NAME_TEXT_MAX];
    name_format(step->zone, signer);
    struct dnskey key = zones_read_key(signer, 257, step->job.algorithm, bytes);
    return span_equal(step->job.signature, span_of("Good", 4)) &&
           span_equal(step->job.key, key.key);
}

static inline struct validation_event zones_event(const struct validation_step *step,
                                                  struct answer *answer)
{
    uint16_t type = step->kind == VALIDATION_KEYS ? RRTYPE_DNSKEY : RRTYPE_DS;
    const struct zone_answer *known = zones_find(step->zone, type);
    zones_say(step->only_known ? "known" : type == RRTYPE_DS ? "ds" : "keys", step->zone);
    if (step->only_known && (!known || !known->is_cached))
        return (struct validation_event){.kind = VALIDATION_UNKNOWN, .ede = EDE_NONE};
    if (!known || known->fails)
        return (struct validation_event){.kind = VALIDATION_FAILED,
                                         .ede = known ? known->ede : EDE_NO_REACHABLE_AUTHORITY};
    *answer = (struct answer){.message = span_of(known->text.bytes, known->text.len),
                              .kind = (uint8_t)known->kind,
                              .security = (uint8_t)known->security,
                              .ttl_s = 300};
    return (struct validation_event){
        .kind = VALIDATION_ANSWERED, .answer = answer, .ede = EDE_NONE};
}

static inline struct validation_event zones_verify(const struct validation_step *step)
{
    if (zones.puts_off && zones.verifications >= zones.puts_off_after) {
        zones.puts_off--;
        zones.space.owner = 0;
        zones_say("later", step->zone);
        return (struct validation_event){.kind = VALIDATION_RESUMED, .ede = EDE_NONE};
    }
    bool is_right = zones_is_right(step);
    zones_say(is_right ? "right" : "wrong", step->zone);
    zones.verifications++;
    zones.right += is_right;
    return (struct validation_event){
        .kind = VALIDATION_VERIFIED, .is_right = is_right, .ede = EDE_NONE};
}

/* Judges zones.view. Returns the security. */
static inline enum security zones_run(void)
{
    struct validation_event event = {.kind = VALIDATION_STARTED, .ede = EDE_NONE};
    struct validation_step step;
    struct answer answer;
    zones.words[0] = 0;
    zones.verifications = zones.right = 0;
    validation_begin(&zones.validation, ++zones.serial);
    for (unsigned i = 0; i < 400; i++) {
        validation_next(&zones.validation, &zones.view, &event, &step);
        if (step.kind == VALIDATION_VERDICT) {
            zones.verdict = step.verdict;
            return step.verdict.security;
        }
        event = step.kind == VALIDATION_VERIFY ? zones_verify(&step) : zones_event(&step, &answer);
    }
    fail_msg("the validation does not end");
    return SECURITY_UNCHECKED;
}

/* Makes a view of the message for the question, from servers of the zone. `end` is the QNAME. */
static inline void zones_ask(const struct question *question, enum answer_kind kind,
                             const char *asked_zone, struct sections sections)
{
    static uint8_t zone_wire[NAME_WIRE_MAX];
    static struct question kept;
    static uint8_t name_wire[NAME_WIRE_MAX];
    kept = *question;
    kept.name = name_copy(question->name, name_wire);
    zones.units = VALIDATION_UNITS_MAX;
    zones.failures_left = VALIDATION_QUESTION_FAILURES_MAX;
    zones.view = (struct validation_view){
        .message = response_make(&zones.sent, 0, question, &sections),
        .question = &kept,
        .kind = kind,
        .end = kept.name,
        .asked_zone = sample_name(zone_wire, asked_zone),
        .zone_is_cut = true,
        .clock = {.now_s = ZONES_NOW_S},
        .anchors = zones.anchors,
        .space = &zones.space,
        .units_left = &zones.units,
        .failures_left = &zones.failures_left,
    };
}

static inline enum security zones_judge(struct question question, enum answer_kind kind,
                                        const char *asked_zone, struct sections sections)
{
    zones_ask(&question, kind, asked_zone, sections);
    return zones_run();
}

/* Begins with an anchor for the root, whose keys are known. */
static inline int zones_setup(void **state)
{
    uint8_t bytes[1024];
    (void)state;
    zones.count = 0;
    zones.puts_off = zones.puts_off_after = 0;
    if (!zones.known)
        zones.known = calloc(ZONES_MAX, sizeof(*zones.known));
    anchors_free(zones.anchors);
    zones.anchors = anchors_new();
    assert_int_equal(
        anchors_add(zones.anchors, name_root(), RRTYPE_DS,
                    zones_rdata(zones_ds(".", ALGORITHM_ECDSA_P256, DIGEST_SHA256), bytes)),
        ERR_OK);
    zones_secure(".");
    return 0;
}

static inline int zones_teardown(void **state)
{
    (void)state;
    anchors_free(zones.anchors);
    zones.anchors = NULL;
    free(zones.known);
    zones.known = NULL;
    return 0;
}

#endif
