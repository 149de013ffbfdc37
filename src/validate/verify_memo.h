/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_VALIDATE_VERIFY_MEMO_H
#define NAILUP_VALIDATE_VERIFY_MEMO_H

/*
 * Remembers signatures that verified before. A zone sends the same SOA, the same proofs and the
 * same DS records with many answers, and one verification serves them all. A place holds a keyed
 * hash of the key, the signed bytes and the signature, 128 bits long, so no attacker can make a
 * wrong signature look like a known one. A signature over the same bytes stays right, so a place
 * never becomes wrong; the dates are checked each time (rrsig_check()). One worker owns it.
 */

#include <stdbool.h>
#include <stdint.h>

struct verify_job;
struct verify_memo;

enum {
    VERIFY_MEMO_PLACES = 65536, /* of 16 bytes; a new signature displaces an old one of its set */
    VERIFY_MEMO_WAYS = 4,       /* places that a signature may have */
};

/* The hash of one job, and the set of places that may hold it. */
struct verify_mark {
    uint64_t half[2];
    uint32_t set;
};

/* Returns NULL out of memory. Untouched places take no memory. */
struct verify_memo *verify_memo_new(void);
void verify_memo_free(struct verify_memo *memo); /* NULL is fine */

/* Returns the mark of the job for the two functions below: hashing is most of their cost. */
struct verify_mark verify_memo_mark(struct verify_memo *memo, const struct verify_job *job);

/* Whether this very signature was verified before. */
bool verify_memo_knows(const struct verify_memo *memo, const struct verify_mark *mark);

/* Remembers a right signature. */
void verify_memo_add(struct verify_memo *memo, const struct verify_mark *mark);

#endif
