/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_ROUTE_H
#define NAILUP_RESOLVE_ROUTE_H

/*
 * Whose servers are asked for a name: the zone with the longest suffix of it. Thousands of zones
 * cost no more than a few: one probe of a hash table for each number of labels that any zone has.
 * Built once, immutable afterwards; a worker's own, as the upstreams in it are. New ones take the
 * place of the former, which live on for the questions that began under them.
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

/* A zone of the configuration, owned by its routes; or a cut met in recursion inside of one, whose
 * servers are asked, for as long as a call. */
struct zone {
    struct name name; /* lower case */
    struct routes *routes;
    const struct strategy *strategy; /* how its names are resolved */
    struct upstream **group;         /* whom to ask; at most EXCHANGE_GROUP_MAX */
    uint16_t group_len;
    bool trust_ad;
    bool cache;     /* its answers are kept */
    bool has_inner; /* another zone lies below it */
    /* Its servers hold zones instead of asking others: they refer, and say so of their data (AA).
     */
    bool is_authoritative;
    bool is_last_hope; /* of a cut: servers that ask others are believed too; no better are left */
    const struct zone *within; /* of a cut: the zone of the configuration; NULL: it is one itself */
    /* Who resolves its names where its servers fail (first: yes): as if the zone were not there.
     * NULL: nobody. */
    const struct zone *above;
    const struct zone *instead_of; /* of such a one: that zone, whose names it has too */
};

/* By what kind of zone. */
struct route_strategies {
    const struct strategy *forward, *stub, *iterate;
};

/* Wants every upstream (upstreams_want()), those to be prewarmed too; they are dialled by the next
 * upstreams_settle(). options is borrowed for the call only, upstreams for the life of the routes.
 * Of two zones with one name the first counts. Where recursion is enabled and no zone is ".", there
 * is one without servers that iterates. NULL out of memory. */
struct routes *routes_new(const struct route_options *options, struct upstreams *upstreams,
                          const struct route_strategies *strategies);

/* No question is routed by them any more: their upstreams are wanted no longer. A zone that is held
 * stays as it is, and all that it refers to. NULL is fine. */
void routes_free(struct routes *routes);

/* For as long as a question is resolved by the zone: as many drops as holds. A zone without routes
 * is nobody's. */
void route_hold(const struct zone *zone);
void route_drop(const struct zone *zone);

/* The zone that takes the question, or NULL. name is in lower case. A DS record lives in the
 * parent (RFC 4035 section 3.1.4.1), so for a zone's own name the zone above is asked for it, when
 * there is one. */
const struct zone *route_find(const struct routes *routes, struct name name, uint16_t type);

/* Whether some zone has recursive servers. */
bool routes_have_forward(const struct routes *routes);

/* The zone in this place of the options, or NULL behind the last. */
const struct zone *route_at(const struct routes *routes, size_t place);

/* Whether name (of any case) belongs to the zone: it is below it and no inner zone of the
 * configuration takes it, but for one that it stands in for. What the zone's servers say of other
 * names is not believed. */
bool route_owns(const struct zone *zone, struct name name);

#endif
