/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_NETWORK_FACTS_H
#define NAILUP_DAEMON_NETWORK_FACTS_H

/*
 * What the kernel says of links, addresses and default routes (rtnetlink), and whether that is
 * news. The kernel repeats itself: lifetimes of addresses and routes are refreshed every few
 * seconds, counters with them. News is only what was not known, or is no longer so. Pure.
 *
 * Facts are: a link is up, but for those that are part of another (a bridge, a bond), which speaks
 * for them; an address is this machine's and may be used, but for link-local ones of IPv6, for
 * which their link speaks; a default route.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/span.h"

enum { NETWORK_FACTS_MAX = 4096 }; /* further ones are not watched */

struct network_fact {
    uint8_t kind;
    uint32_t link;  /* its index; of a route: where it leads out, 0: several ways */
    uint64_t place; /* hash of what there can be one of: a route's table and metric */
    uint64_t what;  /* hash of all */
};

struct network_facts {
    size_t count;
    struct network_fact list[NETWORK_FACTS_MAX];
};

/* What one datagram brought. */
struct network_news {
    bool changed; /* a fact came or went */
    bool ended;   /* the answer to a question of ours is complete, or refused */
};

/* Nothing is known. */
void network_facts_clear(struct network_facts *facts);

/* Takes in a datagram of the kernel's: messages as linux/netlink.h has them. What is cut off or
 * makes no sense is passed over. */
struct network_news network_facts_read(struct network_facts *facts, struct span datagram);

#endif
