/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_COOKIE_H
#define NAILUP_SERVE_COOKIE_H

/*
 * DNS cookies for clients (RFC 7873), the same for every server with the same secret (RFC 9018). A
 * client that returns one of our cookies receives our datagrams, so its address is not forged.
 * Keeps no state for any client. Pure, any thread.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "serve/cookie_secrets.h"

enum {
    COOKIE_CLIENT_BYTES = 8,
    COOKIE_SERVER_BYTES = 16, /* version 1 (RFC 9018 section 4) */
    COOKIE_BYTES = COOKIE_CLIENT_BYTES + COOKIE_SERVER_BYTES,
    COOKIE_LIFE_S = 3600,  /* RFC 9018 section 4.3 */
    COOKIE_FRESH_S = 1800, /* likewise: an older cookie is replaced */
    COOKIE_AHEAD_S = 300,  /* likewise: the clock of another server may be ahead by this */
};

/* Whether a length of the COOKIE option is one that RFC 7873 section 5.2.2 allows. */
bool cookie_is_sound(uint8_t len);

/*
 * Judges the COOKIE option of a client and replaces it with the cookie to send back. cookie has the
 * first COOKIE_BYTES of the option, and len is its whole length. Afterwards cookie has the client's
 * part and a server part that is valid from now on. True: the server part was ours, made for this
 * address within COOKIE_LIFE_S. len is sound (MUST). There is a secret (MUST), and the first one
 * signs.
 */
bool cookie_answer(uint8_t cookie[COOKIE_BYTES], uint8_t len, const struct cookie_secrets *secrets,
                   const struct addr *client, uint32_t now_s);

#endif
