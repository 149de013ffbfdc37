/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_WAITER_H
#define NAILUP_RESOLVE_WAITER_H

/* Who waits for an answer, and what asking may lead to. */

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "base/tap.h"
#include "cache/answer.h"

/* One who waits for an answer; embedded in the request. */
struct waiter {
    struct list node;
    bool takes_stale; /* a client, to whom a stale answer (RFC 8767) is better than a failure */
    uint64_t client;  /* tells clients apart where what they cause is bounded; 0: ourselves */
    /* Set for the call: the upstream whose answer this is; NULL: it is no upstream's. Borrowed. */
    const struct tap_source *source;
    /* The answer, borrowed for the call, SERVFAIL and the like included (kind ANSWER_FAILURE). The
     * waiter is out of the list and may be freed. Called inside a read section. */
    void (*on_answer)(struct waiter *waiter, const struct answer *answer);
};

enum resolver_result {
    RESOLVER_WAITING,  /* on_answer will be called, not before the return */
    RESOLVER_FULL,     /* a bound was reached: SERVFAIL with an extended error */
    RESOLVER_NO_ROUTE, /* no zone takes the name: REFUSED */
};

#endif
