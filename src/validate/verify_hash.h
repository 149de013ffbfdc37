/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_VALIDATE_VERIFY_HASH_H
#define NAILUP_VALIDATE_VERIFY_HASH_H

/*
 * Hashes for verify.c: the methods are fetched once in the process, and each thread keeps its own
 * contexts, which are freed when it ends. Any thread.
 */

#include <stddef.h>
#include <stdint.h>

#include <openssl/evp.h>

#include "base/span.h"

enum verify_hash { VERIFY_SHA1, VERIFY_SHA256, VERIFY_SHA384, VERIFY_SHA512, VERIFY_HASHES };

enum { VERIFY_HASH_MAX = 64 }; /* bytes of the longest hash */

/* Returns OpenSSL's method, which the process keeps, or NULL when OpenSSL lacks it. */
const EVP_MD *verify_hash_method(enum verify_hash hash);

/* Hashes the two spans as one. Returns the length, or 0: OpenSSL lacks the hash, or out of
 * memory. */
size_t verify_hash_bytes(enum verify_hash hash, struct span first, struct span second,
                         uint8_t out[VERIFY_HASH_MAX]);

#endif
