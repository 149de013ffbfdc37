/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_REPLY_H
#define NAILUP_SERVE_REPLY_H

/*
 * The bytes that go to a client: an answer or an error, made to fit its query. There are two steps,
 * so that the bytes are written once and in their place: planning finds the length of the reply,
 * and writing fills the caller's room. Pure: no socket, no allocation, any thread.
 *
 *   struct reply reply;
 *   reply_plan_answer(&reply, &query, &answer, &rules);
 *   uint8_t *out = ...room for reply.len...
 *   reply_write(&reply, out, now_us);
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "cache/answer.h"
#include "dns/header.h"
#include "serve/query.h"

/* The rules for all replies over one kind of transport. */
struct reply_rules {
    bool stream;              /* the limit is 65535 bytes */
    bool keepalive;           /* RFC 7828 is answered: not over HTTP, which has its own means */
    uint16_t udp_size;        /* in our OPT record, and the bound of our datagrams */
    bool rotates;             /* the order of addresses changes each time (rotate.h) */
    bool pads;                /* over TLS: answers to padded queries are padded (RFC 7830) */
    uint16_t keepalive_100ms; /* RFC 7828, in units of 100 ms */
    const char *nsid;         /* RFC 5001, as in nsid.h; NULL or "": none */
};

/* max_udp_size and idle_timeout_us are options; both are clamped to valid values. */
struct reply_rules reply_rules_udp(uint16_t max_udp_size);
struct reply_rules reply_rules_stream(uint16_t max_udp_size, uint64_t idle_timeout_us);

enum { REPLY_ERRORS_MAX = 2 }; /* extended errors of one reply */

/* A planned reply; borrows its query, answer and rules. */
struct reply {
    const struct query *query;
    const struct answer *answer; /* NULL: an error without one */
    const struct reply_rules *rules;
    const char *ede_text;  /* of the extended errors */
    size_t len;            /* bytes that reply_write() will write */
    bool is_truncated;     /* TC: only header, question and OPT (RFC 2181 section 9) */
    enum section left_out; /* this section and later ones; SECTION_COUNT: the answer is whole */
    size_t body_len;       /* bytes of the answer that leave */
    uint16_t flags;
    uint16_t rcode;       /* all twelve bits */
    uint16_t opt_len;     /* bytes of the OPT record; 0: none */
    uint16_t padding_len; /* the part of these in the Padding option; 0: none */
    uint16_t tsig_len;    /* likewise */
    uint8_t ede_count;
    uint16_t ede[REPLY_ERRORS_MAX];
    const char *nsid; /* RFC 5001; NULL: none */
};

/*
 * Plans the answer for this client. It has the id, RD and CD of the query; AD only if the query has
 * AD or DO (RFC 6840 section 5.7); the name in the client's spelling; aged TTLs; and an OPT record
 * only if the query has one. An answer that is too long for the client or the rules loses the
 * text of its extended error, and the records that no RFC requires: the additional section, and
 * without DO the servers of a positive answer. If that is not enough, the reply is truncated. The
 * answer has the question of the query (MUST).
 *
 * With pads, the reply to a padded query has a multiple of EDNS_PADDING_ANSWER bytes, or as many as
 * a message may have (RFC 8467 section 4.1).
 */
void reply_plan_answer(struct reply *reply, const struct query *query, const struct answer *answer,
                       const struct reply_rules *rules);

/* Plans an error, or NOERROR without records: header, the question if the query has one, and OPT if
 * it has one, padded likewise. Where a datagram has too little room, the extended errors and the
 * identifier are left out. is_recursive sets RA; refused clients get none. RD, RA and CD
 * belong to queries: a reply to a message with another opcode has none of them. */
void reply_plan_error(struct reply *reply, const struct query *query,
                      const struct query_error *error, bool is_recursive,
                      const struct reply_rules *rules);

/* Plans a header with TC, the question and OPT: the client comes back over a stream. */
void reply_plan_truncated(struct reply *reply, const struct query *query,
                          const struct reply_rules *rules);

/* Returns the text of an answer's first extended error, or "". */
static inline const char *reply_text_of(const struct answer *answer)
{
    if (answer->text)
        return answer->text;
    return answer->error ? err_str(answer->error) : "";
}

/* Writes reply->len bytes. now_us is on the clock of the answer's stored_at. */
void reply_write(const struct reply *reply, uint8_t *out, uint64_t now_us);

#endif
