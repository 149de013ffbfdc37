/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Masks addresses to the prefix that counts as one client. The callers count.
 * Invariant: two addresses have the same prefix exactly when they share the configured bits, and
 * then they have the same hash.
 */
#include "serve/client_prefix.h"

#include <string.h>

#include "base/check.h"
#include "base/hash.h"

static void set_bits(void *mask, size_t bits)
{
    uint8_t *bytes = mask;
    for (size_t i = 0; i < bits; i++)
        bytes[i / 8] |= (uint8_t)(0x80 >> i % 8);
}

struct client_masks client_masks_of(uint16_t v4_bits, uint16_t v6_bits)
{
    MUST(v4_bits <= 32 && v6_bits <= 128);
    struct client_masks masks = {0};
    set_bits(&masks.v4, v4_bits);
    set_bits(masks.v6, v6_bits);
    return masks;
}

static void read_masked(const struct client_masks *masks, const struct in6_addr *ip,
                        uint64_t words[2])
{
    memcpy(words, ip, sizeof(*ip));
    if (IN6_IS_ADDR_LINKLOCAL(ip))
        return;
    words[0] &= masks->v6[0];
    words[1] &= masks->v6[1];
}

struct addr client_prefix(const struct client_masks *masks, const struct addr *client)
{
    struct addr prefix = *client;
    uint64_t words[2];
    addr_set_port(&prefix, 0);
    if (addr_family(&prefix) == AF_INET) {
        prefix.in.sin_addr.s_addr &= masks->v4;
        return prefix;
    }
    read_masked(masks, &client->in6.sin6_addr, words);
    memcpy(&prefix.in6.sin6_addr, words, sizeof(words));
    return prefix;
}

uint8_t client_prefix_bits(const struct client_masks *masks, const struct addr *client)
{
    if (addr_family(client) == AF_INET)
        return (uint8_t)__builtin_popcount(masks->v4);
    if (IN6_IS_ADDR_LINKLOCAL(&client->in6.sin6_addr))
        return 128;
    return (uint8_t)(__builtin_popcountll(masks->v6[0]) + __builtin_popcountll(masks->v6[1]));
}

uint64_t client_hash(const struct client_masks *masks, const struct addr *client, uint64_t seed)
{
    uint64_t words[2];
    if (addr_family(client) == AF_INET)
        return hash_word(client->in.sin_addr.s_addr & masks->v4, seed);
    read_masked(masks, &client->in6.sin6_addr, words);
    return hash_bytes(words, sizeof(words), seed);
}
