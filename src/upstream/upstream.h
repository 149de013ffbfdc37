/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_UPSTREAM_H
#define NAILUP_UPSTREAM_UPSTREAM_H

/*
 * One upstream as this worker knows it: its identity (address and options), its connections, its
 * answer times over each transport, and the features of DNS that it does not support.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/list.h"
#include "base/units.h"
#include "dns/edns.h"
#include "upstream/cookies.h"
#include "upstream/env.h"
#include "upstream/health.h"
#include "upstream/pool.h"
#include "upstream/secure.h"
#include "upstream/select.h"
#include "upstream/upstream_options.h"

/* How long an upstream stays given up after its silence through a whole exchange, unless it
 * answers. */
#define UPSTREAM_GIVEN_UP_US (10 * US_PER_S)

/* The longest retransmission time of datagrams that replace a stream, unless the usual answer time
 * is longer: each waiting question must notice when the path is back. */
#define UPSTREAM_RTO_INSTEAD_US (800 * US_PER_MS)

/* How long after its last answer an upstream without a working stream is expected back. */
#define UPSTREAM_EXPECTED_US (60 * US_PER_S)

/* How long we remember that a server lacks EDNS or does not keep the case of names. */
#define UPSTREAM_QUIRK_US (3600 * US_PER_S)

/* The rest between two doubts of that memory of EDNS (upstream_doubt_no_edns()). */
#define UPSTREAM_EDNS_DOUBT_US (30 * US_PER_S)

enum {
    UPSTREAM_CASE_LOSSES = 3,
    UPSTREAM_UNSIGNED_ZONES = 3, /* signed zones without signatures that prove stripping */
    UPSTREAM_EDNS_TRIES = 2,     /* queries with EDNS until one is sent without */
};

/* How long the second query with a server's new cookie keeps the source address of the first. */
#define UPSTREAM_COOKIE_US (2 * US_PER_S)

/* The source address of the next datagrams; several addresses only. The queries of a burst share
 * it, because they share a port. */
struct source_hold {
    struct source_draw draw;
    unsigned left; /* queries that may still use it; 0: the next one draws */
    uint64_t until_at;
};

struct upstream {
    struct list node; /* upstreams.all */
    uint64_t number;  /* grows from each upstream made to the next */
    struct upstream_env *env;
    struct addr addr;
    struct upstream_options options; /* TLS pointers lead into tls_memory; sources is counted */
    void *tls_memory;
    char *host;             /* the name that the configuration has for it, or NULL */
    uint32_t wanted;        /* number of routes, and of opportunistic upstreams with this sibling */
    uint32_t held;          /* number of pointers that stay: wants, former routes, probes, tasks */
    bool is_discovered;     /* recursion discovered it, and it has not been dropped since */
    bool retiring;          /* unwanted: freed without connections and holders */
    struct list retire;     /* upstreams.retiring */
    struct list idle;       /* env.discovered_idle or discovered_silent: discovered and not held */
    bool counts_idle;       /* discovered_idle_count includes it */
    struct secure secure;   /* what a secure transport needs */
    struct upstream *plain; /* opportunistic TLS: the sibling for plain text, or NULL */
    struct pool pool;
    struct health udp, stream; /* answers over each */
    uint64_t answered_at;      /* the last answer; 0: none yet */
    uint64_t path_at;          /* the last change of the network: older silences do not count */

    struct cookies cookies;
    struct source_hold source_hold;
    uint64_t given_up_until_at; /* silent through a whole exchange and ever since */
    uint64_t no_route_until_at; /* a datagram could not leave this machine */
    uint64_t no_edns_until_at;
    uint64_t edns_doubted_at; /* when that memory was put aside last; 0: never */
    bool edns_works;          /* the server understood a query with EDNS */
    uint64_t no_case_until_at;
    uint32_t case_losses; /* successive losses over UDP while no stream was available */

    bool strips;              /* it leaves out signatures, and has not sent one since */
    uint8_t unsigned_count;   /* signed zones in a row that it answered without signatures */
    uint64_t strips_until_at; /* until then other servers come first, because this one strips */
    uint64_t unsigned_zones[UPSTREAM_UNSIGNED_ZONES - 1]; /* their hashes */

    uint64_t queries, answers, timeouts, fallbacks;
};

/* Makes one; NULL if out of memory. Copies addr and options with everything that they point to. */
struct upstream *upstream_new(struct upstream_env *env, const struct addr *addr,
                              const struct upstream_options *options);
void upstream_free(struct upstream *upstream);

static inline void upstream_leave_idle(struct upstream *upstream)
{
    upstream->env->discovered_idle_count -= upstream->counts_idle;
    upstream->counts_idle = false;
    list_remove(&upstream->idle);
}

/* Keeps it in memory until the matching drop. */
static inline void upstream_hold(struct upstream *upstream)
{
    if (upstream->held++ == 0)
        upstream_leave_idle(upstream);
}

