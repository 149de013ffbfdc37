/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_ITERATE_WORLD_H
#define NAILUP_RESOLVE_ITERATE_WORLD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/addr.h"
#include "recurse/delegation.h"
#include "resolve/strategy.h"

struct upstream;

/* The world outside recursion. Tasks borrow it; NULL leaves them without recursion. It stays as
 * long as the tasks do. A reload only changes its members, because tasks may still have servers to
 * drop. */
struct iterate_world {
    struct iterate_rules rules;
    struct delegation hints;
    /* Holds the upstreams at these addresses until drop(), at most `most` of them and without the
     * servers that must not be asked. The ports have no meaning. Returns how many it holds;
     * *unproven: how many of them never answered. */
    size_t (*hold)(void *context, const struct addr *ips, size_t count, struct upstream **out,
                   size_t most, size_t *unproven);
    void (*drop)(void *context, struct upstream *const *group, size_t count);
    /* Whether this machine has no route to servers of the IP version (AF_INET, AF_INET6) just now.
     * NULL: it has one to both. */
    bool (*lacks)(void *context, int family);
    void *context;
};

static inline bool iterate_world_lacks(const struct iterate_world *world, int family)
{
    return world->lacks && world->lacks(world->context, family);
}

/* Returns the rules of recursion without addresses of an IP version that has no route. If no
 * version has a route, the rules stay as they are. */
static inline struct iterate_rules iterate_world_rules(const struct iterate_world *world)
{
    if (!world)
        return (struct iterate_rules){.ipv4 = true, .ipv6 = true};
    struct iterate_rules rules = world->rules;
    bool lacks_ipv4 = iterate_world_lacks(world, AF_INET),
         lacks_ipv6 = iterate_world_lacks(world, AF_INET6);
    if (lacks_ipv4 != lacks_ipv6) {
        rules.ipv4 = rules.ipv4 && !lacks_ipv4;
        rules.ipv6 = rules.ipv6 && !lacks_ipv6;
    }
    return rules;
}

#endif
