/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_RECURSION_OPTIONS_H
#define NAILUP_RESOLVE_RECURSION_OPTIONS_H

/* What recursion is told: filled by config, immutable, shared by all workers. */

#include <stdbool.h>
#include <stdint.h>

#include "resolve/private_addrs.h"

struct addr;
struct delegation;
struct route_upstream;

/* Values as they stand in the words of the option. */
enum recursion_prefer_ip { RECURSION_PREFER_ANY, RECURSION_PREFER_IPV4, RECURSION_PREFER_IPV6 };

/*
 * How a server that recursion meets is asked: *out is its address with its port, and its options,
 * every rule of choice applied; so one in a tcp-upstream-keepalive prefix is nailed. The port of
 * ip does not matter. False: it is not to be asked at all, since do-not-query has it, no single
 * server can have it, or it is an address that this daemon serves. What *out points to lives as
 * long as the context. Any thread; a binary search or two, no allocation.
 */
typedef bool (*recursion_meet)(const void *context, const struct addr *ip,
                               struct route_upstream *out);

struct recursion_options {
    bool enabled; /* names that no zone takes are resolved from the root on */
    bool priming; /* RFC 9609 */
    bool qname_minimisation;
    uint16_t port; /* of authoritative servers */
    enum recursion_prefer_ip prefer_ip;
    char *root_hints;               /* a file in zone format; "": built in */
    const struct delegation *hints; /* what it says; NULL: built in */
    struct private_addrs private;   /* of the answers of all upstreams, not of recursion alone */
    /* Whom to ask, and how; NULL in options made by hand: nobody is met. The context lives as long
     * as the configuration: whoever keeps the two replaces them with each change of it. */
    recursion_meet meet;
    const void *meet_context;
};

#endif
