/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_UPSTREAMS_H
#define NAILUP_UPSTREAM_UPSTREAMS_H

/*
 * A worker's upstreams: one object per identity (address, port and all options), made at first
 * sight and kept until nobody wants it. What they share lives here too: the pacing of dials, the
 * quota of nailed connections, the free list of attempts.
 *
 * A change of the configuration: upstreams_want() for each of the new one, upstreams_unwant() for
 * each of the former, upstreams_settle(). Those in both are left as they are, connections, answer
 * times and all.
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
struct upstream;
struct upstreams;

/* A discovered upstream that had no query for so long gives up its nailed places to another one
 * when max-nailed is reached. */
#define NAIL_UNUSED_US (600 * US_PER_S)

/* Private to upstreams.c and upstreams_view.c. */
struct upstreams {
    struct upstream_env env;
    struct list all;            /* in the order they were made */
    uint64_t last_number;       /* of the newest */
    struct upstream *walked_to; /* where the last walk goes on; NULL: at the first */
    uint64_t seed;
    struct upstream **table; /* open addressing by address, a power of two */
    size_t mask, count;
    struct list retiring;
    struct timer look;    /* at those that retire */
    struct turn_end trim; /* of those that were met */
};

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

/* The upstream with this address and these options, which are copied with all that they point to:
 * found, or made (and dialled, when it is nailed and prewarm is set). Lives until the
 * upstreams_settle() at which nobody wants it. NULL out of memory. */
struct upstream *upstreams_get(struct upstreams *upstreams, const struct addr *addr,
                               const struct upstream_options *options);

/* As upstreams_get(), and the caller wants it: it is dialled by the next upstreams_settle() and
 * stays as it is at every one until upstreams_unwant(); then it may retire, but stays in memory
 * until upstreams_drop(), for queries of before. Each want has one unwant, then one drop. */
struct upstream *upstreams_want(struct upstreams *upstreams, const struct addr *addr,
                                const struct upstream_options *options);
void upstreams_unwant(struct upstream *upstream);
void upstreams_drop(struct upstream *upstream);

/*
 * For servers that recursion meets: as upstreams_get(), dialled at first sight, and the
 * caller holds it until upstreams_drop(), whatever becomes of the configuration. UPSTREAMS_MET_MAX
 * of them are kept; when there are more, those go at the end of the turn that nobody has held for
 * longest: those that never answered, then others, of whom half as many stay even where all else
 * are held. None that has a nailed connection goes (upstream.max-nailed bounds these). NULL out of
 * memory, or when UPSTREAMS_MET_MOST are there, most of them held: the caller does without this
 * server. One that is also wanted is the same object.
 */
enum {
    UPSTREAMS_MET_MAX = 20000, /* with about 0.9 KB each */
    UPSTREAMS_MET_MOST = 2 * UPSTREAMS_MET_MAX,
};
struct upstream *upstreams_meet(struct upstreams *upstreams, const struct addr *addr,
                                const struct upstream_options *options);

/* Whether upstreams_meet() refuses those that it does not know: UPSTREAMS_MET_MOST are there. */
bool upstreams_are_too_many(const struct upstreams *upstreams);

/* Whether one with this address and these options is known, and has answered. */
bool upstreams_have_heard(const struct upstreams *upstreams, const struct addr *addr,
                          const struct upstream_options *options);

/* The zone whose SOA keeps its connections open while they idle (upstream/pool_hold.h); copied. */
void upstreams_hold_with(struct upstream *upstream, struct name zone);

/* Where it is; borrowed from it. */
const struct addr *upstreams_addr(const struct upstream *upstream);

/* Whether queries to this IP version (AF_INET, AF_INET6) lately did not even leave this machine; a
 * try now and then shows when they do again (upstream/reach.h). */
bool upstreams_lack(const struct upstreams *upstreams, int family);

/* How many are there that were met. */
size_t upstreams_met(const struct upstreams *upstreams);

/* Whether an upstream that was met (upstreams_meet()) and that nobody wants is kept: that it would
 * have these options today. Borrowed for the call. */
typedef bool (*upstreams_keeps)(void *context, const struct addr *addr,
                                const struct upstream_options *options);

/*
 * Makes it so: upstreams that nobody wants and that keeps() (NULL: none) does not keep retire. They
 * give back their nailed places, their connections answer what is in flight and close, and they are
 * freed when the last has closed and nobody holds them. Queries of who still holds one are sent, as
 * over any that is not nailed. The sibling of an opportunistic one goes with it, unless it is
 * wanted by itself. One that is wanted while it retires is back, with new connections. Then those
 * to be dialled ahead are dialled. Not from inside calls of this folder.
 */
void upstreams_settle(struct upstreams *upstreams, upstreams_keeps keeps, void *context);

