/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_VALIDATE_SIGNER_LOAD_H
#define NAILUP_VALIDATE_SIGNER_LOAD_H

/*
 * Measures how much of a worker's time the signatures of each zone take. An attacker's zone may
 * have valid, costly signatures and random names. No bound on a single question stops that attack:
 * only this share does. A secret hash gives each zone a place; two zones in one place share a
 * bound. Pure except for the seed; one thread.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"
#include "dns/name.h"

enum {
    SIGNER_LOAD_PLACES = 1024, /* a power of two */
    SIGNER_LOAD_PERCENT = 5,   /* of the worker's time, for the signatures of one zone */
};

/* Verifications that a zone may have at once, after a time without any: its share of ten seconds.
 * Many names of one zone are often asked for together, for example after a start. */
#define SIGNER_LOAD_BURST_US (500 * US_PER_MS)

struct signer_place {
    uint64_t at;      /* us: the instant that `used_us` is about */
    uint64_t used_us; /* above the share; it falls by the share as time passes */
};

struct signer_load {
    uint64_t seed;
    struct signer_place places[SIGNER_LOAD_PLACES];
};

void signer_load_init(struct signer_load *load);

/* Counts a verification for this zone that took took_us. */
void signer_load_add(struct signer_load *load, struct name zone, uint64_t took_us, uint64_t now_us);

/* Whether the zone has had more than its share. */
bool signer_load_is_above(const struct signer_load *load, struct name zone, uint64_t now_us);

#endif
