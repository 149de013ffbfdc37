/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_ATTEMPT_H
#define NAILUP_UPSTREAM_ATTEMPT_H

/*
 * One query sent once: to one upstream, over one socket or connection. Builds it (random id, 0x20,
 * cookie), checks that what comes back belongs to it, keeps its time. What to do after a failure is
 * the exchange's decision.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/tap.h"
#include "dns/case_bits.h"
#include "dns/message.h"
#include "loop/timer.h"
#include "net/udp_query.h"
#include "upstream/attempt_state.h"
#include "upstream/conn.h"
#include "upstream/pool.h"
#include "upstream/upstream.h"

struct attempt;
struct exchange_question;

/* How an attempt ends without an answer. */
enum attempt_failure {
    ATTEMPT_TIMED_OUT,
    ATTEMPT_REFUSED,   /* nobody listens, or no route */
    ATTEMPT_CLOSED,    /* the connection ended under it */
    ATTEMPT_TRUNCATED, /* over UDP: to be asked over a stream */
    ATTEMPT_UNTRUSTED, /* over UDP: case or cookie missing; a stream is harder to forge */
    ATTEMPT_NO_EDNS,   /* the server understands no EDNS: ask again without */
    ATTEMPT_COOKIE,    /* BADCOOKIE, and the new one is known now: ask again */
    ATTEMPT_MALFORMED, /* belongs to the question, but does not parse */
};

struct attempt_handler {
    /* The answer. The attempt is over, but lives until the return. */
    void (*on_answer)(struct attempt *attempt, const struct message *message, uint64_t rtt_us);
    /* Over, without an answer; lives until the return. */
    void (*on_failed)(struct attempt *attempt, enum attempt_failure why);
    /* Nothing was heard for the retransmission time, or on a connection that has been silent since:
     * it is time for another way. The attempt goes on. */
    void (*on_slow)(struct attempt *attempt);
    /* The query has used up query-timeout. The attempt goes on: a late answer still counts. */
    void (*on_overdue)(struct attempt *attempt);
};

struct attempt {
    struct list node; /* the exchange's, or the free list */
    struct upstream_env *env;
    struct upstream *upstream;
    const struct exchange_question *asked;
    const struct attempt_handler *handler;
    void *owner;
    enum attempt_state state;
    uint16_t index; /* of the upstream in its group */
    uint8_t nth;    /* the how manieth at this upstream for this question */
    bool over_stream;
    bool with_edns, with_case, with_cookie;
    bool is_only; /* no other server can be asked: it gets more time before it is asked again */
    bool without_edns;    /* the server did not understand EDNS, or did not answer */
    bool has_our_cookie;  /* the answer has it, which off-path attackers do not know */
    bool is_probe;        /* beside the real attempt: its failure changes nothing */
    bool lacked_route;    /* the datagram could not leave this machine */
    bool is_counted_cold; /* waited for a dial or was diverted by one */
    uint8_t strays;       /* datagrams that were not the answer */
    uint16_t id;
    uint64_t patience_us; /* on_slow comes no earlier than this after sending */
    uint64_t sent_at;
    uint64_t ends_at; /* nothing is expected after it */
    struct timer due;
    struct udp_query *udp;
    struct flight flight;
    struct pool_waiter waiter;
    struct conn *sent_on; /* as long as the flight is under way */
    struct addr local;    /* where it was sent from, while somebody watches */
    uint8_t case_bits[CASE_BITS_MAX];
};

enum { ATTEMPT_STRAYS_MAX = 16, ATTEMPTS_FREE_MAX = 4096 };

/* How long a query stays registered on a live stream. Servers that answer later than that are
 * broken, and the entry is needed for others. */
#define ATTEMPT_LATE_US CONN_LATE_US

/* Takes one from the free list or memory; NULL when out of memory. */
struct attempt *attempt_new(struct upstream_env *env, struct upstream *upstream,
                            const struct exchange_question *asked,
                            const struct attempt_handler *handler, void *owner);

/* Ends it silently and gives it back; a late answer over a stream will be known as late. */
void attempt_free(struct attempt *attempt);

/* Sends. False: it could not be sent at all (no memory, no socket, no room): nothing is called
 * back. */
MUST_USE bool attempt_send_udp(struct attempt *attempt);
MUST_USE bool attempt_send_stream(struct attempt *attempt, struct conn *conn);

/* What it was sent over. */
static inline enum transport attempt_transport(const struct attempt *attempt)
{
    if (!attempt->over_stream)
        return TRANSPORT_UDP;
    return upstream_options_stream(&attempt->upstream->options);
}

/* Waits for a connection and sends then. False: refused at once, or too many wait. */
MUST_USE bool attempt_wait_stream(struct attempt *attempt);

/* The same for an upstream that is expected back: waits through failed dials until that instant. */
MUST_USE bool attempt_wait_return(struct attempt *attempt, uint64_t until_at);

#endif
