/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_VALIDATE_PLAY_H
#define NAILUP_TESTS_VALIDATE_PLAY_H

/*
 * Bytes become a message, and the results of all steps of its validation. The play checks what must
 * hold whatever comes: SECURE needs a right verification of each RRset that is asked for, under a
 * key of its signer which an earlier event made trusted. The signatures here have no cryptography.
 */

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "dns/edns.h"
#include "dns/header.h"
#include "dns/rrtype.h"
#include "validate/algorithm.h"
#include "validate/validation.h"

enum {
    PLAY_NOW_S = 1800000000,
    PLAY_YEAR_S = 31536000,
    PLAY_RIGHT_MAX = 64,
    PLAY_EVENTS_MAX = 400,
    PLAY_KEY = 64,
};

/* A verification that was right. */
struct play_right {
    struct name zone, owner; /* the signed owner: a wildcard if the name was expanded */
    uint16_t type;
    uint8_t zone_wire[NAME_WIRE_MAX], owner_wire[NAME_WIRE_MAX];
};

struct play {
    const uint8_t *data;
    size_t left;
    uint8_t bytes[8192]; /* the bytes of the message */
    size_t len;
    uint8_t other[8192]; /* the bytes of the last answer about keys or DS records */
    struct message message;
    struct question question;
    struct validation validation;
    struct validation_view view;
    unsigned units, failures_left;
    bool is_put_off;     /* the verification was put off */
    uint8_t trusted[16]; /* by zone: whether a KEYS event brought the true key as secure */
    uint8_t vouched[16]; /* by zone: whether a DS event or the anchor vouches for the true key */
    unsigned right_count, wrong_count;
    struct play_right right[PLAY_RIGHT_MAX];
};

static struct validation_space play_space;
static struct anchors *play_anchors;

static const struct name play_name[] = {
    {(const uint8_t *)"", 1},
    {(const uint8_t *)"\7example", 9},
    {(const uint8_t *)"\5other", 7},
    {(const uint8_t *)"\3www\7example", 13},
    {(const uint8_t *)"\1a\3www\7example", 15},
    {(const uint8_t *)"\1*\7example", 11},
    {(const uint8_t *)"\4host\5other", 12},
    {(const uint8_t *)"\1b\7example", 11},
};
enum { PLAY_NAMES = 8, PLAY_ZONES = 4 /* only the first of these names */ };

static inline uint8_t play_byte(struct play *play)
{
    if (!play->left)
        return 0;
    play->left--;
    return *play->data++;
}

/* Returns true once in n bytes. Returns false when the bytes have ended, so that the rest is
 * honest. */
static inline bool play_odd(struct play *play, unsigned n)
{
    return play->left && play_byte(play) % n == 0;
}

static inline struct name play_any_name(struct play *play)
{
    return play_name[play_byte(play) % PLAY_NAMES];
}

/* ---- records ---- */

static inline void play_put(uint8_t *bytes, size_t *len, enum section section, struct name owner,
                            uint16_t type, uint32_t ttl, const uint8_t *rdata, size_t rdata_len)
{
    memcpy(bytes + *len, owner.wire, owner.len);
    *len += owner.len;
    put_u16(bytes + *len, type);
    put_u16(bytes + *len + 2, RRCLASS_IN);
    put_u16(bytes + *len + 4, (uint16_t)(ttl >> 16));
    put_u16(bytes + *len + 6, (uint16_t)ttl);
    put_u16(bytes + *len + 8, (uint16_t)rdata_len);
    memcpy(bytes + *len + 10, rdata, rdata_len);
    *len += 10 + rdata_len;
    header_set_count(bytes, section, (uint16_t)(header_count(bytes, section) + 1));
}

static inline void play_head(uint8_t *bytes, size_t *len, const struct question *question)
{
    memset(bytes, 0, HEADER_LEN);
    header_set_flags(bytes, HEADER_QR | HEADER_RA);
    header_set_count(bytes, SECTION_QUESTION, 1);
    memcpy(bytes + HEADER_LEN, question->name.wire, question->name.len);
    *len = HEADER_LEN + question->name.len;
    put_u16(bytes + *len, question->type);
    put_u16(bytes + *len + 2, RRCLASS_IN);
    *len += 4;
}

