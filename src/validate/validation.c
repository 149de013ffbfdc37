/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Judges one RRset after the other: first the RRsets of the answer, then the proofs. Each RRset
 * leads to the keys of its signer. An RRset without a usable signature leads to a walk down from
 * the anchor, which looks for an insecure zone.
 *
 * Invariant: only on_verified() adds to `secure`.
 */
#include "validate/validation.h"

#include <string.h>

#include "base/check.h"
#include "dns/edns.h"
#include "dns/rrtype.h"
#include "validate/algorithm.h"
#include "validate/denial.h"
#include "validate/fault.h"
#include "validate/needs.h"
#include "validate/trust.h"

/* The step that the next event answers. */
enum state {
    STATE_STARTING,
    STATE_KNOWN_DS,   /* DS with only_known: the message is not read yet */
    STATE_KNOWN_KEYS, /* KEYS with only_known */
    STATE_SIGNER_DS,  /* DS of a signer whose keys are not known */
    STATE_KEYS,       /* KEYS of a signer with DS records */
    STATE_OWN_DS,     /* DS of the zone whose DNSKEY RRset is judged */
    STATE_VERIFYING,
    STATE_WALKING,    /* DS of a name on the walk */
    STATE_BETWEEN_DS, /* DS with only_known: of a name between a proof's zone and the denied name */
    STATE_ENDED,
};

/* validation.target: the name at the end of the alias chain instead of an RRset. */
enum { VALIDATION_END = 0xff };

/* One call of validation_next(). */
struct call {
    struct validation *v;
    const struct validation_view *view;
    struct validation_step *out;
};

/* How a function that looks for the next step ends. */
enum progress {
    PROGRESS_DECIDED, /* the target is decided: go on with the next */
    PROGRESS_STEP,    /* *out is set */
};

static uint32_t bit(unsigned at)
{
    return UINT32_C(1) << at;
}

static const struct rrset *target_set(const struct call *call)
{
    return &call->view->space->sets.set[call->v->target];
}

static struct name target_name(const struct call *call)
{
    return (struct name){call->v->name, call->v->name_len};
}

static uint16_t target_type(const struct call *call)
{
    return call->v->target == VALIDATION_END ? call->view->question->type : target_set(call)->type;
}

/* A DS RRset belongs to the zone above its owner (RFC 4035 section 2.4). */
static struct name validation_home_of(struct name owner, uint16_t type)
{
    return type == RRTYPE_DS ? name_parent(owner) : owner;
}

static bool target_is_proof(const struct call *call)
{
    return call->v->target != VALIDATION_END && call->v->optional & bit(call->v->target);
}

/* Returns the zone to which a proof claims to belong: its first signer. A proof at a zone cut
 * belongs to the zone above, and an anchor at the cut says nothing about that one. */
static struct name proof_home(const struct call *call, struct name owner)
{
    struct rrsig sig;
    bool has_signer =
        rrsig_read(&sig, rrsets_rdata(&call->view->space->sets, target_set(call)->first_sig)) &&
        name_is_below(owner, sig.signer);
    return has_signer ? name_suffix(owner, name_label_count(sig.signer)) : owner;
}

/* Returns the deepest zone that the target may be in. The answer to a question about DS records
 * comes from above their owner, even if it is an alias, or one behind another alias: asking for
 * them again would wait for itself. */
static struct name target_home(const struct call *call)
{
    const struct validation_view *view = call->view;
    struct name owner = target_name(call);
    uint16_t type = target_type(call);
    bool is_asked = name_equal(owner, view->question->name) || name_equal(owner, view->end) ||
                    type == RRTYPE_CNAME;
    bool is_above = type == RRTYPE_DS || (view->question->type == RRTYPE_DS && is_asked);
    return is_above && !name_is_root(owner) ? name_parent(owner) : owner;
}

/* Returns the deepest zone that the target may be of. */
static struct name claimed_home(const struct call *call)
{
    return name_suffix(target_name(call), call->v->home_labels);
}

static const struct anchor *target_anchor(const struct call *call)
{
    return anchors_find(call->view->anchors, claimed_home(call));
}

static bool is_trusted(const struct anchor *anchor)
{
    return anchor && anchor->kind == ANCHOR_TRUSTED;
}

/* ---- verdicts ---- */

static void set_zone(struct verdict *verdict, struct name zone)
{
    memcpy(verdict->zone, zone.wire, zone.len);
    verdict->zone_len = zone.len;
}

static enum progress end_as(struct call *call, enum security security, struct name zone,
                            uint16_t ede)
{
    call->v->state = STATE_ENDED;
    call->out->kind = VALIDATION_VERDICT;
    struct verdict *verdict = &call->out->verdict;
    memset(verdict, 0, offsetof(struct verdict, zone));
    verdict->security = security;
    verdict->ede = ede;
    verdict->fault = "";
    verdict->ttl_max_s = call->v->ttl_max_s;
    verdict->signed_until_s = call->v->signed_until_s;
    verdict->proves_insecure = security == SECURITY_SECURE && call->v->proves_insecure;
    verdict->is_nodata = security == SECURITY_SECURE && call->v->is_nodata;
    verdict->is_private = security == SECURITY_INSECURE && call->v->is_private;
    verdict->insecure_labels = call->v->insecure_labels;
    verdict->alias_is_good = security == SECURITY_BOGUS && call->v->decided & call->v->alias;
    set_zone(verdict, zone);
    return PROGRESS_STEP;
}

static enum progress end_bogus_at(struct call *call, enum fault fault, struct name zone)
{
    end_as(call, SECURITY_BOGUS, zone, fault_ede(fault));
    struct verdict *verdict = &call->out->verdict;
    verdict->fault = fault_words(fault);
    bool is_date = fault == FAULT_EXPIRED || fault == FAULT_NOT_YET_VALID;
    verdict->since_s = is_date ? call->v->fault_since_s : 0;
    verdict->is_spent = fault == FAULT_COST;
    return PROGRESS_STEP;
}

