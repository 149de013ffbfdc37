/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_FORGET_H
#define NAILUP_DAEMON_FORGET_H

/*
 * Drops the cached answers that a change has made wrong, once all workers have switched: answers
 * for names that are local data now (resolver_reload() says why), and for zones that a command gave
 * other servers. Walks over the cache part by part, one part per turn of the main loop.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/cache.h"
#include "config/runtime_zones.h"
#include "loop/loop.h"

struct local_names;
struct view_set;
struct zone_set;

struct forget {
    struct loop *loop;
    struct cache *cache;
    struct mail step;
    bool is_running;
    uint64_t place;               /* where the walk continues */
    const struct view_set *views; /* whose spaces to search; NULL: there are no views */
    bool is_of_spaces;            /* views was set */
    bool is_of_portals;
    const struct local_names *local;           /* NULL: none */
    const struct zone_set *held, *held_before; /* NULL: none */
    struct forget_zone {
        uint8_t wire[NAME_WIRE_MAX];
        uint8_t len;
    } zones[RUNTIME_ZONES_MAX];
    size_t zone_count;
    uint64_t count; /* answers dropped */
    void (*on_done)(void *context);
    void *context;
};

void forget_init(struct forget *forget, struct loop *loop, struct cache *cache,
                 void (*on_done)(void *context), void *context);

/* Begins an empty list. */
void forget_clear(struct forget *forget);

/* Lists all local data; borrowed until on_done. */
void forget_local(struct forget *forget, const struct local_names *local);

/* Also drops the answers of spaces that `views` (borrowed to the end; NULL: none) does not have,
 * and the answers that the local data of its spaces replaces. */
void forget_spaces(struct forget *forget, const struct view_set *views);

/* Lists everything that was learned while a captive portal was set. */
void forget_portals(struct forget *forget);

/* Lists a zone with everything below it. When the list is full, the whole cache is dropped. */
void forget_zone(struct forget *forget, struct name zone);

/* Also drops the answers that hide a zone held here, if the zone has data for clients now and had
 * none in the previous set. Both are borrowed until on_done; NULL: no zones. */
void forget_hiding(struct forget *forget, const struct zone_set *zones,
                   const struct zone_set *before);

/* Drops what the list names. on_done comes later, on the loop; or at once, within the call, when
 * the list is empty. */
void forget_begin(struct forget *forget);

#endif
