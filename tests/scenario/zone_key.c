/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "scenario/zone_key.h"

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <string.h>

#include "base/check.h"
#include "validate/verify.h"

enum {
    ED25519_LEN = 32,
    P384_LEN = 48,                     /* the bytes of one number */
    P384_POINT_LEN = 1 + 2 * P384_LEN, /* the first byte means that the point is uncompressed */
};

bool zone_key_has(unsigned algorithm)
{
    return algorithm == ZONE_KEY_ED25519 || algorithm == ZONE_KEY_P384;
}

/* Writes the digest of this type and length. */
static void make_seed(const struct zone_key *key, uint8_t digest, size_t len,
                      uint8_t out[VERIFY_DIGEST_MAX])
{
    MUST(verify_digest(digest, span_of(key->zone.wire, key->zone.len), span_of(&key->salt, 1),
                       out) == len);
}

static EVP_PKEY *ed25519_key(const struct zone_key *key)
{
    uint8_t seed[VERIFY_DIGEST_MAX];
    make_seed(key, 2, ED25519_LEN, seed);
    return EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, seed, ED25519_LEN);
}

static BIGNUM *p384_secret(const struct zone_key *key)
{
    uint8_t seed[VERIFY_DIGEST_MAX];
    make_seed(key, 4, P384_LEN, seed);
    seed[0] &= 0x7f; /* keeps the number below the order of the group */
    return BN_bin2bn(seed, P384_LEN, NULL);
}

/* Writes the public point of the secret number. */
static void p384_point(const BIGNUM *secret, uint8_t out[P384_POINT_LEN])
{
    EC_GROUP *group = EC_GROUP_new_by_curve_name(NID_secp384r1);
    EC_POINT *point = group ? EC_POINT_new(group) : NULL;
    MUST(point && EC_POINT_mul(group, point, secret, NULL, NULL, NULL) == 1);
    MUST(EC_POINT_point2oct(group, point, POINT_CONVERSION_UNCOMPRESSED, out, P384_POINT_LEN,
                            NULL) == P384_POINT_LEN);
    EC_POINT_free(point);
    EC_GROUP_free(group);
}

static EVP_PKEY *p384_key(const struct zone_key *key)
{
    uint8_t point[P384_POINT_LEN];
    EVP_PKEY *made = NULL;
    BIGNUM *secret = p384_secret(key);
    MUST(secret);
    p384_point(secret, point);
    OSSL_PARAM_BLD *build = OSSL_PARAM_BLD_new();
    MUST(build);
    MUST(OSSL_PARAM_BLD_push_utf8_string(build, OSSL_PKEY_PARAM_GROUP_NAME, "secp384r1", 0) == 1 &&
         OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_PRIV_KEY, secret) == 1 &&
         OSSL_PARAM_BLD_push_octet_string(build, OSSL_PKEY_PARAM_PUB_KEY, point, sizeof(point)) ==
             1);
    OSSL_PARAM *params = OSSL_PARAM_BLD_to_param(build);
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
    MUST(params && context && EVP_PKEY_fromdata_init(context) == 1 &&
         EVP_PKEY_fromdata(context, &made, EVP_PKEY_KEYPAIR, params) == 1);
    EVP_PKEY_CTX_free(context);
    OSSL_PARAM_free(params);
    OSSL_PARAM_BLD_free(build);
    BN_free(secret);
    return made;
}

static EVP_PKEY *private_key(const struct zone_key *key)
{
    EVP_PKEY *made = key->algorithm == ZONE_KEY_P384 ? p384_key(key) : ed25519_key(key);
    MUST(made);
    return made;
}

size_t zone_key_rdata(struct zone_key key, uint16_t flags, uint8_t out[ZONE_KEY_RDATA_MAX])
{
    put_u16(out, flags);
    out[2] = 3;
    out[3] = key.algorithm;
    if (key.algorithm == ZONE_KEY_P384) {
        uint8_t point[P384_POINT_LEN];
        BIGNUM *secret = p384_secret(&key);
        MUST(secret);
        p384_point(secret, point);
        BN_free(secret);
        memcpy(out + 4, point + 1, sizeof(point) - 1);
        return 4 + sizeof(point) - 1;
    }
    size_t len = ED25519_LEN;
    EVP_PKEY *made = private_key(&key);
    MUST(EVP_PKEY_get_raw_public_key(made, out + 4, &len) && len == ED25519_LEN);
    EVP_PKEY_free(made);
    return 4 + ED25519_LEN;
}

uint16_t zone_key_tag(struct span rdata)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < rdata.len; i++)
        sum += i & 1 ? rdata.data[i] : (uint32_t)rdata.data[i] << 8;
    return (uint16_t)(sum + (sum >> 16));
}

/* Writes the two numbers of the signature without their lengths (RFC 6605 section 4). */
static size_t p384_numbers(struct span der, uint8_t out[ZONE_KEY_SIG_MAX])
{
    const uint8_t *at = der.data;
    ECDSA_SIG *sig = d2i_ECDSA_SIG(NULL, &at, (long)der.len);
    MUST(sig && BN_bn2binpad(ECDSA_SIG_get0_r(sig), out, P384_LEN) == P384_LEN &&
         BN_bn2binpad(ECDSA_SIG_get0_s(sig), out + P384_LEN, P384_LEN) == P384_LEN);
    ECDSA_SIG_free(sig);
    return 2 * P384_LEN;
}

size_t zone_key_sign(struct zone_key key, struct span bytes, uint8_t out[ZONE_KEY_SIG_MAX])
{
    uint8_t made[256];
    size_t len = sizeof(made);
    bool is_p384 = key.algorithm == ZONE_KEY_P384;
    EVP_PKEY *private = private_key(&key);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    MUST(context &&
         EVP_DigestSignInit(context, NULL, is_p384 ? EVP_sha384() : NULL, NULL, private) == 1 &&
         EVP_DigestSign(context, made, &len, bytes.data, bytes.len) == 1);
    EVP_MD_CTX_free(context);
    EVP_PKEY_free(private);
    if (is_p384)
        return p384_numbers(span_of(made, len), out);
    MUST(len <= ZONE_KEY_SIG_MAX);
    memcpy(out, made, len);
    return len;
}
