/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_UPSTREAMS_H
#define NAILUP_UPSTREAM_UPSTREAMS_H

/*
 * A worker's upstreams: one object per identity (address, port and all options), made when first
 * needed and kept as long as it is wanted. It also owns what upstreams share: the pacing of dials,
 * the quota of nailed connections, the free list of attempts.
 *
 * To change the configuration, call upstreams_want() for each new upstream, upstreams_unwant() for
 * each former one, then upstreams_settle(). An upstream that is in both configurations keeps its
 * connections, its answer times and everything else.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/err.h"
#include "base/list.h"
#include "base/prefix.h"
#include "base/stats.h"
#include "dns/name.h"
#include "loop/loop.h"
#include "loop/timer.h"
#include "upstream/env.h"
#include "upstream/upstream_options.h"

struct tap;
struct tls_tickets;
struct trouble_news;
struct upstream;
struct upstreams;

/* When max-nailed is reached, a discovered upstream without a query for this time gives its places
 * to another one. */
#define NAIL_UNUSED_US (600 * US_PER_S)

/* Private to upstreams.c and upstreams_view.c. */
struct upstreams {
    struct upstream_env env;
    struct list all;            /* the oldest comes first */
    uint64_t last_number;       /* the newest upstream's number */
    struct upstream *walked_to; /* where the last walk continues; NULL: at the first */
    uint64_t seed;
    struct upstream **table; /* open addressing by address, a power of two */
    size_t mask, count;
    struct list retiring;
    struct timer look;    /* looks for retired upstreams to free */
    struct turn_end trim; /* drops surplus discovered upstreams */
};

/* Borrows stats and quota, which must outlive the upstreams. NULL if out of memory. */
struct upstreams *upstreams_new(struct loop *loop, struct stats *stats, struct nail_quota *quota);

/* Sets the tickets that resume TLS sessions; borrowed and shared by all workers. Call it before the
 * first upstream is made. Without tickets every handshake is a full one. */
void upstreams_use_tickets(struct upstreams *upstreams, struct tls_tickets *tickets);

/* Sets the memory of the log's lines that all workers share; borrowed. If unset, each worker logs
 * the same trouble itself. */
void upstreams_use_news(struct upstreams *upstreams, struct trouble_news *news);

/* Sets the taps that see queries and answers from now on; borrowed, may be NULL. */
void upstreams_set_taps(struct upstreams *upstreams, struct tap *taps);

/* Closes all connections. No exchange may be active. */
void upstreams_free(struct upstreams *upstreams);

/* State that the modules of this folder share. */
struct upstream_env *upstreams_env(struct upstreams *upstreams);

/* ---- configured upstreams ---- */

/* Finds or makes the upstream with this address and these options. A new one copies the options
 * with everything that they point to, and is dialled if it is nailed and prewarm is set. The
 * pointer is valid until the next upstreams_settle() unless the upstream is wanted. NULL if out of
 * memory. */
struct upstream *upstreams_get(struct upstreams *upstreams, const struct addr *addr,
                               const struct upstream_options *options);

/* Like upstreams_get(), but the caller wants the upstream: upstreams_settle() dials it and leaves
 * it alone until upstreams_unwant(). After that it may retire, but stays in memory until
 * upstreams_drop(), for queries of earlier tasks. Each want has one unwant and then one drop. */
struct upstream *upstreams_want(struct upstreams *upstreams, const struct addr *addr,
                                const struct upstream_options *options);
void upstreams_unwant(struct upstream *upstream);
void upstreams_drop(struct upstream *upstream);

/* Sets the zone whose SOA hold queries ask for (upstream/pool_hold.h); copied. */
void upstreams_set_hold_zone(struct upstream *upstream, struct name zone);

/* Sets the name that the configuration has for it, for views; copied. NULL: none. */
void upstreams_set_host(struct upstream *upstream, const char *host);

/* The address; borrowed from the upstream. */
const struct addr *upstreams_addr(const struct upstream *upstream);

/* ---- discovered upstreams ---- */

enum {
    UPSTREAMS_DISCOVERED_MAX = 20000, /* about 0.9 KB each */
    UPSTREAMS_DISCOVERED_LIMIT = 2 * UPSTREAMS_DISCOVERED_MAX,
};

