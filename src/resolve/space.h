/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_SPACE_H
#define NAILUP_RESOLVE_SPACE_H

/*
 * Everything that resolution depends on and that views may set differently: zones with their
 * servers, validation, and the names that are never asked for. Views with equal settings share a
 * space, and with it the cache. Answers, zone cuts, keys, spans and running tasks belong to one
 * space and are never used in another one.
 *
 * A space lives until its last task has ended. When its last view is gone, it is retired: its
 * tasks go on with its zones, but nothing joins them and their answers are not kept. Numbers are
 * never used again, so a space that comes later finds nothing of it. One worker's.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolve/validation_options.h"

struct local_names;
struct routes;

/* Spaces with these numbers and larger ones are those of a captive portal. */
#define SPACE_PORTALS (UINT32_C(1) << 30)

/* Numbers of spaces are smaller. Tasks for aliases of local data use larger ones: their answers
 * belong to one view. */
#define SPACE_NUMBERS (UINT32_C(1) << 31)

struct space {
    uint32_t number; /* in the keys of the cache */
    bool is_retired;
    size_t refs; /* of the resolver and of tasks */
    struct routes *routes;
    const struct local_names *local; /* NULL: none. A retired space has the shared space's */
    uint32_t local_changes;          /* how often local data or zones held here changed */
    bool blocks_aliases;             /* local_names_block_aliases() of local */
    enum validate_mode mode;
};

/* Starts a space without routes and local data, with one reference. */
void space_init(struct space *space, uint32_t number);

/* Makes such a space on the heap. Returns NULL when out of memory. */
struct space *space_new(uint32_t number);

/* Sets the local data (borrowed; NULL: none). */
void space_set_local(struct space *space, const struct local_names *local);

/* Ends the use of a space of the heap for new questions and drops the caller's reference. Its
 * upstreams are wanted no longer, and nothing refers to local data afterwards. */
void space_retire(struct space *space);

/* Drops a reference. The last one frees the space and its routes. */
void space_drop(struct space *space);

#endif
