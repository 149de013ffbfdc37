/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONFIG_FORWARD_H
#define NAILUP_CONFIG_FORWARD_H

/*
 * A zone whose upstreams are set at run time (`nailupctl forward`): it has the options of the
 * file's zone with the same name, or those of the section upstream. Pure; a plain value.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/err.h"
#include "config/config.h"
#include "dns/name.h"
#include "resolve/route_options.h"

enum {
    FORWARD_UPSTREAMS_MAX = 14, /* as many as a request has words for */
    FORWARD_WHY_MAX = 400,
};

struct forward_upstream {
    struct addr addr; /* port 0 where none was given */
    bool has_port;
    char auth_name[ADDR_NAME_MAX]; /* "": none */
};

struct forward {
    uint8_t wire[NAME_WIRE_MAX]; /* lower case */
    uint8_t name_len;
    uint8_t upstream_count;
    struct forward_upstream upstreams[FORWARD_UPSTREAMS_MAX];
};

/* Reads a zone's name, and upstreams as the file has them; there may be none of these. ERR_INVALID:
 * why is a sentence that says what to do. */
MUST_USE enum err forward_parse(struct forward *out, const char *zone, size_t count,
                                const char *const upstreams[], char why[FORWARD_WHY_MAX]);

bool forward_is_same(const struct forward *a, const struct forward *b);

static inline struct name forward_name(const struct forward *forward)
{
    return (struct name){forward->wire, forward->name_len};
}

/* How its n-th upstream is asked. out points into the configuration and the forward. */
void forward_upstream(const struct config *config, struct forward *forward, size_t n,
                      struct route_upstream *out);

/* ---- as a zone of the file; used inside config only ---- */

/* The place in the routes of the file's zone with the forward's name, be it one of forward-zones
 * or stub-zones; route.zone_count: there is none. */
size_t forward_place(const struct config *config, const struct forward *forward);

/* That zone, or one with nothing of its own, without its upstreams. */
void forward_zone(const struct config *config, size_t place, const struct forward *forward,
                  struct config_zone *out);

/* As config_zone_upstream(); name is what the options will point to. */
void forward_route(const struct config *config, const struct config_zone *zone,
                   const struct forward_upstream *upstream, char *name,
                   struct route_upstream *out);

#endif
