/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_RESOLVE_DOUBLE_VALIDATION_H
#define NAILUP_TESTS_RESOLVE_DOUBLE_VALIDATION_H

/*
 * Validations by a script that the test writes, in place of validate's. Each letter is a step:
 *
 *   k, K  KEYS of script_zone; K: only those known    d  DS of script_zone
 *   v     VERIFY                                      s, i, b, u  the verdict: secure, insecure
 *                                                     (EDE 1), bogus, bogus because of its cost
 *   e     bogus, because a signature of a top-level domain has expired
 *   c     bogus where the answer has the address 192.0.2.66, and else secure
 *
 * A question about keys or DS records that fails makes the verdict bogus. One file of a program
 * includes this.
 */

#include "unit/resolve/sample.h"

#include "dns/edns.h"
#include "support/fake_loop.h"
#include "validate/anchors.h"
#include "validate/validation.h"
#include "validate/verify.h"

static const char *answer_script, *keys_script;
static uint32_t script_ttl_max_s;
static unsigned script_failures; /* how many wrong signatures one failed verification counts as */
enum { SCRIPT_SIGNED_UNTIL_S = 1893456000, SCRIPT_EXPIRED_S = 1700000000 };
static const char *script_zone;   /* NULL: "example" */
static const char *script_signer; /* the signer of VERIFY; NULL: "example" */
static bool verify_is_right;
static unsigned validations_begun, verifications;
static struct loop *verify_loop; /* the loop whose clock a verification moves; NULL: none */
static uint64_t verify_us;
static bool is_private_zone;
static bool clock_was_behind;        /* the argument of the last call */
static enum anchor_kind anchor_kind; /* the anchor of the root */
static const char *proven_owner;     /* its authority records are verified; NULL: all */
static uint64_t script_job;          /* the signature of the next VERIFY; 0: a new one each time */

struct verifier {
    int unused;
};

struct verifier *verifier_new(void)
{
    return calloc(1, sizeof(struct verifier));
}

void verifier_free(struct verifier *verifier)
{
    free(verifier);
}

bool verify_run(struct verifier *verifier, const struct verify_job *job)
{
    assert_non_null(verifier);
    assert_int_equal(job->algorithm, 14);
    verifications++;
    if (verify_loop)
        fake_loop_work(verify_loop, verify_us);
    return verify_is_right;
}

const struct anchor *anchors_find(const struct anchors *anchors, struct name name)
{
    static struct anchor anchor;
    assert_non_null(anchors);
    assert_true(name.len > 0);
    anchor.kind = anchor_kind;
    anchor.zone = name_root();
    return &anchor;
}

size_t anchors_count(const struct anchors *anchors)
{
    assert_non_null(anchors);
    return 0;
}

const struct anchor *anchors_at(const struct anchors *anchors, size_t at)
{
    assert_true(anchors && at < anchors_count(anchors));
    return NULL;
}

void validation_begin(struct validation *validation, uint64_t serial)
{
    memset(validation, 0, sizeof(*validation));
    validation->serial = serial;
    validations_begun++;
}

static inline bool has_bad_address(const struct message *message)
{
    struct rr_iter iter = message_rrs(message, SECTION_ANSWER);
    for (struct rr rr; message_rr_next(&iter, &rr);)
        if (rr.type == RRTYPE_A && message_rdata(message, &rr).data[3] == 66)
            return true;
    return false;
}

static inline void step_verdict(struct validation_step *out, enum security security)
{
    struct name zone = NAME("example");
    out->kind = VALIDATION_VERDICT;
    memset(&out->verdict, 0, sizeof(out->verdict));
    out->verdict.security = security;
    out->verdict.ede = security == SECURITY_BOGUS ? EDE_RRSIGS_MISSING : EDE_NONE;
    out->verdict.fault = security == SECURITY_BOGUS ? "a signature is missing" : "";
    out->verdict.ttl_max_s = script_ttl_max_s;
    out->verdict.signed_until_s = SCRIPT_SIGNED_UNTIL_S;
    out->verdict.zone_len = zone.len;
    memcpy(out->verdict.zone, zone.wire, zone.len);
}

