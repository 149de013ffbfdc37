/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_UPSTREAMS_H
#define NAILUP_UPSTREAM_UPSTREAMS_H

/*
 * A worker's upstreams: one object per identity (address, port and all options), made at first
 * sight and kept until the worker ends. What they share lives here too: the pacing of dials, the
 * quota of nailed connections, the free list of attempts.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/err.h"
#include "base/prefix.h"
#include "base/stats.h"
#include "upstream/env.h"
#include "upstream/upstream_options.h"

struct loop;
struct tap;
struct tls_tickets;
struct upstream;
struct upstreams;

/* stats and quota are borrowed and must outlive the upstreams. NULL when out of memory. */
struct upstreams *upstreams_new(struct loop *loop, struct stats *stats, struct nail_quota *quota);

/* Sessions of TLS are resumed with these tickets, which all workers share; borrowed. Before the
 * first upstream is made. Without them every handshake is a full one. */
void upstreams_use_tickets(struct upstreams *upstreams, struct tls_tickets *tickets);

/* Who watches queries and answers from now on; borrowed, NULL: nobody. */
void upstreams_set_taps(struct upstreams *upstreams, struct tap *taps);

/* Closes all connections. No exchange may be under way. */
void upstreams_free(struct upstreams *upstreams);

/* What the parts of this folder share. */
struct upstream_env *upstreams_env(struct upstreams *upstreams);

/* The upstream with this address and these options: found, or made (and dialled, when it is nailed
 * and prewarm is set). Lives as long as the upstreams. NULL out of memory. */
struct upstream *upstreams_get(struct upstreams *upstreams, const struct addr *addr,
                               const struct upstream_options *options);

/* Marks the connections of the upstreams in the prefix (NULL: of all) for recycling, make before
 * break. Returns how many connections were marked. */
size_t upstreams_recycle(struct upstreams *upstreams, const struct prefix *prefix);

/* A connection as `nailupctl connections` shows it. Strings have static storage. */
struct conn_view {
    struct addr addr;
    const char *transport;
    const char *state;  /* names of conn_state.h */
    const char *ending; /* why it takes no more queries soon, or "" */
    bool nailed, suspect;
    uint64_t age_us;  /* since the state "ready" was reached, or since the dial began */
    uint64_t idle_us; /* since the last byte or query */
    uint32_t requests, max_requests;
    uint32_t in_flight;
    uint64_t rtt_us;        /* smoothed answer time of the upstream over this transport */
    uint64_t due_us;        /* resting: until the next dial */
    const char *last_close; /* why the previous connection of this place closed, or "" */
    const char *tls;        /* version, or "" */
    const char *cipher;     /* or "" */
    const char *session;    /* "full", "resumed", or "" */
    bool authenticated;     /* it has proved who it is */
};

/* An upstream as `nailupctl upstreams` shows it. */
struct upstream_view {
    struct addr addr;
    const char *transport;
    bool nailed;
    bool ill; /* others are asked first, as its answers would come late or not at all */
    uint32_t ready, dialing, draining, resting;
    uint32_t in_flight;
    uint64_t queries, answers; /* attempts sent and answers taken, all transports */
    uint64_t timeouts, fallbacks, dials, dial_failures;
    uint64_t udp_rtt_us, stream_rtt_us; /* 0: not measured */
    const char *health;                 /* "good", "ill", "resting", "no nailing (RFC 7828)" ... */
    const char *error;                  /* why its last connection failed, or "" */
};

/* Calls see() for each, in the order they were made. On the worker's thread. */
void upstreams_each_conn(struct upstreams *upstreams,
                         void (*see)(void *context, const struct conn_view *view), void *context);
void upstreams_each(struct upstreams *upstreams,
                    void (*see)(void *context, const struct upstream_view *view), void *context);

/* As upstreams_each() for the first of them, at most so many; returns how many there are. */
size_t upstreams_first(struct upstreams *upstreams, size_t most,
                       void (*see)(void *context, const struct upstream_view *view), void *context);

#endif
