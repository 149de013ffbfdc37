/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Tickets are sealed with AES-256-CBC and HMAC-SHA-256, by keys that change. What is to be fetched
 * from OpenSSL is fetched once for a context: by name it would be looked up for every ticket.
 */
#include "tls/tls_issue.h"

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/rand.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "tls/tls_ticket_keys.h"

/* Two, so that a client that opens a second connection resumes there too; a resumed handshake gets
 * one new ticket for the one it used. */
enum { TICKETS_OF_FULL_HANDSHAKE = 2, IV_BYTES = 16 };

struct issue {
    struct tls_ticket_keys *keys;
    EVP_CIPHER *aes;
};

static int issue_index = -1; /* where an SSL_CTX keeps its struct issue */

static void on_context_freed(void *parent, void *pointer, CRYPTO_EX_DATA *data, int index,
                             long unused, void *nothing)
{
    struct issue *issue = pointer;

    (void)parent, (void)data, (void)index, (void)unused, (void)nothing;
    if (!issue)
        return;
    EVP_CIPHER_free(issue->aes);
    free(issue);
}

static void make_index(void)
{
    issue_index = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, on_context_freed);
}

static bool set_key(EVP_MAC_CTX *mac, const struct tls_ticket_key *key)
{
    OSSL_PARAM digest[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)"SHA256", 0),
        OSSL_PARAM_construct_end(),
    };

    return EVP_MAC_init(mac, key->hmac, sizeof(key->hmac), digest) == 1;
}

/* -1: something failed; 1: the ticket is sealed. */
static int seal(const struct issue *issue, unsigned char *name, unsigned char *iv,
                EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac)
{
    struct tls_ticket_key key;

    tls_ticket_keys_seal(issue->keys, time(NULL), &key);
    memcpy(name, key.name, sizeof(key.name));
    bool is_done = RAND_bytes(iv, IV_BYTES) == 1 &&
                   EVP_EncryptInit_ex2(cipher, issue->aes, key.aes, iv, NULL) == 1 &&
                   set_key(mac, &key);
    OPENSSL_cleanse(&key, sizeof(key));
    return is_done ? 1 : -1;
}

/* -1: something failed; 0: a key we no longer have, so a full handshake; 1: opened; 2: opened, and
 * the client gets a new one. */
static int open_ticket(const struct issue *issue, unsigned char *name, unsigned char *iv,
                       EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac, bool renew)
{
    struct tls_ticket_key key;
    bool is_old;

    if (!tls_ticket_keys_open(issue->keys, time(NULL), name, &key, &is_old))
        return 0;
    bool is_done =
        EVP_DecryptInit_ex2(cipher, issue->aes, key.aes, iv, NULL) == 1 && set_key(mac, &key);
    OPENSSL_cleanse(&key, sizeof(key));
    if (!is_done)
        return -1;
    return is_old || renew ? 2 : 1;
}

static int tls_issue_on_ticket(SSL *ssl, unsigned char *name, unsigned char *iv,
                               EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac, int sealing)
{
    const struct issue *issue = SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), issue_index);

    if (sealing)
        return seal(issue, name, iv, cipher, mac);
    /* In TLS 1.3 a client uses each once (RFC 8446 appendix C.4), so it needs another. */
    return open_ticket(issue, name, iv, cipher, mac, SSL_version(ssl) == TLS1_3_VERSION);
}

static struct issue *issue_new(struct tls_ticket_keys *keys)
{
    struct issue *issue = calloc(1, sizeof(*issue));

    if (!issue)
        return NULL;
    issue->keys = keys;
    issue->aes = EVP_CIPHER_fetch(NULL, "AES-256-CBC", NULL);
    if (issue->aes)
        return issue;
    free(issue);
    return NULL;
}

static void issue_none(SSL_CTX *ctx)
{
    SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET);
    SSL_CTX_set_num_tickets(ctx, 0);
}

bool tls_issue_tickets(SSL_CTX *ctx, struct tls_ticket_keys *keys)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    if (!keys) {
        issue_none(ctx);
        return true;
    }
    pthread_once(&once, make_index);
    struct issue *issue = issue_index >= 0 ? issue_new(keys) : NULL;
    if (!issue)
        return false;
    if (SSL_CTX_set_ex_data(ctx, issue_index, issue) != 1) {
        on_context_freed(NULL, issue, NULL, 0, 0, NULL);
        return false;
    }
    SSL_CTX_set_timeout(ctx, TLS_TICKET_LIFETIME_S);
    SSL_CTX_set_num_tickets(ctx, TICKETS_OF_FULL_HANDSHAKE);
    SSL_CTX_set_tlsext_ticket_key_evp_cb(ctx, tls_issue_on_ticket);
    return true;
}
