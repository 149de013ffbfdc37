/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_FUZZ_WORKER_SIGNING_H
#define NAILUP_TESTS_FUZZ_WORKER_SIGNING_H

/*
 * The signatures of the simulated DNS. The keys are Ed25519 and follow from the zones' names. They
 * are made once. A denial of t1., a.t1. or sub.stub. has NSEC3 records, whose spans are narrow. One
 * of another zone is compact: an NSEC record of the name itself (RFC 9824).
 *
 *   secure: .  t0.  t1.  a.t0.  a.t1.      insecure: b.t0.  c.e1.t0.  stub.  and sub.stub., a
 * signed island broken: fwd. has a DS record and signs nothing n<11 + 32 i>: wrong signatures,
 * whatever the server    n<9 + 32 i>: they end within seconds
 */

#include <stdbool.h>
#include <stdint.h>

#include "fuzz/worker/truth.h"

/* How a server signs an answer. */
enum signing_manner {
    SIGNING_HONEST,
    SIGNING_WRONG,   /* flips a bit of each signature */
    SIGNING_EXPIRED, /* the signatures ended days ago */
    SIGNING_FOREIGN, /* signs with a key that the zone does not have */
    SIGNING_STRIPS,  /* leaves out signatures, proofs, keys and DS records */
};

enum { SIGNING_SHORT_S = 20, SIGNING_LONG_S = 86400 };

/* The right verdict about a name, apart from its aliases. */
enum signing_state { SIGNING_SECURE, SIGNING_INSECURE, SIGNING_BOGUS, SIGNING_EITHER };
enum signing_state signing_state_of(struct name name);

/* Returns the state of the name with all its aliases: BOGUS if any is bogus, SECURE if all are
 * secure, EITHER if an insecure alias leads to a bogus name. A message with both is insecure.
 * unchecked: a bit for each zone that is not validated, whose names count as insecure. */
enum signing_state signing_state_of_chain(struct name name, uint16_t type, uint16_t unchecked);

/* Returns how long the signatures of this owner last. */
uint32_t signing_life_s(struct name owner);

/* Replaces the answer to a query with DO, as truth_answer() writes it, with a signed one. mask: the
 * server's zones; 0: a forwarder. */
void signing_seal(struct writer *out, const struct message *query, uint16_t mask, int64_t wall_s,
                  enum signing_manner manner);

/* Returns the DS record of a zone as text; static storage. */
const char *signing_anchor(enum truth_zone zone);

/* Writes a DS record or a key of the zone with a wrong signature, whether the zone signs or not. */
void signing_put_false(struct writer *out, enum section section, enum truth_zone zone,
                       uint16_t type, int64_t wall_s);

/* Writes the genuine denial of a name by this zone, with its signatures. Writes
 * nothing if the zone does not sign. */
void signing_put_genuine(struct writer *out, struct name name, enum truth_zone zone,
                         int64_t wall_s);

#endif
