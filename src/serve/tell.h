/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_TELL_H
#define NAILUP_SERVE_TELL_H

/* What request.c tells tell.c, which shows clients' queries, and what becomes of them, to who
 * watches (base/tap.h). To be called while there are requests.taps. */

#include <stdint.h>

#include "base/span.h"
#include "base/tap.h"
#include "net/udp_server.h"

struct reply;
struct sink;

/* How a query ends, as far as its reply does not say it. */
enum tell_end {
    TELL_AT_HAND, /* with an answer that was there: of the cache, or a name answered here */
    TELL_WAITED,  /* the resolver was asked */
    TELL_REFUSED, /* with an error of our own */
    TELL_LIMITED, /* likewise, or dropped, for a limit */
};

struct tell_how {
    enum tell_end end;
    uint64_t asked_at;               /* with TELL_WAITED */
    const struct tap_source *source; /* likewise, or NULL */
};

static const struct tell_how tell_at_hand = {.end = TELL_AT_HAND};
static const struct tell_how tell_refused = {.end = TELL_REFUSED};
static const struct tell_how tell_limited = {.end = TELL_LIMITED};

/* A query that came. path as in request_take(). */
__attribute__((cold)) void tell_query(const struct sink *sink, struct span message,
                                      const struct udp_path *path);

/* What it gets: bytes as they leave, or none when it is dropped; then of reply only the query is
 * looked at. */
__attribute__((cold)) void tell_reply(const struct sink *sink, const struct reply *reply,
                                      struct span bytes, const struct udp_path *path,
                                      const struct tell_how *how);

#endif
