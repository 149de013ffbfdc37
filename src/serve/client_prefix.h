/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_CLIENT_PREFIX_H
#define NAILUP_SERVE_CLIENT_PREFIX_H

/*
 * Who counts as one client where clients are counted: the addresses of one prefix. Whoever has one
 * IPv6 address has 2^64 or more of them, so that a bound on single addresses would bound nobody.
 * Pure, any thread.
 */

#include <stdint.h>

#include "base/addr.h"

/* The bits that count, as they lie in addresses. */
struct client_masks {
    uint32_t v4;
    uint64_t v6[2];
};

/* v4_bits is at most 32, v6_bits at most 128 (MUST). */
struct client_masks client_masks_of(uint16_t v4_bits, uint16_t v6_bits);

/* The address with all other bits zero, and port 0. A link-local address stands for itself alone:
 * all hosts of a link share its first 64 bits. */
struct addr client_prefix(const struct client_masks *masks, const struct addr *client);

/* A hash of that; the scope of a link-local address is left out. */
uint64_t client_hash(const struct client_masks *masks, const struct addr *client, uint64_t seed);

#endif
