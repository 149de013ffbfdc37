/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_EXCHANGE_H
#define NAILUP_UPSTREAM_EXCHANGE_H

/*
 * One question to a group of upstreams until one of them has answered or all ways are used up:
 * choice of server and transport, attempts, retransmission by measured time, hedging past silent
 * connections, UDP while a stream is not there, TCP on truncation, everything asked again at once
 * when a connection dies. It knows nothing of what an answer means beyond belonging to the
 * question: the owner judges.
 *
 * A server that is slower than the client's patience still answers: a query that was sent over a
 * stream stays registered there (ATTEMPT_LATE_US). An owner with `lingers` hears of such an answer
 * after the exchange has failed. One question is sent at most EXCHANGE_LIVE_MAX times over live
 * streams to the only server, and once to each of several.
 *
 * Bounds: EXCHANGE_ATTEMPTS_MAX queries sent, EXCHANGE_SILENT_MAX of them unanswered,
 * EXCHANGE_WALL_US in all, or what the question says if that is less. A query without a route to
 * its server does not count. Where all servers are given up and the question wishes it: one query
 * for each of them at once, EXCHANGE_SILENT_MAX at most, and EXCHANGE_ROUND_US.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/list.h"
#include "base/span.h"
#include "base/tap.h"
#include "base/units.h"
#include "dns/message.h"
#include "dns/question.h"
#include "loop/timer.h"
#include "upstream/exchange_question.h"

struct attempt;
struct exchange;
struct upstream;
struct upstreams;

enum {
    EXCHANGE_ATTEMPTS_MAX = 10,
    /* Queries to which nothing came back, neither answer nor error. Copies of one question that
     * wait at the same time help a forger (the birthday attack): each has an id and a port of
     * its own, and a guess that meets any of them poisons the cache. Silence itself can be the
     * forger's doing. */
    EXCHANGE_SILENT_MAX = 6,
    EXCHANGE_GROUP_MAX = 64, /* upstreams of one group that are considered */
    EXCHANGE_LIVE_MAX = 2,   /* queries of one question that are registered on live streams */
};
#define EXCHANGE_WALL_US (4800 * US_PER_MS)
#define EXCHANGE_ROUND_US (1200 * US_PER_MS)

/* A question that only streams have had for this long goes out as a datagram too, where that is
 * allowed. Another stream may be as silent, and the datagram needs the rest of the time. */
#define EXCHANGE_STREAMS_US (EXCHANGE_WALL_US / 2)

/* How long a question waits for an upstream that answered lately and is unreachable now: a restart
 * takes that long, and then stale answers are due. */
#define EXCHANGE_PATIENCE_US (1800 * US_PER_MS)

/* An answer that belongs to the question: id, name, type, class, case. Borrowed for the call. */
struct exchange_answer {
    const struct message *message; /* parsed; message->bytes are its bytes */
    struct upstream *upstream;
    bool over_stream;
    bool is_proven; /* no stranger can have sent it: over a stream, or with our cookie */
    bool nailed;    /* over a connection to one that is kept connected */
    struct tap_source source;
    uint64_t rtt_us;
};

/* A query that brought nothing to be judged, or not yet. */
struct exchange_loss {
    struct tap_source source;
    bool nailed;
    uint64_t after_us; /* since it was sent; 0: it was not */
    const char *why;   /* static */
};

enum exchange_verdict {
    EXCHANGE_TAKEN,   /* the exchange is over */
    EXCHANGE_ANOTHER, /* this server is of no use for the question: ask another */
};

/* Why an exchange failed. */
struct exchange_failure {
    bool any_answer;  /* somebody answered, but was not taken */
    bool any_network; /* something was refused, unreachable, closed or silent */
    bool full;        /* every way was full */
    bool is_late;     /* the time was over while somebody was still waited for */
    uint16_t rcode;   /* of the last answer that was not taken */
    enum err error;   /* what was wrong with a connection, if that is known; TLS first */
};

struct exchange_handler {
    /* Judge the answer. EXCHANGE_TAKEN ends the exchange. An owner that frees it or starts it anew
     * inside this call does exchange_stop() first, and returns EXCHANGE_TAKEN. */
    enum exchange_verdict (*on_answer)(void *owner, const struct exchange_answer *answer);
    /* No way is left. The exchange has ended; the last thing it does. */
    void (*on_failed)(void *owner, const struct exchange_failure *failure);
    /* For who watches: a query was of no use, and what is to be done is being done. Must change
     * nothing. NULL: nobody does. */
    void (*on_lost)(void *owner, const struct exchange_loss *loss);
    /* The exchange has failed, and lingered; now no answer can come any more. */
    void (*on_quiet)(void *owner);
    /* The exchange lingers after on_failed while queries are registered on live streams: on_answer
     * or on_quiet follows, unless the owner stops or resumes it. */
    bool lingers;
};

struct exchange {
    struct upstreams *upstreams;
    struct upstream *const *group; /* borrowed */
    uint16_t group_len;
    bool active;
    bool lingering; /* it has failed, but a late answer may come */
    bool one_round; /* none is asked again that was silent */
    bool *stopped;  /* on_answer runs: set when the exchange is stopped inside it */
    uint8_t attempts_made, attempts_max;
    uint8_t silent; /* attempts to which nothing has come back */
    struct exchange_failure failure;
    struct exchange_question asked;
    const struct exchange_handler *handler;
    void *owner;
    struct list attempts; /* struct attempt, outstanding */
    struct timer wall;
    uint64_t began_at;
    uint64_t ends_at;      /* when it fails without an answer */
    uint64_t useless;      /* a bit per upstream: refused, or its answer was not taken */
    uint64_t shut;         /* a bit per upstream: it could not be sent to */
    uint64_t without_edns; /* a bit per upstream: asked without EDNS for this question */
    uint8_t tried[EXCHANGE_GROUP_MAX]; /* attempts at each upstream of the group */
};

/* Before the first start. */
void exchange_init(struct exchange *exchange, struct upstreams *upstreams,
                   const struct exchange_handler *handler, void *owner);

/* Asks. group (1 or more upstreams) and the question's name are borrowed until the end. Nothing is
 * called back before the return: what fails at once is reported at the end of the turn. */
void exchange_start(struct exchange *exchange, const struct exchange_question *question,
                    struct upstream *const *group, size_t group_len);

/* Ends it without a call back; allowed when it is not active. */
void exchange_stop(struct exchange *exchange);

/* Lingering: a client wants the answer again. Asks again within the same bounds; queries registered
 * on live streams count as sent. Nothing is called back before the return. */
void exchange_resume(struct exchange *exchange);

#endif
