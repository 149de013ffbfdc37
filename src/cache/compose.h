/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CACHE_COMPOSE_H
#define NAILUP_CACHE_COMPOSE_H

/*
 * Makes answers in the form that cache/answer.h describes: writes one record after the other and
 * notes where the TTLs stand. What goes in is decided by scrub, stitch and local_answer.
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
    COMPOSE_RECORDS_MAX = 4096, /* of one answer; a message of 64 KiB has at most 5,956 */
    COMPOSE_FAILURE_MAX = HEADER_LEN + NAME_WIRE_MAX + 4, /* bytes of a failure */
};

/* Where an answer is written; large, so each worker has its own and uses it again. */
struct compose_space {
    uint16_t ttl_offsets[COMPOSE_RECORDS_MAX];
    uint8_t bytes[MESSAGE_MAX];
};

struct compose {
    struct compose_space *space;
    uint16_t ttl_count;
    bool failed; /* malformed RDATA, or too many records */
    struct build build;
};

/* The header with QR, RA and these flags (AD, rcode), and the question, whose name is in lower
 * case. The answer section comes next. space is borrowed. */
void compose_begin(struct compose *compose, struct compose_space *space,
                   const struct question *question, uint16_t flags);

/* Appends a record with this TTL to the section that build_section() chose. */
void compose_copy(struct compose *compose, struct copy *copy, const struct rr *rr, uint32_t ttl);

/* Appends a record of class IN with this RDATA as it is, uncompressed and sound. */
void compose_rr(struct compose *compose, struct name owner, uint16_t type, uint32_t ttl,
                struct span rdata);

/* Appends a CNAME record. */
void compose_cname(struct compose *compose, struct name owner, uint16_t cls, uint32_t ttl,
                   struct name target);

/* Gives the records from number first (counted over all sections) on one TTL: their least, as
 * those of one RRset have (RFC 2181 section 5.2). */
void compose_level_ttls(struct compose *compose, uint16_t first);

/* Fills in *out, which borrows from the space: message, TTL offsets, and ttl_s as the least TTL (0
 * without records). The rest is the caller's. False when it did not come out whole. */
MUST_USE bool compose_end(struct compose *compose, struct answer *out);

/* An answer of the kind ANSWER_FAILURE without records, written to bytes; ttl_s is 0. The
 * question's name is in lower case. */
void compose_failure(struct answer *out, uint8_t bytes[COMPOSE_FAILURE_MAX],
                     const struct question *question, uint16_t rcode);

/* A copy of the answer and of all it borrows in one block, for free(); NULL out of memory. */
struct answer *compose_dup(const struct answer *answer);

#endif
