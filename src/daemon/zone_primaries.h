/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_ZONE_PRIMARIES_H
#define NAILUP_DAEMON_ZONE_PRIMARIES_H

/* The primaries of a zone, in a copy that outlives the configuration and lives as long as the
 * transfers that use it. */

#include <stdbool.h>
#include <stddef.h>

#include "transfer/tsig.h"
#include "transfer/xfr_conn.h"

struct config;
struct config_source;

struct zone_primaries {
    char *folder; /* the folder for the zone's file; "": none */
    size_t count;
    struct xfr_primary *list;
    struct tsig_key *keys; /* keys[i] belongs to list[i], if that has a key */
    void **memory;         /* of the options for TLS of list[i] */
};

/* Copies the primaries of `source`. Returns NULL when out of memory. */
struct zone_primaries *zone_primaries_copy(const struct config *config,
                                           const struct config_source *source);

/* Copies a copy. Returns NULL when out of memory. */
struct zone_primaries *zone_primaries_clone(const struct zone_primaries *primaries);

/* Overwrites the keys. primaries may be NULL. */
void zone_primaries_free(struct zone_primaries *primaries);

/* Both may be NULL. */
bool zone_primaries_equal(const struct zone_primaries *a, const struct zone_primaries *b);

#endif