/* Writes the DNSKEY of the zone, or that of an attacker. Returns the length of the RDATA. */
static inline size_t play_dnskey(unsigned zone, bool is_true, uint8_t out[4 + PLAY_KEY])
{
    memcpy(out, "\1\1\3\15", 4);
    memset(out + 4, is_true ? (int)zone + 1 : 0xee, PLAY_KEY);
    return 4 + PLAY_KEY;
}

static inline struct dnskey play_key(unsigned zone, bool is_true, uint8_t bytes[4 + PLAY_KEY])
{
    struct dnskey key;
    MUST(dnskey_read(&key, span_of(bytes, play_dnskey(zone, is_true, bytes))));
    return key;
}

static inline size_t play_ds(unsigned zone, bool is_true, uint8_t out[64])
{
    uint8_t bytes[4 + PLAY_KEY];
    struct dnskey key = play_key(zone, is_true, bytes);
    put_u16(out, key.tag);
    out[2] = key.algorithm;
    out[3] = DIGEST_SHA256;
    return 4 + verify_digest(DIGEST_SHA256, span_of(play_name[zone].wire, play_name[zone].len),
                             key.rdata, out + 4);
}

static inline unsigned play_zone_of(struct name name)
{
    unsigned best = 0;
    for (unsigned i = 1; i < 3; i++)
        if (name_is_below(name, play_name[i]))
            best = i;
    return best;
}

/* Writes a signature by the zone, sometimes with odd fields. */
static inline size_t play_rrsig(struct play *play, struct name owner, uint16_t type, unsigned zone,
                                uint8_t out[512])
{
    uint8_t bytes[4 + PLAY_KEY];
    if (play_odd(play, 16))
        zone = play_byte(play) % PLAY_ZONES;
    struct dnskey key = play_key(zone, !play_odd(play, 16), bytes);
    unsigned labels = name_label_count(owner) - (owner.len > 2 && owner.wire[1] == '*');
    if (play_odd(play, 10))
        labels = play_byte(play) % 5;
    uint32_t until = PLAY_NOW_S + PLAY_YEAR_S, from = PLAY_NOW_S - PLAY_YEAR_S;
    if (play_odd(play, 16))
        until -= PLAY_YEAR_S / 128 * play_byte(play);
    if (play_odd(play, 24))
        from += PLAY_YEAR_S / 128 * play_byte(play);
    put_u16(out, type);
    out[2] = play_odd(play, 24) ? play_byte(play) : key.algorithm;
    out[3] = (uint8_t)labels;
    memcpy(out + 4, "\0\0\1\54", 4); /* the TTL 300 */
    put_u16(out + 8, (uint16_t)(until >> 16));
    put_u16(out + 10, (uint16_t)until);
    put_u16(out + 12, (uint16_t)(from >> 16));
    put_u16(out + 14, (uint16_t)from);
    put_u16(out + 16, play_odd(play, 24) ? play_byte(play) : key.tag);
    memcpy(out + 18, play_name[zone].wire, play_name[zone].len);
    out[18 + play_name[zone].len] = play_odd(play, 12) ? 'x' : 'G';
    return 19u + play_name[zone].len;
}

static inline size_t play_rdata(struct play *play, struct name owner, uint16_t type, uint8_t *out)
{
    struct name target = play_any_name(play);
    size_t len = 0;
    switch (type) {
    case RRTYPE_CNAME:
    case RRTYPE_DNAME:
    case RRTYPE_NS:
        memcpy(out, target.wire, target.len);
        return target.len;
    case RRTYPE_SOA:
        memset(out, 0, 22); /* two root names and five numbers */
        return 22;
    case RRTYPE_DNSKEY:
        return play_dnskey(play_zone_of(owner), !play_odd(play, 8), out);
    case RRTYPE_DS:
        return play_ds(play_zone_of(owner), !play_odd(play, 8), out);
    case RRTYPE_NSEC:
        memcpy(out, target.wire, target.len);
        len = target.len;
        out[len++] = 0;
        out[len++] = 6;
        for (unsigned i = 0; i < 6; i++)
            out[len++] = play_byte(play);
        return len;
    default:
        memcpy(out, "\300\0\2\1", 4);
        return 4;
    }
}

