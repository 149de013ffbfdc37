/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_VALIDATE_VERIFY_H
#define NAILUP_VALIDATE_VERIFY_H

/*
 * The only code that runs cryptography: signatures, digests and NSEC3 hashes, by OpenSSL. Each
 * worker owns a struct verifier with contexts and recent keys. Callers charge a budget before each
 * call.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/span.h"

struct verifier;

/* Returns NULL out of memory, or when OpenSSL lacks a digest that every zone needs. */
struct verifier *verifier_new(void);
void verifier_free(struct verifier *verifier); /* NULL is fine */

struct verify_job {
    uint8_t algorithm;
    struct span key;  /* the public key field of the DNSKEY */
    struct span data; /* canonical_write()'s */
    struct span signature;
};

/* The price of verify_run() in units of algorithm_cost(): the signature's, and one for each 4 KiB
 * of data. */
unsigned verify_cost(const struct verify_job *job);

/* Returns whether the signature is right. A key or signature that cannot be read is wrong. */
bool verify_run(struct verifier *verifier, const struct verify_job *job);

enum { VERIFY_DIGEST_MAX = 48, VERIFY_NSEC3_HASH = 20 };

/* Digests the two spans as one. Returns the length, or 0: an unsupported digest type, or out of
 * memory. Any thread. */
size_t verify_digest(uint8_t digest_type, struct span first, struct span second,
                     uint8_t out[VERIFY_DIGEST_MAX]);

/* Hashes a name in wire form and lower case (RFC 5155 section 5; SHA-1). False: out of memory, and
 * *out is not written. Any thread. */
bool verify_nsec3_hash(uint8_t out[VERIFY_NSEC3_HASH], struct span name, struct span salt,
                       uint16_t iterations);

#endif
