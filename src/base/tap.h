/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BASE_TAP_H
#define NAILUP_BASE_TAP_H

/*
 * Taps watch queries as they pass: those of clients in serve, those to upstreams in upstream. Both
 * keep a pointer to the first tap, NULL without one, and know nothing about the watchers. A tap
 * runs on the thread of the query, must not wait, and may not keep a pointer to its arguments.
 *
 * Instants are those of the loop's clock, in us.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/span.h"
#include "base/transport.h"

/* A query or an answer. */
struct tap_message {
    enum transport transport;
    const struct addr *asker, *asked; /* family 0: unknown */
    uint64_t asked_at;                /* when the query arrived or left */
    uint64_t answered_at;             /* when the answer left or arrived; 0 for a query */
    const char *view;                 /* the client's view, borrowed; NULL: none */
    struct span bytes;                /* empty: the query was dropped without a reply */
};

/* The origin of a client's answer. */
enum tap_origin {
    TAP_FROM_CACHE,
    TAP_FROM_STALE,     /* a stale entry of the cache (RFC 8767) */
    TAP_FROM_LOCAL,     /* local data, or a NOTIFY that was accepted */
    TAP_FROM_UPSTREAM,  /* an upstream's answer */
    TAP_FROM_NO_ANSWER, /* no upstream answered */
    TAP_FROM_REFUSAL,   /* the query is malformed or not allowed */
    TAP_FROM_LIMIT,     /* a limit of queries */
    TAP_ORIGIN_COUNT
};

/* The upstream that answered. Family 0: none. */
struct tap_source {
    struct addr addr;
    enum transport transport;
};

enum { TAP_ERRORS_MAX = 2 }; /* extended errors of one answer */

/* A client's query and its answer. */
struct tap_reply {
    struct tap_message message;
    enum tap_origin origin;
    const struct tap_source *source; /* NULL unless TAP_FROM_UPSTREAM */
    struct span name;                /* in the query's spelling; empty: no question */
    uint16_t type, cls;
    uint16_t flags; /* the flags in the query's header */
    bool dnssec_ok;
    uint16_t rcode; /* all twelve bits */
    /* The extended errors (RFC 8914) that a client with EDNS gets, and the text of the first.
     * Servers choose bytes of the text: escape it. Borrowed; "": none. */
    uint8_t ede_count;
    uint16_t ede[TAP_ERRORS_MAX];
    const char *ede_text;
};

/* A watcher. Functions may be NULL. */
struct tap {
    struct tap *next;
    /* A query arrived. Not called for messages that are not queries, or for clients whose queries
     * are not read. */
    void (*on_query)(struct tap *tap, const struct tap_message *message);
    /* A query got its answer or was dropped. Not called if its client left. */
    void (*on_reply)(struct tap *tap, const struct tap_reply *reply);
    /* on_reply needs only answers with SERVFAIL that leave. It may get others, too. */
    bool wants_only_failures;
    /* A query left for an upstream, and its answer arrived. wants_recursion: the query has RD. */
    void (*on_sent)(struct tap *tap, const struct tap_message *message, bool wants_recursion);
    void (*on_heard)(struct tap *tap, const struct tap_message *message, bool wants_recursion);
};

#endif
