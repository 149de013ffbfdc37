/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_VALIDATE_VALIDATION_H
#define NAILUP_VALIDATE_VALIDATION_H

/*
 * Decides whether a message is secure, insecure or bogus (RFC 4035 section 5). It decides and never
 * acts: it has no network, no clock and no cryptography. Its steps name what it needs, and events
 * bring the results.
 *
 *   STARTED  -> KEYS zone      <- ANSWERED by the answer to (zone, DNSKEY), or FAILED, UNKNOWN
 *               DS zone        <- ANSWERED by the answer to (zone, DS), or FAILED
 *               VERIFY job     <- VERIFIED
 *               VERDICT
 *
 * Invariant: the verdict SECURE is unreachable unless each RRset that it covers had a VERIFIED
 * event under a key of its signer, and each key a chain of such events to an anchor. INSECURE is
 * unreachable for a name below an anchor unless such a record shows it: README.md lists which.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/answer.h"
#include "validate/rrsets.h"
#include "validate/validation_view.h"
#include "validate/verify.h"

enum {
    VALIDATION_SIGS_MAX = 8,     /* signatures of one RRset that count */
    VALIDATION_TAG_KEYS_MAX = 2, /* keys of one tag and algorithm that are tried */
    VALIDATION_FAILURES_MAX = 4, /* wrong signatures of one message; 2 of one RRset */
    VALIDATION_SET_FAILURES_MAX = 2,
    VALIDATION_STEPS_MAX = 48, /* KEYS and DS steps of one message */
    VALIDATION_LOOKS_MAX = 8,  /* DS steps before these, which only look at what is known */
};

/* The cost that one client's question may cause, in units of 10 us (algorithm_cost()). */
enum { VALIDATION_UNITS_MAX = 800 };

/* The wrong signatures that one client's question may have in all its messages. After one server
 * with a forged signature, enough is left to ask two other servers. */
enum { VALIDATION_QUESTION_FAILURES_MAX = 4 };

enum { VERDICT_NO_LABELS = 0xff /* no name has this many labels */ };

/* The verdict on an RRset or on the whole message. */
struct verdict {
    enum security security;
    uint16_t ede; /* of BOGUS; of INSECURE the reason where there is one (1, 2, 27); or EDE_NONE */
    const char *fault;  /* static text of a BOGUS verdict: "a signature has expired"; else "" */
    uint32_t since_s;   /* the end of an expired signature, the start of one that is not yet valid;
                           else 0 */
    uint32_t ttl_max_s; /* SECURE: no record lives longer */
    uint32_t signed_until_s; /* SECURE: the wall-clock time at which a signature expires first */
    bool proves_insecure; /* SECURE: the answer proves a zone cut without DS records at the QNAME */
    bool is_nodata;       /* SECURE: the rcode denies the name, and the proof only the type */
    bool is_private;      /* INSECURE: the parent denies this configured zone, so it is private */
    uint8_t insecure_labels; /* INSECURE: the suffix of the QNAME with this many labels, and all
                                below it, are insecure; VERDICT_NO_LABELS: only this answer is */
    bool is_unsigned;        /* BOGUS: the signatures or the keys of a signed zone are missing */
    bool may_be_private;     /* BOGUS: a configured zone lacks what its parent promises */
    bool alias_is_good;      /* BOGUS: the first alias is not at fault, so what follows it is */
    bool is_final; /* BOGUS: our trust anchor cannot be used, so no server has a better answer */
    bool is_unreachable; /* BOGUS: keys or DS records could not be fetched; not remembered long */
    bool is_spent;       /* BOGUS: the budget is used up; not remembered */
    uint8_t zone_len;    /* the zone at fault, or the signer */
    uint8_t zone[NAME_WIRE_MAX];
};

enum validation_step_kind {
    VALIDATION_KEYS,    /* zone: the validated answer to (zone, DNSKEY) is needed */
    VALIDATION_DS,      /* zone: the validated answer to (zone, DS) is needed */
    VALIDATION_VERIFY,  /* job: the units are charged; borrows from the view */
    VALIDATION_VERDICT, /* verdict: the validation has ended */
};

struct validation_step {
    enum validation_step_kind kind;
    bool only_known;  /* KEYS, DS: from the cache only; UNKNOWN is a good answer */
    struct name zone; /* borrows from the validation */
    struct verify_job job;
    struct verdict verdict;
};

enum validation_event_kind {
    VALIDATION_STARTED,
    VALIDATION_RESUMED,  /* the VERIFY step was put off: a step that leads to it comes again; or
                            the beginning was, and this is the first event */
    VALIDATION_ANSWERED, /* answer: its question is the step's; borrowed for the call */
    VALIDATION_UNKNOWN,  /* with only_known: not in the cache */
    VALIDATION_FAILED,   /* KEYS, DS: the question has no answer */
    VALIDATION_VERIFIED, /* is_right */
};

