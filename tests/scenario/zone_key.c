/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "scenario/zone_key.h"

#include <openssl/evp.h>

#include "base/check.h"
#include "validate/verify.h"

enum { KEY_LEN = 32 };

static EVP_PKEY *private_key(struct name zone, uint8_t salt)
{
    uint8_t seed[VERIFY_DIGEST_MAX];
    MUST(verify_digest(2, span_of(zone.wire, zone.len), span_of(&salt, 1), seed) == KEY_LEN);
    EVP_PKEY *key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, seed, KEY_LEN);
    MUST(key);
    return key;
}

size_t zone_key_rdata(struct name zone, uint16_t flags, uint8_t salt,
                      uint8_t out[ZONE_KEY_RDATA_MAX])
{
    size_t len = KEY_LEN;
    EVP_PKEY *key = private_key(zone, salt);
    put_u16(out, flags);
    out[2] = 3;
    out[3] = ZONE_KEY_ALGORITHM;
    MUST(EVP_PKEY_get_raw_public_key(key, out + 4, &len) && len == KEY_LEN);
    EVP_PKEY_free(key);
    return 4 + KEY_LEN;
}

uint16_t zone_key_tag(struct span rdata)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < rdata.len; i++)
        sum += i & 1 ? rdata.data[i] : (uint32_t)rdata.data[i] << 8;
    return (uint16_t)(sum + (sum >> 16));
}

size_t zone_key_sign(struct name zone, uint8_t salt, struct span bytes,
                     uint8_t out[ZONE_KEY_SIG_MAX])
{
    size_t len = ZONE_KEY_SIG_MAX;
    EVP_PKEY *key = private_key(zone, salt);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    MUST(context && EVP_DigestSignInit(context, NULL, NULL, NULL, key) == 1 &&
         EVP_DigestSign(context, out, &len, bytes.data, bytes.len) == 1);
    EVP_MD_CTX_free(context);
    EVP_PKEY_free(key);
    return len;
}
