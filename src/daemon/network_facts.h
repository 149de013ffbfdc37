/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_NETWORK_FACTS_H
#define NAILUP_DAEMON_NETWORK_FACTS_H

/*
 * Keeps the facts that the kernel reports about links, addresses and default routes (rtnetlink),
 * and finds out whether a report is news. The kernel repeats itself: it refreshes lifetimes of
 * addresses and routes every few seconds, and counters with them. A report is news only if it adds
 * a fact or ends one. Pure.
 *
 * The facts are: a link is up, unless it is part of another link (a bridge, a bond) that represents
 * it; this machine may use an address, except for IPv6 link-local addresses, which their link
 * represents; a default route exists.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/span.h"

enum { NETWORK_FACTS_MAX = 4096 }; /* further facts are ignored */

struct network_fact {
    uint8_t kind;
    uint32_t link;  /* the link's index; for a route the outgoing link, or 0 for several */
    uint64_t place; /* hash of the slot that holds one fact: a route's table and metric */
    uint64_t what;  /* hash of the identity of the fact */
};

struct network_facts {
    size_t count;
    struct network_fact list[NETWORK_FACTS_MAX];
};

/* The effect of one datagram. */
struct network_news {
    bool changed; /* a fact was added or ended */
    bool ended;   /* the answer to our request is complete, or refused */
};

/* Forgets all facts. */
void network_facts_clear(struct network_facts *facts);

/* Reads a datagram from the kernel: messages in the format of linux/netlink.h. Skips truncated and
 * malformed messages. */
struct network_news network_facts_read(struct network_facts *facts, struct span datagram);

#endif
