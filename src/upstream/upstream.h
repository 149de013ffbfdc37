/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_UPSTREAM_H
#define NAILUP_UPSTREAM_UPSTREAM_H

/*
 * One upstream as this worker knows it: who it is (address and options), its connections, what was
 * learned of its answers over each transport and of what it does not understand.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/list.h"
#include "base/units.h"
#include "dns/edns.h"
#include "upstream/env.h"
#include "upstream/health.h"
#include "upstream/pool.h"
#include "upstream/secure.h"
#include "upstream/select.h"
#include "upstream/upstream_options.h"

/* How long a server is given up that was silent through a whole exchange, unless it answers. */
#define UPSTREAM_GIVEN_UP_US (10 * US_PER_S)

/* Datagrams that stand in for a stream are sent again at least so often (or once in the usual
 * answer time): each question that still waits must notice when the path is back. */
#define UPSTREAM_RTO_INSTEAD_US (800 * US_PER_MS)

/* An upstream without a working stream is expected back for so long after its last answer. */
#define UPSTREAM_EXPECTED_US (60 * US_PER_S)

/* How long is remembered that a server has no EDNS, or does not keep the case of names. */
#define UPSTREAM_QUIRK_US (3600 * US_PER_S)

enum {
    UPSTREAM_CASE_LOSSES = 3,
    UPSTREAM_EDNS_TRIES = 2, /* queries with EDNS, before one without */
};

enum { UPSTREAM_COOKIE_MAX = EDNS_COOKIE_CLIENT + EDNS_COOKIE_SERVER_MAX };

struct upstream {
    struct list node; /* struct upstreams */
    uint64_t number;  /* grows from each one made to the next */
    struct upstream_env *env;
    struct addr addr;
    struct upstream_options options; /* what they point to lies in tls_memory */
    void *tls_memory;
    uint32_t wanted; /* by so many: routes that hold, and opportunistic ones whose sibling it is */
    uint32_t held;   /* pointers to it that stay: those who want it, former routes, probes */
    bool met;        /* by recursion, and not given up since: upstreams_met.c */
    bool retiring; /* nobody wants it: it goes when its connections are closed and none holds it */
    struct list retire;     /* struct upstreams: while retiring */
    struct list idle;       /* upstream_env.met_idle or met_silent: while met and not held */
    bool counts_idle;       /* it is in met_idle_count */
    struct secure secure;   /* with a secure transport */
    struct upstream *plain; /* opportunistic TLS: where queries go in plain text while TLS cannot be
                               had; NULL: nowhere */
    struct pool pool;
    struct health udp, stream; /* answers over each */
    uint64_t answered_at;      /* the last answer; 0: none yet */
    uint64_t path_at;          /* when the network changed last: older silences do not count */

    uint8_t cookie[UPSTREAM_COOKIE_MAX];    /* ours, then what the server gave */
    uint8_t cookie_len;                     /* EDNS_COOKIE_CLIENT until the server gave one */
    uint8_t old_cookie[EDNS_COOKIE_CLIENT]; /* ours before: of queries under way */
    uint64_t given_up_until_at;             /* silent through a whole exchange, and ever since */
    uint64_t no_route_until_at;             /* over UDP: it could not even be sent to */
    uint64_t no_edns_until_at;
    bool edns_works; /* a query with EDNS was answered, as one that is understood */
    uint64_t no_case_until_at;
    uint32_t case_losses; /* in a row over UDP, while no stream could be had */

    uint64_t queries, answers, timeouts, fallbacks;
};

/* Makes one; NULL out of memory. Copies addr and options, with all that they point to. */
struct upstream *upstream_new(struct upstream_env *env, const struct addr *addr,
                              const struct upstream_options *options);
void upstream_free(struct upstream *upstream);

static inline void upstream_leave_idle(struct upstream *upstream)
{
    upstream->env->met_idle_count -= upstream->counts_idle;
    upstream->counts_idle = false;
    list_remove(&upstream->idle);
}

/* It stays in memory until as many drops. */
static inline void upstream_hold(struct upstream *upstream)
{
    if (upstream->held++ == 0)
        upstream_leave_idle(upstream);
}

static inline void upstream_drop(struct upstream *upstream)
{
    struct upstream_env *env = upstream->env;
    if (--upstream->held != 0 || !upstream->met)
        return;
    upstream->counts_idle = upstream->answers > 0;
    env->met_idle_count += upstream->counts_idle;
    list_append(upstream->counts_idle ? &env->met_idle : &env->met_silent, &upstream->idle);
}

/* Whether queries go by a stream at first: asked for, and not forbidden by RFC 7828 where UDP may
 * take its place. */
bool upstream_prefers_stream(const struct upstream *upstream);

/* UDP may take the place of its streams. Strict TLS: never, whatever the options say. */
bool upstream_falls_back_to_udp(const struct upstream *upstream);

/* Answers would come late or not at all, by what is known now. */
bool upstream_is_ill(const struct upstream *upstream);

/* The retransmission time of the nth query over UDP. Stream times count until UDP is measured. */
uint64_t upstream_udp_rto_us(const struct upstream *upstream, unsigned nth);

/* The answer time to expect of the next query, over the transport that it would take. */
uint64_t upstream_srtt_us(const struct upstream *upstream);

/* Silent lately over a transport that counts, and it is time to see whether that still holds. */
bool upstream_take_probe(struct upstream *upstream, uint64_t now, uint64_t random);

/* It has answered over this transport, after so long. */
void upstream_answered(struct upstream *upstream, bool over_stream, uint64_t rtt_us);

/* It answered lately, over a stream or beside one. A query without any other way may wait for its
 * return. */
bool upstream_is_expected(const struct upstream *upstream);

/* It was silent throughout an exchange that has failed now. */
void upstream_give_up(struct upstream *upstream);

/* So it was lately, and it has not answered since. */
bool upstream_is_given_up(const struct upstream *upstream);

/* A query over UDP would not leave this machine. */
bool upstream_lacks_route(const struct upstream *upstream);

/* What is known of it before it is tried for a question. */
struct select_facts upstream_facts(const struct upstream *upstream);

/* The health of the transport that upstream_prefers_stream() names. */
struct health *upstream_health(struct upstream *upstream, bool over_stream);

bool upstream_uses_edns(const struct upstream *upstream);

/* Whether it may be one of those that drop queries with EDNS without a word: it never answered one,
 * and has been silent to so many in a row for one question. */
bool upstream_may_drop_edns(const struct upstream *upstream, unsigned silent);
bool upstream_uses_case(const struct upstream *upstream);

/* An answer came with the name in another case than asked. Over a stream that is the server's own
 * doing, and remembered. Over UDP it may be forged, and a stream is asked; where none can be had,
 * UPSTREAM_CASE_LOSSES of them in a row, each with the right id on a fresh port, are believed. */
void upstream_lost_case(struct upstream *upstream, bool over_stream);
void upstream_kept_case(struct upstream *upstream);

/* The network is another: what was learned of the way to it, or through the address that we had, is
 * forgotten. Calls nothing back; pool_path_renew() is the second step. */
void upstream_forget_path(struct upstream *upstream);

/* Whether the client's part of a cookie that came back is ours, or was until the network changed.
 */
bool upstream_is_our_cookie(const struct upstream *upstream, struct span client);

/* The server's part of the cookie, 8 to 32 bytes, as it came with an answer to ours. */
void upstream_set_cookie(struct upstream *upstream, struct span server);

#endif
