/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_NET_UDP_THINNED_H
#define NAILUP_NET_UDP_THINNED_H

/* The clients whose datagrams the kernel thins, for udp_server_thin(). Plain values. */

#include <stdint.h>

#include "base/addr.h"

enum { UDP_THINNED_MAX = 64, UDP_THINNED_WHOLE = 1 << 16 };

/* The kernel keeps a random share of the datagrams from a prefix of addresses. */
struct udp_thinned {
    struct addr prefix; /* has the socket's family; further bits and the port do not matter */
    uint8_t bits;       /* the length of the prefix */
    uint32_t keep;      /* how many of UDP_THINNED_WHOLE datagrams stay; fewer than all */
};

#endif