/* Adds a record and its signature. Sometimes one of them is missing. */
static inline void play_signed(struct play *play, enum section section, struct name owner,
                               uint16_t type)
{
    uint8_t rdata[512];
    if (play->len > sizeof(play->bytes) - 1024)
        return;
    if (!play_odd(play, 20)) {
        size_t len = play_rdata(play, owner, type, rdata);
        play_put(play->bytes, &play->len, section, owner, type, 300, rdata, len);
    }
    if (!play_odd(play, 16)) {
        size_t len = play_rrsig(play, owner, type, play_zone_of(owner), rdata);
        play_put(play->bytes, &play->len, section, owner, RRTYPE_RRSIG, 300, rdata, len);
    }
}

/* ---- the message ---- */

static inline uint16_t play_type(struct play *play)
{
    static const uint16_t types[] = {RRTYPE_A,  RRTYPE_CNAME,  RRTYPE_DNAME, RRTYPE_NS,  RRTYPE_SOA,
                                     RRTYPE_DS, RRTYPE_DNSKEY, RRTYPE_NSEC,  RRTYPE_ANY, RRTYPE_A};
    return types[play_byte(play) % ARRAY_LEN(types)];
}

static inline void play_answer(struct play *play)
{
    for (unsigned i = play_byte(play) % 4; i > 0; i--) {
        struct name owner = play_any_name(play);
        play_signed(play, SECTION_ANSWER, owner, play_type(play));
    }
    if (play->view.kind == ANSWER_POSITIVE)
        play_signed(play, SECTION_ANSWER, play->view.end, play->question.type);
}

static inline void play_authority(struct play *play)
{
    if (play->view.kind != ANSWER_POSITIVE)
        play_signed(play, SECTION_AUTHORITY, play_name[play_zone_of(play->view.end)], RRTYPE_SOA);
    for (unsigned i = play_byte(play) % 5; i > 0; i--) {
        struct name owner = play_any_name(play);
        play_signed(play, SECTION_AUTHORITY, owner,
                    play_odd(play, 6) ? play_type(play) : RRTYPE_NSEC);
    }
}

static inline bool play_message(struct play *play)
{
    play->question =
        (struct question){.name = play_any_name(play), .type = play_type(play), .cls = RRCLASS_IN};
    play->units = play_odd(play, 16) ? play_byte(play) : VALIDATION_UNITS_MAX;
    play->failures_left =
        play_odd(play, 16) ? play_byte(play) % 4 : VALIDATION_QUESTION_FAILURES_MAX;
    play->view = (struct validation_view){
        .message = &play->message,
        .question = &play->question,
        .kind = (enum answer_kind)(play_byte(play) % 3),
        .end = play_odd(play, 3) ? play_any_name(play) : play->question.name,
        .leads_out = play_odd(play, 10),
        .asked_zone = play_name[play_byte(play) % PLAY_ZONES],
        .zone_is_configured = play_odd(play, 10),
        .zone_is_cut = play_odd(play, 2),
        .is_at_qname = play_odd(play, 2),
        .clock = {.now_s = PLAY_NOW_S},
        .anchors = play_anchors,
        .space = &play_space,
        .units_left = &play->units,
        .failures_left = &play->failures_left,
    };
    play_head(play->bytes, &play->len, &play->question);
    play_answer(play);
    play_authority(play);
    return message_parse(&play->message, span_of(play->bytes, play->len)) == MESSAGE_OK;
}

/* ---- events ---- */

static inline unsigned play_find_zone(struct name zone)
{
    for (unsigned i = 0; i < PLAY_NAMES; i++)
        if (name_equal(play_name[i], zone))
            return i;
    return PLAY_NAMES; /* a further name of the message */
}