/* The zone at fault is the signer of the last KEYS or DS step, or else the asked zone. */
static enum progress end_bogus(struct call *call, enum fault fault)
{
    const struct validation *v = call->v;
    struct name zone = call->view->asked_zone;
    if (v->steps && v->name_len)
        zone = name_suffix(target_name(call), v->zone_labels);
    return end_bogus_at(call, fault, zone);
}

/* Whether keys or DS records could not be fetched because the answers about them are bogus. */
static bool is_bogus_ede(uint16_t ede)
{
    return ede == EDE_DNSSEC_BOGUS || ede == EDE_UNSUPPORTED_DNSKEY_ALGORITHM ||
           ede == EDE_UNSUPPORTED_DS_DIGEST ||
           (ede >= EDE_SIGNATURE_EXPIRED && ede <= EDE_NSEC_MISSING) ||
           ede == EDE_SIGNATURE_EXPIRED_BEFORE_VALID;
}

/* Keys or DS records could not be fetched. The reason of that failure says more than
 * "unreachable". */
static enum progress end_unfetched(struct call *call, enum fault fault, uint16_t ede)
{
    end_bogus(call, fault);
    if (is_bogus_ede(ede))
        call->out->verdict.ede = ede;
    else
        call->out->verdict.is_unreachable = true;
    return PROGRESS_STEP;
}

/* Puts the anchor's DS records into the space; its keys count too. False: none of them can be used,
 * and *progress ends. The operator named this key so that the zone is validated. Unlike a DS
 * record that its parent signed (RFC 4035 section 5.2), nothing says that the zone may be insecure.
 */
static bool read_anchor(struct call *call, const struct anchor *anchor, enum progress *progress)
{
    uint16_t ede;
    if (trust_read_anchor(call->view->space, anchor, call->view->allow_sha1, &ede))
        return true;
    *progress = end_bogus_at(call, FAULT_ANCHOR, anchor->zone);
    call->out->verdict.is_final = true;
    if (ede != EDE_NONE)
        call->out->verdict.ede = ede;
    return false;
}

/* ---- the fate of a target ---- */

static enum progress target_done(struct call *call)
{
    if (call->v->target != VALIDATION_END)
        call->v->decided |= bit(call->v->target);
    return PROGRESS_DECIDED;
}

/* A bad proof is dropped, because the others may suffice. */
static enum progress target_bogus(struct call *call, enum fault fault)
{
    if (!target_is_proof(call))
        return end_bogus(call, fault);
    if (call->v->fault == FAULT_NONE)
        call->v->fault = (uint8_t)fault;
    return target_done(call);
}

/* Whether an anchor for the name is below this zone, so that the zone does not decide about it. */
static bool has_anchor_below(const struct call *call, struct name name, struct name zone)
{
    const struct anchor *anchor = anchors_find(call->view->anchors, name);
    return is_trusted(anchor) && anchor->zone.len > zone.len && name_is_below(anchor->zone, zone);
}

/* Whether an anchor for the name at the end of the chain is below this zone. */
static bool end_has_anchor_below(const struct call *call, struct name zone)
{
    const struct validation_view *view = call->view;
    return has_anchor_below(call, validation_home_of(view->end, view->question->type), zone);
}

/* Whether the target is the SOA record of an insecure zone that is not responsible for the denied
 * name: an insecure zone decides nothing about names below a deeper anchor. */
static bool is_beyond_anchor(const struct call *call, struct name zone)
{
    return call->v->target != VALIDATION_END && call->v->needed & bit(call->v->target) &&
           target_type(call) == RRTYPE_SOA && target_set(call)->section == SECTION_AUTHORITY &&
           end_has_anchor_below(call, zone);
}

/* Whether a proof from this insecure zone is worthless. It must be the zone of the denied name: a
 * forger chooses the signer, and may choose a zone above a deeper anchor, or the zone whose DS
 * records are denied. Where nothing is denied, the proof is about an RRset that was expanded from a
 * wildcard and is secure. */
static bool is_idle_proof(const struct call *call, struct name zone)
{
    const struct validation_view *view = call->view;
    struct name home = validation_home_of(view->end, view->question->type);
    return target_is_proof(call) && (view->kind == ANSWER_POSITIVE || !name_is_below(home, zone) ||
                                     end_has_anchor_below(call, zone));
}

static enum progress target_insecure(struct call *call, uint16_t ede)
{
    struct validation *v = call->v;
    struct name zone = name_suffix(target_name(call), v->zone_labels);
    if (is_idle_proof(call, zone))
        return target_done(call);
    if (is_beyond_anchor(call, zone))
        return target_bogus(call, FAULT_NO_SIGNATURE);
    v->is_insecure = true;
    if (name_is_below(call->view->question->name, zone))
        v->insecure_labels = MIN(v->insecure_labels, v->zone_labels);
    if (v->insecure_ede == EDE_NONE)
        v->insecure_ede = ede;
    return target_done(call);
}

/* ---- steps ---- */

static enum progress need(struct call *call, enum validation_step_kind kind, enum state state,
                          unsigned labels)
{
    struct validation *v = call->v;
    if (v->steps == VALIDATION_STEPS_MAX)
        return end_bogus(call, FAULT_COST);
    v->steps++;
    v->state = (uint8_t)state;
    v->zone_labels = (uint8_t)labels;
    call->out->kind = kind;
    call->out->only_known =
        state == STATE_KNOWN_KEYS || state == STATE_KNOWN_DS || state == STATE_BETWEEN_DS;
    call->out->zone = name_suffix(target_name(call), labels);
    return PROGRESS_STEP;
}

/* ---- the walk to an insecure zone ---- */

/* Returns the labels of the deepest name that the walk may look at. A signature that does not count
 * still says which zone the RRset claims to be in. */
static unsigned walk_limit(const struct call *call)
{
    const struct validation *v = call->v;
    struct name home = target_home(call);
    struct rrsig sig;
    if (v->target != VALIDATION_END && target_set(call)->sig_count &&
        rrsig_read(&sig, rrsets_rdata(&call->view->space->sets, target_set(call)->first_sig)) &&
        name_is_below(home, sig.signer))
        return name_label_count(sig.signer);
    return name_label_count(home);
}

