/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONFIG_ZONE_HOSTS_H
#define NAILUP_CONFIG_ZONE_HOSTS_H

/*
 * The routes of a configuration whose zones have servers by name, with the addresses that are known
 * now. Pure; one thread at a time.
 */

#include <stddef.h>

#include "base/addr.h"
#include "base/arena.h"
#include "base/err.h"
#include "config/config.h"

enum { ZONE_HOST_ADDRS_MAX = 16 }; /* addresses of one name */

/* A name with its addresses, whose ports do not matter. */
struct zone_host {
    char name[ADDR_NAME_MAX];
    size_t addr_count;
    struct addr addrs[ZONE_HOST_ADDRS_MAX];
};

/* Empty at first: {0}. */
struct zone_hosts {
    size_t count;
    struct zone_host list[CONFIG_HOSTS_MAX];
};

/* The entry of this name, or NULL. */
const struct zone_host *zone_hosts_find(const struct zone_hosts *hosts, const char *name);

/*
 * The routes of the configuration, in which each server by name is replaced by its addresses.
 * Leaves out an address that the zone has already, that no server can have, and one of our own
 * listeners: a name that leads here must not make queries loop. A zone has EXCHANGE_GROUP_MAX
 * upstreams. A zone without any address awaits its hosts. out borrows from the configuration and
 * the arena.
 */
MUST_USE enum err zone_hosts_routes(const struct zone_hosts *hosts, const struct config *config,
                                    struct arena *arena, struct route_options *out);

#endif
