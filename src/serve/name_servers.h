/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_NAME_SERVERS_H
#define NAILUP_SERVE_NAME_SERVERS_H

/*
 * The servers that rules of response policy about servers look at: those of the closest known zone
 * of a name and of the zones above it. The servers of the root and of top-level domains are not
 * triggers: a rule about them would hit half of the Internet, and each query would pay for it.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "dns/name.h"
#include "recurse/delegation.h"
#include "rpz/rpz_policy.h"

struct resolver;

enum {
    NAME_SERVERS_MAX = 4 * DELEGATION_SERVERS_MAX, /* of all zones; later ones are left out */
    NAME_SERVERS_ADDRS_MAX = 4 * DELEGATION_ADDRS_MAX,
    NAME_SERVERS_LABELS_MIN = 2, /* of the zones whose servers count */
};

/* It has pointers to itself, so it must not be copied. */
struct name_servers {
    struct rpz_servers servers;
    unsigned labels; /* of the closest zone; 0: no servers are known */
    bool has_addrs;  /* the address of a server of the closest zone is known */
    struct delegation cut;
    struct name names[NAME_SERVERS_MAX];
    uint8_t wires[NAME_SERVERS_MAX][NAME_WIRE_MAX];
    struct addr addrs[NAME_SERVERS_ADDRS_MAX];
};

/* Finds the servers of a name (lower case) as clients of the view know them. Asks no server. NULL:
 * none are known; else out->servers. In a read section of the cache. */
const struct rpz_servers *name_servers_find(struct name_servers *out,
                                            const struct resolver *resolver, unsigned view,
                                            struct name name);

#endif