/*
 * Like upstreams_get(), for a server that recursion discovered: dials a new one at once, and holds
 * it for the caller until upstreams_drop(), whatever the configuration does. A configured upstream
 * is the same object.
 *
 * The discovered upstreams are a cache of UPSTREAMS_DISCOVERED_MAX. Surplus ones are dropped at the
 * end of the turn, the longest unheld first: first the ones that never answered, then others, until
 * half the maximum of these is left. An upstream with a nailed connection stays
 * (upstream.max-nailed bounds these). Returns NULL if out of memory, or if
 * UPSTREAMS_DISCOVERED_LIMIT upstreams exist because most are held.
 */
struct upstream *upstreams_discover(struct upstreams *upstreams, const struct addr *addr,
                                    const struct upstream_options *options);

/* Whether upstreams_discover() refuses new upstreams at the limit. */
bool upstreams_are_full(const struct upstreams *upstreams);

/* Whether the upstream has answered. */
bool upstreams_is_proven(const struct upstream *upstream);

/* Whether an upstream with this address and these options exists and has answered. */
bool upstreams_has_answered(const struct upstreams *upstreams, const struct addr *addr,
                            const struct upstream_options *options);

/* Whether queries to this IP version (AF_INET, AF_INET6) could recently not leave this machine. A
 * later try shows when they can (upstream/reach.h). */
bool upstreams_lacks_family(const struct upstreams *upstreams, int family);

/* The number of discovered upstreams. */
size_t upstreams_discovered(const struct upstreams *upstreams);

/* ---- changes ---- */

/* Whether to keep a discovered upstream that is not wanted: recursion would give it the same
 * options today. Borrowed for the call. */
typedef bool (*upstreams_keeps)(void *context, const struct addr *addr,
                                const struct upstream_options *options);

/*
 * Retires the upstreams that are not wanted and that keeps() (may be NULL) rejects, then dials the
 * upstreams to be dialled ahead. A retiring upstream returns its nailed places; its connections
 * answer their queries and close; it is freed after the last has closed and the last holder has
 * dropped it. Its holders may still send queries, as to an upstream that is not nailed. The sibling
 * of an opportunistic upstream retires with it unless another one wants it. A retiring upstream
 * that is wanted again gets new connections. Do not call this inside a call of this folder.
 */
void upstreams_settle(struct upstreams *upstreams, upstreams_keeps keeps, void *context);

/* Reads the TLS files again (ca-bundle, client-certificate). A changed file applies to all later
 * dials, and its connections are recycled, make before break. A bad file is logged and changes
 * nothing. The system's authorities are not read again. */
void upstreams_read_files(struct upstreams *upstreams);

/* Marks the connections to upstreams in the prefix (NULL: to all) for recycling, make before break.
 * Returns their number. */
size_t upstreams_recycle(struct upstreams *upstreams, const struct prefix *prefix);

enum network_change {
    NETWORK_CHANGED = 1, /* links, addresses of this machine or its default routes */
    NETWORK_RESUMED,     /* the machine slept: no connection can be trusted */
};

/*
 * After a change of the network, forgets rests, silences and answer times, and dials all
 * connections again, make before break. Queries on connections that cannot survive go another way.
 * Facts about the servers stay. Our cookies change, because they must not link a new address to an
 * old one (RFC 9018 section 3). The caller bounds how often it calls: each call dials every kept
 * connection once.
 */
void upstreams_network_changed(struct upstreams *upstreams, enum network_change change);

/* ---- views: upstreams_view.c ---- */

/* A connection as `nailupctl connections` shows it. Strings have static storage. */
struct conn_view {
    struct addr addr;
    const char *transport;
    const char *state;  /* names of conn_state.h */
    const char *ending; /* why it takes no more queries soon, or "" */
    bool nailed, suspect;
    uint64_t age_us;  /* since it became ready, or since its state began */
    uint64_t idle_us; /* since the last byte or query */
    uint32_t requests, max_requests;
    uint32_t in_flight;
    uint64_t rtt_us;        /* smoothed answer time of the upstream over this transport */
    uint64_t due_us;        /* resting: until the next dial */
    const char *last_close; /* why its predecessor closed, or "" */
    const char *tls;        /* version, or "" */
    const char *cipher;     /* or "" */
    const char *session;    /* "full", "resumed", or "" */
    bool authenticated;     /* the server proved its identity */
    struct addr source;     /* the local address, without a port; family 0: unknown */
};

