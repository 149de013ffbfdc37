/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TLS_TLS_TICKET_KEYS_H
#define NAILUP_TLS_TLS_TICKET_KEYS_H

/*
 * The keys that seal the session tickets we give to clients, shared by all workers, so that a
 * client resumes with whichever it meets. A fresh key every TLS_TICKET_KEY_AGE_S seals; those
 * before it still open tickets for as long as these are good, and are then wiped: what was recorded
 * cannot be read with keys that are taken later. A server that nobody asks wipes at the next call.
 *
 * Instants are seconds of any clock, the same for all calls. It may jump: forwards, keys age at
 * once; backwards by up to TLS_TICKET_KEY_SLACK_S it is taken to stand still (threads read it at
 * different moments), by more, the keys age on from there. Any thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TLS_TICKET_KEY_AGE_S = 3 * 3600, /* it seals so long */
    TLS_TICKET_KEYS = 3,             /* kept: the one that seals and those before */
    /* Given to clients as the lifetime of a ticket: the last key is still there then. */
    TLS_TICKET_LIFETIME_S = (TLS_TICKET_KEYS - 1) * TLS_TICKET_KEY_AGE_S,
    TLS_TICKET_KEY_SLACK_S = 60,
};

struct tls_ticket_keys;

/* With one fresh key. NULL: out of memory, or no random numbers. */
struct tls_ticket_keys *tls_ticket_keys_new(int64_t now_s);
/* Wipes them. NULL is fine. */
void tls_ticket_keys_free(struct tls_ticket_keys *keys);

struct tls_ticket_key {
    uint8_t name[16]; /* stands in the ticket */
    uint8_t aes[32];  /* AES-256-CBC */
    uint8_t hmac[32]; /* HMAC-SHA-256 over the sealed ticket (RFC 5077 section 4) */
};

/* A copy of the key that seals now; a new one is made when it is too old (should there be no random
 * numbers, the old one goes on). The caller wipes the copy. */
void tls_ticket_keys_seal(struct tls_ticket_keys *keys, int64_t now_s, struct tls_ticket_key *out);

/* The key of this name, if it is still kept. *is_old: it no longer seals, the client should get a
 * new ticket. */
bool tls_ticket_keys_open(struct tls_ticket_keys *keys, int64_t now_s, const uint8_t name[16],
                          struct tls_ticket_key *out, bool *is_old);

#endif
