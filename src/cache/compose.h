/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CACHE_COMPOSE_H
#define NAILUP_CACHE_COMPOSE_H

/*
 * Writes answers in the form of cache/answer.h: one record after the other, with a note of each
 * TTL's offset. The callers decide which records an answer has.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "cache/answer.h"
#include "dns/build.h"
#include "dns/copy.h"
#include "dns/message.h"
#include "dns/question.h"

enum {
    COMPOSE_RECORDS_MAX = 4096, /* the most in one answer; 64 KiB could hold 5,956 */
    COMPOSE_FAILURE_MAX = HEADER_LEN + NAME_WIRE_MAX + 4, /* bytes of a failure without records */
};

/* The memory that an answer is written to. It is large, so each worker reuses one. */
struct compose_space {
    uint16_t ttl_offsets[COMPOSE_RECORDS_MAX];
    uint8_t bytes[MESSAGE_MAX];
};

struct compose {
    struct compose_space *space;
    uint16_t ttl_count;
    bool has_failed; /* malformed RDATA, or too many records */
    struct build build;
};

/* Begins an answer: a header with QR, RA and these flags (AD, rcode), and the question, whose name
 * is in lower case. The answer section follows. Borrows space. */
void compose_begin(struct compose *compose, struct compose_space *space,
                   const struct question *question, uint16_t flags);

/* Whether a record did not fit or was malformed, so that compose_end() will fail. */
static inline bool compose_has_failed(const struct compose *compose)
{
    return compose->has_failed || compose->build.overflow;
}

/* Appends a record with this TTL to the section that build_section() chose. */
void compose_copy(struct compose *compose, struct copy *copy, const struct rr *rr, uint32_t ttl);

/* Appends a record of class IN. The RDATA is uncompressed and sound. */
void compose_rr(struct compose *compose, struct name owner, uint16_t type, uint32_t ttl,
                struct span rdata);

/* Appends a CNAME record. */
void compose_cname(struct compose *compose, struct name owner, uint16_t cls, uint32_t ttl,
                   struct name target);

/* Gives the records from number first on (counted over all sections) the smallest of their TTLs,
 * because the records of an RRset share one (RFC 2181 section 5.2). */
void compose_level_ttls(struct compose *compose, uint16_t first);

/* Fills in message, TTL offsets and ttl_s (the smallest TTL; 0 without records) of *out, which
 * borrows from the space. Sets all other fields to zero. Returns false when a record did not fit or
 * was malformed. */
MUST_USE bool compose_end(struct compose *compose, struct answer *out);

/* Writes an answer of kind ANSWER_FAILURE without records to bytes; ttl_s is 0. The question's name
 * is in lower case. */
void compose_failure(struct answer *out, uint8_t bytes[COMPOSE_FAILURE_MAX],
                     const struct question *question, uint16_t rcode);

/* Sets the kind, one extended error (or EDE_NONE) and the time of a composed answer that is never
 * cached. */
void compose_describe(struct answer *out, enum answer_kind kind, uint16_t ede, uint64_t now_us);

/* Copies the answer and everything it borrows into one block. The caller passes it to free().
 * Returns NULL when out of memory. */
struct answer *compose_dup(const struct answer *answer);

#endif
