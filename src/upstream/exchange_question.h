/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_EXCHANGE_QUESTION_H
#define NAILUP_UPSTREAM_EXCHANGE_QUESTION_H

#include <stdbool.h>

#include <stdint.h>

#include "base/list.h"
#include "dns/question.h"

/* A question with its wishes. The name is borrowed until the exchange ends. */
struct exchange_question {
    struct question question;
    bool recursion_desired;
    bool checking_disabled;
    bool dnssec_ok;
    bool authentic_data;  /* AD: the client wants to know whether the answer is validated, even
                             without DO */
    uint8_t attempts_max; /* 0, or fewer than EXCHANGE_ATTEMPTS_MAX */
    uint8_t useless_max;  /* useless answers, after which no query follows; 0: no bound */
    uint64_t wall_us;     /* 0, or less than EXCHANGE_WALL_US */
    /* AF_INET, AF_INET6: prefers servers of this family; 0: prefers the fastest. */
    int prefer_family;
    /* Shared with other questions until the exchange ends: each query counts it down, and none is
     * sent at 0. NULL: no such bound. */
    uint8_t *attempts_left;
    /* While this list is empty, no query replaces a silent one: the answer has no reader yet. NULL:
     * no such rule. */
    const struct list *wanted_by;
    uint64_t doubtful; /* a bit per upstream: the upstream may be lame and comes after the others */
    bool prefers_stream;   /* the first query takes a stream: a datagram may have been forged */
    bool expects_large;    /* the first query takes a stream if one is open: over UDP, the answer is
                              probably truncated */
    bool needs_signatures; /* servers that strip signatures come last */
    /* A query to a discovered server may share the port of a burst: signatures will most likely
     * prove the answer, so a forger gains little. Other queries to discovered servers have their
     * own ports. */
    bool shares_port;
    bool accepts_one_round; /* one round is enough if all servers are given up (exchange.h) */
};

#endif
