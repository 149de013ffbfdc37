/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_TELL_H
#define NAILUP_SERVE_TELL_H

/* Shows clients' queries, and the answers to them, to taps (base/tap.h). */

#include <stdint.h>

#include "base/tap.h"

struct reply;

/* The facts about the end of a query that its reply does not show. */
enum tell_end {
    TELL_AT_HAND, /* an answer from the cache or local data */
    TELL_WAITED,  /* an answer of the resolver */
    TELL_REFUSED, /* an error without an answer of the resolver */
    TELL_LIMITED, /* an error, or no answer, because of a limit */
    TELL_TAKEN,   /* a NOTIFY that its taker accepted */
};

struct tell_how {
    enum tell_end end;
    uint64_t asked_at;               /* with TELL_WAITED */
    const struct tap_source *source; /* with TELL_WAITED, or NULL */
};

static const struct tell_how tell_at_hand = {.end = TELL_AT_HAND};
static const struct tell_how tell_refused = {.end = TELL_REFUSED};
static const struct tell_how tell_limited = {.end = TELL_LIMITED};
static const struct tell_how tell_taken = {.end = TELL_TAKEN};

/* The events that taps want to see. */
struct tell_wishes {
    bool queries, replies;
    bool failures; /* of replies, at least those with SERVFAIL */
};

/* Reads the taps; NULL: none. */
struct tell_wishes tell_wishes(const struct tap *taps);

/* Shows a query that came. taps is not NULL. */
__attribute__((cold)) void tell_query(struct tap *taps, const struct tap_message *message);

/* Shows the end of a query. message has the bytes as they leave, or none: then only the query of
 * reply is looked at. */
__attribute__((cold)) void tell_reply(struct tap *taps, const struct tap_message *message,
                                      const struct reply *reply, const struct tell_how *how);

#endif
