/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TRANSFER_TSIG_HMAC_H
#define NAILUP_TRANSFER_TSIG_HMAC_H

/*
 * Keyed hashes of byte streams (HMAC, RFC 2104) by OpenSSL. Knows nothing of messages. One thread
 * for each object.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/span.h"

/* The hashes that TSIG keys name (RFC 8945 section 6). MD5 is not among them. */
enum tsig_hash { TSIG_SHA1, TSIG_SHA224, TSIG_SHA256, TSIG_SHA384, TSIG_SHA512, TSIG_HASHES };

enum { TSIG_MAC_MAX = 64 }; /* bytes of the longest MAC */

/* Returns the bytes of a MAC that is not truncated. */
size_t tsig_hmac_len(enum tsig_hash hash);

struct tsig_hmac;

/* Makes an object for one secret and begins its first stream. Returns NULL when out of memory, or
 * when OpenSSL lacks the hash. It copies the secret and wipes it at the end. */
struct tsig_hmac *tsig_hmac_new(enum tsig_hash hash, struct span secret);

/* hmac may be NULL. */
void tsig_hmac_free(struct tsig_hmac *hmac);

/* Appends bytes to the stream. A failure of OpenSSL shows in tsig_hmac_end(). */
void tsig_hmac_add(struct tsig_hmac *hmac, struct span bytes);

/* Ends the stream, writes its MAC, and begins the next stream with the same secret. Returns false
 * after a failure of OpenSSL. */
MUST_USE bool tsig_hmac_end(struct tsig_hmac *hmac, uint8_t mac[TSIG_MAC_MAX]);

/* Compares two MACs in a time that depends only on their length. */
bool tsig_hmac_equal(const uint8_t *a, const uint8_t *b, size_t len);

/* Overwrites a secret; the compiler cannot leave it out. */
void tsig_hmac_wipe(void *secret, size_t len);

#endif
