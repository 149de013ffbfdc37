/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_COOKIE_H
#define NAILUP_SERVE_COOKIE_H

/*
 * DNS cookies for clients (RFC 7873) as any server with the same secret makes them (RFC 9018): a
 * client that sends a cookie of ours back gets our datagrams, so it did not forge its address.
 * Nothing is kept for any client. Pure, any thread.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "serve/cookie_secrets.h"

enum {
    COOKIE_CLIENT_BYTES = 8,
    COOKIE_SERVER_BYTES = 16, /* of ours: version 1 (RFC 9018 section 4) */
    COOKIE_BYTES = COOKIE_CLIENT_BYTES + COOKIE_SERVER_BYTES,
    COOKIE_LIFE_S = 3600,  /* RFC 9018 section 4.3 */
    COOKIE_FRESH_S = 1800, /* likewise: older ones are replaced */
    COOKIE_AHEAD_S = 300,  /* likewise: how far the clock of another server may be ahead */
};

/* Whether a length of the COOKIE option is one that RFC 7873 section 5.2.2 allows. */
bool cookie_is_sound(uint8_t len);

/*
 * Judges the option that a client sent, of so many bytes, of which the first COOKIE_BYTES are in
 * cookie, and puts what goes back there: the client's part and a server part that is good from now
 * on. True: the server part that it sent is ours, made for this address within COOKIE_LIFE_S.
 * len is sound (MUST); there is a secret (MUST); the first of them signs.
 */
bool cookie_answer(uint8_t cookie[COOKIE_BYTES], uint8_t len, const struct cookie_secrets *secrets,
                   const struct addr *client, uint32_t now_s);

#endif
