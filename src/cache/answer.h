/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CACHE_ANSWER_H
#define NAILUP_CACHE_ANSWER_H

/*
 * An answer ready to send, as a borrowed view: of a cache entry (valid inside the read section it
 * was found in) or of a message just built (valid during the call that hands it out). Immutable.
 *
 * The message has its header (id 0; QR, RA, AD and rcode set; RD, CD and TC clear; AA where the
 * name is answered here, which no cached answer is), the question with the name in lower case, the
 * sections as they go to clients, and no OPT record: the one who sends it puts in id, RD, CD, the
 * client's spelling of the name and an OPT of its own. Names in the sections that equal the
 * question's point to it, so they follow its spelling.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/span.h"

enum answer_kind {
    ANSWER_POSITIVE,
    ANSWER_NODATA, /* RFC 2308: NOERROR without the type asked for */
    ANSWER_NXDOMAIN,
    ANSWER_FAILURE, /* SERVFAIL and its like: cached for failure-ttl (RFC 9520) */
};

/* "positive", "nodata", "nxdomain", "failure". */
const char *answer_kind_name(uint8_t kind);

enum { ANSWER_KINDS = ANSWER_FAILURE + 1 };

struct answer {
    struct span message;
    const uint16_t *ttl_offsets; /* of every TTL field in the message, ascending */
    uint16_t ttl_count;
    uint8_t kind; /* enum answer_kind */
    uint8_t ede_count;
    uint16_t ede[2];  /* RFC 8914 info codes that go with it */
    uint8_t error;    /* of a failure: one from ERR_TLS_NOT_SPOKEN on, whose sentence goes with the
                         first of them, or 0 */
    bool is_due;      /* of one found in the cache: to be refreshed, cache_claim() */
    uint32_t ttl_s;   /* how long it may be cached, from stored_at; 0: not at all */
    uint32_t stale_s; /* RFC 8767: so long its end was past at stored_at; 0: it is no stale one */
    uint64_t stored_at; /* us on the loop's clock */
};

/* Whole seconds from stored_at to now_us; 0 when now_us is earlier, as the loops of two threads do
 * not read the clock at the same instant. Saturates. */
static inline uint32_t answer_age(const struct answer *answer, uint64_t now_us)
{
    if (now_us <= answer->stored_at)
        return 0;
    uint64_t age_s = (now_us - answer->stored_at) / 1000000;
    return age_s < UINT32_MAX ? (uint32_t)age_s : UINT32_MAX;
}

/* Whether its time is not over. */
static inline bool answer_is_live(const struct answer *answer, uint64_t now_us)
{
    return answer_age(answer, now_us) < answer->ttl_s;
}

/* Whether a live one of this age has no more than a tenth of its life left. */
static inline bool answer_is_ending(const struct answer *answer, uint32_t age_s)
{
    uint64_t left_s = (uint64_t)answer->ttl_s - age_s;
    return left_s * 10 <= answer->ttl_s;
}

/* How long the end of an answer of this age is past: 0 while it is live, and at least 1 then. A
 * stale one that is kept at hand for some more seconds counts from its true end. */
static inline uint32_t answer_staleness(const struct answer *answer, uint32_t age_s)
{
    if (answer->stale_s)
        return age_s < UINT32_MAX - answer->stale_s ? answer->stale_s + age_s : UINT32_MAX;
    if (age_s < answer->ttl_s)
        return 0;
    return age_s > answer->ttl_s ? age_s - answer->ttl_s : 1;
}

/* A record whose own TTL is used up while the answer lives on (min-ttl raised it) shows one second:
 * 0 would make some clients ask again for every use. */
enum { ANSWER_TTL_FLOOR_S = 1 };

/*
 * Copies the first len bytes of the message (whole records: the sections that are sent) to out and
 * lowers the TTLs of the copy by the answer's age; none falls below ANSWER_TTL_FLOOR_S. Within the
 * first second, and for answers just made, TTLs leave as they came, 0 included.
 */
void answer_copy(const struct answer *answer, size_t len, uint64_t now_us, uint8_t *out);

#endif
