/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_COOKIES_H
#define NAILUP_UPSTREAM_COOKIES_H

/*
 * The cookies of one server (RFC 7873), one for each source address of our queries. A cookie never
 * links two of our addresses (RFC 9018 section 3): our part is a keyed hash of the address. The
 * server binds its part to the address, too. The first cookie is part of the struct. Up to
 * COOKIES_KEPT others with a part of the server are in a table. An address whose cookie was
 * displaced sends our part alone.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/siphash.h"
#include "base/span.h"
#include "dns/edns.h"

enum {
    COOKIE_MAX = EDNS_COOKIE_CLIENT + EDNS_COOKIE_SERVER_MAX,
    COOKIES_KEPT = 8, /* a power of two */
};

struct cookie {
    struct addr source;        /* without a port; family 0: the kernel chooses */
    uint8_t bytes[COOKIE_MAX]; /* our part, then the server's */
    uint8_t len;               /* EDNS_COOKIE_CLIENT until the server sent its part */
};

struct cookies {
    uint8_t key[SIPHASH_KEY_BYTES];
    uint8_t old_key[SIPHASH_KEY_BYTES]; /* the previous one, for queries in flight */
    bool server_sends;                  /* the server sent its part to some address */
    struct cookie first;
    struct cookie *others; /* COOKIES_KEPT of them; NULL: none yet */
};

/* source: the address of the first cookie. */
void cookies_init(struct cookies *cookies, const struct addr *source);
void cookies_deinit(struct cookies *cookies);

/* Returns the cookie for queries from this address: kept, or made in *made. Valid until the next
 * call. */
const struct cookie *cookies_find(const struct cookies *cookies, const struct addr *source,
                                  struct cookie *made);

/* Draws a new key. The server's parts are forgotten. */
void cookies_renew(struct cookies *cookies);

/* Forgets the server's parts, because the server sends none. */
void cookies_forget_server(struct cookies *cookies);

/* Whether the client part, which came back to this address, is ours, under this key or the previous
 * one. */
bool cookies_are_ours(const struct cookies *cookies, const struct addr *source, struct span client);

/* Stores the server's part, 8 to 32 bytes, from the answer to a query from this address. Does
 * nothing if client belongs to a previous key. */
void cookies_take_server(struct cookies *cookies, const struct addr *source, struct span client,
                         struct span server);

#endif