static inline void upstream_drop(struct upstream *upstream)
{
    struct upstream_env *env = upstream->env;
    if (--upstream->held != 0 || !upstream->is_discovered)
        return;
    upstream->counts_idle = upstream->answers > 0;
    env->discovered_idle_count += upstream->counts_idle;
    list_append(upstream->counts_idle ? &env->discovered_idle : &env->discovered_silent,
                &upstream->idle);
}

/* ---- transports ---- */

/* Whether a stream of this upstream is worth a try: UDP may not replace it, or RFC 7828 does not
 * forbid it. */
bool upstream_may_use_stream(const struct upstream *upstream);

/* Whether queries try a stream first: the options ask for it, and RFC 7828 does not forbid it where
 * UDP may replace it. */
static inline bool upstream_prefers_stream(const struct upstream *upstream)
{
    return transport_is_stream(upstream->options.transport) && upstream_may_use_stream(upstream);
}

/* Whether UDP may replace its streams. Never with strict TLS, whatever the options say. */
bool upstream_falls_back_to_udp(const struct upstream *upstream);

/* ---- health ---- */

/* Whether answers of the upstream would probably come late or not at all. */
bool upstream_is_ill(const struct upstream *upstream);

/* The retransmission time of the nth query over UDP. Stream times count until UDP is measured. */
uint64_t upstream_udp_rto_us(const struct upstream *upstream, unsigned nth);

/* The expected answer time of the next query, over the transport that it would take. */
uint64_t upstream_srtt_us(const struct upstream *upstream);

/* Whether it is silent over a transport that counts, and a probe is due. */
bool upstream_take_probe(struct upstream *upstream, uint64_t now, uint64_t random);

/* Notes an answer over this transport after rtt_us. */
void upstream_answered(struct upstream *upstream, bool over_stream, uint64_t rtt_us);

/* Whether the upstream prefers streams and answered recently, over any transport. A query without
 * another way may wait until the upstream is back. */
bool upstream_is_expected(const struct upstream *upstream);

/* Notes that it was silent through an exchange that failed. */
void upstream_give_up(struct upstream *upstream);

/* Whether the upstream was given up recently and has not answered since. */
bool upstream_is_given_up(const struct upstream *upstream);

/* Whether a datagram to the upstream would not leave this machine. */
bool upstream_lacks_route(const struct upstream *upstream);

/* The facts for select.c, before a question tries it. */
struct select_facts upstream_facts(const struct upstream *upstream);

/* The health of this transport. */
struct health *upstream_health(struct upstream *upstream, bool over_stream);

/* After a change of the network, forgets everything about the path and our former address. Never
 * calls back; pool_path_renew() is the second step. */
void upstream_forget_path(struct upstream *upstream);

/* ---- quirks and cookies ---- */

bool upstream_uses_edns(const struct upstream *upstream);

/* Forgets that the server has no EDNS. That memory made an answer bogus, because there are no
 * signatures without EDNS. Does so at most once in UPSTREAM_EDNS_DOUBT_US: a client that asks for
 * bogus names must not slow down a server that truly has no EDNS. */
void upstream_doubt_no_edns(struct upstream *upstream);

/* Whether the server may drop queries with EDNS: it never answered one, and did not answer this
 * number in a row for one question. */
bool upstream_may_drop_edns(const struct upstream *upstream, unsigned silent);
bool upstream_uses_case(const struct upstream *upstream);

/* Notes an answer without signatures, although the question had DO and this zone is secure. One
 * such zone may be broken: UPSTREAM_UNSIGNED_ZONES different ones in a row, or a zone that is
 * certainly not broken (is_certain), prove that it strips signatures. Others are asked first then,
 * for UPSTREAM_QUIRK_US. Returns whether this proof is news. */
bool upstream_lost_signatures(struct upstream *upstream, uint64_t zone_hash, bool is_certain);

/* Notes that it sent a signature. */
void upstream_kept_signatures(struct upstream *upstream);

/* Notes an answer with the name in a different case. Over a stream it comes from the server, and we
 * remember it. Over UDP the answer may be forged, so the query goes over a stream. If no stream is
 * available, UPSTREAM_CASE_LOSSES such answers in a row, each with the right id on a fresh port,
 * are believed. */
void upstream_lost_case(struct upstream *upstream, bool over_stream);
void upstream_kept_case(struct upstream *upstream);

/* ---- source addresses ---- */

/* Draws the source address of a datagram that can be one of `burst` queries in a burst. */
void upstream_draw_source(struct upstream *upstream, struct source_draw *draw, unsigned burst);

/* Has the next datagram leave from this address, too: the server sent the cookie for it. */
void upstream_hold_source(struct upstream *upstream, const struct source_draw *draw);

/* Shares the equal list of these options, so that all upstreams share one list after a reload. */
void upstream_share_sources(struct upstream *upstream, const struct upstream_options *options);

#endif
