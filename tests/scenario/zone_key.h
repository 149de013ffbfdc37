/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_SCENARIO_ZONE_KEY_H
#define NAILUP_TESTS_SCENARIO_ZONE_KEY_H

/* The keys of signed zones. The name of a zone determines its key. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/span.h"
#include "dns/name.h"

enum {
    ZONE_KEY_ED25519 = 15, /* the usual algorithm: the signature follows from the name, too */
    ZONE_KEY_P384 = 14,    /* the most expensive to verify; its signatures are random */
    ZONE_KEY_RDATA_MAX = 4 + 96,
    ZONE_KEY_SIG_MAX = 96,
};

/* salt distinguishes the keys of one zone. The zone publishes key 0. */
struct zone_key {
    struct name zone;
    uint8_t algorithm;
    uint8_t salt;
};

/* Writes the RDATA of the DNSKEY record and returns its length. */
size_t zone_key_rdata(struct zone_key key, uint16_t flags, uint8_t out[ZONE_KEY_RDATA_MAX]);

/* Returns whether zones may have keys of this algorithm. */
bool zone_key_has(unsigned algorithm);

/* Returns the key tag of a DNSKEY record. */
uint16_t zone_key_tag(struct span rdata);

/* Writes the signature of the bytes by this key and returns its length. */
size_t zone_key_sign(struct zone_key key, struct span bytes, uint8_t out[ZONE_KEY_SIG_MAX]);

#endif
