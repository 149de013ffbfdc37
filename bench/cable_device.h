/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_CABLE_DEVICE_H
#define NAILUP_BENCH_CABLE_DEVICE_H

/*
 * The TUN device of the cable. nailup-bench makes, addresses and sets it up without another
 * program. It disappears when its descriptor closes.
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

/* Accepts letters, digits, - and _, because the kernel and paths give these no other meaning. */
bool cable_device_name_is_good(const char *name);

/* Returns a non-blocking descriptor. Each read and each write is one packet. Returns -1 and a
 * sentence in why if TUN is missing, or if the name or an address is in use. */
int cable_device_open(const struct cable_device_options *options, char why[CABLE_WHY_MAX]);

/* Returns how many packets the kernel has dropped since the device was made, because the cable read
 * too slowly. */
uint64_t cable_device_overruns(const char *name);

#endif
