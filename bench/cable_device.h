/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_CABLE_DEVICE_H
#define NAILUP_BENCH_CABLE_DEVICE_H

/*
 * The TUN device of the cable. It is made, addressed and set up without any other program, and goes
 * away with its descriptor.
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

/* Accepts letters, digits, - and _: the kernel and paths give them no other meaning. */
bool cable_device_name_is_good(const char *name);

/* Returns a non-blocking descriptor: each read is a packet, and each write is one. Returns -1
 * and a sentence in why if there is no TUN, or the name or an address is in use. */
int cable_device_open(const struct cable_device_options *options, char why[CABLE_WHY_MAX]);

/* Packets that the kernel has dropped since the device exists, because the cable read too
 * slowly. */
uint64_t cable_device_overruns(const char *name);

#endif
