/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_EXCHANGE_H
#define NAILUP_UPSTREAM_EXCHANGE_H

/*
 * Asks one question of a group of upstreams until one of them answers or all ways are used up. The
 * exchange chooses the server and the transport, retransmits by measured times, hedges past silent
 * connections, uses UDP while no stream is ready and TCP after truncation, and asks again at once
 * when a connection dies. It checks that an answer belongs to the question. The owner judges its
 * meaning.
 *
 * A server that is slower than the client's patience still answers: a query on a stream stays
 * registered there (ATTEMPT_LATE_US). An owner with `lingers` gets such an answer after the
 * exchange has failed. A question leaves at most EXCHANGE_LIVE_MAX times over live streams to an
 * only server, and once to each of several servers.
 *
 * Bounds: EXCHANGE_ATTEMPTS_MAX queries, EXCHANGE_SILENT_MAX unanswered ones and EXCHANGE_WALL_US,
 * or less if the question says so. A query without a route to its server does not count. A stream
 * that opens while a datagram is late also takes the question, once for each such datagram and one
 * at a time. These copies do not count: an off-path attacker cannot forge their answers. If all
 * servers are given up and the question accepts it, there is one round: one query for each server
 * at once, at most EXCHANGE_SILENT_MAX, for EXCHANGE_ROUND_US. So every further name of a dead zone
 * costs its client little, and a server that comes back is still found.
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
    /* Queries without an answer or error. Copies of one question that wait at the same time help an
     * off-path attacker (the birthday attack): each has its own id and port, and a guess that hits
     * any of them poisons the cache. The attacker may also cause the silence. */
    EXCHANGE_SILENT_MAX = 6,
    EXCHANGE_GROUP_MAX = 64, /* upstreams of a group that count; the rest is ignored */
    EXCHANGE_LIVE_MAX = 2,   /* queries of one question on live streams */
    /* Servers that truncate the answer before the others get the question over a stream at once:
     * they have the same answer. Two, because the first may only limit the rate of its answers. */
    EXCHANGE_TRUNCATED_MAX = 2,
};
#define EXCHANGE_WALL_US (4800 * US_PER_MS)
#define EXCHANGE_ROUND_US (1200 * US_PER_MS)

/* After this time a question that went over streams only goes out as a datagram, too, if that is
 * allowed. Another stream may be just as silent, and the datagram needs the rest of the time. */
#define EXCHANGE_STREAMS_US (EXCHANGE_WALL_US / 2)

/* How long a question waits for an upstream that answered recently and is unreachable now. A
 * restart takes about as long, and then stale answers are due. */
#define EXCHANGE_PATIENCE_US (1800 * US_PER_MS)

/* An answer that belongs to the question by id, name, type, class and case. Borrowed for the call.
 */
struct exchange_answer {
    const struct message *message; /* parsed; message->bytes are its bytes */
    struct upstream *upstream;
    bool over_stream;
    bool is_proven; /* no off-path attacker sent it: it came over a stream or with our cookie */
    bool is_large;  /* too large for UDP: this server truncated it there, or would do so */
    bool nailed;    /* the answer came over a nailed connection */
    struct tap_source source;
    uint64_t rtt_us;
};

/* A query that brought no usable answer. */
struct exchange_loss {
    struct tap_source source;
    bool nailed;
    uint64_t after_us; /* since it was sent; 0: it was not sent */
    const char *why;   /* static */
};

enum exchange_verdict {
    EXCHANGE_TAKEN,   /* the exchange has ended */
    EXCHANGE_ANOTHER, /* this server cannot answer the question: ask another one */
};

/* Why an exchange failed. */
struct exchange_failure {
    bool any_answer;  /* a server answered, but the owner rejected it */
    bool any_network; /* a server refused, was unreachable or silent, or closed */
    bool full;        /* every way was full */
    bool is_late;     /* the time ran out while an answer could still come */
    bool left_some;   /* useless_max ended it, and servers without doubt were not asked */
    uint16_t rcode;   /* the rcode of the last rejected answer */
    enum err error;   /* the known failure of a connection; TLS errors first */
    const char *loss; /* how the network had a part in it, for clients: static; NULL: unknown */
};

