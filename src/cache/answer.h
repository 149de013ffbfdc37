/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CACHE_ANSWER_H
#define NAILUP_CACHE_ANSWER_H

/*
 * An answer ready to send: immutable, and borrowed from a cache entry (valid in the read section
 * that found it) or from a message just built (valid during the call that passes it).
 *
 * The message has a header (id 0; QR, RA, AD and rcode set; RD, CD and TC clear; AA only in local
 * data, which is never cached), the question with its name in lower case, and the sections as
 * clients get them, without an OPT record. The sender fills in id, RD, CD, the client's spelling of
 * the name and its own OPT. Names in the sections that equal the QNAME point to it, so they follow
 * its spelling.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/span.h"
#include "dns/name.h"

enum answer_kind {
    ANSWER_POSITIVE,
    ANSWER_NODATA, /* RFC 2308: NOERROR without a record of the QTYPE */
    ANSWER_NXDOMAIN,
    ANSWER_FAILURE, /* SERVFAIL and the like, cached for failure-ttl (RFC 9520) */
};

enum { ANSWER_KINDS = ANSWER_FAILURE + 1 };

/* Returns "positive", "nodata", "nxdomain" or "failure". */
const char *answer_kind_name(uint8_t kind);

/* The result of DNSSEC validation (RFC 4033 section 5). The validator reports indeterminate data
 * as insecure. Only a failure is bogus. */
enum security {
    SECURITY_UNCHECKED,
    SECURITY_INSECURE,
    SECURITY_SECURE,
    SECURITY_BOGUS,
};

/* Returns "insecure", "secure", "bogus", or "" for an unchecked answer. */
const char *security_name(uint8_t security);

/* The signatures of a secure answer, for people: no code decides anything by them. */
struct answer_signed {
    uint32_t until_s;      /* the wall clock when the first of them ends; 0: unknown */
    uint8_t signer_labels; /* the signer is the suffix of the QNAME with this many labels */
};

struct answer {
    struct span message;
    const uint16_t *ttl_offsets; /* where the message has its TTL fields, ascending */
    uint16_t ttl_count;
    uint8_t kind; /* enum answer_kind */
    uint8_t ede_count;
    uint16_t ede[2]; /* RFC 8914 info codes */
    uint8_t error; /* of a failure: an enum err from ERR_TLS_NOT_SPOKEN on, whose sentence goes with
                      the first EDE, or 0 */
    bool is_due;   /* a cached answer that is to be refreshed: see cache_claim() */
    uint8_t security;                /* enum security */
    struct answer_signed signatures; /* lost when a secure answer becomes stale */
    uint32_t ttl_s;                  /* how long it may be cached, from stored_at; 0: not at all */
    uint32_t stale_s; /* how long it had been expired at stored_at (RFC 8767); 0: it is not stale */
    uint64_t stored_at; /* us on the loop's clock */
    const char *text;   /* of a failure without error: goes with the first EDE, at most
                           ANSWER_TEXT_MAX bytes with the final zero; NULL: none */
};

enum { ANSWER_TEXT_MAX = 128 };

/* Returns the whole seconds from stored_at to now_us, saturated. Returns 0 when now_us is earlier:
 * the loops of two threads do not read the clock at the same instant. */
static inline uint32_t answer_age(const struct answer *answer, uint64_t now_us)
{
    if (now_us <= answer->stored_at)
        return 0;
    uint64_t age_s = (now_us - answer->stored_at) / 1000000;
    return age_s < UINT32_MAX ? (uint32_t)age_s : UINT32_MAX;
}

/* Returns whether the TTL has not expired. */
static inline bool answer_is_live(const struct answer *answer, uint64_t now_us)
{
    return answer_age(answer, now_us) < answer->ttl_s;
}

/* Returns whether a live answer of this age has at most a tenth of its lifetime left. */
static inline bool answer_is_ending(const struct answer *answer, uint32_t age_s)
{
    uint64_t left_s = (uint64_t)answer->ttl_s - age_s;
    return left_s * 10 <= answer->ttl_s;
}

/* Returns how long ago an answer of this age expired: 0 while it is live, then at least 1. A stale
 * answer that is kept for some more seconds counts from its true expiry. */
static inline uint32_t answer_staleness(const struct answer *answer, uint32_t age_s)
{
    if (answer->stale_s)
        return age_s < UINT32_MAX - answer->stale_s ? answer->stale_s + age_s : UINT32_MAX;
    if (age_s < answer->ttl_s)
        return 0;
    return age_s > answer->ttl_s ? age_s - answer->ttl_s : 1;
}

/* Returns false only if a message in the form above has no alias of the QNAME. Very cheap; true may
 * be wrong. */
bool answer_may_have_alias(struct span message, struct name qname);

/* The smallest TTL of an aged record. min-ttl may keep an answer longer than its records' TTLs, and
 * a TTL of 0 would make some clients ask again for every use. */
enum { ANSWER_TTL_FLOOR_S = 1 };

/*
 * Copies the first len bytes of the message (whole records: the sections to send) to out. Lowers
 * the TTLs of the copy by the answer's age, but not below ANSWER_TTL_FLOOR_S. In the first second,
 * and for answers just made, TTLs stay unchanged, even 0.
 */
void answer_copy(const struct answer *answer, size_t len, uint64_t now_us, uint8_t *out);

#endif
