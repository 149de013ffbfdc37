/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_CLIENT_PREFIX_H
#define NAILUP_SERVE_CLIENT_PREFIX_H

/*
 * The addresses that count as one client: those of one prefix. A host with one IPv6 address has
 * 2^64 or more of them, so a bound on single addresses would bound no client. Pure, any thread.
 */

#include <stdint.h>

#include "base/addr.h"

/* The bits of a prefix, in network byte order. */
struct client_masks {
    uint32_t v4;
    uint64_t v6[2];
};

/* v4_bits is at most 32, v6_bits at most 128 (MUST). */
struct client_masks client_masks_of(uint16_t v4_bits, uint16_t v6_bits);

/* The address with all other bits zero, and port 0. A link-local address is a separate client,
 * because all hosts of a link share its first 64 bits. */
struct addr client_prefix(const struct client_masks *masks, const struct addr *client);

/* The bits of the address that this prefix has; all of a link-local one. */
uint8_t client_prefix_bits(const struct client_masks *masks, const struct addr *client);

/* A hash of that prefix, without the scope of a link-local address. */
uint64_t client_hash(const struct client_masks *masks, const struct addr *client, uint64_t seed);

#endif
