/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_NET_UDP_FILTER_H
#define NAILUP_NET_UDP_FILTER_H

/*
 * Private to src/net: the kernel's filter of a UDP socket (SO_ATTACH_FILTER). It drops a random
 * share of the datagrams from some client prefixes before they enter the socket's queue. A datagram
 * that is dropped there costs the reader of the socket nothing.
 */

#include <linux/filter.h>
#include <stddef.h>

#include "net/udp_thinned.h"

enum {
    UDP_FILTER_WORDS = 4, /* the words of an address */
    UDP_FILTER_STEPS_MAX = 2 * UDP_FILTER_WORDS + UDP_THINNED_MAX * (3 * UDP_FILTER_WORDS + 4) + 1,
};

/* Writes the steps of the filter and returns their number. family is that of the socket. */
size_t udp_filter_build(struct sock_filter steps[UDP_FILTER_STEPS_MAX], int family,
                        const struct udp_thinned *thinned, unsigned count);

#endif