/* The asked zone is a good guess: it is often the insecure zone, and then one look is enough. */
static bool hint_is_useful(const struct call *call, const struct anchor *anchor)
{
    const struct validation_view *view = call->view;
    struct name zone = view->asked_zone;
    bool is_known = view->zone_is_cut || view->zone_is_configured;
    return is_known && !call->v->used_hint && zone.len > anchor->zone.len &&
           name_is_below(zone, anchor->zone) && name_is_below(target_name(call), zone) &&
           name_label_count(zone) <= walk_limit(call) &&
           name_label_count(zone) != call->v->lost_labels;
}

/* The walk has found no insecure zone. The last DS step was about a name that need not be a zone.
 */
static enum progress validation_walk_end(struct call *call, enum fault fault)
{
    struct validation *v = call->v;
    if (v->lost_labels) {
        v->zone_labels = v->lost_labels;
        return end_unfetched(call, FAULT_NO_DS, v->lost_ede);
    }
    v->zone_labels = v->cut_labels;
    return target_bogus(call, fault);
}

static enum progress walk_on(struct call *call)
{
    struct validation *v = call->v;
    const struct anchor *anchor = target_anchor(call);
    if (hint_is_useful(call, anchor)) {
        v->used_hint = true;
        return need(call, VALIDATION_DS, STATE_WALKING, name_label_count(call->view->asked_zone));
    }
    unsigned next = v->walk_labels + 1u;
    if (next == v->lost_labels) {
        v->zone_labels = (uint8_t)next;
        return end_unfetched(call, FAULT_NO_DS, v->lost_ede);
    }
    if (next > walk_limit(call)) {
        enum fault fault = v->target == VALIDATION_END ? FAULT_NO_PROOF : FAULT_NO_SIGNATURE;
        return validation_walk_end(call, v->fault != FAULT_NONE ? (enum fault)v->fault : fault);
    }
    return need(call, VALIDATION_DS, STATE_WALKING, next);
}

/* Finds out whether the target is in an insecure zone. If not, it is bogus. */
static enum progress walk_begin(struct call *call)
{
    struct validation *v = call->v;
    enum progress end;
    if (!read_anchor(call, target_anchor(call), &end))
        return end;
    v->walk_labels = v->cut_labels = (uint8_t)name_label_count(target_anchor(call)->zone);
    v->used_hint = false;
    return walk_on(call);
}

/* The DS records of the last step's zone could not be fetched. A zone above may be insecure. Then
 * they do not matter, and its servers may have trouble with such questions. */
static void note_lost(struct call *call, uint16_t ede)
{
    call->v->lost_labels = call->v->zone_labels;
    call->v->lost_ede = ede;
}

/* Whether the last DS step was about the zone that the operator configured, and not about a name
 * below it. */
static bool asked_about_configured(const struct call *call)
{
    const struct validation_view *view = call->view;
    return view->zone_is_configured && !name_is_root(view->asked_zone) &&
           name_equal(name_suffix(target_name(call), call->v->zone_labels), view->asked_zone);
}

/* Only the operator can have configured a zone that its parent denies. */
static enum progress target_private(struct call *call)
{
    call->v->is_private = true;
    return target_insecure(call, EDE_NONE);
}

/* Reads what an event says about the DS records of the last step's zone. */
static enum trust read_ds(struct call *call, const struct validation_event *event, uint16_t *ede)
{
    const struct validation_view *view = call->view;
    struct name zone = name_suffix(target_name(call), call->v->zone_labels);
    *ede = event->ede;
    if (event->kind != VALIDATION_ANSWERED)
        return TRUST_NONE;
    return trust_read_ds(view->space, view, zone, event->answer, ede);
}

/* The name is no zone cut, as far as its zone says. */
static enum progress walk_past(struct call *call, bool exists)
{
    struct validation *v = call->v;
    bool was_hint = v->used_hint && v->zone_labels != v->walk_labels + 1u;
    if (asked_about_configured(call))
        return target_private(call);
    if (was_hint)
        return walk_on(call);
    if (!exists)
        return validation_walk_end(call, FAULT_NO_SIGNATURE);
    v->walk_labels = v->zone_labels;
    return walk_on(call);
}

static enum progress on_walk_ds(struct call *call, const struct validation_event *event)
{
    struct validation *v = call->v;
    uint16_t ede;
    switch (read_ds(call, event, &ede)) {
    case TRUST_INSECURE:
        return target_insecure(call, ede);
    case TRUST_SECURE:
        v->walk_labels = v->cut_labels = v->zone_labels;
        return walk_on(call);
    case TRUST_NO_CUT:
        return walk_past(call, true);
    case TRUST_NO_NAME:
        return walk_past(call, false);
    case TRUST_NONE:
        break;
    }
    if (asked_about_configured(call) && !is_bogus_ede(ede))
        return target_insecure(call, EDE_NONE);
    note_lost(call, ede);
    return walk_on(call);
}

/* ---- the signatures of the target ---- */

static bool is_self_signed(const struct rrsig *sig, struct name owner)
{
    return name_equal(sig->signer, owner);
}

/* Whether the question is about DS records, and the signer is the zone that they would be about:
 * that zone does not know them. An insecure one must not make their denial insecure. The same holds
 * for each name that an alias leads to, which may be the apex of a zone. */
static bool is_of_child(const struct call *call, const struct rrsig *sig)
{
    const struct validation_view *view = call->view;
    struct name name = view->question->name;
    if (target_set(call)->section == SECTION_AUTHORITY)
        name = view->end;
    else if (target_type(call) == RRTYPE_CNAME)
        name = target_name(call);
    return view->question->type == RRTYPE_DS && !name_is_root(name) &&
           name_is_below(sig->signer, name);
}

