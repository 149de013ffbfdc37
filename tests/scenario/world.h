/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_SCENARIO_WORLD_H
#define NAILUP_TESTS_SCENARIO_WORLD_H

/*
 * A whole resolver in virtual time: a worker with its listeners, cache and upstreams, between
 * scripted servers (servers.c) and scripted clients (clients.c).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/stats.h"
#include "config/config.h"
#include "daemon/generation.h"
#include "loop/loop.h"
#include "scenario/script.h"
#include "support/fake_loop.h"
#include "support/fake_net.h"
#include "upstream/env.h"

enum { WORLD_WHY_MAX = 512, WORLD_CLIENTS_MAX = 64 };

/* How long a step waits for the event that it checks. */
#define WORLD_PATIENCE_US (UINT64_C(15) * US_PER_S)

/* The one-way latency of servers if no step sets it. It is short, so that TTLs match those of
 * Unbound's files. */
#define WORLD_LATENCY_US UINT64_C(50)

/* A query that reached a server. */
struct out {
    struct list node; /* in world.outs, oldest first */
    struct addr addr; /* the server's address */
    bool over_tcp;
    bool answered; /* answered, or deliberately not: it waits for no step */
    bool checked;  /* a CHECK_OUT_QUERY has taken it */
    struct fake_query datagram;
    struct fake_conn *conn;
    struct span bytes;
};

/* An answer that reached a client. */
struct got {
    struct list node; /* in world.gots, oldest first */
    struct addr client;
    bool over_tcp;
    struct fake_conn *conn;
    uint64_t at_us;
    struct span bytes;
};

struct client {
    char name[32];
    struct fake_conn *conn;
    struct addr addr;
};

struct world {
    struct zone_set *held; /* zones held here; NULL: none */
    const struct script *script;
    struct generations generations;
    struct generation *generation; /* the present one; it owns the next two */
    const struct config *config;
    const struct route_options *route;
    struct loop *loop;
    struct fake_net *net;
    struct stats stats;
    struct nail_quota nail_quota;
    struct cache *cache;
    bool is_cache_thread;
    struct tls_tickets *tickets;
    struct upstreams *upstreams;
    struct resolver *resolver;
    struct listen_sockets *sockets;
    struct server *server;
    int now; /* the step whose ranges apply */
    uint16_t last_port, last_id;
    struct list outs, gots;
    size_t out_count, got_count; /* since the start */
    struct client clients[WORLD_CLIENTS_MAX];
    size_t client_count;
};

/* seed determines all random numbers. Returns false if the configuration has an error, which why
 * describes. The caller must call world_close() in each case. */
bool world_open(struct world *world, const struct script *script, const char *yaml, uint64_t seed,
                char why[WORLD_WHY_MAX]);

/* Makes this configuration the one in effect, as a reload of the daemon does. Zones held here stay
 * as they are. forgets: the cache forgets at once what the daemon would drop soon afterwards.
 * False: why says what is wrong with the configuration. */
bool world_reload(struct world *world, const char *yaml, bool forgets, char why[WORLD_WHY_MAX]);

/* Replaces the zones held here by those of this configuration, and changes nothing else, as after
 * transfers from primaries. Returns false and a message in why if the configuration is wrong. */
bool world_renew_zones(struct world *world, const char *yaml, char why[WORLD_WHY_MAX]);

/* Ends everything. Returns false if the resolver has left something open. */
bool world_close(struct world *world, char why[WORLD_WHY_MAX]);

/* Lets time pass and collects answers. */
void world_advance(struct world *world, uint64_t us);

/* Runs everything that needs no waiting, until nothing moves for a moment. */
void world_settle(struct world *world);

/* Waits until done(context), at most for WORLD_PATIENCE_US. Returns the last result of done(). */
bool world_wait(struct world *world, bool (*done)(void *context), void *context);

#endif
