/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_VALIDATE_RRSIG_H
#define NAILUP_VALIDATE_RRSIG_H

/*
 * RRSIG records (RFC 4034 section 3), and the checks that need no cryptography: which signature may
 * speak about which RRset, and until when. Pure; any thread.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/span.h"
#include "dns/name.h"

/* The fields of one signature. Borrows from the RDATA. */
struct rrsig {
    uint16_t covered;
    uint8_t algorithm;
    uint8_t labels;
    uint32_t original_ttl;
    uint32_t expiration, inception; /* seconds since 1970, modulo 2^32 (RFC 1982) */
    uint16_t tag;
    struct name signer;
    struct span signature;
    struct span rdata; /* all of it */
};

/* Where the signer's name begins in the RDATA. */
enum { RRSIG_SIGNER_AT = 18 };

/* Reads the fields. False: malformed, or the signer's name is compressed. */
MUST_USE bool rrsig_read(struct rrsig *out, struct span rdata);

/* Why a signature cannot count. */
enum rrsig_fault {
    RRSIG_USABLE,
    RRSIG_UNRELATED, /* the signer is not at or above the owner; for a DS RRset not strictly above
                      */
    RRSIG_LABELS,    /* fewer labels than the signer or more than the owner */
    RRSIG_EXPIRED,   /* also with the skew */
    RRSIG_NOT_YET_VALID,         /* also with the skew */
    RRSIG_ENDS_BEFORE_IT_BEGINS, /* expiration before inception */
};

/* When signatures are checked. */
struct rrsig_clock {
    uint32_t now_s; /* the wall clock */
    bool is_behind; /* the clock is known to be behind: no signature is too young. One that seems
                       expired has expired. */
};

/* Checks what can be checked without a key. The skew is a tenth of the signature's life, at least
 * an hour and at most a day. */
enum rrsig_fault rrsig_check(const struct rrsig *sig, struct name owner, uint16_t type,
                             const struct rrsig_clock *clock);

/* Whether the first of two dates of signatures is earlier (RFC 1982). */
bool rrsig_is_earlier(uint32_t date, uint32_t other);

/* Returns the seconds until the expiration; 0 after it. With is_behind the result may be too
 * large. */
uint32_t rrsig_seconds_left(const struct rrsig *sig, const struct rrsig_clock *clock);

/* Whether the owner was expanded from a wildcard: the signature has fewer labels than the owner,
 * and the owner is not the wildcard itself. */
bool rrsig_is_expanded(const struct rrsig *sig, struct name owner);

#endif
