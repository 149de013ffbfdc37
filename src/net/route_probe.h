/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_NET_ROUTE_PROBE_H
#define NAILUP_NET_ROUTE_PROBE_H

/* Asks the kernel for a route to an address. Sends nothing. Any thread. */

#include <stdbool.h>

#include "base/addr.h"

/* False: packets to the address cannot leave this machine. True too if that cannot be found out. */
bool route_probe(const struct addr *to);

#endif
