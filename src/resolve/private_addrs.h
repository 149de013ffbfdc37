/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_PRIVATE_ADDRS_H
#define NAILUP_RESOLVE_PRIVATE_ADDRS_H

/*
 * Addresses of the inside that nobody outside may name: a stranger's name that leads there makes a
 * browser speak to what only trusts its own network (DNS rebinding). Names that may have them are
 * exceptions. Pure; any thread.
 */

#include <stdbool.h>

#include "dns/message.h"
#include "dns/name.h"

struct addr;
struct name_map;
struct prefix_set;

/* Borrowed of the configuration. */
struct private_addrs {
    const struct prefix_set *prefixes; /* frozen; NULL: no address is private */
    const struct name_map *names;      /* these, and all below, may have them; NULL: none */
};

static inline bool private_addrs_are_set(const struct private_addrs *private)
{
    return private->prefixes != NULL;
}

/* Whether the host must not have the address. An IPv6 address that stands for an IPv4 one (RFC 4291
 * section 2.5.5.2) is that one as well. */
bool private_addrs_refuse(const struct private_addrs *private, struct name host,
                          const struct addr *ip);

/* Whether the record (sound, as message_check_rdata() says) is an A or AAAA record with an address
 * that its owner must not have, or an SVCB or HTTPS record with one among its hints. */
bool private_addrs_refuse_rr(const struct private_addrs *private, const struct message *message,
                             const struct rr *rr);

#endif
