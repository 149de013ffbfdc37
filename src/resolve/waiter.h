/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_WAITER_H
#define NAILUP_RESOLVE_WAITER_H

/* Waiters for an answer, and the results of asking. */

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "base/tap.h"
#include "cache/answer.h"

/* Embedded in its owner, for example a client's request. */
struct waiter {
    struct list node;
    bool takes_stale; /* a client that prefers a stale answer (RFC 8767) to a failure */
    uint64_t client;  /* identifies the client, for bounds on its work; 0: nailup itself */
    /* Set for the call: the upstream that answered; NULL: none did. Borrowed. */
    const struct tap_source *source;
    /* The answer is borrowed for the call and may be a failure (kind ANSWER_FAILURE). The waiter is
     * out of the list and may be freed. Called inside a read section. */
    void (*on_answer)(struct waiter *waiter, const struct answer *answer);
};

enum resolver_result {
    RESOLVER_WAITING,  /* on_answer comes, but not before the return */
    RESOLVER_FULL,     /* a bound was reached: SERVFAIL with an extended error */
    RESOLVER_NO_ROUTE, /* no zone takes the name: REFUSED */
};

#endif
