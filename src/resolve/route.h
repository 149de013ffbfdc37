/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_ROUTE_H
#define NAILUP_RESOLVE_ROUTE_H

/*
 * Which zone's servers are asked for a name: the zone with the longest matching suffix. Thousands
 * of zones cost no more than a few: one probe of a hash table for each number of labels that a zone
 * has. Built once and immutable; a worker's own, like its upstreams. New routes replace the former
 * ones, which live on for the tasks that began with them.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dns/name.h"
#include "resolve/route_options.h"

struct routes;
struct strategy;
struct upstream;
struct upstreams;

/* A zone of the configuration, owned by its routes; or, for the duration of a call, a zone cut
 * below one, whose servers are asked. */
struct zone {
    struct name name; /* lower case */
    struct routes *routes;
    const struct strategy *strategy; /* how its names are resolved */
    struct upstream **group;         /* the servers to ask; at most EXCHANGE_GROUP_MAX */
    uint16_t group_len;
    bool trust_ad;
    bool cache;         /* its answers are kept */
    bool validates;     /* its answers are validated, or would be (VALIDATE_LOG) */
    bool is_aggressive; /* its secure records may answer for other names too */
    bool has_inner;     /* another zone is below it */
    bool awaits_hosts;  /* no address of its servers is known yet: its questions fail */
    bool is_of_view;    /* as in struct route_zone */
    /* Its servers are authoritative: they refer, and set AA on their data. */
    bool is_authoritative;
    bool is_last_hope; /* of a cut: recursive servers are believed too, because no better ones are
                          left */
    const struct zone
        *within; /* of a cut: the configured zone that contains it; NULL: this is one itself */
    /* The substitute that resolves its names where its servers fail (first: yes); NULL: none. */
    const struct zone *above;
    const struct zone
        *instead_of; /* of a substitute: the zone that it replaces, whose names it has too */
};

/* The strategy of each kind of zone. */
struct route_strategies {
    const struct strategy *forward, *stub, *iterate;
};

/* Makes routes and wants every upstream (upstreams_want()), those to be prewarmed included; the
 * next upstreams_settle() dials them. options is borrowed for the call, upstreams for the life of
 * the routes. The first of two zones with one name counts. Where recursion is enabled and no zone
 * is ".", a zone "." without servers iterates. NULL out of memory. */
struct routes *routes_new(const struct route_options *options, struct upstreams *upstreams,
                          const struct route_strategies *strategies);

/* Ends the use for new questions of clients: the upstreams are no longer wanted. Tasks that run may
 * still look zones up until routes_free(). */
void routes_retire(struct routes *routes);

/* Retires the routes and drops the owner's hold. Zones that are held stay with all they refer to.
 * NULL is fine. */
void routes_free(struct routes *routes);

/* Holds and drops the zone of a task, as many drops as holds. A zone without routes has no
 * owner. */
void route_hold(const struct zone *zone);
void route_drop(const struct zone *zone);

/* Returns the zone that takes the question, or NULL. name is in lower case. A DS record lives in
 * the parent (RFC 4035 section 3.1.4.1), so a zone above takes the DS question for a zone's own
 * name, if there is one. */
const struct zone *route_find(const struct routes *routes, struct name name, uint16_t type);

/* Whether some zone has recursive servers. */
bool routes_have_forward(const struct routes *routes);

/* Returns the zone in this place of the options, or NULL after the last. */
const struct zone *route_at(const struct routes *routes, size_t place);

/* Whether name (in any case) belongs to the zone: it is below it, and no inner zone takes it,
 * except one that this zone replaces. Servers are not believed about other names. */
bool route_owns(const struct zone *zone, struct name name);

#endif