enum { UPSTREAM_VIEW_SOURCES_MAX = 8 };

/* An upstream as `nailupctl upstreams` shows it. */
struct upstream_view {
    struct addr addr;
    const char *host; /* the name that the configuration has for it, or ""; borrowed */
    const char *transport;
    bool nailed; /* the pool keeps connections open now */
    bool ill;    /* others come first, because its answers would come late or not at all */
    bool strips; /* the server leaves out signatures */
    uint32_t ready, dialing, draining, resting;
    uint32_t in_flight;
    uint64_t queries, answers; /* attempts sent and answers accepted, over all transports */
    uint64_t timeouts, fallbacks, dials, dial_failures;
    uint64_t udp_rtt_us, stream_rtt_us; /* 0: not measured */
    const char *way;                    /* the next query's transport: "udp", "tcp" or "tls" */
    uint64_t srtt_us;                   /* the expected answer time; 0: not measured */
    /* "good", "ill", "strips signatures", "resting", "no route", "no nailing (RFC 7828)", "asleep",
     * "one query per connection", or "draining": it is no longer configured */
    const char *health;
    const char *error; /* why its last connection failed, or "" */
    /* The proofs for "one query per connection": connections that the server closed after one
     * answer although it had received more queries; 0: no such verdict. */
    uint32_t single_use_proofs;
    uint64_t idle_limit_us; /* the server's limit, announced or observed; 0: unknown */
    bool is_limit_announced;
    uint64_t holds, hold_replacements; /* the cost of keeping it open while idle */
    uint64_t single_use_proved_us,
        single_use_retest_us; /* since the last proof, until the retest */
    struct addr
        sources[UPSTREAM_VIEW_SOURCES_MAX]; /* of its connections, without ports; each once */
    unsigned source_count;
    bool has_more_sources;
};

/* Calls see() for each, in the order of creation. Worker's thread only. */
void upstreams_each_conn(struct upstreams *upstreams,
                         void (*see)(void *context, const struct conn_view *view), void *context);
void upstreams_each(struct upstreams *upstreams,
                    void (*see)(void *context, const struct upstream_view *view), void *context);

/* Fills the view of one upstream. */
void upstreams_view(const struct upstream *upstream, uint64_t now, struct upstream_view *out);

/*
 * The same in parts, so that no query waits for thousands of rows: each call shows at most `most`
 * upstreams and looks at UPSTREAMS_WALK_MAX. A zeroed walk begins with the oldest upstream, and
 * each call continues where the last one ended, even if upstreams have come or gone meanwhile.
 * Returns true while more are left.
 */
enum { UPSTREAMS_WALK_MAX = 4096 };
struct upstreams_walk {
    uint64_t number;             /* the next upstream's, or less: see struct upstream */
    size_t place;                /* upstreams looked at so far */
    size_t steps;                /* steps between upstreams so far: the cost of the walk */
    const struct prefix *prefix; /* shows only upstreams in it; NULL: all */
    /* A discovered upstream that is not configured, not nailed and not connected is shown only if
     * it is among the first upstreams of this number. */
    size_t discovered_below;
    size_t left_out; /* adds the upstreams that this leaves out */
};
bool upstreams_some_conns(struct upstreams *upstreams, struct upstreams_walk *walk, size_t most,
                          void (*see)(void *context, const struct conn_view *view), void *context);
bool upstreams_some(struct upstreams *upstreams, struct upstreams_walk *walk, size_t most,
                    void (*see)(void *context, const struct upstream_view *view), void *context);

/* Like upstreams_each() for at most `most` upstreams, without discovered ones that are not
 * configured and not nailed. Returns the number of upstreams that qualify. */
size_t upstreams_first(struct upstreams *upstreams, size_t most,
                       void (*see)(void *context, const struct upstream_view *view), void *context);

/* The number of upstreams. */
size_t upstreams_count(const struct upstreams *upstreams);

/* The upstream with this address and these options, or NULL; never makes one. The pointer is valid
 * during this turn. */
const struct upstream *upstreams_known(const struct upstreams *upstreams, const struct addr *addr,
                                       const struct upstream_options *options);

#endif
