/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TLS_TLS_TICKETS_H
#define NAILUP_TLS_TLS_TICKETS_H

/*
 * Tickets that upstreams gave us: each identity has a rack, a small stack with the newest ticket on
 * top. All workers share the racks, and use each ticket once (RFC 8446 appendix C.4). The owner
 * defines an identity by its key: address, port, name, pins, trust and so on. A ticket never serves
 * another identity.
 *
 * A ticket is good for the lifetime that its server gave, at most TLS_TICKET_AGE_MAX_S (RFC 8446
 * section 4.6.1), and never beyond the expiry of the server's certificate.
 *
 * Instants are seconds of the wall clock, because tickets may come from a file. Any thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/span.h"
#include "tls/tls_tickets_format.h"

enum {
    TLS_TICKET_AGE_MAX_S = 7 * 86400,
    TLS_TICKET_AHEAD_MAX_S = 300, /* received in the future: the clock was set back since */
};

struct ssl_session_st;
struct tls_rack;
struct tls_tickets;

/* Returns NULL when out of memory. */
struct tls_tickets *tls_tickets_new(void);
/* No rack may be in use. tickets may be NULL. */
void tls_tickets_free(struct tls_tickets *tickets);

/* Finds or makes the rack of this identity, which lives as long as tickets. Returns NULL when out
 * of memory, for a key above TLS_RACK_KEY_MAX, or at TLS_RACKS_MAX. */
struct tls_rack *tls_tickets_rack(struct tls_tickets *tickets, struct span key);

/* Takes over the session (one reference) and keeps a copy, which the end of the connection cannot
 * spoil: SSL_free() marks the session of a broken connection as not resumable. Drops sessions that
 * are not resumable or larger than TLS_TICKET_BYTES_MAX. */
void tls_rack_put(struct tls_rack *rack, struct ssl_session_st *session);

/* Takes the newest good ticket: the caller owns the only reference. Returns NULL if there is no
 * such ticket. Drops expired tickets, and those from later than TLS_TICKET_AHEAD_MAX_S from now. */
struct ssl_session_st *tls_rack_take(struct tls_rack *rack, int64_t now_s);

size_t tls_rack_count(const struct tls_rack *rack);

/* When the server gave the session. */
int64_t tls_tickets_given_at(const struct ssl_session_st *session);

/* Whether the file at path exists and is not a session file of any version. Saving never overwrites
 * such a file.
 */
bool tls_tickets_is_foreign(const char *path);

/* Writes all good tickets to a private file (base/private_file.h) and leaves out what exceeds
 * TLS_TICKETS_FILE_MAX. ERR_FOREIGN: see tls_tickets_is_foreign(). ERR_IO, ERR_NO_SPACE,
 * ERR_NOT_FOUND (no such folder), ERR_PERMISSION, ERR_NO_FILES, ERR_NO_MEMORY. The file holds
 * secrets: its reader can impersonate us to these upstreams and decrypt early data. */
MUST_USE enum err tls_tickets_save(struct tls_tickets *tickets, const char *path, int64_t now_s);

/* Adds the good tickets of a file below the present ones; *count is their number. The file stays:
 * after a crash its tickets are used again. ERR_NOT_FOUND: no such file. ERR_INVALID: truncated, of
 * another program, or not a regular file (a symbolic link is not followed); nothing is added.
 * ERR_PERMISSION: others may read or write it, or we do not own it; nothing is added. ERR_LIMIT:
 * more racks than TLS_RACKS_MAX; the tickets that fitted are added. */
MUST_USE enum err tls_tickets_load(struct tls_tickets *tickets, const char *path, int64_t now_s,
                                   size_t *count);

/* Adds the tickets in the bytes of such a file. */
MUST_USE enum err tls_tickets_load_bytes(struct tls_tickets *tickets, struct span bytes,
                                         int64_t now_s, size_t *count);

#endif
