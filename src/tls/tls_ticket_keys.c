/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Rotation of the keys that seal clients' tickets (tls_ticket_keys.h). How they seal is left to
 * tls_issue.c.
 *
 * Invariant: kept[0] seals and is the youngest; their ages are told by clock_s, which never goes
 * back. What leaves the array is wiped.
 */

#include "tls/tls_ticket_keys.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>
#include <openssl/rand.h>

#include "base/check.h"

enum { OPENS_S = TLS_TICKET_KEYS * TLS_TICKET_KEY_AGE_S }; /* since it was made */

struct kept_key {
    struct tls_ticket_key key;
    int64_t made_at; /* on clock_s */
};

struct tls_ticket_keys {
    pthread_mutex_t lock;
    int64_t clock_s;     /* seconds that have passed, as far as the callers' clock told */
    int64_t last_seen_s; /* on the callers' clock */
    size_t count;
    struct kept_key kept[TLS_TICKET_KEYS];
};

static bool tls_ticket_keys_make_key(struct tls_ticket_key *key)
{
    return RAND_bytes(key->name, sizeof(key->name)) == 1 &&
           RAND_priv_bytes(key->aes, sizeof(key->aes)) == 1 &&
           RAND_priv_bytes(key->hmac, sizeof(key->hmac)) == 1;
}

/* Were every step back followed, two threads whose readings differ would wind the clock forwards
 * with each pair of calls. */
static void move_clock(struct tls_ticket_keys *keys, int64_t now_s)
{
    int64_t passed_s;

    if (__builtin_sub_overflow(now_s, keys->last_seen_s, &passed_s))
        passed_s = now_s > keys->last_seen_s ? OPENS_S : -INT64_MAX;
    if (passed_s > 0)
        keys->clock_s += MIN(passed_s, OPENS_S); /* nothing is kept for longer */
    if (passed_s > 0 || passed_s < -TLS_TICKET_KEY_SLACK_S)
        keys->last_seen_s = now_s;
}

static int64_t tls_ticket_keys_age_of(const struct tls_ticket_keys *keys, size_t i)
{
    return keys->clock_s - keys->kept[i].made_at;
}

static void wipe_last(struct tls_ticket_keys *keys)
{
    OPENSSL_cleanse(&keys->kept[--keys->count], sizeof(keys->kept[0]));
}

static void add_key(struct tls_ticket_keys *keys)
{
    struct kept_key fresh = {.made_at = keys->clock_s};

    if (tls_ticket_keys_make_key(&fresh.key)) {
        if (keys->count == TLS_TICKET_KEYS)
            wipe_last(keys);
        memmove(&keys->kept[1], &keys->kept[0], keys->count * sizeof(keys->kept[0]));
        keys->kept[0] = fresh;
        keys->count++;
    }
    OPENSSL_cleanse(&fresh, sizeof(fresh));
}

/* The last one stays even when it is too old: that is only so when no new one could be made. */
static void tls_ticket_keys_rotate(struct tls_ticket_keys *keys, int64_t now_s)
{
    move_clock(keys, now_s);
    if (tls_ticket_keys_age_of(keys, 0) >= TLS_TICKET_KEY_AGE_S)
        add_key(keys);
    while (keys->count > 1 && tls_ticket_keys_age_of(keys, keys->count - 1) >= OPENS_S)
        wipe_last(keys);
}

struct tls_ticket_keys *tls_ticket_keys_new(int64_t now_s)
{
    struct tls_ticket_keys *keys = calloc(1, sizeof(*keys));

    if (!keys)
        return NULL;
    MUST(pthread_mutex_init(&keys->lock, NULL) == 0);
    keys->last_seen_s = now_s;
    add_key(keys);
    if (keys->count > 0)
        return keys;
    tls_ticket_keys_free(keys);
    return NULL;
}

void tls_ticket_keys_free(struct tls_ticket_keys *keys)
{
    if (!keys)
        return;
    MUST(pthread_mutex_destroy(&keys->lock) == 0);
    OPENSSL_cleanse(keys, sizeof(*keys));
    free(keys);
}

void tls_ticket_keys_seal(struct tls_ticket_keys *keys, int64_t now_s, struct tls_ticket_key *out)
{
    pthread_mutex_lock(&keys->lock);
    tls_ticket_keys_rotate(keys, now_s);
    *out = keys->kept[0].key;
    pthread_mutex_unlock(&keys->lock);
}

/* The index of the key of this name; keys->count: none. Names are no secret. */
static size_t tls_ticket_keys_find(const struct tls_ticket_keys *keys, const uint8_t name[16])
{
    size_t i = 0;

    while (i < keys->count && memcmp(keys->kept[i].key.name, name, 16) != 0)
        i++;
    return i;
}

bool tls_ticket_keys_open(struct tls_ticket_keys *keys, int64_t now_s, const uint8_t name[16],
                          struct tls_ticket_key *out, bool *is_old)
{
    bool found;
    size_t i;

    pthread_mutex_lock(&keys->lock);
    tls_ticket_keys_rotate(keys, now_s);
    i = tls_ticket_keys_find(keys, name);
    found = i < keys->count;
    if (found)
        *out = keys->kept[i].key;
    *is_old = i > 0;
    pthread_mutex_unlock(&keys->lock);
    return found;
}
