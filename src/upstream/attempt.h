/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_ATTEMPT_H
#define NAILUP_UPSTREAM_ATTEMPT_H

/*
 * One query sent once, to one upstream, over one socket or connection. The attempt builds the query
 * (random id, 0x20, cookie), checks that the reply belongs to it, and keeps its deadlines
 * (attempt_state.h). The exchange decides what follows a failure.
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
    ATTEMPT_REFUSED,   /* the port is closed, or there is no route */
    ATTEMPT_CLOSED,    /* the connection ended */
    ATTEMPT_TRUNCATED, /* over UDP: the exchange asks over a stream */
    ATTEMPT_UNTRUSTED, /* over UDP: case or cookie missing; a stream is harder to forge */
    ATTEMPT_NO_EDNS,   /* the server does not understand EDNS */
    ATTEMPT_COOKIE,    /* BADCOOKIE, and the new cookie is known */
    ATTEMPT_MALFORMED, /* the reply belongs to the question, but does not parse */
};

/* The purpose of an attempt. */
enum attempt_role {
    ATTEMPT_QUERY, /* to get the answer */
    ATTEMPT_PROBE, /* in addition, to find out whether a silent connection is dead: its failure
                      changes nothing */
    ATTEMPT_WATCH, /* in addition to late datagrams: it is sent if a connection opens */
};

struct attempt_handler {
    /* The answer came. The attempt has ended and stays valid until the return. */
    void (*on_answer)(struct attempt *attempt, const struct message *message, uint64_t rtt_us);
    /* It ended without an answer and stays valid until the return. */
    void (*on_failed)(struct attempt *attempt, enum attempt_failure why);
    /* Became silent or slow: it is time for another way. The attempt continues. */
    void (*on_slow)(struct attempt *attempt);
    /* Became overdue. The attempt continues: a late answer still counts. */
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
    enum attempt_role role;
    uint16_t index; /* the upstream's index in its group */
    uint8_t nth;    /* number of earlier attempts at this upstream for this question */
    bool over_stream;
    bool with_edns, with_case, with_cookie;
    bool is_only;         /* the only server: it gets more time before the next query */
    bool without_edns;    /* the server did not understand EDNS, or did not answer */
    bool has_our_cookie;  /* the answer has it, which off-path attackers do not know */
    bool lacked_route;    /* the datagram could not leave this machine */
    bool is_counted_cold; /* waited for a dial or was diverted by one */
    uint16_t id;
    uint64_t patience_us; /* on_slow comes no earlier than this after sending */
    uint64_t sent_at;
    uint64_t ends_at; /* when the attempt fails */
    struct timer due;
    struct udp_query *udp;
    struct flight flight;
    struct pool_waiter waiter;
    struct conn *sent_on;      /* while the query is in flight */
    struct source_draw source; /* the address that it leaves from; of a stream the address alone */
    struct addr local;         /* the local address, if there are taps */
    uint8_t case_bits[CASE_BITS_MAX];
};

enum { ATTEMPT_STRAYS_MAX = 16, ATTEMPTS_FREE_MAX = 4096 };

/* How long a query stays registered on a live stream. A server that answers later is broken, and
 * other queries need the entry. */
#define ATTEMPT_LATE_US CONN_LATE_US

/* Makes an attempt; NULL if out of memory. */
struct attempt *attempt_new(struct upstream_env *env, struct upstream *upstream,
                            const struct exchange_question *asked,
                            const struct attempt_handler *handler, void *owner);

/* Ends the attempt without calling back, and frees it. A late answer over a stream is recognised as
 * late. */
void attempt_free(struct attempt *attempt);

/* Sends the query. False: it could not be sent (no memory, no socket, no room), and there is no
 * callback. */
MUST_USE bool attempt_send_udp(struct attempt *attempt);
MUST_USE bool attempt_send_stream(struct attempt *attempt, struct conn *conn);

/* Whether this answer to the query would be truncated over UDP. Additional records do not count,
 * because servers leave them out. */
bool attempt_is_too_large(const struct attempt *attempt, const struct message *message);

/* The text of its state (attempt_state.h). Static storage. */
const char *attempt_state_text(const struct attempt *attempt);

/* The transport that carried it. */
static inline enum transport attempt_transport(const struct attempt *attempt)
{
    if (!attempt->over_stream)
        return TRANSPORT_UDP;
    return upstream_options_stream(&attempt->upstream->options);
}

/* Waits for a connection and then sends. False: pool_wait() refused. */
MUST_USE bool attempt_wait_stream(struct attempt *attempt);

/* Waits likewise for an upstream that is expected back, through failed dials, until until_at. */
MUST_USE bool attempt_wait_return(struct attempt *attempt, uint64_t until_at);

/* Ends the wait of attempt_wait_return() at until_at if that is sooner, at once if it has passed.
 */
void attempt_shorten_wait(struct attempt *attempt, uint64_t until_at);

#endif