/* Whether this signature may count, as far as checks without cryptography show. */
static enum fault sig_fault(const struct call *call, const struct rrsig *sig,
                            const struct anchor *anchor)
{
    struct name owner = target_name(call);
    uint16_t type = target_set(call)->type;
    switch (rrsig_check(sig, owner, type, &call->view->clock)) {
    case RRSIG_EXPIRED:
        return FAULT_EXPIRED;
    case RRSIG_NOT_YET_VALID:
        return FAULT_NOT_YET_VALID;
    case RRSIG_ENDS_BEFORE_IT_BEGINS:
        return FAULT_ENDS_FIRST;
    case RRSIG_LABELS:
        return FAULT_LABELS;
    case RRSIG_UNRELATED:
        return FAULT_SIGNER;
    case RRSIG_USABLE:
        break;
    }
    if (!name_is_below(sig->signer, anchor->zone) || is_of_child(call, sig) ||
        (type == RRTYPE_DNSKEY && !is_self_signed(sig, owner)))
        return FAULT_SIGNER;
    bool is_whole = type == RRTYPE_DNSKEY || type == RRTYPE_DS;
    return is_whole && rrsig_is_expanded(sig, owner) ? FAULT_LABELS : FAULT_NONE;
}

static void note_fault(struct validation *v, enum fault fault, const struct rrsig *sig)
{
    if (v->fault != FAULT_NONE)
        return;
    v->fault = (uint8_t)fault;
    v->fault_since_s = fault == FAULT_EXPIRED         ? sig->expiration
                       : fault == FAULT_NOT_YET_VALID ? sig->inception
                                                      : 0;
}

/* Finds the usable signature with this number. Only signatures of one signer count, which is the
 * signer of the first usable one. */
static bool find_sig(struct call *call, unsigned number, struct rrsig *out)
{
    const struct rrsets *sets = &call->view->space->sets;
    const struct rrset *set = target_set(call);
    const struct anchor *anchor = target_anchor(call);
    struct name signer = {0};
    unsigned count = 0, seen = 0;
    for (uint16_t at = set->first_sig; at != RRSETS_NONE && seen < 2 * VALIDATION_SIGS_MAX;
         at = sets->next[at], seen++) {
        if (!rrsig_read(out, rrsets_rdata(sets, at)))
            continue;
        enum fault fault = sig_fault(call, out, anchor);
        if (fault != FAULT_NONE) {
            note_fault(call->v, fault, out);
            continue;
        }
        if (signer.wire && !name_equal(signer, out->signer))
            continue;
        signer = out->signer;
        if (count++ == number) {
            call->v->sig_at = at;
            return number < VALIDATION_SIGS_MAX;
        }
    }
    return false;
}

/* ---- keys ---- */

static bool keys_are_of(const struct validation_space *space, struct name zone)
{
    return space->keys_zone_len &&
           name_equal((struct name){space->keys_zone, space->keys_zone_len}, zone);
}

static bool is_keyset(const struct call *call)
{
    return target_set(call)->type == RRTYPE_DNSKEY;
}

/* The anchor of exactly this zone, or NULL. */
static const struct anchor *anchor_at(const struct call *call, struct name zone)
{
    const struct anchor *anchor = anchors_find(call->view->anchors, zone);
    return is_trusted(anchor) && name_equal(anchor->zone, zone) ? anchor : NULL;
}

/* Whether this key may have made the signature. The keys of a DNSKEY RRset need a DS record or an
 * anchor. */
static bool key_fits(struct call *call, const struct rrsig *sig, const struct dnskey *key)
{
    const struct validation_view *view = call->view;
    if (key->tag != sig->tag || key->algorithm != sig->algorithm ||
        !algorithm_is_supported(key->algorithm, view->allow_sha1) ||
        !algorithm_key_is_sound(key->algorithm, key->key.data, key->key.len))
        return false;
    if (!dnskey_may_sign(key)) {
        if (!(key->flags & DNSKEY_ZONE))
            note_fault(call->v, FAULT_NO_ZONE_BIT, sig);
        return false;
    }
    return !is_keyset(call) || trust_vouches(view->space, anchor_at(call, sig->signer), sig->signer,
                                             key, view->units_left);
}

static enum progress verify_with(struct call *call, const struct rrsig *sig,
                                 const struct dnskey *key)
{
    struct validation_space *space = call->view->space;
    struct validation *v = call->v;
    size_t len = canonical_write(space->signed_bytes, sizeof(space->signed_bytes), &space->sets,
                                 target_set(call), sig);
    if (!len)
        return end_bogus(call, FAULT_SIZE);
    call->out->job = (struct verify_job){
        .algorithm = key->algorithm,
        .key = key->key,
        .data = span_of(space->signed_bytes, len),
        .signature = sig->signature,
    };
    v->charged = verify_cost(&call->out->job);
    if (*call->view->units_left < v->charged || !*call->view->failures_left)
        return end_bogus(call, FAULT_COST);
    *call->view->units_left -= v->charged;
    v->state = STATE_VERIFYING;
    call->out->kind = VALIDATION_VERIFY;
    call->out->zone = name_suffix(target_name(call), v->zone_labels);
    return PROGRESS_STEP;
}

/* The fault of an RRset whose signatures are usable, but no pair of them with a key is right.
 * Without a unit that is left, no digest of a key was compared. */
static enum fault unfit_fault(const struct call *call)
{
    if (is_keyset(call) && !*call->view->units_left)
        return FAULT_COST;
    if (call->v->target_failures)
        return FAULT_WRONG;
    if (call->v->fault != FAULT_NONE)
        return (enum fault)call->v->fault;
    return is_keyset(call) ? FAULT_NO_DS_KEY : FAULT_NO_KEY;
}

/* Returns the key of the space to try with the signature, from the cursor on, or NULL. */
static const struct dnskey *find_key(struct call *call, const struct rrsig *sig)
{
    struct validation *v = call->v;
    const struct validation_space *space = call->view->space;
    unsigned tried = 0;
    for (unsigned i = 0; i < space->key_count && tried < VALIDATION_TAG_KEYS_MAX; i++) {
        const struct dnskey *key = &space->key[i];
        if (key->tag != sig->tag || key->algorithm != sig->algorithm)
            continue;
        tried++;
        if (i < v->key || !key_fits(call, sig, key))
            continue;
        v->key = (uint8_t)i;
        return key;
    }
    return NULL;
}

/* Tries the pairs of a signature and a key from the cursor on. *sig is the signature at the cursor;
 * the keys are in the space. */
static enum progress try_pairs_from(struct call *call, struct rrsig *sig)
{
    struct validation *v = call->v;
    do {
        const struct dnskey *key = find_key(call, sig);
        if (key)
            return verify_with(call, sig, key);
        v->key = 0;
    } while (find_sig(call, ++v->sig, sig));
    return target_bogus(call, unfit_fault(call));
}

