/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Rotates the keys that seal clients' tickets, and seals the tickets with AES-256-CBC and
 * HMAC-SHA-256 (tls_ticket_keys.h).
 *
 * Invariant: kept[0] seals and is the youngest key. Ages count on clock_s, which never goes back. A
 * key that leaves the array is wiped.
 */

#include "tls/tls_ticket_keys.h"

#include <openssl/core_names.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/check.h"

enum {
    OPENS_S = TLS_TICKET_KEYS * TLS_TICKET_KEY_AGE_S, /* life of a key */
    /* A full handshake gives two tickets, so that a second connection of the client can resume too.
     * A resumed handshake replaces the ticket that it used. */
    TICKETS_PER_HANDSHAKE = 2,
    IV_BYTES = 16,
};

struct kept_key {
    struct tls_ticket_key key;
    int64_t made_at; /* on clock_s */
};

struct tls_ticket_keys {
    pthread_mutex_t lock;
    int64_t clock_s;     /* seconds that passed, by the callers' clock */
    int64_t last_seen_s; /* read from the callers' clock */
    size_t count;
    struct kept_key kept[TLS_TICKET_KEYS];
};

static bool make_key(struct tls_ticket_key *key)
{
    return RAND_bytes(key->name, sizeof(key->name)) == 1 &&
           RAND_priv_bytes(key->aes, sizeof(key->aes)) == 1 &&
           RAND_priv_bytes(key->hmac, sizeof(key->hmac)) == 1;
}

/* Ignores small steps back: two threads with different readings would otherwise advance the clock
 * with each pair of calls. */
static void move_clock(struct tls_ticket_keys *keys, int64_t now_s)
{
    int64_t passed_s;

    if (__builtin_sub_overflow(now_s, keys->last_seen_s, &passed_s))
        passed_s = now_s > keys->last_seen_s ? OPENS_S : -INT64_MAX;
    if (passed_s > 0)
        keys->clock_s += MIN(passed_s, OPENS_S); /* no key lives longer */
    if (passed_s > 0 || passed_s < -TLS_TICKET_KEY_SLACK_S)
        keys->last_seen_s = now_s;
}

static int64_t key_age_s(const struct tls_ticket_keys *keys, size_t i)
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

    if (make_key(&fresh.key)) {
        if (keys->count == TLS_TICKET_KEYS)
            wipe_last(keys);
        memmove(&keys->kept[1], &keys->kept[0], keys->count * sizeof(keys->kept[0]));
        keys->kept[0] = fresh;
        keys->count++;
    }
    OPENSSL_cleanse(&fresh, sizeof(fresh));
}

/* The last key stays even if it is too old, because that means that no new key could be made. */
static void tls_ticket_keys_rotate(struct tls_ticket_keys *keys, int64_t now_s)
{
    move_clock(keys, now_s);
    if (key_age_s(keys, 0) >= TLS_TICKET_KEY_AGE_S)
        add_key(keys);
    while (keys->count > 1 && key_age_s(keys, keys->count - 1) >= OPENS_S)
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

/* Returns the index of the key with this name, or keys->count. Names are not secret. */
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

/* ---------------------------------------------------------------- tickets of OpenSSL */

/* An SSL_CTX has one. It fetches the cipher once: OpenSSL would look it up by name for every
 * ticket.
 */
struct sealer {
    struct tls_ticket_keys *keys;
    EVP_CIPHER *aes;
};

static int sealer_index = -1; /* the index of an SSL_CTX's extra data */

static void sealer_on_context_freed(void *parent, void *pointer, CRYPTO_EX_DATA *data, int index,
                                    long unused, void *nothing)
{
    struct sealer *sealer = pointer;

    (void)parent, (void)data, (void)index, (void)unused, (void)nothing;
    if (!sealer)
        return;
    EVP_CIPHER_free(sealer->aes);
    free(sealer);
}

static void make_sealer_index(void)
{
    sealer_index = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, sealer_on_context_freed);
}

static bool set_mac_key(EVP_MAC_CTX *mac, const struct tls_ticket_key *key)
{
    OSSL_PARAM digest[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)"SHA256", 0),
        OSSL_PARAM_construct_end(),
    };

    return EVP_MAC_init(mac, key->hmac, sizeof(key->hmac), digest) == 1;
}

/* Returns 1 for a sealed ticket, -1 for a failure. */
static int seal_ticket(const struct sealer *sealer, unsigned char *name, unsigned char *iv,
                       EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac)
{
    struct tls_ticket_key key;

    tls_ticket_keys_seal(sealer->keys, time(NULL), &key);
    memcpy(name, key.name, sizeof(key.name));
    bool is_done = RAND_bytes(iv, IV_BYTES) == 1 &&
                   EVP_EncryptInit_ex2(cipher, sealer->aes, key.aes, iv, NULL) == 1 &&
                   set_mac_key(mac, &key);
    OPENSSL_cleanse(&key, sizeof(key));
    return is_done ? 1 : -1;
}

/* Returns 1 for an open ticket, 2 if the client also gets a new one, 0 for an unknown key (a full
 * handshake follows), -1 for a failure. */
static int open_ticket(const struct sealer *sealer, unsigned char *name, unsigned char *iv,
                       EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac, bool renew)
{
    struct tls_ticket_key key;
    bool is_old;

    if (!tls_ticket_keys_open(sealer->keys, time(NULL), name, &key, &is_old))
        return 0;
    bool is_done =
        EVP_DecryptInit_ex2(cipher, sealer->aes, key.aes, iv, NULL) == 1 && set_mac_key(mac, &key);
    OPENSSL_cleanse(&key, sizeof(key));
    if (!is_done)
        return -1;
    return is_old || renew ? 2 : 1;
}

static int sealer_on_ticket(SSL *ssl, unsigned char *name, unsigned char *iv,
                            EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac, int sealing)
{
    const struct sealer *sealer = SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), sealer_index);

    if (sealing)
        return seal_ticket(sealer, name, iv, cipher, mac);
    /* A TLS 1.3 client uses each ticket once (RFC 8446 appendix C.4), so it needs another. */
    return open_ticket(sealer, name, iv, cipher, mac, SSL_version(ssl) == TLS1_3_VERSION);
}

static struct sealer *sealer_new(struct tls_ticket_keys *keys)
{
    struct sealer *sealer = calloc(1, sizeof(*sealer));

    if (!sealer)
        return NULL;
    sealer->keys = keys;
    sealer->aes = EVP_CIPHER_fetch(NULL, "AES-256-CBC", NULL);
    if (sealer->aes)
        return sealer;
    free(sealer);
    return NULL;
}

static void refuse_tickets(SSL_CTX *ctx)
{
    SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET);
    SSL_CTX_set_num_tickets(ctx, 0);
}

bool tls_ticket_keys_install(struct tls_ticket_keys *keys, SSL_CTX *ctx)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    if (!keys) {
        refuse_tickets(ctx);
        return true;
    }
    pthread_once(&once, make_sealer_index);
    struct sealer *sealer = sealer_index >= 0 ? sealer_new(keys) : NULL;
    if (!sealer)
        return false;
    if (SSL_CTX_set_ex_data(ctx, sealer_index, sealer) != 1) {
        sealer_on_context_freed(NULL, sealer, NULL, 0, 0, NULL);
        return false;
    }
    SSL_CTX_set_timeout(ctx, TLS_TICKET_LIFETIME_S);
    SSL_CTX_set_num_tickets(ctx, TICKETS_PER_HANDSHAKE);
    SSL_CTX_set_tlsext_ticket_key_evp_cb(ctx, sealer_on_ticket);
    return true;
}
