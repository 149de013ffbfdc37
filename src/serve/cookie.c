/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Makes and checks server cookies of version 1 (RFC 9018 section 4):
 *
 *     version 1 | reserved 3 | seconds since 1970: 4 | SipHash-2-4: 8
 *
 * The hash covers the client's cookie, those eight bytes and the client's address. Times are
 * compared as serial numbers. cookie_secrets.c has the secrets.
 * Invariant: cookie_answer() accepts its own result for the same client in the same second.
 */
#include "serve/cookie.h"

#include <string.h>

#include "base/check.h"
#include "base/span.h"

enum {
    VERSION = 1,
    STAMP_AT = 12, /* in the whole cookie */
    HASH_AT = 16,
    ADDRESS_MAX = 16,
    SOUND_MIN = COOKIE_CLIENT_BYTES + 8,
    SOUND_MAX = COOKIE_CLIENT_BYTES + 32,
};

bool cookie_is_sound(uint8_t len)
{
    return len == COOKIE_CLIENT_BYTES || (len >= SOUND_MIN && len <= SOUND_MAX);
}

/* The hash in the byte order of the cookie. */
static void make_hash(const uint8_t *cookie, const uint8_t *secret, const struct addr *client,
                      uint8_t out[8])
{
    uint8_t input[HASH_AT + ADDRESS_MAX];
    size_t len;
    const uint8_t *address = addr_bytes(client, &len);
    memcpy(input, cookie, HASH_AT);
    memcpy(input + HASH_AT, address, len);
    uint64_t hash = siphash_2_4(secret, input, HASH_AT + len);
    for (int i = 0; i < 8; i++)
        out[i] = (uint8_t)(hash >> (8 * i));
}

/* Always compares all eight bytes, so that the time reveals nothing to an attacker. */
static bool is_signed_by(const uint8_t *cookie, const uint8_t *secret, const struct addr *client)
{
    uint8_t hash[8], difference = 0;
    make_hash(cookie, secret, client, hash);
    for (int i = 0; i < 8; i++)
        difference |= (uint8_t)(hash[i] ^ cookie[HASH_AT + i]);
    return difference == 0;
}

/* The number of the secret that signed the cookie, or -1. */
static int find_secret(const uint8_t *cookie, const struct cookie_secrets *secrets,
                       const struct addr *client)
{
    for (uint8_t i = 0; i < secrets->count; i++)
        if (is_signed_by(cookie, secrets->list[i], client))
            return i;
    return -1;
}

static void sign(uint8_t *cookie, const struct cookie_secrets *secrets, const struct addr *client,
                 uint32_t now_s)
{
    static const uint8_t start[] = {VERSION, 0, 0, 0};
    memcpy(cookie + COOKIE_CLIENT_BYTES, start, sizeof(start));
    put_u32(cookie + STAMP_AT, now_s);
    make_hash(cookie, secrets->list[0], client, cookie + HASH_AT);
}

bool cookie_answer(uint8_t cookie[COOKIE_BYTES], uint8_t len, const struct cookie_secrets *secrets,
                   const struct addr *client, uint32_t now_s)
{
    MUST(cookie_is_sound(len) && secrets->count > 0);
    int32_t age_s = (int32_t)(now_s - get_u32(cookie + STAMP_AT));
    bool is_ours = len == COOKIE_BYTES && cookie[COOKIE_CLIENT_BYTES] == VERSION &&
                   age_s <= COOKIE_LIFE_S && age_s >= -COOKIE_AHEAD_S;
    int secret = is_ours ? find_secret(cookie, secrets, client) : -1;
    if (secret != 0 || age_s > COOKIE_FRESH_S)
        sign(cookie, secrets, client, now_s);
    return secret >= 0;
}