static enum progress try_pairs(struct call *call)
{
    struct rrsig sig;
    return find_sig(call, call->v->sig, &sig) ? try_pairs_from(call, &sig)
                                              : target_bogus(call, unfit_fault(call));
}

/* ---- the keys of the signer ---- */

static enum progress signer_keys(struct call *call)
{
    return need(call, VALIDATION_KEYS, STATE_KEYS, call->v->zone_labels);
}

/* The target is a DNSKEY RRset. Its DS records or its anchor are in the space (struct
 * validation_space). */
static enum progress keyset_begin(struct call *call)
{
    trust_take_keys(call->view->space, target_set(call));
    return try_pairs(call);
}

static enum progress judge_keyset(struct call *call)
{
    const struct anchor *anchor = anchor_at(call, target_name(call));
    enum progress end;
    if (!anchor)
        return need(call, VALIDATION_DS, STATE_OWN_DS, name_label_count(target_name(call)));
    return read_anchor(call, anchor, &end) ? keyset_begin(call) : end;
}

/* The DS records were needed to trust the target's signer. */
static enum progress on_ds(struct call *call, const struct validation_event *event)
{
    uint16_t ede;
    enum trust trust = read_ds(call, event, &ede);
    if (trust == TRUST_SECURE)
        return call->v->state == STATE_OWN_DS ? keyset_begin(call) : signer_keys(call);
    if (trust == TRUST_INSECURE)
        return target_insecure(call, ede);
    if (asked_about_configured(call) && trust != TRUST_NONE)
        return target_private(call);
    if (asked_about_configured(call) && !is_bogus_ede(ede))
        return target_insecure(call, EDE_NONE);
    if (trust != TRUST_NONE)
        return target_bogus(call, FAULT_SIGNER);
    note_lost(call, ede);
    return walk_begin(call);
}

/* Goes on with the signature that judge_set() found. Nothing was waited for, so it is still good.
 */
static enum progress on_known_keys(struct call *call)
{
    struct rrsig sig;
    if (call->v->sig)
        return try_pairs(call);
    MUST(rrsig_read(&sig, rrsets_rdata(&call->view->space->sets, call->v->sig_at)));
    return try_pairs_from(call, &sig);
}

static enum progress on_keys(struct call *call, const struct validation_event *event)
{
    struct validation *v = call->v;
    struct name zone = name_suffix(target_name(call), v->zone_labels);
    enum trust trust = event->kind == VALIDATION_ANSWERED
                           ? trust_read_keys(call->view->space, zone, event->answer)
                           : TRUST_NONE;
    switch (trust) {
    case TRUST_SECURE:
        return v->state == STATE_KNOWN_KEYS ? on_known_keys(call) : try_pairs(call);
    case TRUST_INSECURE:
        return target_insecure(call, event->answer->ede_count ? event->answer->ede[0] : EDE_NONE);
    default:
        break;
    }
    if (v->state == STATE_KNOWN_KEYS && event->kind != VALIDATION_FAILED)
        return anchor_at(call, zone) ? signer_keys(call)
                                     : need(call, VALIDATION_DS, STATE_SIGNER_DS, v->zone_labels);
    return end_unfetched(call, FAULT_NO_KEYS, event->ede);
}

/* ---- one target ---- */

static void set_target(struct call *call, unsigned target, struct name name)
{
    struct validation *v = call->v;
    v->target = (uint8_t)target;
    v->target_failures = v->sig = v->key = v->lost_labels = 0;
    v->target_steps = v->steps;
    v->fault = target_is_proof(call) ? v->fault : FAULT_NONE;
    memcpy(v->name, name.wire, name.len);
    v->name_len = name.len;
    struct name home = target_is_proof(call) ? proof_home(call, name) : target_home(call);
    v->home_labels = (uint8_t)name_label_count(home);
}

/* Whether proofs of this zone can show anything about the answer: it may be the zone of the denied
 * name, or that of an RRset that was expanded from a wildcard. A server may send proofs of any
 * zone, and keys of that one may be out of reach. */
static bool proof_may_matter(const struct call *call, struct name zone)
{
    const struct validation *v = call->v;
    const struct validation_view *view = call->view;
    const struct rrsets *sets = &view->space->sets;
    struct name home = validation_home_of(view->end, view->question->type);
    if (view->kind != ANSWER_POSITIVE && name_is_below(home, zone))
        return true;
    for (unsigned i = 0; i < sets->count; i++) {
        if (v->needed & v->expanded & bit(i) &&
            name_equal(name_suffix(rrsets_owner(sets, &sets->set[i]), v->signer_labels[i]), zone))
            return true;
    }
    return false;
}

/* Begins with the RRset, or begins again after the space was lost. */
static enum progress judge_set(struct call *call)
{
    struct validation *v = call->v;
    const struct anchor *anchor = target_anchor(call);
    struct rrsig sig;
    v->zone_labels =
        target_is_proof(call) ? v->home_labels : (uint8_t)name_label_count(target_name(call));
    if (!is_trusted(anchor))
        return target_insecure(call, EDE_NONE);
    if (!find_sig(call, 0, &sig))
        return target_is_proof(call) ? target_done(call) : walk_begin(call);
    if (target_is_proof(call) && !proof_may_matter(call, sig.signer))
        return target_done(call);
    v->zone_labels = (uint8_t)name_label_count(sig.signer);
    if (is_keyset(call))
        return judge_keyset(call);
    if (keys_are_of(call->view->space, sig.signer))
        return v->sig ? try_pairs(call) : try_pairs_from(call, &sig);
    return need(call, VALIDATION_KEYS, STATE_KNOWN_KEYS, v->zone_labels);
}

/* The signed TTL and the end of the signature bound the life of the RRset (RFC 4035 section
 * 5.3.3). */
