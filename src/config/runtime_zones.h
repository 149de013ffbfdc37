/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONFIG_RUNTIME_ZONES_H
#define NAILUP_CONFIG_RUNTIME_ZONES_H

/*
 * Zones whose upstreams are set at run time (`nailupctl forward`), and the routes of a
 * configuration with these zones applied. A zone has the options of the file's zone with the same
 * name, or those of the section upstream. Pure; one thread at a time.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/arena.h"
#include "base/err.h"
#include "config/config.h"
#include "dns/name.h"
#include "resolve/route_options.h"

struct local_names;

enum {
    RUNTIME_UPSTREAMS_MAX = 14, /* the words that a request has room for */
    RUNTIME_ZONES_MAX = 256,
    RUNTIME_ZONE_WHY_MAX = 400,
};

struct runtime_upstream {
    struct addr addr; /* port 0 if none was given */
    bool has_port;
    char auth_name[ADDR_NAME_MAX]; /* "": none */
};

/* One zone: a plain value. */
struct runtime_zone {
    uint8_t wire[NAME_WIRE_MAX]; /* lower case */
    uint8_t name_len;
    uint8_t upstream_count;
    struct runtime_upstream upstreams[RUNTIME_UPSTREAMS_MAX];
};

/* Reads a zone's name, and its upstreams in the syntax of the file; there may be no upstreams.
 * ERR_INVALID: why says what to write instead. */
MUST_USE enum err runtime_zone_parse(struct runtime_zone *out, const char *name, size_t count,
                                     const char *const upstreams[], char why[RUNTIME_ZONE_WHY_MAX]);

/*
 * Checks the zone as the checks of a file would: ERR_INVALID with a sentence if it may not be asked
 * of these upstreams. A zone that the file asks over strict TLS must stay so. Names that local data
 * answers need no upstreams.
 */
MUST_USE enum err runtime_zone_check(const struct config *config, const struct runtime_zone *zone,
                                     char why[RUNTIME_ZONE_WHY_MAX]);

bool runtime_zone_is_same(const struct runtime_zone *a, const struct runtime_zone *b);

static inline struct name runtime_zone_name(const struct runtime_zone *zone)
{
    return (struct name){zone->wire, zone->name_len};
}

/* How the n-th upstream is asked. out points into the configuration and the zone. */
void runtime_zone_upstream(const struct config *config, struct runtime_zone *forward, size_t n,
                           struct route_upstream *out);

/*
 * Reads the server of a captive portal: IP or IP@PORT. It takes the root, over plain UDP and TCP.
 * ERR_INVALID: why says what to write instead. Refuses a name for TLS, and an address that our own
 * listeners have.
 */
MUST_USE enum err runtime_portal_read(struct runtime_zone *out, const struct config *config,
                                      const char *server, char why[RUNTIME_ZONE_WHY_MAX]);

/* In the order in which they were set. Empty at first: {0}. */
struct runtime_zones {
    /* NULL: none. Borrowed. The only exception to strict TLS: names that no other zone takes go to
     * this server in plain text. Nothing validates its answers, and they may have private
     * addresses. */
    const struct runtime_zone *portal;
    size_t count;
    struct runtime_zone *list[RUNTIME_ZONES_MAX];
};

void runtime_zones_deinit(struct runtime_zones *zones);

/* The zone with this name in lower case, or NULL. */
const struct runtime_zone *runtime_zones_find(const struct runtime_zones *zones, struct name name);

/* Adds a copy, or replaces the zone with its name. ERR_LIMIT: there are RUNTIME_ZONES_MAX. */
MUST_USE enum err runtime_zones_put(struct runtime_zones *zones, const struct runtime_zone *zone);

/* False if there was no such zone. */
bool runtime_zones_remove(struct runtime_zones *zones, struct name name);

/* The routes of the configuration with all zones applied. of_file: the zones of the configuration,
 * as it has them or with the addresses of hosts. out borrows from the configuration, of_file and
 * the arena. ERR_NO_MEMORY also at the arena's bound. */
MUST_USE enum err runtime_zones_routes(const struct runtime_zones *zones,
                                       const struct config *config,
                                       const struct route_options *of_file, struct arena *arena,
                                       struct route_options *out);

/* The local data of the configuration, in which special-use names make way for these zones, as they
 * do for zones of a file. *out borrows from the configuration; NULL: its own local data will do. */
MUST_USE enum err runtime_zones_local_names(const struct runtime_zones *zones,
                                            const struct config *config, struct local_names **out);

#endif
