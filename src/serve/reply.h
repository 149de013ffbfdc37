/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_REPLY_H
#define NAILUP_SERVE_REPLY_H

/*
 * The bytes that go to a client: an answer, or an error, made to fit the query it is for. Two
 * steps, so that they are written once and in their place: planning says how long the reply will
 * be, writing fills the caller's room. Pure: no socket, no allocation, any thread.
 *
 *   struct reply reply;
 *   reply_plan_answer(&reply, &query, &answer, &rules);
 *   uint8_t *out = ...room for reply.len...
 *   reply_write(&reply, out, now_us);
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/answer.h"
#include "dns/header.h"
#include "serve/query.h"

/* What holds for all replies of one kind of transport. */
struct reply_rules {
    bool stream;              /* no limit but 65535 bytes; keepalive is answered */
    uint16_t udp_size;        /* of our OPT record, and the most a datagram of ours has */
    bool rotates;             /* addresses come in another order each time (rotate.h) */
    bool pads;                /* what is sealed: answers to padded queries are padded (RFC 7830) */
    uint16_t keepalive_100ms; /* RFC 7828, in units of 100 ms */
};

/* max_udp_size and idle_timeout_us are the options'; both are brought into what can be said. */
struct reply_rules reply_rules_udp(uint16_t max_udp_size);
struct reply_rules reply_rules_stream(uint16_t max_udp_size, uint64_t idle_timeout_us);

enum { REPLY_ERRORS_MAX = 2 }; /* extended errors of one reply */

/* A reply as planned; borrows all it was made of. */
struct reply {
    const struct query *query;
    const struct answer *answer; /* NULL: an error without one */
    const struct reply_rules *rules;
    const char *ede_text;  /* of the first extended error */
    size_t len;            /* bytes that reply_write() will write */
    bool is_truncated;     /* TC: header, question and OPT alone (RFC 2181 section 9) */
    enum section left_out; /* it and those behind it; SECTION_COUNT: the answer is whole */
    size_t body_len;       /* bytes of the answer that are sent */
    uint16_t flags;
    uint16_t rcode;       /* all twelve bits */
    uint16_t opt_len;     /* bytes of the OPT record; 0: none */
    uint16_t padding_len; /* of these, bytes of the Padding option; 0: none */
    uint16_t tsig_len;    /* likewise */
    uint8_t ede_count;
    uint16_t ede[REPLY_ERRORS_MAX];
};

/*
 * The answer for this client: its id, RD and CD; AD only when it asked with AD or DO (RFC 6840
 * section 5.7); the name spelled as it did; TTLs aged; an OPT record only when it sent one. What
 * is longer than the client or the rules allow loses what no RFC requires: the additional section,
 * and without DO the servers of a positive answer; or else becomes a truncated reply. The answer's
 * question is the query's (MUST).
 *
 * With pads, the reply to a padded query has a multiple of EDNS_PADDING_ANSWER bytes, or as many as
 * a message may have (RFC 8467 section 4.1).
 */
void reply_plan_answer(struct reply *reply, const struct query *query, const struct answer *answer,
                       const struct reply_rules *rules);

/* An error, or NOERROR with nothing in it: header, the question if there was one, OPT if there was
 * one, padded likewise.
 * is_recursive: RA, left out towards clients that may not ask. */
void reply_plan_error(struct reply *reply, const struct query *query,
                      const struct query_error *error, bool is_recursive,
                      const struct reply_rules *rules);

/* Header with TC, the question and OPT: whoever asked comes back over a stream. */
void reply_plan_truncated(struct reply *reply, const struct query *query,
                          const struct reply_rules *rules);

/* Writes reply->len bytes. now_us is on the clock of the answer's stored_at. */
void reply_write(const struct reply *reply, uint8_t *out, uint64_t now_us);

#endif