/* The signatures in an answer to a query with DO, as validation found them. */
struct exchange_signatures {
    bool are_missing;   /* although this zone is secure */
    bool is_certain;    /* the zone is certainly not broken (upstream_lost_signatures()) */
    uint64_t zone_hash; /* the hash of the zone's name */
};

struct exchange_handler {
    /* Judges the answer. EXCHANGE_TAKEN ends the exchange. An owner that frees or restarts the
     * exchange inside this call calls exchange_stop() first and returns EXCHANGE_TAKEN. */
    enum exchange_verdict (*on_answer)(void *owner, const struct exchange_answer *answer);
    /* No way is left and the exchange has ended. */
    void (*on_failed)(void *owner, const struct exchange_failure *failure);
    /* For traces: a query was lost, and the exchange deals with it. Must not change anything. May
     * be NULL. */
    void (*on_lost)(void *owner, const struct exchange_loss *loss);
    /* The exchange failed and lingered, and an answer can no longer come. */
    void (*on_quiet)(void *owner);
    /* After on_failed the exchange lingers while queries are registered on live streams. on_answer
     * or on_quiet follows unless the owner stops or resumes it. */
    bool lingers;
};

struct exchange {
    struct upstreams *upstreams;
    struct upstream *const *group; /* borrowed */
    uint16_t group_len;
    bool active;
    bool lingering; /* the exchange has failed, but a late answer may come */
    bool one_round; /* a silent server gets no second query */
    bool *stopped;  /* on_answer runs: becomes true if the owner stops the exchange inside it */
    uint8_t attempts_made, attempts_max;
    uint8_t silent;        /* attempts without an answer or error */
    uint8_t useless_count; /* answers that were rejected */
    struct exchange_failure failure;
    struct exchange_question asked;
    const struct exchange_handler *handler;
    void *owner;
    struct list attempts; /* struct attempt */
    struct timer wall;
    uint64_t began_at;
    uint64_t ends_at;   /* when it fails without an answer */
    uint64_t useless;   /* a bit per upstream: the upstream refused, or its answer was rejected */
    uint64_t shut;      /* a bit per upstream: no query could be sent to it */
    uint64_t truncated; /* a bit per upstream: it truncated the answer */
    uint64_t without_edns;    /* a bit per upstream: this question goes to it without EDNS */
    uint64_t cookie_rejected; /* a bit per upstream: it rejects each cookie over UDP, so its next
                                 query takes a stream */
    uint8_t tried[EXCHANGE_GROUP_MAX]; /* attempts at each upstream */
};

/* Before the first start. */
void exchange_init(struct exchange *exchange, struct upstreams *upstreams,
                   const struct exchange_handler *handler, void *owner);

/* Asks the question. Borrows group (at least one upstream) and the question's name until the end.
 * Never calls back before it returns: an instant failure is reported at the end of the turn. */
void exchange_start(struct exchange *exchange, const struct exchange_question *question,
                    struct upstream *const *group, size_t group_len);

/* Notes one more reader of the answer (exchange_question.wanted_by). The first one replaces a
 * silent query, as the exchange itself does from then on. Never calls back. */
void exchange_nudge(struct exchange *exchange);

/* Ends the exchange without calling back; allowed when it is not active. */
void exchange_stop(struct exchange *exchange);

/* Whether a late answer may still come. The one that is being judged right now is the last, unless
 * the owner wants another one. */
static inline bool exchange_lingers(const struct exchange *exchange)
{
    return exchange->lingering && !exchange->stopped;
}

/* From now on these servers come after the others, a bit for each, until the question ends. */
static inline void exchange_doubt(struct exchange *exchange, uint64_t servers)
{
    exchange->asked.doubtful |= servers;
}

/* Lingering: a client wants the answer again. Asks again within the same bounds; queries on live
 * streams count as sent. Never calls back before it returns. */
void exchange_resume(struct exchange *exchange);

/* Learns from the answer of the upstream of the group with this address. Returns whether it is news
 * that the upstream strips signatures. */
bool exchange_note_signatures(struct upstream *const *group, size_t count,
                              const struct addr *server, const struct exchange_signatures *about);

/* After an answer without signatures, asks the upstreams of this group with EDNS again, in case
 * their lack of EDNS is only remembered (upstream_doubt_no_edns()). */
void exchange_doubt_no_edns(struct upstream *const *group, size_t count);

#endif
