/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_VALIDATE_VERIFY_KEYS_H
#define NAILUP_VALIDATE_VERIFY_KEYS_H

/*
 * Public keys as OpenSSL's objects, for verify.c, and a bounded table of recent ones by their
 * content: making one takes a quarter of the time of a verification. One owner, one thread.
 */

#include <stdbool.h>
#include <stdint.h>

#include <openssl/evp.h>

#include "base/span.h"
#include "validate/verify_hash.h"

enum {
    VERIFY_KEYS_MAX = 1024, /* keys in the table */
    VERIFY_KEYS_WAYS = 4,   /* places that one key may have */
};

struct verify_keys;

/* Return NULL out of memory or without a needed part of OpenSSL. */
struct verify_keys *verify_keys_new(void);
void verify_keys_free(struct verify_keys *keys); /* NULL is fine */

/* A key that is ready. Valid until the next call for its table. */
struct verify_key {
    EVP_PKEY *key;
    EVP_PKEY_CTX *context; /* ready to verify a hash; NULL for algorithms that hash by themselves */
};

/* Finds or makes the key; key passes algorithm_key_is_sound(). NULL: the key is wrong, or out of
 * memory. */
const struct verify_key *verify_keys_get(struct verify_keys *keys, uint8_t algorithm,
                                         struct span key);

/* Gives the hash that an algorithm signs. False: it hashes by itself (Ed25519, Ed448). */
bool verify_keys_hash(uint8_t algorithm, enum verify_hash *hash);

#endif
