/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_RECURSION_OPTIONS_H
#define NAILUP_RESOLVE_RECURSION_OPTIONS_H

/* The options of recursion: filled by config, immutable, shared by all workers. */

#include <stdbool.h>
#include <stdint.h>

#include "resolve/private_addrs.h"

struct addr;
struct delegation;
struct route_upstream;

/* In the order of the option's words. */
enum recursion_prefer_ip { RECURSION_PREFER_ANY, RECURSION_PREFER_IPV4, RECURSION_PREFER_IPV6 };

/*
 * How a discovered server is asked: *out is its address with a port and its options, after all
 * rules of choice; so a server in a tcp-upstream-keepalive prefix is nailed. The port of ip does
 * not matter. False: it must not be asked, because do-not-query has it, its IP version is off, no
 * single server can have it, or this daemon serves it. *out points to memory that lives as long as
 * the context. Any thread; a binary search or two, no allocation.
 */
typedef bool (*recursion_server_options)(const void *context, const struct addr *ip,
                                         struct route_upstream *out);

struct recursion_options {
    bool enabled; /* recursion takes the names that no zone takes */
    bool priming; /* RFC 9609 */
    bool qname_minimisation;
    uint16_t port; /* of authoritative servers */
    enum recursion_prefer_ip prefer_ip;
    bool no_ipv4, no_ipv6;          /* servers with these addresses are not asked */
    char *root_hints;               /* a file in zone format; "": built in */
    const struct delegation *hints; /* its content; NULL: built in */
    struct private_addrs private;   /* of the answers of all upstreams, recursion or not */
    /* Chooses the servers to ask and their options; NULL in options made by hand: no server is
     * discovered. The context lives as long as the configuration, so both change with it. */
    recursion_server_options server_options;
    const void *server_context;
};

#endif
