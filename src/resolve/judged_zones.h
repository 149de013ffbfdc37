/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_JUDGED_ZONES_H
#define NAILUP_RESOLVE_JUDGED_ZONES_H

/*
 * The zones that a worker has just found to be insecure or secure. The next answer of an insecure
 * zone costs no look into the cache; the next queries of a secure zone may share ports
 * (exchange_question.h), unless it refers to zones below. The cache has the proof; this is only a
 * short memory of a look. It lasts JUDGED_ZONES_US, so the cache is soon asked again after an
 * operator has flushed it. Pure; one thread.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"
#include "dns/name.h"

/* A power of two. A new zone displaces the one in its place, and two busy zones in one place cost a
 * look for each answer. So there are more places than busy zones. */
enum { JUDGED_ZONES_MAX = 1024 };

#define JUDGED_ZONES_US US_PER_S

enum judged {
    JUDGED_INSECURE,
    JUDGED_SECURE,
    JUDGED_REFERRING, /* secure, and its last referral to a zone below came just now */
};

struct judged_zone {
    uint64_t until; /* us; 0: none */
    uint32_t space; /* struct space.number */
    uint16_t ede;   /* why it is insecure, or EDE_NONE */
    enum judged judged;
    uint8_t len;
    uint8_t wire[NAME_WIRE_MAX];
};

struct judged_zones {
    uint64_t seed;
    struct judged_zone place[JUDGED_ZONES_MAX];
};

void judged_zones_init(struct judged_zones *zones);

/* Forgets all: other trust anchors may count now. */
void judged_zones_clear(struct judged_zones *zones);

/* Remembers that the zone is insecure in this space, for left_us at most. */
void judged_zones_add_insecure(struct judged_zones *zones, uint32_t space, struct name zone,
                               uint16_t ede, uint64_t left_us, uint64_t now_us);

/* Remembers that a signature of the zone was right, and that its keys have a chain to an anchor. */
void judged_zones_add_secure(struct judged_zones *zones, uint32_t space, struct name zone,
                             uint64_t now_us);

/* Remembers that the zone refers to zones below, if it is remembered as secure: no signature proves
 * the names of servers in a referral. */
void judged_zones_note_referral(struct judged_zones *zones, uint32_t space, struct name zone,
                                uint64_t now_us);

/* Whether the zone is remembered in this space and spelling. */
bool judged_zones_has(const struct judged_zones *zones, uint32_t space, struct name zone,
                      uint64_t now_us);

/* Returns the zone if it is remembered as insecure in this space and spelling, else NULL. Valid
 * until the next addition. */
const struct judged_zone *judged_zones_find_insecure(const struct judged_zones *zones,
                                                     uint32_t space, struct name zone,
                                                     uint64_t now_us);

/* Whether the zone is remembered as secure in this space and spelling, and not as one that refers
 * to zones below: signatures probably prove its next answers. */
bool judged_zones_proves(const struct judged_zones *zones, uint32_t space, struct name zone,
                         uint64_t now_us);

#endif
