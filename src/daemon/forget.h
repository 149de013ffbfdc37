/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_FORGET_H
#define NAILUP_DAEMON_FORGET_H

/*
 * What the cache may not say any more once all workers have switched: of names that are answered
 * here now (resolver_reload() says why), and of zones that a command gave other servers. Walks over
 * the cache a part a turn, on the main loop.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/cache.h"
#include "config/forwards.h"
#include "loop/loop.h"

struct local_names;

struct forget {
    struct loop *loop;
    struct cache *cache;
    struct mail step;
    bool running;
    uint64_t place;                 /* of the walk */
    const struct local_names *here; /* NULL: none */
    struct forget_zone {
        uint8_t wire[NAME_WIRE_MAX];
        uint8_t len;
    } zones[FORWARDS_MAX];
    size_t zone_count;
    uint64_t count; /* answers taken away */
    void (*on_done)(void *context);
    void *context;
};

void forget_init(struct forget *forget, struct loop *loop, struct cache *cache,
                 void (*on_done)(void *context), void *context);

/* Begins a list. */
void forget_clear(struct forget *forget);

/* All names that are answered here; borrowed until on_done. */
void forget_local(struct forget *forget, const struct local_names *here);

/* A zone with all below it. One that there is no room for any more takes all with it. */
void forget_zone(struct forget *forget, struct name zone);

/* on_done comes later, on the loop; at once, within the call, when nothing is on the list. */
void forget_begin(struct forget *forget);

#endif
