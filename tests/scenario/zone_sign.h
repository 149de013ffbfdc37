/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_SCENARIO_ZONE_SIGN_H
#define NAILUP_TESTS_SCENARIO_ZONE_SIGN_H

/*
 * Signed zones. A zone with the word `signed` has a key that follows from its name (zone_key.h),
 * and its server signs each answer as it leaves, with proofs of absence by NSEC or NSEC3. More
 * words make the signatures or proofs wrong, as README.md lists. Nothing here uses the validator's
 * code except the hash of NSEC3.
 */

#include <stdbool.h>
#include <stdint.h>

#include "dns/question.h"
#include "scenario/compose_message.h"

struct script;
struct script_zone;

enum { ZONE_FAULTS_MAX = 6, ZONE_OWN_LABELS = 255 };

enum zone_fault_kind {
    FAULT_SIG_WRONG,   /* a bit of the signature is wrong */
    FAULT_SIG_EXPIRED, /* the signature ended long ago */
    FAULT_SIG_EARLY,   /* the signature begins next year */
    FAULT_SIG_MISSING, /* the RRset has no signature */
    FAULT_SIG_FOREIGN, /* a key that the zone does not have made it */
    FAULT_SIG_LABELS,  /* the labels field is one above the owner's labels */
    FAULT_SIG_SHORT,   /* the signature ends in a minute */
    FAULT_SIG_ABOVE,   /* the signer is the parent zone */
};

/* Type 0 means all types except DNSKEY. */
struct zone_fault {
    enum zone_fault_kind kind;
    uint16_t type;
};

/* The words of a signed zone. */
struct zone_signing {
    bool is_signed;
    bool has_nsec3, has_opt_out;
    uint16_t iterations;
    uint8_t algorithm; /* the algorithm of the key; 0: Ed25519 */
    bool lacks_ds;     /* the zone above has no DS record for this zone */
    bool lacks_proofs; /* the zone has no NSEC or NSEC3 records */
    bool is_narrow;    /* the NSEC spans cover little more than the denied name (RFC 4470) */
    bool lacks_keys;   /* the zone has no DNSKEY record */
    uint8_t ds_algorithm, ds_digest; /* where set, they replace the true ones */
    bool has_bad_ds;                 /* the digest belongs to another key */
    uint16_t key_flags;              /* 257 at first */
    uint32_t key_ttl_s;              /* the TTL of the DNSKEY record; 0: an hour */
    unsigned fault_count;
    struct zone_fault fault[ZONE_FAULTS_MAX];
};

/* Takes a word after the name of a zone. Returns false if it is another word. */
bool zone_sign_word(struct zone_signing *signing, const char *word);

/* Call it when the whole file is read: adds the keys of signed zones to them, and DS records to the
 * zones above. */
void zone_sign_link(struct script *script);

/* Adds DS records, proofs and signatures to an answer of the zone, which has all other records
 * already. */
void zone_sign_answer(const struct script_zone *zone, const struct question *question,
                      struct compose_message *message);

/* Signs the RRsets of a message that a scenario wrote, at and below the zone's name, with the
 * zone's key and its faults. labels is the number of labels in all signatures, or ZONE_OWN_LABELS.
 * The zone needs no records. */
void zone_sign_message(const struct script_zone *zone, unsigned labels,
                       struct compose_message *message);

/* Returns a copy of the YAML from malloc(), with the root's DS record for "TEST-ANCHOR" and that of
 * example.com for "TEST-ANCHOR=example.com". */
char *zone_sign_config(const char *yaml);

#endif