static void bound_ttl(struct call *call, const struct rrsig *sig)
{
    const struct rrsets *sets = &call->view->space->sets;
    const struct rrset *set = target_set(call);
    uint32_t left_s = rrsig_seconds_left(sig, &call->view->clock);
    call->v->ttl_max_s = MIN(call->v->ttl_max_s, left_s);
    for (uint16_t at = set->first; at != RRSETS_NONE; at = sets->next[at])
        if (sets->record[at].ttl > sig->original_ttl)
            call->v->ttl_max_s = MIN(call->v->ttl_max_s, sig->original_ttl);
}

static enum progress on_verified(struct call *call, const struct validation_event *event)
{
    struct validation *v = call->v;
    struct rrsig sig;
    if (!event->is_right) {
        v->failures++;
        v->target_failures++;
        --*call->view->failures_left;
        if (v->target_failures == VALIDATION_SET_FAILURES_MAX)
            return target_bogus(call, FAULT_WRONG);
        if (v->failures == VALIDATION_FAILURES_MAX)
            return end_bogus(call, FAULT_WRONG);
        v->key++;
        return try_pairs(call);
    }
    MUST(rrsig_read(&sig, rrsets_rdata(&call->view->space->sets, v->sig_at)));
    if (!v->secure || rrsig_is_earlier(sig.expiration, v->signed_until_s))
        v->signed_until_s = sig.expiration;
    v->secure |= bit(v->target);
    v->good_sig[v->target] = v->sig_at;
    v->signer_labels[v->target] = (uint8_t)name_label_count(sig.signer);
    if (rrsig_is_expanded(&sig, target_name(call))) {
        v->expanded |= bit(v->target);
        v->encloser_labels[v->target] = sig.labels;
    }
    bound_ttl(call, &sig);
    return target_done(call);
}

/* ---- the proofs ---- */

/* Collects the verified proofs of one zone. A proof that was expanded from a wildcard proves
 * nothing. */
static void collect(const struct call *call, struct denial *out, struct name zone)
{
    const struct validation *v = call->v;
    const struct rrsets *sets = &call->view->space->sets;
    out->zone = zone;
    out->count = 0;
    out->units_left = call->view->units_left;
    for (unsigned i = 0; i < sets->count && out->count < DENIAL_RECORDS_MAX; i++) {
        const struct rrset *set = &sets->set[i];
        if (!(v->optional & v->secure & ~v->expanded & bit(i)))
            continue;
        struct name owner = rrsets_owner(sets, set);
        if (!name_equal(name_suffix(owner, v->signer_labels[i]), zone))
            continue;
        out->at[out->count++] = (struct denial_record){
            .owner = owner, .type = set->type, .rdata = rrsets_rdata(sets, set->first)};
    }
}

/* Ends, or continues where the proof suffices. */
static enum progress use_proof(struct call *call, enum denial_result result, struct name zone)
{
    struct validation *v = call->v;
    switch (result) {
    case DENIAL_PROVEN:
        return PROGRESS_DECIDED;
    case DENIAL_OPT_OUT:
        v->is_insecure = true;
        return PROGRESS_DECIDED;
    case DENIAL_ITERATIONS:
        v->is_insecure = true;
        v->insecure_ede = EDE_UNSUPPORTED_NSEC3_ITERATIONS;
        return PROGRESS_DECIDED;
    case DENIAL_SPENT:
        return end_bogus_at(call, FAULT_COST, zone);
    case DENIAL_UNPROVEN:
        break;
    }
    return end_bogus_at(call, v->fault != FAULT_NONE ? (enum fault)v->fault : FAULT_NO_PROOF, zone);
}

/* Each RRset that was expanded from a wildcard needs a proof that no closer name exists, also where
 * the rest of the chain is insecure: a forger could replay a wildcard's alias for every name. */
static enum progress prove_expansions(struct call *call)
{
    const struct validation *v = call->v;
    const struct rrsets *sets = &call->view->space->sets;
    struct denial denial;
    for (unsigned i = 0; i < sets->count; i++) {
        if (!(v->needed & v->expanded & bit(i)))
            continue;
        struct name owner = rrsets_owner(sets, &sets->set[i]);
        struct name zone = name_suffix(owner, v->signer_labels[i]);
        collect(call, &denial, zone);
        enum denial_result result = denial_of_next_closer(&denial, owner, v->encloser_labels[i]);
        if (use_proof(call, result, zone) == PROGRESS_STEP)
            return PROGRESS_STEP;
    }
    return PROGRESS_DECIDED;
}

/* Returns the deepest zone at or above the name whose proofs were verified. A zone above a deeper
 * anchor of the name does not count: it may deny a zone that the operator knows better, or know it
 * as insecure. False: none. */
static bool find_proof_zone(const struct call *call, struct name name, struct name *out)
{
    const struct validation *v = call->v;
    const struct rrsets *sets = &call->view->space->sets;
    bool any = false;
    unsigned labels = 0;
    for (unsigned i = 0; i < sets->count; i++) {
        if (!(v->optional & v->secure & ~v->expanded & bit(i)))
            continue;
        struct name zone = name_suffix(rrsets_owner(sets, &sets->set[i]), v->signer_labels[i]);
        if (!name_is_below(name, zone) || end_has_anchor_below(call, zone) ||
            (any && v->signer_labels[i] < labels))
            continue;
        any = true;
        labels = v->signer_labels[i];
    }
    *out = name_suffix(name, labels);
    return any;
}

/* NXDOMAIN. Some servers give it for empty non-terminals. The rcode is not signed, and a proof that
 * the name exists without the type counts as what it is. The reverse is no proof: a NODATA needs
 * one for the name or a wildcard. */
static enum progress prove_name_absent(struct call *call, const struct denial *denial)
{
    const struct validation_view *view = call->view;
    enum denial_result result = denial_of_name(denial, view->end);
    if (result == DENIAL_UNPROVEN &&
        denial_of_type(denial, view->end, view->question->type) == DENIAL_PROVEN) {
        call->v->is_nodata = true;
        result = DENIAL_PROVEN;
    }
    return use_proof(call, result, denial->zone);
}

/* Looks for a secure zone between the proof's zone and the name whose DS records are denied. Only
 * the zone that has the name may deny them: a zone above a cut that it signed says nothing about
 * names below, and a forger may have a denial that is older than the cut. Only zones that are known
 * count. */