/* Reads the files of TLS again (ca-bundle, client-certificate). Where one says something else, it
 * holds for all dials from now on, and connections are recycled, make before break; one that is of
 * no use is logged and changes nothing. The system's authorities are not read again. */
void upstreams_read_files(struct upstreams *upstreams);

/* Marks the connections of the upstreams in the prefix (NULL: of all) for recycling, make before
 * break. Returns how many connections were marked. */
size_t upstreams_recycle(struct upstreams *upstreams, const struct prefix *prefix);

/* What happened to the network under our feet. */
enum network_change {
    NETWORK_CHANGED = 1, /* links, addresses of this machine or its default routes */
    NETWORK_RESUMED,     /* the machine slept: no connection is what it was */
};

/*
 * Nothing that was learned of the ways to the upstreams holds any more: rests, silences and answer
 * times are forgotten, connections are dialled anew, make before break, and queries on those that
 * cannot live on are asked again by another way. What servers said of themselves is kept; our
 * cookies are not, as a new address must not be told by an old one (RFC 9018 section 3). How often
 * it may be called is the caller's to bound: each call dials every kept connection once.
 */
void upstreams_network_changed(struct upstreams *upstreams, enum network_change change);

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
    bool nailed; /* its connections are kept open, now */
    bool ill;    /* others are asked first, as its answers would come late or not at all */
    uint32_t ready, dialing, draining, resting;
    uint32_t in_flight;
    uint64_t queries, answers; /* attempts sent and answers taken, all transports */
    uint64_t timeouts, fallbacks, dials, dial_failures;
    uint64_t udp_rtt_us, stream_rtt_us; /* 0: not measured */
    const char *way;                    /* how the next query would go: "udp", "tcp" or "tls" */
    uint64_t srtt_us;                   /* and how long it may take; 0: not measured */
    /* "good", "ill", "resting", "no nailing (RFC 7828)", "asleep", "one query per connection", or
     * "draining": the configuration no longer has it */
    const char *health;
    const char *error; /* why its last connection failed, or "" */
    /* "one query per connection" rests on so many connections that the server closed after one
     * answer although it had received more, the last one so long ago; 0: no such verdict. */
    uint32_t single_use_proofs;
    uint64_t idle_limit_us; /* of the server, announced or observed; 0: not known */
    bool is_limit_announced;
    uint64_t holds, hold_replacements; /* what keeping it open while idle has cost */
    uint64_t single_use_proved_us, single_use_retest_us; /* since the last, until the retest */
};

/* Calls see() for each, in the order they were made. On the worker's thread. */
void upstreams_each_conn(struct upstreams *upstreams,
                         void (*see)(void *context, const struct conn_view *view), void *context);
void upstreams_each(struct upstreams *upstreams,
                    void (*see)(void *context, const struct upstream_view *view), void *context);

/* One of them. */
void upstreams_view(const struct upstream *upstream, uint64_t now, struct upstream_view *out);

/*
 * The two above in parts, so that no query waits for thousands: each call shows at most `most`
 * upstreams and looks at UPSTREAMS_WALK_MAX. A zeroed walk begins with the oldest upstream, and
 * each call goes on where the last one ended, whatever came or went meanwhile. True: there are
 * more.
 */
enum { UPSTREAMS_WALK_MAX = 4096 };
struct upstreams_walk {
    uint64_t number; /* the next upstream's, or less: see struct upstream */
    size_t place;    /* how many were looked at */
    size_t steps;    /* from one upstream to the next, looked at or skipped: what the walk costs */
    const struct prefix *prefix; /* only those in it; NULL: all */
    /* Of those that recursion met, and that are neither configured nor nailed nor connected, only
     * the ones among the first so many upstreams are shown. */
    size_t met_below;
    size_t left_out; /* those that are not shown because of that are added */
};
bool upstreams_some_conns(struct upstreams *upstreams, struct upstreams_walk *walk, size_t most,
                          void (*see)(void *context, const struct conn_view *view), void *context);
bool upstreams_some(struct upstreams *upstreams, struct upstreams_walk *walk, size_t most,
                    void (*see)(void *context, const struct upstream_view *view), void *context);

/* As upstreams_each() for the first of them, at most so many, without those that recursion met and
 * that are neither configured nor nailed; returns how many of these there are. */
size_t upstreams_first(struct upstreams *upstreams, size_t most,
                       void (*see)(void *context, const struct upstream_view *view), void *context);

/* How many there are. */
size_t upstreams_count(const struct upstreams *upstreams);

/* The one with this address and these options, to be looked at in this call's turn; NULL: there is
 * none, and none is made. */
const struct upstream *upstreams_known(const struct upstreams *upstreams, const struct addr *addr,
                                       const struct upstream_options *options);

#endif