/* Makes an answer about the zone's keys or DS records. Mostly they are the true ones and secure. */
static inline struct validation_event
play_known(struct play *play, const struct validation_step *step, struct answer *answer)
{
    bool is_keys = step->kind == VALIDATION_KEYS;
    unsigned zone = play_find_zone(step->zone);
    uint8_t rdata[512];
    size_t len;
    if (play_odd(play, 12) || zone == PLAY_NAMES)
        return (struct validation_event){.kind = VALIDATION_FAILED, .ede = play_byte(play)};
    if (step->only_known && play_odd(play, 2))
        return (struct validation_event){.kind = VALIDATION_UNKNOWN, .ede = EDE_NONE};
    struct question question = {
        .name = play_name[zone], .type = is_keys ? RRTYPE_DNSKEY : RRTYPE_DS, .cls = RRCLASS_IN};
    *answer = (struct answer){.kind = ANSWER_POSITIVE, .security = SECURITY_SECURE, .ttl_s = 300};
    if (play_odd(play, 8))
        answer->kind = play_byte(play) % ANSWER_KINDS;
    if (play_odd(play, 8))
        answer->security = play_byte(play) & 3;
    bool is_true = !play_odd(play, 8);
    play_head(play->other, &len, &question);
    size_t rdata_len = is_keys ? play_dnskey(zone, is_true, rdata) : play_ds(zone, is_true, rdata);
    bool has_record = !play_odd(play, 8);
    if (has_record)
        play_put(play->other, &len, SECTION_ANSWER, question.name, question.type, 300, rdata,
                 rdata_len);
    answer->message = span_of(play->other, len);
    bool is_good = answer->kind == ANSWER_POSITIVE && answer->security == SECURITY_SECURE &&
                   is_true && has_record;
    if (is_keys)
        play->trusted[zone] = is_good;
    else
        play->vouched[zone] = is_good;
    return (struct validation_event){
        .kind = VALIDATION_ANSWERED, .answer = answer, .ede = EDE_NONE};
}

/* The canonical bytes of the first record's owner follow the fields of the signature. */
static inline void play_note_right(struct play *play, const struct validation_step *step)
{
    struct play_right *right = &play->right[play->right_count++ % PLAY_RIGHT_MAX];
    struct name signer, owner;
    size_t at = name_view(step->job.data, 18, &signer);
    MUST(at && name_equal(signer, step->zone));
    MUST(name_view(step->job.data, at, &owner));
    right->zone = name_copy(step->zone, right->zone_wire);
    right->owner = name_copy(owner, right->owner_wire);
    right->type = get_u16(step->job.data.data);
}

/* Only the true key is right. Its zone must be trusted, or vouched for while its keys are judged.
 */
static inline struct validation_event play_verify(struct play *play,
                                                  const struct validation_step *step)
{
    unsigned zone = play_find_zone(step->zone);
    uint8_t bytes[4 + PLAY_KEY];
    MUST(zone < PLAY_NAMES);
    struct dnskey key = play_key(zone, true, bytes);
    bool is_keyset = get_u16(step->job.data.data) == RRTYPE_DNSKEY;
    /* A task that resumes verifies at once (resolve/verify_turn.h), so the play ends. */
    play->is_put_off = !play->is_put_off && play_odd(play, 20);
    if (play->is_put_off) {
        play_space.owner = 0;
        return (struct validation_event){.kind = VALIDATION_RESUMED, .ede = EDE_NONE};
    }
    bool is_right = span_equal(step->job.key, key.key) && step->job.signature.data[0] == 'G';
    if (is_right) {
        MUST(is_keyset ? zone == 0 || play->vouched[zone] : play->trusted[zone]);
        play_note_right(play, step);
    } else {
        play->wrong_count++;
    }
    return (struct validation_event){
        .kind = VALIDATION_VERIFIED, .is_right = is_right, .ede = EDE_NONE};
}

/* ---- what must hold ---- */

static inline bool play_has_right(const struct play *play, struct name owner, uint16_t type)
{
    for (unsigned i = 0; i < play->right_count && i < PLAY_RIGHT_MAX; i++) {
        const struct play_right *right = &play->right[i];
        bool is_wild = right->owner.len > 2 && right->owner.wire[1] == '*';
        bool fits = name_equal(right->owner, owner) ||
                    (is_wild && name_is_below(owner, name_parent(right->owner)));
        if (right->type == type && fits && name_is_below(owner, right->zone))
            return true;
    }
    return false;
}

