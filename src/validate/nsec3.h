/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_VALIDATE_NSEC3_H
#define NAILUP_VALIDATE_NSEC3_H

/*
 * One NSEC3 record (RFC 5155 section 3): the types of the name whose hash is its owner, and the
 * span of hashes up to the next one. nsec3_hash makes the hashes. Borrows; pure; any thread.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/span.h"
#include "dns/name.h"
#include "validate/verify.h"

struct nsec3 {
    uint8_t owner[VERIFY_NSEC3_HASH];
    uint8_t next[VERIFY_NSEC3_HASH];
    struct span salt;
    uint16_t iterations;
    bool has_opt_out;
    struct span types; /* a sound type bitmap */
};

/* Reads the record. False: it is malformed, its owner is not one label of base32hex directly below
 * the zone, or it has an unknown hash algorithm or flag, so that it must be ignored (RFC 5155
 * sections 8.1 and 8.2). */
MUST_USE bool nsec3_read(struct nsec3 *out, struct name zone, struct name owner, struct span rdata);

/* Writes the owner of the zone's record with this hash to wire, which *owner borrows. False: the
 * name would be too long. */
MUST_USE bool nsec3_write_owner(uint8_t wire[NAME_WIRE_MAX], const uint8_t hash[VERIFY_NSEC3_HASH],
                                struct name zone, struct name *owner);

/* Returns whether the two have equal parameters: iterations and salt. A proof needs records of
 * one chain. */
bool nsec3_is_same_chain(const struct nsec3 *a, const struct nsec3 *b);

/* Returns whether the hash is the owner. */
bool nsec3_is_owner(const struct nsec3 *nsec3, const uint8_t hash[VERIFY_NSEC3_HASH]);

/* Returns whether the hash is strictly between owner and next. The last record leads back to the
 * first, and a single one to itself. */
bool nsec3_spans(const struct nsec3 *nsec3, const uint8_t hash[VERIFY_NSEC3_HASH]);

#endif