static enum progress look_between(struct call *call, struct name zone)
{
    struct validation *v = call->v;
    struct name end = call->view->end, home = validation_home_of(end, RRTYPE_DS);
    unsigned next = name_label_count(zone) + v->between_looks + 1u;
    if (next > name_label_count(home))
        return PROGRESS_DECIDED;
    v->between_looks++;
    set_target(call, VALIDATION_END, end);
    return need(call, VALIDATION_DS, STATE_BETWEEN_DS, next);
}

static enum progress on_between_ds(struct call *call, const struct validation_event *event)
{
    uint16_t ede;
    bool has_ds = event->kind == VALIDATION_ANSWERED && event->answer->kind == ANSWER_POSITIVE;
    if (has_ds && read_ds(call, event, &ede) == TRUST_SECURE) /* denials cost hashes to read */
        return end_bogus(call, FAULT_NO_PROOF);
    return PROGRESS_DECIDED;
}

static enum progress prove_absence(struct call *call)
{
    struct validation *v = call->v;
    const struct validation_view *view = call->view;
    struct denial denial;
    struct name zone;
    bool is_about_ds = view->question->type == RRTYPE_DS;
    if (!find_proof_zone(call, validation_home_of(view->end, view->question->type), &zone)) {
        if (v->end_was_walked)
            return PROGRESS_DECIDED;
        v->end_was_walked = true;
        set_target(call, VALIDATION_END, view->end);
        v->zone_labels = (uint8_t)name_label_count(view->end);
        return is_trusted(target_anchor(call)) ? walk_begin(call) : target_insecure(call, EDE_NONE);
    }
    if (is_about_ds && look_between(call, zone) == PROGRESS_STEP)
        return PROGRESS_STEP;
    collect(call, &denial, zone);
    if (view->kind == ANSWER_NXDOMAIN)
        return prove_name_absent(call, &denial);
    v->proves_insecure = is_about_ds && name_equal(view->end, view->question->name) &&
                         denial_of_ds(&denial, view->end) == DENIAL_DS_INSECURE;
    return use_proof(call, denial_of_type(&denial, view->end, view->question->type), zone);
}

/* ---- the whole validation ---- */

/* The next RRset to judge: the first alias comes first, then the rest of the answer, and proofs
 * only where one is needed. */
static bool next_target(struct call *call)
{
    struct validation *v = call->v;
    const struct rrsets *sets = &call->view->space->sets;
    bool is_negative = call->view->kind != ANSWER_POSITIVE;
    uint32_t open = v->needed & ~v->decided;
    if (!open && ((is_negative && !v->is_insecure) || v->needed & v->expanded))
        open = v->optional & ~v->decided;
    if (!open)
        return false;
    unsigned at = (unsigned)__builtin_ctz(open & v->alias ? v->alias : open);
    set_target(call, at, rrsets_owner(sets, &sets->set[at]));
    return true;
}

static enum progress conclude(struct call *call)
{
    struct validation *v = call->v;
    const struct validation_view *view = call->view;
    bool is_negative = view->kind != ANSWER_POSITIVE;
    MUST(!v->is_oversize || v->is_insecure);
    if (prove_expansions(call) == PROGRESS_STEP)
        return PROGRESS_STEP;
    if (!v->is_insecure && is_negative && prove_absence(call) == PROGRESS_STEP)
        return PROGRESS_STEP;
    if (v->is_insecure)
        return end_as(call, SECURITY_INSECURE, view->asked_zone, v->insecure_ede);
    if (!v->secure || v->needed & ~v->secure)
        return end_bogus_at(call, FAULT_NO_SIGNATURE, view->asked_zone);
    unsigned first = (unsigned)__builtin_ctz(v->secure);
    struct name owner = rrsets_owner(&view->space->sets, &view->space->sets.set[first]);
    return end_as(call, SECURITY_SECURE, name_suffix(owner, v->signer_labels[first]), EDE_NONE);
}

/* Goes on until a step is needed. */
static void validation_advance(struct call *call, enum progress progress)
{
    while (progress == PROGRESS_DECIDED)
        progress = !call->v->is_oversize && next_target(call) ? judge_set(call) : conclude(call);
}

/* Reads the message into the space. False: it has more than is validated. */
static bool validation_read_message(const struct call *call)
{
    struct validation_space *space = call->view->space;
    space->owner = 0;
    space->keys_zone_len = 0;
    if (!rrsets_read(&space->sets, call->view->message, RRCLASS_IN))
        return false;
    space->owner = call->v->serial;
    return true;
}

/* An answer of any size may come from an insecure zone. */
static enum progress start_oversize(struct call *call)
{
    call->v->is_oversize = true;
    set_target(call, VALIDATION_END, call->view->question->name);
    if (!is_trusted(target_anchor(call)))
        return target_insecure(call, EDE_NONE);
    call->v->fault = FAULT_SIZE;
    return walk_begin(call);
}

static enum progress validation_start(struct call *call)
{
    struct validation *v = call->v;
    const struct validation_view *view = call->view;
    struct needs needs;
    v->steps = 0;
    if (view->question->type == RRTYPE_RRSIG) /* signatures have no signatures */
        return end_as(call, SECURITY_INSECURE, view->asked_zone, EDE_NONE);
    if (!validation_read_message(call))
        return start_oversize(call);
    needs_find(&needs, &view->space->sets, view);
    v->needed = needs.needed;
    v->alias = needs.alias;
    v->optional = needs.proofs;
    return needs.is_sound ? PROGRESS_DECIDED : end_bogus(call, FAULT_ALIAS);
}

/* ---- zones that are known to be insecure ---- */

/* Looks only where signatures of the data would be. */
static bool validation_is_signed(const struct validation_view *view)
{
    bool is_positive = view->kind == ANSWER_POSITIVE;
    return rrsets_are_signed(view->message, is_positive ? SECTION_ANSWER : SECTION_AUTHORITY);
}

/* Looks at the next name that may be an insecure zone: the asked zone, or else each below the
 * anchor. */
