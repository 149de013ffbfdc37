/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Verifies signatures. verify_hash.c hashes and verify_keys.c has the keys. Invariant: a key that
 * is not sound never reaches OpenSSL, and OpenSSL's queue of errors is empty afterwards.
 */
#include "validate/verify.h"

#include <stdlib.h>

#include <openssl/err.h>

#include "base/check.h"
#include "dns/word.h"
#include "validate/algorithm.h"
#include "validate/verify_hash.h"
#include "validate/verify_keys.h"

enum {
    NUMBER_MAX = 48, /* bytes of r and of s for P-384 */
    DER_MAX = 2 + 2 * (2 + 1 + NUMBER_MAX),
    UNIT_BYTES = 4096, /* bytes that are hashed in 10 us on a machine without SHA instructions */
};

struct verifier {
    struct verify_keys *keys;
    EVP_MD_CTX *edwards; /* for Ed25519 and Ed448 */
};

struct verifier *verifier_new(void)
{
    for (int hash = 0; hash < VERIFY_HASHES; hash++)
        if (!verify_hash_method((enum verify_hash)hash))
            return NULL;
    struct verifier *verifier = calloc(1, sizeof(*verifier));
    if (!verifier)
        return NULL;
    verifier->keys = verify_keys_new();
    verifier->edwards = EVP_MD_CTX_new();
    if (verifier->keys && verifier->edwards)
        return verifier;
    verifier_free(verifier);
    return NULL;
}

void verifier_free(struct verifier *verifier)
{
    if (!verifier)
        return;
    verify_keys_free(verifier->keys);
    EVP_MD_CTX_free(verifier->edwards);
    free(verifier);
}

unsigned verify_cost(const struct verify_job *job)
{
    return algorithm_key_cost(job->algorithm, job->key) + (unsigned)(job->data.len / UNIT_BYTES);
}

/* ---- ECDSA signatures ---- */

/* Writes an INTEGER: no needless zeros in front, and one zero where the first bit is set. */
static uint8_t *put_integer(uint8_t *at, const uint8_t *number, size_t len)
{
    while (len > 1 && *number == 0) {
        number++;
        len--;
    }
    size_t zero = number[0] >> 7;
    *at++ = 0x02;
    *at++ = (uint8_t)(len + zero);
    *at = 0;
    memcpy(at + zero, number, len);
    return at + zero + len;
}

/* Writes r and s, which a signature has side by side (RFC 6605 section 4), as OpenSSL wants them.
 * Returns the length, or 0: a wrong length. */
static size_t to_der(uint8_t out[DER_MAX], struct span signature, size_t number_bytes)
{
    if (signature.len != 2 * number_bytes)
        return 0;
    uint8_t *at = put_integer(out + 2, signature.data, number_bytes);
    at = put_integer(at, signature.data + number_bytes, number_bytes);
    out[0] = 0x30;
    out[1] = (uint8_t)(at - out - 2);
    return (size_t)(at - out);
}

static bool is_hash_signed(const struct verify_key *key, const struct verify_job *job,
                           struct span signature)
{
    enum verify_hash hash;
    MUST(verify_keys_hash(job->algorithm, &hash));
    uint8_t bytes[VERIFY_HASH_MAX];
    size_t len = verify_hash_bytes(hash, job->data, span_of(NULL, 0), bytes);
    return len > 0 && EVP_PKEY_verify(key->context, signature.data, signature.len, bytes, len) == 1;
}

static bool is_signed_by_ecdsa(const struct verify_key *key, const struct verify_job *job)
{
    uint8_t der[DER_MAX];
    size_t len = to_der(der, job->signature, job->key.len / 2);
    return len > 0 && is_hash_signed(key, job, span_of(der, len));
}

/* A context that has a key keeps it, so it is emptied for each signature. */
static bool is_signed_by_edwards(struct verifier *verifier, const struct verify_key *key,
                                 const struct verify_job *job)
{
    EVP_MD_CTX *context = verifier->edwards;
    return EVP_MD_CTX_reset(context) == 1 &&
           EVP_DigestVerifyInit_ex(context, NULL, NULL, NULL, NULL, key->key, NULL) == 1 &&
           EVP_DigestVerify(context, job->signature.data, job->signature.len, job->data.data,
                            job->data.len) == 1;
}

bool verify_run(struct verifier *verifier, const struct verify_job *job)
{
    if (!algorithm_key_is_sound(job->algorithm, job->key.data, job->key.len))
        return false;
    const struct verify_key *key = verify_keys_get(verifier->keys, job->algorithm, job->key);
    bool is_right = false;
    if (key && !key->context)
        is_right = is_signed_by_edwards(verifier, key, job);
    else if (key &&
             (job->algorithm == ALGORITHM_ECDSA_P256 || job->algorithm == ALGORITHM_ECDSA_P384))
        is_right = is_signed_by_ecdsa(key, job);
    else if (key)
        is_right = is_hash_signed(key, job, job->signature);
    if (ERR_peek_error()) /* which is rare, and clearing takes longer than a look */
        ERR_clear_error();
    return is_right;
}
