/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_CABLE_DEVICE_H
#define NAILUP_BENCH_CABLE_DEVICE_H

/*
 * The TUN device of the cable: made, given its addresses and set up without any other program. It
 * goes away with its descriptor.
 */

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cable_packet.h"

enum { CABLE_WHY_MAX = 256 };

struct cable_device_options {
    char name[IFNAMSIZ];
    struct cable_ends ends;
    size_t mtu, queue_max;
};

/* Letters, digits, - and _: nothing that the kernel or a path would read otherwise. */
bool cable_device_name_is_good(const char *name);

/* Its descriptor, which does not block: each read is a packet, each write is one. -1, and a
 * sentence in why: there may be none, or the name or an address is in use already. */
int cable_device_open(const struct cable_device_options *options, char why[CABLE_WHY_MAX]);

/* Packets that the kernel dropped since the device is there, as we read too slowly. */
uint64_t cable_device_overruns(const char *name);

#endif