/* Returns whether the CNAME record follows from a verified DNAME record. */
static inline bool play_is_made(const struct play *play, const struct rr *cname, struct name owner)
{
    uint8_t above_wire[NAME_WIRE_MAX], to_wire[NAME_WIRE_MAX], target_wire[NAME_WIRE_MAX];
    struct name to, target;
    if (cname->type != RRTYPE_CNAME || !message_target(&play->message, cname, target_wire, &target))
        return false;
    struct rr_iter iter = message_rrs(&play->message, SECTION_ANSWER);
    for (struct rr rr; message_rr_next(&iter, &rr);) {
        struct name above = message_owner(&play->message, &rr, above_wire);
        if (rr.type != RRTYPE_DNAME || above.len >= owner.len || !name_is_below(owner, above) ||
            !play_has_right(play, above, RRTYPE_DNAME) ||
            !message_target(&play->message, &rr, to_wire, &to))
            continue;
        size_t kept = (size_t)owner.len - above.len;
        if (target.len == kept + to.len && !memcmp(target.wire, owner.wire, kept) &&
            name_equal((struct name){target.wire + kept, to.len}, to))
            return true;
    }
    return false;
}

static inline void play_check_data(const struct play *play)
{
    struct rr_iter iter = message_rrs(&play->message, SECTION_ANSWER);
    for (struct rr rr; message_rr_next(&iter, &rr);) {
        uint8_t wire[NAME_WIRE_MAX];
        struct name owner = message_owner(&play->message, &rr, wire);
        if (rr.type == play->question.type && name_equal(owner, play->view.end))
            MUST(play_has_right(play, owner, rr.type) || play_is_made(play, &rr, owner));
    }
}

static inline void play_check_proof(const struct play *play)
{
    for (unsigned i = 0; i < play->right_count && i < PLAY_RIGHT_MAX; i++)
        if ((play->right[i].type == RRTYPE_NSEC || play->right[i].type == RRTYPE_NSEC3) &&
            name_is_below(play->view.end, play->right[i].zone))
            return;
    MUST(!"a secure denial without a verified proof");
}

static inline void play_check(const struct play *play, const struct verdict *verdict)
{
    MUST(play->wrong_count <= VALIDATION_FAILURES_MAX);
    MUST(play->wrong_count + play->failures_left <= VALIDATION_QUESTION_FAILURES_MAX);
    MUST(play->units <= VALIDATION_UNITS_MAX);
    MUST(verdict->security != SECURITY_UNCHECKED && verdict->zone_len);
    MUST((verdict->security == SECURITY_BOGUS) == (verdict->fault[0] != 0));
    if (verdict->security != SECURITY_SECURE)
        return;
    MUST(play->right_count && verdict->ede == EDE_NONE);
    MUST(name_equal(play->view.end, play->question.name) ||
         play_has_right(play, play->question.name, RRTYPE_CNAME) || play->right_count);
    if (play->view.kind != ANSWER_POSITIVE)
        play_check_proof(play);
    else if (!play->view.leads_out)
        play_check_data(play);
}

static inline void play_begin(void)
{
    uint8_t rdata[64];
    if (play_anchors)
        return;
    play_anchors = anchors_new();
    MUST(play_anchors);
    MUST(anchors_add(play_anchors, play_name[0], RRTYPE_DS,
                     span_of(rdata, play_ds(0, true, rdata))) == ERR_OK);
}

/* Plays the bytes. Returns the security of the verdict. */
static inline enum security play_run(const uint8_t *data, size_t len)
{
    static struct play play;
    static uint64_t serial;
    struct validation_event event = {.kind = VALIDATION_STARTED, .ede = EDE_NONE};
    struct validation_step step;
    struct answer answer;
    play_begin();
    memset(&play, 0, sizeof(play));
    play.data = data;
    play.left = len;
    play.vouched[0] = true;
    if (!play_message(&play))
        return SECURITY_UNCHECKED;
    if (play_odd(&play, 8))
        event.kind = VALIDATION_RESUMED; /* the beginning was postponed */
    validation_begin(&play.validation, ++serial);
    for (unsigned i = 0; i < PLAY_EVENTS_MAX; i++) {
        validation_next(&play.validation, &play.view, &event, &step);
        if (step.kind == VALIDATION_VERDICT) {
            play_check(&play, &step.verdict);
            return step.verdict.security;
        }
        event = step.kind == VALIDATION_VERIFY ? play_verify(&play, &step)
                                               : play_known(&play, &step, &answer);
    }
    MUST(!"the validation does not end");
    return SECURITY_UNCHECKED;
}

#endif
