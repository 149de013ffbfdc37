/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_PRIVATE_ADDRS_H
#define NAILUP_RESOLVE_PRIVATE_ADDRS_H

/*
 * Private addresses that public names must not have: a public name with such an address makes a
 * browser talk to servers that trust their own network (DNS rebinding). Configured names are
 * exceptions. Pure; any thread.
 */

#include <stdbool.h>

#include "dns/message.h"
#include "dns/name.h"

struct addr;
struct name_map;
struct prefix_set;

/* Borrowed from the configuration. */
struct private_addrs {
    const struct prefix_set *prefixes; /* frozen; NULL: no address is private */
    const struct name_map *names;      /* names at or below these may have them; NULL: none */
};

static inline bool private_addrs_are_set(const struct private_addrs *private)
{
    return private->prefixes != NULL;
}

/* Whether the host must not have the address. An IPv6 address that maps an IPv4 one (RFC 4291
 * section 2.5.5.2) counts as that one too. */
bool private_addrs_refuse(const struct private_addrs *private, struct name host,
                          const struct addr *ip);

/* Whether a sound record (message_check_rdata()) is an A or AAAA record with a private address that
 * its owner must not have, or an SVCB or HTTPS record with one among its hints. */
bool private_addrs_refuse_rr(const struct private_addrs *private, const struct message *message,
                             const struct rr *rr);

#endif
