/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Makes OpenSSL's keys and remembers them. A key has four places by a hash with a secret seed. A
 * new key displaces one that was never found again, so keys that are seen once do not displace
 * those in use. Invariant: a key is found only by equal bytes under the same algorithm.
 */
#include "validate/verify_keys.h"

#include <stdlib.h>

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/params.h>
#include <openssl/rsa.h>

#include "base/check.h"
#include "base/hash.h"
#include "base/rand.h"
#include "validate/algorithm.h"
#include "validate/verify_hash.h"

enum {
    GROUPS = VERIFY_KEYS_MAX / VERIFY_KEYS_WAYS,
    RSA_BYTES_MAX = 512 + 8, /* of a sound modulus or exponent, and some room */
    POINT_BYTES_MAX = 1 + 96,
    POINT_UNCOMPRESSED = 4,
};

struct place {
    struct verify_key ready; /* key is NULL: empty */
    uint64_t hash;
    uint8_t *bytes; /* owned */
    size_t len;
    uint8_t algorithm;
    bool is_marked; /* found since it was made */
};

struct verify_keys {
    uint64_t seed;
    EVP_PKEY_CTX *rsa, *ec; /* make keys */
    uint8_t hand[GROUPS];   /* the way that is displaced when all are marked */
    struct place place[GROUPS][VERIFY_KEYS_WAYS];
};

/* ---- making ---- */

static EVP_PKEY_CTX *maker_new(const char *type)
{
    EVP_PKEY_CTX *maker = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
    if (maker && EVP_PKEY_fromdata_init(maker) == 1)
        return maker;
    EVP_PKEY_CTX_free(maker);
    return NULL;
}

static EVP_PKEY *make(EVP_PKEY_CTX *maker, OSSL_PARAM *params)
{
    EVP_PKEY *key = NULL;
    return EVP_PKEY_fromdata(maker, &key, EVP_PKEY_PUBLIC_KEY, params) == 1 ? key : NULL;
}

/* Turns a number into the byte order of this machine, which OSSL_PARAM wants. */
static bool to_native(struct span number, uint8_t out[RSA_BYTES_MAX])
{
    BIGNUM *value = BN_bin2bn(number.data, (int)number.len, NULL);
    bool is_done = value && BN_bn2nativepad(value, out, (int)number.len) >= 0;
    BN_free(value);
    return is_done;
}

static EVP_PKEY *make_rsa(EVP_PKEY_CTX *maker, struct span key)
{
    uint8_t exponent[RSA_BYTES_MAX], modulus[RSA_BYTES_MAX];
    struct span e, n;
    if (!algorithm_rsa_split(key, &e, &n) || e.len > RSA_BYTES_MAX || n.len > RSA_BYTES_MAX ||
        !to_native(e, exponent) || !to_native(n, modulus))
        return NULL;
    OSSL_PARAM params[] = {
        OSSL_PARAM_construct_BN(OSSL_PKEY_PARAM_RSA_N, modulus, n.len),
        OSSL_PARAM_construct_BN(OSSL_PKEY_PARAM_RSA_E, exponent, e.len),
        OSSL_PARAM_construct_end(),
    };
    return make(maker, params);
}

/* DNSKEY has the two coordinates (RFC 6605 section 4). OpenSSL wants a byte before them.
 */
static EVP_PKEY *make_ec(EVP_PKEY_CTX *maker, const char *group, struct span key)
{
    uint8_t point[POINT_BYTES_MAX] = {POINT_UNCOMPRESSED};
    char name[16];
    if (key.len + 1 > sizeof(point) || strlen(group) >= sizeof(name))
        return NULL;
    memcpy(point + 1, key.data, key.len);
    strcpy(name, group);
    OSSL_PARAM params[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, name, 0),
        OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, point, key.len + 1),
        OSSL_PARAM_construct_end(),
    };
    return make(maker, params);
}

static EVP_PKEY *make_public_key(const struct verify_keys *keys, uint8_t algorithm, struct span key)
{
    switch (algorithm) {
    case ALGORITHM_ECDSA_P256:
        return make_ec(keys->ec, "P-256", key);
    case ALGORITHM_ECDSA_P384:
        return make_ec(keys->ec, "P-384", key);
    case ALGORITHM_ED25519:
        return EVP_PKEY_new_raw_public_key_ex(NULL, "ED25519", NULL, key.data, key.len);
    case ALGORITHM_ED448:
        return EVP_PKEY_new_raw_public_key_ex(NULL, "ED448", NULL, key.data, key.len);
    default:
        return make_rsa(keys->rsa, key);
    }
}

/* Returns a context that verifies hashes, or NULL. */
static EVP_PKEY_CTX *context_of(EVP_PKEY *key, enum verify_hash hash, bool is_rsa)
{
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);
    if (context && EVP_PKEY_verify_init(context) == 1 &&
        (!is_rsa || EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1) &&
        EVP_PKEY_CTX_set_signature_md(context, verify_hash_method(hash)) == 1)
        return context;
    EVP_PKEY_CTX_free(context);
    return NULL;
}

