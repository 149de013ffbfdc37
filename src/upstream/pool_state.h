/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_POOL_STATE_H
#define NAILUP_UPSTREAM_POOL_STATE_H

/* What a pool consists of. pool.c and pool_tend.c change it; others look at it, for views. */

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "loop/loop.h"
#include "loop/timer.h"
#include "upstream/acks.h"
#include "upstream/backoff.h"
#include "upstream/conn.h"
#include "upstream/env.h"
#include "upstream/idle_limit.h"
#include "upstream/keepalive.h"
#include "upstream/pace.h"
#include "upstream/pool_rate.h"
#include "upstream/segment.h"
#include "upstream/single_use.h"
#include "upstream/spread.h"
#include "upstream/trouble.h"
#include "upstream/upstream_options.h"

/* Dials that fail in a row until one that must earn its places has none. */
enum { POOL_EARN_FAILURES = 3 };

struct pool {
    struct upstream_env *env;
    const struct addr *addr;
    const struct upstream_options *options;
    struct secure *secure; /* NULL: no TLS */
    const struct conn_handler *conn_handler;
    struct list conns;   /* all of them, oldest first */
    struct list waiting; /* struct pool_waiter, oldest first */
    uint32_t waiting_count;
    uint32_t patient_count; /* of those, the patient ones */
    bool nailing;           /* wishes to keep options->connections open */
    uint32_t places;        /* of these, granted by the quota */
    bool
        must_earn; /* its places: nobody wants it, it was met, as a hostile zone may name anybody */
    bool earned;   /* a connection became ready, and not too many dials failed since */
    bool closing;
    bool retiring; /* nobody wants it: dials for none but those who wait */
    bool tending;
    struct backoff backoff;
    struct trouble trouble;
    uint32_t useless; /* connections in a row that broke before an answer came */
    struct keepalive keepalive;
    struct acks acks;
    struct segment segment;
    struct idle_limit idle_limit;
    bool asleep;              /* idled out where nothing is held: dialled with the next query */
    uint32_t hold_unanswered; /* hold queries in a row */
    uint64_t holds;           /* hold queries sent */
    uint64_t hold_answer_us;  /* the time that the last answer to one took; 0: none came */
    uint64_t hold_replacements;
    uint8_t *hold_zone; /* NULL: hold queries ask for the servers of the root */
    uint8_t hold_zone_len;
    uint64_t made_at;
    struct timer tend_later;  /* a nailed place could not be had: try again */
    struct timer redial_soon; /* patient waiters: dial although the place rests */
    struct timer serve_soon;  /* there may be room for those who wait */
    uint64_t dialed_at;       /* last dial */
    uint64_t dial_us;         /* smoothed time of a dial */
    uint64_t tcp_us;          /* the same of TCP alone; 0: not measured */
    struct single_use single;
    struct pace dial_pace; /* of handshakes of TLS, of dials towards a single-use server */
    struct pace idle_pace; /* of dials to a peer whose idle limit is very short */
    enum conn_end last_close;
    uint64_t ended_ready_at; /* when the connection that ended last had become ready */
    enum err
        last_error; /* of the last dial or connection that failed; ERR_OK: it went well since */
    struct pool_rate rate;
    struct spread spread;
    uint32_t dials, dial_failures;
};

static inline uint64_t pool_now(const struct pool *pool)
{
    return loop_now(pool->env->loop);
}

/* Wished for, earned where that is to be, and not forbidden by the peer (RFC 7828). */
static inline bool pool_is_nailing(const struct pool *pool)
{
    return pool->nailing && (pool->earned || !pool->must_earn) &&
           keepalive_allows(&pool->keepalive, pool_now(pool));
}

static inline bool pool_is_single_use(const struct pool *pool)
{
    return pool->single.is_known;
}

#endif
