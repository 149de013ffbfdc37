/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_FAILURE_H
#define NAILUP_RESOLVE_FAILURE_H

/* A failure as its client sees it. Pure; any thread. */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "cache/answer.h"
#include "dns/name.h"
#include "upstream/exchange.h"

enum {
    FAILURE_EDE_MAX = 2,
    FAILURE_BRIEF_S = 1, /* the least time of RFC 9520 section 3.2 */
};

/* The part of the servers in the failure of an exchange, for the text of the extended error. */
enum failure_cause {
    FAILURE_OTHER,
    FAILURE_UNREACHED, /* none answered */
    FAILURE_REFUSED,   /* they refused */
    FAILURE_FAILED,    /* their answers were useless */
};

struct failure {
    uint16_t rcode;
    uint8_t ede_count;
    bool cache;      /* RFC 9520: remembered. Our own lack of room is not. */
    bool is_brief;   /* remembered for FAILURE_BRIEF_S at most: servers were left that may answer */
    bool is_bogus;   /* an answer came and failed to validate: nothing stale replaces it */
    bool is_lasting; /* is_bogus, and no server can help: remembered for BOGUS_TTL_MAX_S at once */
    uint16_t ede[FAILURE_EDE_MAX];
    uint32_t ttl_max_s; /* 0: no bound. A remembered failure is the cause, and this one ends with
                           it: otherwise the names of a zone would stay dead for the sum of all
                           failures above them when the servers are back */
    enum err error;     /* from ERR_TLS_NOT_SPOKEN on, whose sentence the client gets; or ERR_OK */
    const char *text;   /* that the client gets without error; NULL: none. Borrowed: a task that
                           fails copies it */
    enum failure_cause cause;
    const char *loss; /* of FAILURE_UNREACHED: the reason; static; NULL: unknown */
};

/* Returns SERVFAIL, remembered, without a reason. */
struct failure failure_servfail(void);

/* Adds the code unless it is EDE_NONE or already there, or no room is left. */
void failure_add_ede(struct failure *failure, uint16_t code);

/*
 * Returns the reasons of a failed exchange. RFC 8914: 22 when no server was reached, all refused,
 * or nothing better is known; 23 when the network had a part in it. A server's own reason (ede, for
 * example a bogus signature; or EDE_NONE) says more and comes first.
 */
struct failure failure_of_exchange(const struct exchange_failure *exchange, uint16_t ede);

/* Returns the failure that a subtask's answer tells: one of ANSWER_FAILURE (MUST). Borrows its
 * text. */
struct failure failure_of_answer(const struct answer *answer, uint64_t now_us);

/* Returns for how many more seconds this failure is remembered, at least 1. */
uint32_t failure_left_s(const struct answer *answer, uint64_t now_us);

/*
 * Writes the sentence that a client gets with the extended errors 22 and 23: which zone's servers
 * fail, and how. It has no address. zone belongs to the servers. Returns out, or NULL where the
 * failure has a better reason or none.
 */
const char *failure_tell(const struct failure *failure, struct name zone,
                         char out[ANSWER_TEXT_MAX]);

#endif