static void ready_free(struct verify_key *ready)
{
    EVP_PKEY_CTX_free(ready->context);
    EVP_PKEY_free(ready->key);
    *ready = (struct verify_key){0};
}

static bool ready_init(struct verify_key *ready, const struct verify_keys *keys, uint8_t algorithm,
                       struct span key)
{
    *ready = (struct verify_key){.key = make_public_key(keys, algorithm, key)};
    if (!ready->key)
        return false;
    enum verify_hash hash;
    if (!verify_keys_hash(algorithm, &hash))
        return true;
    bool is_rsa = algorithm != ALGORITHM_ECDSA_P256 && algorithm != ALGORITHM_ECDSA_P384;
    ready->context = context_of(ready->key, hash, is_rsa);
    if (!ready->context)
        ready_free(ready);
    return ready->context;
}

bool verify_keys_hash(uint8_t algorithm, enum verify_hash *hash)
{
    switch (algorithm) {
    case ALGORITHM_RSASHA1:
    case ALGORITHM_RSASHA1_NSEC3:
        *hash = VERIFY_SHA1;
        return true;
    case ALGORITHM_RSASHA256:
    case ALGORITHM_ECDSA_P256:
        *hash = VERIFY_SHA256;
        return true;
    case ALGORITHM_ECDSA_P384:
        *hash = VERIFY_SHA384;
        return true;
    case ALGORITHM_RSASHA512:
        *hash = VERIFY_SHA512;
        return true;
    default:
        return false;
    }
}

/* ---- the table ---- */

static void place_empty(struct place *place)
{
    ready_free(&place->ready);
    free(place->bytes);
    *place = (struct place){0};
}

static struct place *ways_find(struct place group[VERIFY_KEYS_WAYS], uint64_t hash,
                               uint8_t algorithm, struct span key)
{
    for (unsigned way = 0; way < VERIFY_KEYS_WAYS; way++) {
        struct place *place = &group[way];
        if (place->ready.key && place->hash == hash && place->algorithm == algorithm &&
            span_equal(span_of(place->bytes, place->len), key))
            return place;
    }
    return NULL;
}

/* Returns an empty place, one whose key was not found again, or the place at the hand. */
static struct place *ways_choose(struct verify_keys *keys, size_t group)
{
    struct place *ways = keys->place[group];
    for (unsigned way = 0; way < VERIFY_KEYS_WAYS; way++)
        if (!ways[way].is_marked)
            return &ways[way];
    for (unsigned way = 0; way < VERIFY_KEYS_WAYS; way++)
        ways[way].is_marked = false;
    keys->hand[group] = (uint8_t)((keys->hand[group] + 1) % VERIFY_KEYS_WAYS);
    return &ways[keys->hand[group]];
}

static bool place_fill(struct place *place, uint64_t hash, uint8_t algorithm, struct span key)
{
    place->bytes = malloc(key.len);
    if (!place->bytes)
        return false;
    memcpy(place->bytes, key.data, key.len);
    place->len = key.len;
    place->hash = hash;
    place->algorithm = algorithm;
    return true;
}

const struct verify_key *verify_keys_get(struct verify_keys *keys, uint8_t algorithm,
                                         struct span key)
{
    uint64_t hash = hash_bytes(key.data, key.len, keys->seed ^ algorithm);
    size_t group = hash % GROUPS;
    struct place *place = ways_find(keys->place[group], hash, algorithm, key);
    if (place) {
        place->is_marked = true;
        return &place->ready;
    }
    struct verify_key ready;
    if (!ready_init(&ready, keys, algorithm, key))
        return NULL;
    place = ways_choose(keys, group);
    place_empty(place);
    place->ready = ready;
    if (place_fill(place, hash, algorithm, key))
        return &place->ready;
    place_empty(place);
    return NULL;
}

struct verify_keys *verify_keys_new(void)
{
    struct verify_keys *keys = calloc(1, sizeof(*keys));
    if (!keys)
        return NULL;
    keys->seed = rand_u64();
    keys->rsa = maker_new("RSA");
    keys->ec = maker_new("EC");
    if (keys->rsa && keys->ec)
        return keys;
    verify_keys_free(keys);
    return NULL;
}

void verify_keys_free(struct verify_keys *keys)
{
    if (!keys)
        return;
    for (size_t group = 0; group < GROUPS; group++)
        for (unsigned way = 0; way < VERIFY_KEYS_WAYS; way++)
            place_empty(&keys->place[group][way]);
    EVP_PKEY_CTX_free(keys->rsa);
    EVP_PKEY_CTX_free(keys->ec);
    free(keys);
}