struct validation_event {
    enum validation_event_kind kind;
    const struct answer *answer; /* with DNSSEC records, as stored: its security counts */
    uint16_t ede;                /* FAILED: the first extended error, or EDE_NONE */
    bool is_right;
};

/* The state of one validation. It has no pointers, so a copy of it is a validation too.
 * All members are private to validation.c. A set of RRsets is a mask of their indexes. */
struct validation {
    uint64_t serial;
    uint8_t state;
    uint8_t steps;           /* KEYS and DS steps so far */
    uint8_t target_steps;    /* the steps before this target */
    uint8_t failures;        /* wrong signatures */
    uint8_t target;          /* index of the RRset that is judged, or VALIDATION_END */
    uint8_t target_failures; /* of these, of this RRset */
    uint8_t sig, key;        /* the pair to try next; sig counts the usable ones */
    uint8_t home_labels;     /* of the deepest zone that the target may be of, a suffix of name */
    uint8_t walk_labels;     /* the walk has decided about the suffix with this many labels */
    uint8_t cut_labels;      /* of the deepest secure zone that the walk has found */
    uint8_t zone_labels;     /* of the name in the last KEYS or DS step, a suffix of name */
    uint8_t between_looks;   /* at names between the zone of a proof and the denied name */
    uint8_t lost_labels;     /* of the zone whose DS records cannot be fetched; 0: none */
    uint8_t fault;           /* the first fault of an RRset without a good signature */
    bool is_oversize;        /* more records than are validated */
    bool used_hint;          /* the walk has looked at the asked zone */
    bool is_insecure;        /* some part of the answer is */
    bool is_private;
    bool end_was_walked;
    bool proves_insecure;
    bool is_nodata;
    uint8_t insecure_labels; /* of the highest insecure zone that a target was found in */
    uint16_t insecure_ede;
    uint16_t lost_ede; /* why they cannot be fetched */
    uint16_t sig_at;   /* the record of the signature that was found last */
    uint32_t charged;  /* units of the VERIFY step under way */
    uint32_t fault_since_s;
    uint32_t ttl_max_s;
    uint32_t signed_until_s; /* the earliest end of the signatures that were right */
    uint32_t needed;         /* RRsets that must be secure */
    uint32_t alias;          /* of these, the first alias of the chain; 0: none */
    uint32_t optional;       /* proofs, which may be bad as long as the others suffice */
    uint32_t decided;
    uint32_t secure;                     /* with a verified signature */
    uint32_t expanded;                   /* from a wildcard */
    uint8_t signer_labels[RRSETS_MAX];   /* of secure RRsets */
    uint16_t good_sig[RRSETS_MAX];       /* of secure RRsets: the record that was verified */
    uint8_t encloser_labels[RRSETS_MAX]; /* of expanded ones */
    uint8_t name_len;
    uint8_t name[NAME_WIRE_MAX]; /* of the target */
};

/* Begins. serial is not 0 and was not used before in this worker. */
void validation_begin(struct validation *validation, uint64_t serial);

/* Takes an event and gives the next step. The first event is STARTED. */
void validation_next(struct validation *validation, const struct validation_view *view,
                     const struct validation_event *event, struct validation_step *out);

/*
 * Returns the RRsets of the message that was judged, as the next functions need them. NULL: the
 * space holds another message, which may be gone, or none. Then the verdict came without a look at
 * this message, and nothing in it was verified. This is the one door to the space from outside.
 */
const struct rrsets *validation_sets(const struct validation *validation,
                                     const struct validation_space *space);

/* The verified signature of one RRset. */
struct validation_proof {
    struct span signature;    /* RDATA; borrows from the message */
    unsigned signer_labels;   /* the signer is a suffix of the owner */
    bool is_expanded;         /* from the wildcard below the closest encloser, */
    unsigned encloser_labels; /* which has this many labels */
};

/* Returns how the RRset in this place of the message was verified. False: it was not. */
bool validation_proof_of(const struct validation *validation, const struct rrsets *sets,
                         unsigned at, struct validation_proof *out);

/* sets: NULL is fine. After the verdict SECURE: whether the RRset of this authority record was
 * verified. An unverified one must not reach clients. */
bool validation_has_verified(const struct validation *validation, const struct rrsets *sets,
                             const struct rr *rr);

/* sets: NULL is fine. Whether this RRSIG record is the signature that was verified. Anyone may have
 * added the others beside it.
 */
bool validation_is_verified_sig(const struct validation *validation, const struct rrsets *sets,
                                const struct rr *rr);

#endif
