/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Turns addresses into upstreams. config decides how each is asked, and upstreams bounds their
 * number. */
#include "resolve/discovered.h"

#include "base/rand.h"
#include "resolve/route_options.h"
#include "upstream/upstreams.h"

static bool discovered_is_among(struct upstream *const *group, size_t count,
                                const struct upstream *upstream)
{
    for (size_t i = 0; i < count; i++)
        if (group[i] == upstream)
            return true;
    return false;
}

static struct upstream *discovered_take(const struct recursion_options *recursion,
                                        struct upstreams *upstreams, const struct addr *ip,
                                        size_t unproven, bool *is_unproven)
{
    struct route_upstream server;
    if (!recursion->server_options ||
        !recursion->server_options(recursion->server_context, ip, &server))
        return NULL;
    *is_unproven = !upstreams_has_answered(upstreams, &server.addr, &server.options);
    if (*is_unproven && unproven >= DISCOVERED_UNPROVEN_MAX)
        return NULL;
    return upstreams_discover(upstreams, &server.addr, &server.options);
}

size_t discovered_hold(const struct recursion_options *recursion, struct upstreams *upstreams,
                       const struct addr *ips, size_t count, struct upstream **out, size_t most,
                       size_t *unproven)
{
    size_t held = 0, first = count > DISCOVERED_UNPROVEN_MAX ? rand_u64() % count : 0;
    *unproven = 0;
    for (size_t i = 0; i < count && held < most; i++) {
        const struct addr *ip = &ips[(first + i) % count];
        bool is_unproven;
        struct upstream *upstream =
            discovered_take(recursion, upstreams, ip, *unproven, &is_unproven);
        if (upstream && discovered_is_among(out, held, upstream)) {
            upstreams_drop(upstream);
        } else if (upstream) {
            out[held++] = upstream;
            *unproven += is_unproven;
        }
    }
    return held;
}

void discovered_drop(struct upstream *const *group, size_t count)
{
    for (size_t i = 0; i < count; i++)
        upstreams_drop(group[i]);
}

bool discovered_keeps(void *context, const struct addr *addr,
                      const struct upstream_options *options)
{
    const struct recursion_options *recursion = context;
    struct route_upstream server;
    return recursion->server_options &&
           recursion->server_options(recursion->server_context, addr, &server) &&
           addr_equal(&server.addr, addr) && upstream_options_equal(&server.options, options);
}
