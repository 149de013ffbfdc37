/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_FUZZ_WORKER_STAGE_H
#define NAILUP_TESTS_FUZZ_WORKER_STAGE_H

/*
 * A whole worker in virtual time, with its servers and clients. serve, resolve, upstream and cache
 * are real. loop, and net below link, are the fakes of tests/support.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/stats.h"
#include "cache/cache.h"
#include "config/config.h"
#include "fuzz/worker/clients.h"
#include "fuzz/worker/far.h"
#include "fuzz/worker/ledger.h"
#include "fuzz/worker/plans.h"
#include "fuzz/worker/truth.h"
#include "resolve/resolver.h"
#include "serve/server.h"
#include "support/fake_loop.h"
#include "support/fake_net.h"
#include "tls/tls_ticket_keys.h"
#include "tls/tls_tickets.h"
#include "upstream/env.h"
#include "upstream/upstreams.h"

/* How long a query of an earlier configuration may be in flight. */
enum { STAGE_FORMER_US = 60 * 1000 * 1000 };

struct stage {
    const struct plan *plan;
    uint64_t plan_since;   /* when the last reload was, or the start */
    uint64_t signed_since; /* since when all queries have seen the plan's signatures, or none */
    bool is_live;          /* one server of each zone always works, so nothing may be lost */
    bool is_hostile;       /* servers play tricks, and all plans are signed */
    bool has_true_keys;    /* no server lies, and keys and DS records come soon */
    struct loop *loop;
    struct fake_net *net;
    struct stats stats;
    struct nail_quota nail_quota;
    struct cache *cache;
    struct tls_tickets *tickets;
    struct tls_ticket_keys *ticket_keys;
    struct upstreams *upstreams;
    struct resolver *resolver;
    struct server_quota *quota;
    struct listen_sockets *sockets;
    struct server *server;
    bool has_drained;
    bool has_forged; /* only plans that validate may follow */
    struct far fars[SERVER_COUNT];
    struct ledger ledger;
    struct clients clients;
    uint64_t watched_at, turns_there; /* how many turns had the same instant since the last query */
    uint64_t lost_replies;            /* replies that the fake kernel has dropped deliberately */
};

enum { STAGE_LIVE = 1, STAGE_HOSTILE = 8, STAGE_TRUE_KEYS = 16 }; /* kinds of plays */

void stage_open(struct stage *stage, const struct plan *plan, unsigned kinds, uint64_t seed);

/* Lets time pass turn by turn, and collects and checks answers after each turn. */
void stage_advance(struct stage *stage, uint64_t us);

/* Suspends the machine. Packets and timers of that time come all at once afterwards. */
void stage_jump(struct stage *stage, uint64_t us);

/* Reloads with another configuration while the worker serves. */
void stage_reload(struct stage *stage, const struct plan *plan);

/* Ends all faults and waits until nothing is left (rules.h). After that, each zone must resolve
 * again. */
void stage_come_to_rest(struct stage *stage);

/* Takes the worker apart, after a drain or without one. Nothing may stay open or counted. */
void stage_close(struct stage *stage, bool drains);

/* Reports a broken invariant and stops the process. */
_Noreturn __attribute__((format(printf, 2, 3))) void stage_fail(const struct stage *stage,
                                                                const char *format, ...);

/* Returns whether each step is shown on stderr (NAILUP_WORKER_TRACE=1). */
bool stage_traces(void);
#define STAGE_TRACE(stage, ...)                                                                    \
    do {                                                                                           \
        if (__builtin_expect(stage_traces(), 0))                                                   \
            stage_trace(stage, __VA_ARGS__);                                                       \
    } while (0)
__attribute__((format(printf, 2, 3))) void stage_trace(const struct stage *stage,
                                                       const char *format, ...);

static inline uint64_t stage_now(const struct stage *stage)
{
    return loop_now(stage->loop);
}

#endif
