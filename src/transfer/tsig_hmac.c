/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * HMAC by OpenSSL: the only door of this folder to it.
 * Invariant: a context always has a key and a stream under way, or the failure is remembered.
 */
#include "transfer/tsig_hmac.h"

#include <stdlib.h>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include "base/check.h"

struct tsig_hmac {
    EVP_MAC_CTX *context;
    bool has_failed; /* the present stream has had a failure */
};

static const struct {
    const char *name;
    uint8_t len;
} hashes[TSIG_HASHES] = {
    [TSIG_SHA1] = {"SHA1", 20},       [TSIG_SHA224] = {"SHA2-224", 28},
    [TSIG_SHA256] = {"SHA2-256", 32}, [TSIG_SHA384] = {"SHA2-384", 48},
    [TSIG_SHA512] = {"SHA2-512", 64},
};

size_t tsig_hmac_len(enum tsig_hash hash)
{
    return hashes[hash].len;
}

static EVP_MAC_CTX *hmac_context_new(enum tsig_hash hash, struct span secret)
{
    EVP_MAC *method = EVP_MAC_fetch(NULL, "HMAC", NULL);
    EVP_MAC_CTX *context = method ? EVP_MAC_CTX_new(method) : NULL;
    EVP_MAC_free(method);
    if (!context)
        return NULL;
    /* OpenSSL does not write to it, and its type has no const. */
    char *name = (char *)(uintptr_t)hashes[hash].name;
    OSSL_PARAM params[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, name, 0),
        OSSL_PARAM_construct_end(),
    };
    if (EVP_MAC_init(context, secret.data, secret.len, params))
        return context;
    EVP_MAC_CTX_free(context);
    return NULL;
}

struct tsig_hmac *tsig_hmac_new(enum tsig_hash hash, struct span secret)
{
    MUST(secret.len > 0);
    struct tsig_hmac *hmac = calloc(1, sizeof(*hmac));
    if (!hmac)
        return NULL;
    hmac->context = hmac_context_new(hash, secret);
    if (hmac->context)
        return hmac;
    free(hmac);
    return NULL;
}

void tsig_hmac_free(struct tsig_hmac *hmac)
{
    if (!hmac)
        return;
    EVP_MAC_CTX_free(hmac->context);
    free(hmac);
}

void tsig_hmac_add(struct tsig_hmac *hmac, struct span bytes)
{
    if (bytes.len > 0 && !EVP_MAC_update(hmac->context, bytes.data, bytes.len))
        hmac->has_failed = true;
}

bool tsig_hmac_end(struct tsig_hmac *hmac, uint8_t mac[TSIG_MAC_MAX])
{
    size_t len;
    bool is_good = EVP_MAC_final(hmac->context, mac, &len, TSIG_MAC_MAX) && !hmac->has_failed;
    /* Without a key, OpenSSL keeps the present one. */
    hmac->has_failed = !EVP_MAC_init(hmac->context, NULL, 0, NULL);
    return is_good;
}

bool tsig_hmac_equal(const uint8_t *a, const uint8_t *b, size_t len)
{
    return CRYPTO_memcmp(a, b, len) == 0;
}

void tsig_hmac_wipe(void *secret, size_t len)
{
    OPENSSL_cleanse(secret, len);
}
