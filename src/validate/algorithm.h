/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_VALIDATE_ALGORITHM_H
#define NAILUP_VALIDATE_ALGORITHM_H

/*
 * Which algorithms and digests count, and what a verification costs. Zones whose DS records have
 * only others are insecure (RFC 4035 section 5.2), with EDE 1 or 2. One table; any thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/span.h"

enum {
    ALGORITHM_RSASHA1 = 5,
    ALGORITHM_RSASHA1_NSEC3 = 7,
    ALGORITHM_RSASHA256 = 8,
    ALGORITHM_RSASHA512 = 10,
    ALGORITHM_ECDSA_P256 = 13,
    ALGORITHM_ECDSA_P384 = 14,
    ALGORITHM_ED25519 = 15,
    ALGORITHM_ED448 = 16,
};

enum { DIGEST_SHA1 = 1, DIGEST_SHA256 = 2, DIGEST_SHA384 = 4 };

/* Returns whether signatures of this algorithm count. 5 and 7 count only with allow_sha1. An
 * algorithm that the system's crypto policy refuses at run time does not count: the first call of
 * algorithm_probe() finds that out. */
bool algorithm_is_supported(uint8_t algorithm, bool allow_sha1);

bool algorithm_is_digest_supported(uint8_t digest_type);

/* Verifies a known signature of each algorithm once, before threads start, and refuses the
 * algorithms that do not work. In algorithm_probe.c. */
void algorithm_probe(void);

/* Makes algorithm_is_supported() false from now on. Before threads start. */
void algorithm_refuse(uint8_t algorithm);

/* "ECDSAP256SHA256", or "algorithm 23"; static storage or out. */
enum { ALGORITHM_TEXT_MAX = 24 };
const char *algorithm_name(uint8_t algorithm, char out[ALGORITHM_TEXT_MAX]);

/* The cost of one verification in units of 10 us (P-256 8, RSA-2048 2, RSA-4096 8, Ed25519 13,
 * Ed448 29, P-384 90; 1 at least). key_bytes is the length of the public key field. */
unsigned algorithm_cost(uint8_t algorithm, size_t key_bytes);

/* Returns the cost for a known key: a long RSA exponent doubles it. The signed bytes cost time too:
 * verify_cost() of verify.h has the sum. */
unsigned algorithm_key_cost(uint8_t algorithm, struct span key);

/* Whether this public key field may be used. RSA: a modulus of 512 to 4096 bits (RSASHA512: 1024 or
 * more), an exponent above 1 of at most 33 bits, and both odd. Others: the exact length. False for
 * unknown algorithms. Whether ECDSA's point is on the curve is verify_run()'s concern. */
bool algorithm_key_is_sound(uint8_t algorithm, const uint8_t *key, size_t key_bytes);

/* Splits an RSA key field (RFC 3110 section 2) into its two numbers, without zeros in front. False:
 * too short. Borrows from key. */
bool algorithm_rsa_split(struct span key, struct span *exponent, struct span *modulus);

#endif