static enum progress look_for_insecure(struct call *call)
{
    struct validation *v = call->v;
    const struct validation_view *view = call->view;
    unsigned limit = name_label_count(validation_home_of(target_name(call), target_type(call)));
    if (view->zone_is_cut)
        limit = MIN(limit, name_label_count(view->asked_zone)) - v->used_hint;
    bool is_hint = view->zone_is_cut && !v->used_hint;
    unsigned next = is_hint ? MAX(limit, v->walk_labels + 1u) : v->walk_labels + 1u;
    if (next > limit || v->steps == VALIDATION_LOOKS_MAX)
        return validation_start(call);
    v->walk_labels = (uint8_t)next;
    return need(call, VALIDATION_DS, STATE_KNOWN_DS, next);
}

static enum progress look_down(struct call *call)
{
    call->v->walk_labels = (uint8_t)name_label_count(target_anchor(call)->zone);
    return look_for_insecure(call);
}

/* Most messages without signatures come from zones that are known to be insecure. One look at what
 * is known ends their validation before anything in them is read. */
static enum progress validation_open(struct call *call)
{
    const struct validation_view *view = call->view;
    set_target(call, VALIDATION_END, view->question->name);
    const struct anchor *anchor = target_anchor(call);
    struct name home = validation_home_of(view->question->name, view->question->type);
    bool is_below = !view->zone_is_cut || name_is_below(home, view->asked_zone);
    if (!view->is_at_qname || !is_trusted(anchor) || !is_below || validation_is_signed(view))
        return validation_start(call);
    return look_down(call);
}

static enum progress on_known_ds(struct call *call, const struct validation_event *event)
{
    if (event->kind == VALIDATION_ANSWERED && trust_knows_insecure(event->answer)) {
        uint16_t ede = event->answer->ede_count ? event->answer->ede[0] : EDE_NONE;
        call->v->insecure_labels = call->v->zone_labels;
        return end_as(call, SECURITY_INSECURE, call->view->asked_zone, ede);
    }
    if (event->kind == VALIDATION_ANSWERED)
        return look_for_insecure(call);
    if (!call->view->zone_is_cut || call->v->used_hint)
        return validation_start(call);
    call->v->used_hint = true; /* nothing is known about the asked zone */
    return look_down(call);
}

/* The units and steps of a verification that was put off are given back: they come again. */
static enum progress validation_resume(struct call *call)
{
    if (call->v->state == STATE_STARTING)
        return validation_open(call);
    MUST(call->v->state == STATE_VERIFYING);
    *call->view->units_left += call->v->charged;
    call->v->steps = call->v->target_steps;
    return judge_set(call);
}

/* Whether a reload took the anchor of the target away while the validation waited for an answer. */
static bool has_lost_anchor(const struct call *call)
{
    enum state state = (enum state)call->v->state;
    bool has_waited = state == STATE_SIGNER_DS || state == STATE_KEYS || state == STATE_OWN_DS ||
                      state == STATE_WALKING;
    return has_waited && !is_trusted(target_anchor(call));
}

static enum progress take_event(struct call *call, const struct validation_event *event)
{
    if (event->kind == VALIDATION_RESUMED)
        return validation_resume(call);
    if (has_lost_anchor(call)) { /* the last step may have been about a zone above */
        call->v->zone_labels = (uint8_t)name_label_count(claimed_home(call));
        return target_insecure(call, EDE_NONE);
    }
    switch ((enum state)call->v->state) {
    case STATE_STARTING:
        return validation_open(call);
    case STATE_KNOWN_DS:
        return on_known_ds(call, event);
    case STATE_KNOWN_KEYS:
    case STATE_KEYS:
        return on_keys(call, event);
    case STATE_SIGNER_DS:
    case STATE_OWN_DS:
        return on_ds(call, event);
    case STATE_VERIFYING:
        return on_verified(call, event);
    case STATE_WALKING:
        return on_walk_ds(call, event);
    case STATE_BETWEEN_DS:
        return on_between_ds(call, event);
    case STATE_ENDED:
        break;
    }
    MUST(!"a validation that has ended");
    return PROGRESS_STEP;
}

void validation_begin(struct validation *validation, uint64_t serial)
{
    memset(validation, 0, offsetof(struct validation, name));
    validation->serial = serial;
    validation->insecure_ede = EDE_NONE;
    validation->insecure_labels = VERDICT_NO_LABELS;
    validation->ttl_max_s = UINT32_MAX;
}

void validation_next(struct validation *validation, const struct validation_view *view,
                     const struct validation_event *event, struct validation_step *out)
{
    struct call call = {.v = validation, .view = view, .out = out};
    bool has_read = validation->state > STATE_KNOWN_DS;
    if (has_read && view->space->owner != validation->serial && !validation->is_oversize)
        (void)!validation_read_message(&call);
    validation_advance(&call, take_event(&call, event));
}

const struct rrsets *validation_sets(const struct validation *validation,
                                     const struct validation_space *space)
{
    return space->owner == validation->serial ? &space->sets : NULL;
}

bool validation_proof_of(const struct validation *validation, const struct rrsets *sets,
                         unsigned at, struct validation_proof *out)
{
    if (!(validation->secure & bit(at)))
        return false;
    *out = (struct validation_proof){
        .signature = rrsets_rdata(sets, validation->good_sig[at]),
        .signer_labels = validation->signer_labels[at],
        .is_expanded = validation->expanded & bit(at),
        .encloser_labels = validation->encloser_labels[at],
    };
    return true;
}

/* Returns the RRset that the record belongs to or signs, if it was verified. */
static const struct rrset *find_verified(const struct validation *validation,
                                         const struct rrsets *sets, const struct rr *rr)
{
    const struct rrset *set = sets ? rrsets_with(sets, rr) : NULL;
    return set && validation->secure & bit((unsigned)(set - sets->set)) ? set : NULL;
}

bool validation_has_verified(const struct validation *validation, const struct rrsets *sets,
                             const struct rr *rr)
{
    return find_verified(validation, sets, rr);
}

bool validation_is_verified_sig(const struct validation *validation, const struct rrsets *sets,
                                const struct rr *rr)
{
    const struct rrset *set = find_verified(validation, sets, rr);
    return set &&
           sets->record[validation->good_sig[set - sets->set]].rdata_offset == rr->rdata_offset;
}
