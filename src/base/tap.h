/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BASE_TAP_H
#define NAILUP_BASE_TAP_H

/*
 * Where queries can be watched as they pass: those of clients in serve, those to upstreams in
 * upstream. Whoever has queries pass keeps a pointer to the first tap, NULL while nobody watches,
 * so that the way of a query knows nothing of who does. Taps are called on the thread on which the
 * query passes, must not wait, and may keep nothing of what they are shown.
 *
 * Instants are those of the loop's clock, in us.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/span.h"
#include "base/transport.h"

/* A query or an answer as it passes. */
struct tap_message {
    enum transport transport;
    const struct addr *asker, *asked; /* family 0: not known */
    uint64_t asked_at;                /* when the query came or left */
    uint64_t answered_at;             /* when the answer left or came; of queries 0 */
    struct span bytes;                /* empty: nothing was sent, the query was dropped */
};

/* Where what a client got came from. */
enum tap_origin {
    TAP_FROM_CACHE,
    TAP_FROM_STALE,    /* the cache, past the end of the answer (RFC 8767) */
    TAP_FROM_LOCAL,    /* a name answered here */
    TAP_FROM_UPSTREAM, /* somebody was asked, and said this */
    TAP_FROM_NOBODY,   /* those who were asked did not answer */
    TAP_FROM_REFUSAL,  /* it is no query that may be asked here, or none at all */
    TAP_FROM_LIMIT,    /* a limit of queries was reached */
    TAP_ORIGIN_COUNT
};

/* An upstream that answered. Family 0: none did. */
struct tap_source {
    struct addr addr;
    enum transport transport;
};

/* What a client asked and got. */
struct tap_reply {
    struct tap_message message;
    enum tap_origin origin;
    const struct tap_source *source; /* with TAP_FROM_UPSTREAM, else NULL */
    struct span name;                /* as it stood in the query; empty: there was no question */
    uint16_t type, cls;
    uint16_t flags; /* of the query's header */
    bool dnssec_ok;
    uint16_t rcode; /* all twelve bits */
};

/* One who watches. What it does not want to see is NULL. */
struct tap {
    struct tap *next;
    /* A query as it came, whatever becomes of it; not what is none, nor of whom nothing is read. */
    void (*on_query)(struct tap *tap, const struct tap_message *message);
    /* What became of a query. Nothing, if its client left. */
    void (*on_reply)(struct tap *tap, const struct tap_reply *reply);
    /* A query to an upstream and what came back for it; wants_recursion: the query has RD. */
    void (*on_sent)(struct tap *tap, const struct tap_message *message, bool wants_recursion);
    void (*on_heard)(struct tap *tap, const struct tap_message *message, bool wants_recursion);
};

#endif
