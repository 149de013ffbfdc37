/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TLS_TLS_TICKET_KEYS_H
#define NAILUP_TLS_TLS_TICKET_KEYS_H

/*
 * The keys that seal the session tickets for our clients (RFC 5077, RFC 8446 section 4.6.1). All
 * workers share them, so a client can resume with any worker. A fresh key seals every
 * TLS_TICKET_KEY_AGE_S. Earlier keys still open tickets until these expire, and are then wiped, so
 * that a later theft of keys does not decrypt recorded traffic. Without clients, the server wipes
 * them at the next call.
 *
 * Instants are seconds of any one clock. A forward jump ages the keys at once. A step back of up to
 * TLS_TICKET_KEY_SLACK_S counts as no time (threads read the clock at different moments); after a
 * larger one the keys age on from there. Any thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum {
    TLS_TICKET_KEY_AGE_S = 3 * 3600, /* how long a key seals */
    TLS_TICKET_KEYS = 3,             /* the key that seals, and earlier ones */
    /* The lifetime of a ticket: its key still exists at the end. */
    TLS_TICKET_LIFETIME_S = (TLS_TICKET_KEYS - 1) * TLS_TICKET_KEY_AGE_S,
    TLS_TICKET_KEY_SLACK_S = 60,
};

struct ssl_ctx_st;
struct tls_ticket_keys;

/* Makes one fresh key. Returns NULL when out of memory, or without random numbers. */
struct tls_ticket_keys *tls_ticket_keys_new(int64_t now_s);
/* Wipes the keys. keys may be NULL. */
void tls_ticket_keys_free(struct tls_ticket_keys *keys);

struct tls_ticket_key {
    uint8_t name[16]; /* part of the ticket */
    uint8_t aes[32];  /* AES-256-CBC */
    uint8_t hmac[32]; /* HMAC-SHA-256 over the sealed ticket (RFC 5077 section 4) */
};

/* Copies the key that seals now, and makes a new one if it is too old. Without random numbers the
 * old one stays in use. The caller wipes the copy. */
void tls_ticket_keys_seal(struct tls_ticket_keys *keys, int64_t now_s, struct tls_ticket_key *out);

/* Copies the key of this name; returns false if it no longer exists. *is_old: it no longer seals,
 * so the client should get a new ticket. */
bool tls_ticket_keys_open(struct tls_ticket_keys *keys, int64_t now_s, const uint8_t name[16],
                          struct tls_ticket_key *out, bool *is_old);

/* Makes a server's context seal its tickets with these keys, borrowed while connections of the
 * context live. With NULL it gives no tickets and resumes nothing. Returns false when out of
 * memory. */
MUST_USE bool tls_ticket_keys_install(struct tls_ticket_keys *keys, struct ssl_ctx_st *ctx);

#endif
