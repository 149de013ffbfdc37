/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_POLICY_H
#define NAILUP_UPSTREAM_POLICY_H

/*
 * Which servers that recursion discovers may be asked, and how. Filled by config, immutable, shared
 * by all workers. Recursion asks it about every address of every zone cut that it queries.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/prefix.h"
#include "upstream/upstream_options.h"

/* Addresses that this daemon serves, from one option. */
struct policy_listeners {
    const char *key; /* names the option in errors */
    const struct addr *list;
    size_t count;
};

enum { POLICY_LISTENERS = 3 };

/* Borrows everything it points to. */
struct policy {
    /* The options of a discovered server, with every rule of choice applied. */
    struct upstream_options ipv4, ipv6; /* the options of an address outside all prefixes */
    const struct prefix_set *prefixes;  /* values are indices of by_prefix */
    const struct upstream_options *by_prefix;
    uint16_t port;         /* the port of authoritative servers, except over TLS */
    bool no_ipv4, no_ipv6; /* servers with such an address must not be asked */
    const struct prefix_set *do_not_query;
    struct policy_listeners listeners[POLICY_LISTENERS];
    const struct prefix_set *own; /* addresses of this machine; NULL: no listener is a wildcard */
};

/*
 * A recursion_server_options (resolve/recursion_options.h): chooses how to ask the server at ip,
 * whose port does not matter. False if it must not be asked: do-not-query lists it, its IP
 * version is off, no single server can have the address, or this daemon serves it. Any thread; a
 * few binary searches, no allocation.
 */
bool policy_choose(const void *policy, const struct addr *ip, struct route_upstream *out);

/* The option whose listener would receive queries to this server, so that they would loop; *addr is
 * the listener's address. NULL: queries do not loop. Opportunistic TLS has a second port to check.
 */
const char *policy_find_loop(const struct policy *policy, const struct route_upstream *server,
                             struct addr *addr);

/* Whether a listener accepts queries to every address of this machine. */
bool policy_has_wildcard(const struct policy *policy);

/* Whether the AD bit of this server's answers is protected against changes on the path. */
bool policy_is_trustworthy(const struct route_upstream *server);

#endif
