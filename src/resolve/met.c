/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* From addresses to upstreams. How each is asked is said by config, how many there are is bounded
 * by upstreams. */
#include "resolve/met.h"

#include <sys/socket.h>

#include "base/rand.h"
#include "resolve/route_options.h"
#include "upstream/upstreams.h"

static bool met_is_among(struct upstream *const *group, size_t count,
                         const struct upstream *upstream)
{
    for (size_t i = 0; i < count; i++)
        if (group[i] == upstream)
            return true;
    return false;
}

static struct upstream *met_meet(const struct recursion_options *recursion,
                                 struct upstreams *upstreams, const struct addr *ip,
                                 size_t strangers, bool *is_stranger)
{
    struct route_upstream met;
    if (!recursion->meet || !recursion->meet(recursion->meet_context, ip, &met))
        return NULL;
    *is_stranger = !upstreams_have_heard(upstreams, &met.addr, &met.options);
    if (*is_stranger && strangers >= MET_STRANGERS_MAX)
        return NULL;
    return upstreams_meet(upstreams, &met.addr, &met.options);
}

size_t met_hold(const struct recursion_options *recursion, struct upstreams *upstreams,
                const struct addr *ips, size_t count, struct upstream **out, size_t most,
                size_t *strangers)
{
    size_t held = 0, first = count > MET_STRANGERS_MAX ? rand_u64() % count : 0;
    *strangers = 0;
    for (size_t i = 0; i < count && held < most; i++) {
        const struct addr *ip = &ips[(first + i) % count];
        bool is_stranger;
        struct upstream *upstream = met_meet(recursion, upstreams, ip, *strangers, &is_stranger);
        if (upstream && met_is_among(out, held, upstream)) {
            upstreams_drop(upstream);
        } else if (upstream) {
            out[held++] = upstream;
            *strangers += is_stranger;
        }
    }
    return held;
}

void met_drop(struct upstream *const *group, size_t count)
{
    for (size_t i = 0; i < count; i++)
        upstreams_drop(group[i]);
}

int met_prefer_family(const struct recursion_options *recursion)
{
    switch (recursion->prefer_ip) {
    case RECURSION_PREFER_IPV4:
        return AF_INET;
    case RECURSION_PREFER_IPV6:
        return AF_INET6;
    default:
        return AF_UNSPEC;
    }
}

bool met_keeps(void *context, const struct addr *addr, const struct upstream_options *options)
{
    const struct recursion_options *recursion = context;
    struct route_upstream met;
    return recursion->meet && recursion->meet(recursion->meet_context, addr, &met) &&
           addr_equal(&met.addr, addr) && upstream_options_equal(&met.options, options);
}
