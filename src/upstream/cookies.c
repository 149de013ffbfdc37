/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Keeps the cookies of one server by source address (cookies.h). Without memory for others, only
 * the first address keeps the server's part. */

#include "upstream/cookies.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/rand.h"

static void make_client(const uint8_t key[SIPHASH_KEY_BYTES], const struct addr *source,
                        uint8_t out[EDNS_COOKIE_CLIENT])
{
    uint64_t hash;
    size_t len = 0;
    const uint8_t *bytes = addr_family(source) ? addr_bytes(source, &len) : (const uint8_t *)"";

    hash = siphash_2_4(key, bytes, len);
    memcpy(out, &hash, EDNS_COOKIE_CLIENT);
}

static void cookie_make(const struct cookies *cookies, const struct addr *source,
                        struct cookie *out)
{
    out->source = *source;
    make_client(cookies->key, source, out->bytes);
    out->len = EDNS_COOKIE_CLIENT;
}

/* Draws as many bytes as our part has, which could not hide more. The rest is zero. */
static void draw_key(struct cookies *cookies)
{
    memset(cookies->key, 0, sizeof(cookies->key));
    rand_bytes(cookies->key, EDNS_COOKIE_CLIENT);
}

void cookies_init(struct cookies *cookies, const struct addr *source)
{
    draw_key(cookies);
    memcpy(cookies->old_key, cookies->key, sizeof(cookies->key));
    cookies->server_sends = false;
    cookies->others = NULL;
    cookie_make(cookies, source, &cookies->first);
}

void cookies_deinit(struct cookies *cookies)
{
    free(cookies->others);
    cookies->others = NULL;
}

static size_t place_of_source(const struct addr *source)
{
    return addr_hash_ip(source, 0) & (COOKIES_KEPT - 1);
}

const struct cookie *cookies_find(const struct cookies *cookies, const struct addr *source,
                                  struct cookie *made)
{
    if (addr_equal_ip(&cookies->first.source, source))
        return &cookies->first;
    if (cookies->others) {
        const struct cookie *kept = &cookies->others[place_of_source(source)];
        if (kept->len > 0 && addr_equal_ip(&kept->source, source))
            return kept;
    }
    cookie_make(cookies, source, made);
    return made;
}

void cookies_forget_server(struct cookies *cookies)
{
    cookies_deinit(cookies);
    cookies->server_sends = false;
    cookies->first.len = EDNS_COOKIE_CLIENT;
}

void cookies_renew(struct cookies *cookies)
{
    memcpy(cookies->old_key, cookies->key, sizeof(cookies->key));
    draw_key(cookies);
    cookies_forget_server(cookies);
    make_client(cookies->key, &cookies->first.source, cookies->first.bytes);
}

bool cookies_are_ours(const struct cookies *cookies, const struct addr *source, struct span client)
{
    struct cookie made;
    uint8_t former[EDNS_COOKIE_CLIENT];

    if (memcmp(client.data, cookies_find(cookies, source, &made)->bytes, EDNS_COOKIE_CLIENT) == 0)
        return true;
    make_client(cookies->old_key, source, former);
    return memcmp(client.data, former, sizeof(former)) == 0;
}

static struct cookie *place_for(struct cookies *cookies, const struct addr *source)
{
    if (addr_equal_ip(&cookies->first.source, source))
        return &cookies->first;
    if (!cookies->others)
        cookies->others = calloc(COOKIES_KEPT, sizeof(*cookies->others));
    return cookies->others ? &cookies->others[place_of_source(source)] : NULL;
}

void cookies_take_server(struct cookies *cookies, const struct addr *source, struct span client,
                         struct span server)
{
    struct cookie made;
    const struct cookie *ours = cookies_find(cookies, source, &made);

    MUST(server.len >= EDNS_COOKIE_SERVER_MIN && server.len <= EDNS_COOKIE_SERVER_MAX);
    if (memcmp(client.data, ours->bytes, EDNS_COOKIE_CLIENT) != 0)
        return;
    cookies->server_sends = true;
    struct cookie *place = place_for(cookies, source);
    if (!place)
        return;
    if (place != ours)
        *place = *ours;
    memcpy(place->bytes + EDNS_COOKIE_CLIENT, server.data, server.len);
    place->len = (uint8_t)(EDNS_COOKIE_CLIENT + server.len);
}
