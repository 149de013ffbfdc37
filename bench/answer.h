/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_ANSWER_H
#define NAILUP_BENCH_ANSWER_H

/*
 * The responder's answer to a query: a pure function of the query's bytes and a few settings, so
 * that a name always has the same address. Labels anywhere in the name request a behaviour:
 *
 *   d250      answered 250 ms later, whatever delay is set     ttl5       TTL of 5 seconds
 *   nx nodata servfail refused                                 that rcode, or no such type
 *   big       3 to 4 kB of records                             cname      behind an alias
 *   tc        always truncated over UDP                        silent...  never answered
 *   silentudp silenttcp  never answered over that transport    wrongid wrongname  looks forged
 *   close reset stall    on a stream: FIN, RST, or silence from then on
 *   half                 on a stream: the first half of the answer, then silence
 *
 * A listener in a hierarchy answers as tree.h says. There, only the labels apply that decide
 * whether and when an answer comes.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/span.h"
#include "verdict.h"

enum {
    ANSWER_MAX = 8192, /* the room that answer_make() needs */
    ANSWER_KEEPALIVE_NONE = -1,
};

enum answer_cookies {
    ANSWER_COOKIES_OFF,
    ANSWER_COOKIES_ON,
    ANSWER_COOKIES_REQUIRED, /* over UDP, BADCOOKIE without a valid cookie (RFC 7873 5.2.3) */
};

struct tree_place;

struct answer_style {
    uint32_t ttl_s, negative_ttl_s;
    int keepalive; /* in units of 100 ms (RFC 7828), or ANSWER_KEEPALIVE_NONE */
    enum answer_cookies cookies;
    bool lower_case;                /* the question comes back in lower case */
    bool authoritative;             /* sets AA instead of RA */
    const struct tree_place *place; /* in a tree of zones; NULL: every name exists */
};

/* The answer to a query and its delay. The bytes are in the caller's buffer. */
struct bench_answer {
    enum answer_verdict verdict;
    size_t len;
    bool has_delay; /* the name requests the delay */
    uint32_t delay_ms;
};

/* Writes the answer to out, which has room for ANSWER_MAX bytes. `from` is the client's address,
 * for its cookie. A message that is not a query gets FORMERR. A message without a header, or a
 * response, gets no answer. */
struct bench_answer answer_make(const struct answer_style *style, struct span message,
                                bool is_stream, const struct addr *from, uint8_t *out);

#endif
