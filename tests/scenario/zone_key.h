/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_SCENARIO_ZONE_KEY_H
#define NAILUP_TESTS_SCENARIO_ZONE_KEY_H

/* The keys of signed zones. A key follows from the name of its zone. */

#include <stddef.h>
#include <stdint.h>

#include "base/span.h"
#include "dns/name.h"

enum {
    ZONE_KEY_ALGORITHM = 15, /* Ed25519: the signature follows from the name too */
    ZONE_KEY_RDATA_MAX = 4 + 32,
    ZONE_KEY_SIG_MAX = 64,
};

/* Writes the RDATA of the zone's DNSKEY record and returns its length. salt tells the keys of one
 * zone apart; 0 is the key that the zone publishes. */
size_t zone_key_rdata(struct name zone, uint16_t flags, uint8_t salt,
                      uint8_t out[ZONE_KEY_RDATA_MAX]);

/* Returns the key tag of a DNSKEY record. */
uint16_t zone_key_tag(struct span rdata);

/* Writes the signature of the bytes by this key and returns its length. */
size_t zone_key_sign(struct name zone, uint8_t salt, struct span bytes,
                     uint8_t out[ZONE_KEY_SIG_MAX]);

#endif
