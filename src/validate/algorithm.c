/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * The table of signature algorithms, with the price of each and the shape of its keys. Invariant: a
 * sound key bounds the time of a verification, so the price in the table holds for every key that
 * verify.c uses.
 */
#include "validate/algorithm.h"

#include <stdio.h>

#include "base/check.h"
#include "base/span.h"

enum {
    RSA_MODULUS_BITS_MAX = 4096,
    /* The .lv zone signs with 2^32 + 1. A longer exponent makes a verification cost more. */
    RSA_EXPONENT_MAX_BITS = 33,
    RSA_EXPONENT_USUAL_BITS = 17,
    RSA_KEY_BYTES_MAX = 1024, /* room for zeros in front of both numbers */
};

struct algorithm {
    uint8_t number;
    bool is_sha1;
    const char *name;
    uint16_t key_bytes;        /* the length of a key; 0: RSA */
    uint16_t modulus_bits_min; /* RSA: RFC 3110, RFC 5702 sections 2.1 and 2.2 */
    uint16_t units;            /* RSA: for 2048 bits */
};

static const struct algorithm algorithms[] = {
    {ALGORITHM_RSASHA1, true, "RSASHA1", 0, 512, 2},
    {ALGORITHM_RSASHA1_NSEC3, true, "RSASHA1-NSEC3-SHA1", 0, 512, 2},
    {ALGORITHM_RSASHA256, false, "RSASHA256", 0, 512, 2},
    {ALGORITHM_RSASHA512, false, "RSASHA512", 0, 1024, 2},
    {ALGORITHM_ECDSA_P256, false, "ECDSAP256SHA256", 64, 0, 8},
    {ALGORITHM_ECDSA_P384, false, "ECDSAP384SHA384", 96, 0, 90},
    {ALGORITHM_ED25519, false, "ED25519", 32, 0, 13},
    {ALGORITHM_ED448, false, "ED448", 57, 0, 29},
};

/* A bit for each algorithm that algorithm_refuse() has named. Set before threads start. */
static uint32_t refused;

_Static_assert(ALGORITHM_ED448 < 32, "refused has a bit for each");

static const struct algorithm *algorithm_find(uint8_t number)
{
    for (size_t i = 0; i < ARRAY_LEN(algorithms); i++)
        if (algorithms[i].number == number)
            return &algorithms[i];
    return NULL;
}

bool algorithm_is_supported(uint8_t algorithm, bool allow_sha1)
{
    const struct algorithm *row = algorithm_find(algorithm);
    return row && (allow_sha1 || !row->is_sha1) && !(refused >> algorithm & 1);
}

void algorithm_refuse(uint8_t algorithm)
{
    MUST(algorithm_find(algorithm));
    refused |= UINT32_C(1) << algorithm;
}

bool algorithm_is_digest_supported(uint8_t digest_type)
{
    return digest_type == DIGEST_SHA1 || digest_type == DIGEST_SHA256 ||
           digest_type == DIGEST_SHA384;
}

const char *algorithm_name(uint8_t algorithm, char out[ALGORITHM_TEXT_MAX])
{
    const struct algorithm *row = algorithm_find(algorithm);
    if (row)
        return row->name;
    snprintf(out, ALGORITHM_TEXT_MAX, "algorithm %u", algorithm);
    return out;
}

/* A verification by RSA takes time in proportion to the square of the modulus. Most key fields have
 * four bytes besides the modulus. */
static unsigned rsa_cost(unsigned units, size_t key_bytes)
{
    enum { BYTES_2048 = 256, BYTES_4096 = 512 };
    size_t bytes = MIN(key_bytes > 4 ? key_bytes - 4 : 0, BYTES_4096);
    size_t cost = (units * bytes * bytes + BYTES_2048 * BYTES_2048 - 1) / (BYTES_2048 * BYTES_2048);
    return (unsigned)MAX(cost, 1);
}

unsigned algorithm_cost(uint8_t algorithm, size_t key_bytes)
{
    const struct algorithm *row = algorithm_find(algorithm);
    if (!row)
        return 1;
    return row->key_bytes ? row->units : rsa_cost(row->units, key_bytes);
}

/* ---- the shape of RSA keys ---- */

static struct span without_zeros(struct span number)
{
    while (number.len > 0 && number.data[0] == 0) {
        number.data++;
        number.len--;
    }
    return number;
}

static size_t number_bits(struct span number)
{
    size_t bits = number.len * 8;
    for (unsigned top = number.len ? number.data[0] : 0x80; top < 0x80; top <<= 1)
        bits--;
    return bits;
}

static bool is_odd(struct span number)
{
    return number.len > 0 && number.data[number.len - 1] & 1;
}

bool algorithm_rsa_split(struct span key, struct span *exponent, struct span *modulus)
{
    uint8_t short_len;
    uint16_t len;
    if (!span_take_u8(&key, &short_len))
        return false;
    len = short_len;
    if (short_len == 0 && !span_take_u16(&key, &len))
        return false;
    if (!span_take(&key, len, exponent))
        return false;
    *exponent = without_zeros(*exponent);
    *modulus = without_zeros(key);
    return true;
}

/* 33 bits take 2.4 times as long as the 17 of the usual 65537. */
unsigned algorithm_key_cost(uint8_t algorithm, struct span key)
{
    const struct algorithm *row = algorithm_find(algorithm);
    struct span exponent, modulus;
    unsigned cost = algorithm_cost(algorithm, key.len);
    bool is_long = row && !row->key_bytes && algorithm_rsa_split(key, &exponent, &modulus) &&
                   number_bits(exponent) > RSA_EXPONENT_USUAL_BITS;
    return is_long ? 2 * cost : cost;
}

/* An exponent of 1 makes each message its own signature. Both numbers of a real key are odd. */
static bool is_rsa_sound(const struct algorithm *row, struct span key)
{
    struct span exponent, modulus;
    if (key.len > RSA_KEY_BYTES_MAX || !algorithm_rsa_split(key, &exponent, &modulus))
        return false;
    size_t exponent_bits = number_bits(exponent), modulus_bits = number_bits(modulus);
    return exponent_bits > 1 && exponent_bits <= RSA_EXPONENT_MAX_BITS && is_odd(exponent) &&
           modulus_bits >= row->modulus_bits_min && modulus_bits <= RSA_MODULUS_BITS_MAX &&
           is_odd(modulus);
}

bool algorithm_key_is_sound(uint8_t algorithm, const uint8_t *key, size_t key_bytes)
{
    const struct algorithm *row = algorithm_find(algorithm);
    if (!row)
        return false;
    return row->key_bytes ? key_bytes == row->key_bytes
                          : is_rsa_sound(row, span_of(key, key_bytes));
}
