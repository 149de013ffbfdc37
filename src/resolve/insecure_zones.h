/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_INSECURE_ZONES_H
#define NAILUP_RESOLVE_INSECURE_ZONES_H

/*
 * The zones that a worker has just found to be insecure, so that the next answer of such a zone
 * costs no look into the cache. The cache has the proof; this is only a short memory of a look. It
 * lasts INSECURE_ZONES_US, so the cache is soon asked again after an operator has flushed it. Pure;
 * one thread.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"
#include "dns/name.h"

/* A power of two. A new zone displaces the one in its place, and two busy zones in one place cost a
 * look for each answer. So there are more places than busy zones. */
enum { INSECURE_ZONES_MAX = 1024 };

#define INSECURE_ZONES_US US_PER_S

struct insecure_zone {
    uint64_t until; /* us; 0: none */
    uint32_t space; /* struct space.number */
    uint16_t ede;   /* why it is insecure, or EDE_NONE */
    uint8_t len;
    uint8_t wire[NAME_WIRE_MAX];
};

struct insecure_zones {
    uint64_t seed;
    struct insecure_zone place[INSECURE_ZONES_MAX];
};

void insecure_zones_init(struct insecure_zones *zones);

/* Forgets all: other trust anchors may count now. */
void insecure_zones_clear(struct insecure_zones *zones);

/* Remembers that the zone is insecure in this space, for left_us at most. */
void insecure_zones_add(struct insecure_zones *zones, uint32_t space, struct name zone,
                        uint16_t ede, uint64_t left_us, uint64_t now_us);

/* Returns the zone if it is remembered in this space and spelling, else NULL. Valid until the next
 * addition. */
const struct insecure_zone *insecure_zones_find(const struct insecure_zones *zones, uint32_t space,
                                                struct name zone, uint64_t now_us);

#endif
