/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_VALIDATE_NSEC3_HASH_H
#define NAILUP_VALIDATE_NSEC3_HASH_H

/*
 * The NSEC3 hashes of a name, of its ancestors and of the wildcards below them, for one proof. Each
 * is computed once and paid for before (RFC 5155 section 5).
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/span.h"
#include "dns/name.h"
#include "validate/verify.h"

enum {
    NSEC3_HASHES_MAX = 32,       /* names of one proof */
    NSEC3_HASH_UNIT_BLOCKS = 64, /* SHA-1 blocks for one unit of algorithm_cost() */
};

struct nsec3_hash {
    uint8_t len; /* of the name: the names of one proof differ in length */
    bool is_wildcard;
    uint8_t bytes[VERIFY_NSEC3_HASH];
};

/* Under 1 KB, for the stack. Borrows the salt and *units_left. */
struct nsec3_hashes {
    struct span salt;
    uint16_t iterations;
    unsigned *units_left;
    unsigned blocks_left; /* paid for, but not used yet */
    unsigned count;
    struct nsec3_hash at[NSEC3_HASHES_MAX];
};

/* Begins without hashes. */
void nsec3_hash_begin(struct nsec3_hashes *hashes, struct span salt, uint16_t iterations,
                      unsigned *units_left);

/* Returns the hash of a name, which is the proof's name or an ancestor of it, or the wildcard below
 * an ancestor. NULL: the units do not suffice, NSEC3_HASHES_MAX are used, or OpenSSL fails. */
const uint8_t *nsec3_hash_of(struct nsec3_hashes *hashes, struct name name, bool is_wildcard);

#endif