static inline void step_trust(struct validation *validation, struct validation_step *out,
                              enum validation_step_kind kind)
{
    out->kind = kind;
    out->zone = sample_name(validation->name, script_zone ? script_zone : "example");
}

static inline struct verify_job next_job(void)
{
    static uint64_t number, last = UINT64_MAX / 2;
    number = script_job ? script_job : ++last;
    return (struct verify_job){.algorithm = 14, .signature = span_of(&number, sizeof(number))};
}

void validation_next(struct validation *validation, const struct validation_view *view,
                     const struct validation_event *event, struct validation_step *out)
{
    bool is_answer = view->question->type != RRTYPE_DNSKEY && view->question->type != RRTYPE_DS;
    const char *script = is_answer ? answer_script : keys_script;
    struct message again;
    assert_int_equal(message_parse(&again, view->message->bytes), MESSAGE_OK);
    assert_int_equal(again.id, 4711); /* the id that the server sent */
    assert_non_null(view->units_left);
    clock_was_behind = view->clock.is_behind;
    assert_int_equal(event->kind == VALIDATION_STARTED, validation->steps == 0);
    if (event->kind == VALIDATION_RESUMED)
        validation->steps--;
    if (event->kind == VALIDATION_ANSWERED)
        assert_in_range(event->answer->security, SECURITY_INSECURE, SECURITY_SECURE);
    out->only_known = false;
    if (event->kind == VALIDATION_VERIFIED && !event->is_right)
        *view->failures_left -= MIN(*view->failures_left, script_failures);
    if (event->kind == VALIDATION_FAILED ||
        (event->kind == VALIDATION_VERIFIED && !event->is_right)) {
        step_verdict(out, SECURITY_BOGUS);
        out->verdict.is_unreachable =
            event->kind == VALIDATION_FAILED && event->ede != EDE_RRSIGS_MISSING;
        return;
    }
    switch (script[validation->steps++]) {
    case 'k':
        step_trust(validation, out, VALIDATION_KEYS);
        break;
    case 'K':
        step_trust(validation, out, VALIDATION_KEYS);
        out->only_known = true;
        break;
    case 'd':
        step_trust(validation, out, VALIDATION_DS);
        break;
    case 'v':
        step_trust(validation, out, VALIDATION_VERIFY);
        if (script_signer)
            out->zone = sample_name(validation->name, script_signer);
        out->job = next_job();
        break;
    case 's':
        step_verdict(out, SECURITY_SECURE);
        break;
    case 'i':
        step_verdict(out, SECURITY_INSECURE);
        out->verdict.ede = EDE_UNSUPPORTED_DNSKEY_ALGORITHM;
        out->verdict.is_private = is_private_zone;
        break;
    case 'e':
        step_verdict(out, SECURITY_BOGUS);
        out->verdict.ede = EDE_SIGNATURE_EXPIRED;
        out->verdict.fault = "a signature has expired";
        out->verdict.since_s = SCRIPT_EXPIRED_S;
        break;
    case 'u':
        step_verdict(out, SECURITY_BOGUS);
        out->verdict.is_spent = true;
        break;
    case 'c':
        step_verdict(out, has_bad_address(view->message) ? SECURITY_BOGUS : SECURITY_SECURE);
        break;
    default:
        step_verdict(out, SECURITY_BOGUS);
        break;
    }
}

const struct rrsets *validation_sets(const struct validation *validation,
                                     const struct validation_space *space)
{
    (void)validation;
    (void)space; /* the double reads no message */
    return NULL;
}

bool validation_has_verified(const struct validation *validation, const struct rrsets *sets,
                             const struct rr *rr)
{
    (void)sets;
    (void)validation;
    return !proven_owner || rr->type != RRTYPE_NS;
}

bool validation_is_verified_sig(const struct validation *validation, const struct rrsets *sets,
                                const struct rr *rr)
{
    return validation_has_verified(validation, sets, rr);
}

bool validation_proof_of(const struct validation *validation, const struct rrsets *sets,
                         unsigned at, struct validation_proof *out)
{
    (void)validation;
    (void)sets;
    (void)at;
    (void)out;
    return false;
}

#endif
