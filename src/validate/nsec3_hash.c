/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Invariant: no hash is computed before its SHA-1 blocks are paid for. Unused blocks of a unit pay
 * for the next hash of the same proof.
 */
#include "validate/nsec3_hash.h"

#include <stddef.h>

void nsec3_hash_begin(struct nsec3_hashes *hashes, struct span salt, uint16_t iterations,
                      unsigned *units_left)
{
    hashes->salt = salt;
    hashes->iterations = iterations;
    hashes->units_left = units_left;
    hashes->blocks_left = 0;
    hashes->count = 0;
}

/* Returns the blocks of a SHA-1 digest of len bytes: padding takes at least nine more. */
static unsigned sha1_blocks(size_t len)
{
    return (unsigned)((len + 9 + 63) / 64);
}

/* Pays for one hash. False: the units do not suffice, and none is taken. */
static bool hashes_pay(struct nsec3_hashes *hashes, size_t name_len)
{
    unsigned blocks = sha1_blocks(name_len + hashes->salt.len) +
                      hashes->iterations * sha1_blocks(VERIFY_NSEC3_HASH + hashes->salt.len);
    unsigned missing = blocks > hashes->blocks_left ? blocks - hashes->blocks_left : 0;
    unsigned units = (missing + NSEC3_HASH_UNIT_BLOCKS - 1) / NSEC3_HASH_UNIT_BLOCKS;
    if (units > *hashes->units_left)
        return false;
    *hashes->units_left -= units;
    hashes->blocks_left += units * NSEC3_HASH_UNIT_BLOCKS - blocks;
    return true;
}

const uint8_t *nsec3_hash_of(struct nsec3_hashes *hashes, struct name name, bool is_wildcard)
{
    for (unsigned i = 0; i < hashes->count; i++)
        if (hashes->at[i].len == name.len && hashes->at[i].is_wildcard == is_wildcard)
            return hashes->at[i].bytes;
    if (hashes->count == NSEC3_HASHES_MAX || !hashes_pay(hashes, name.len))
        return NULL;
    struct nsec3_hash *hash = &hashes->at[hashes->count];
    hash->len = name.len;
    hash->is_wildcard = is_wildcard;
    uint8_t folded[NAME_WIRE_MAX];
    name_fold(name, folded);
    if (!verify_nsec3_hash(hash->bytes, span_of(folded, name.len), hashes->salt,
                           hashes->iterations))
        return NULL;
    hashes->count++;
    return hash->bytes;
}
