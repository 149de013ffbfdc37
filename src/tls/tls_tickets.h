/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TLS_TLS_TICKETS_H
#define NAILUP_TLS_TLS_TICKETS_H

/*
 * Sessions to resume: for each identity a small stack of tickets, the newest on top, shared by all
 * workers and used once each (RFC 8446 appendix C.4). An identity is whatever its owner puts into
 * the key: address, port, name, pins, trust ... Tickets never cross identities.
 *
 * A ticket is good for its lifetime as the server gave it, at most TLS_TICKET_AGE_MAX_S (RFC 8446
 * section 4.6.1), and not past the end of the certificate it was given under.
 *
 * Instants are seconds of the wall clock, as tickets may come from a file. Any thread.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/span.h"
#include "tls/tls_tickets_max.h"

struct ssl_session_st;
struct tls_rack;
struct tls_tickets;

/* NULL out of memory. */
struct tls_tickets *tls_tickets_new(void);
/* No rack of it may be in use. NULL is fine. */
void tls_tickets_free(struct tls_tickets *tickets);

/* The stack of this identity, found or made; lives as long as tickets. NULL: out of memory, the key
 * is too long, or TLS_RACKS_MAX is reached. Racks loaded from a file have keys already. */
struct tls_rack *tls_tickets_rack(struct tls_tickets *tickets, struct span key);

/* Takes over the session (one reference) and keeps a copy of its own, which the end of the
 * connection cannot spoil (SSL_free() marks the session of a connection that broke as not
 * resumable). Those that cannot be resumed are dropped, and those larger than
 * TLS_TICKET_BYTES_MAX. */
void tls_rack_put(struct tls_rack *rack, struct ssl_session_st *session);

/* The newest good ticket, which is the caller's now (one reference, nobody else holds it); NULL:
 * none. Expired ones are dropped, and those from later than TLS_TICKET_AHEAD_MAX_S from now. */
struct ssl_session_st *tls_rack_take(struct tls_rack *rack, int64_t now_s);

size_t tls_rack_count(const struct tls_rack *rack);

/* Whether there is a file at path that is no session file of any version: it is never written over.
 */
bool tls_tickets_is_foreign(const char *path);

/* Writes all good tickets to a file with mode 0600, beside it first (path with ".new" at its end)
 * and then in its place, so that a crash leaves the old or the new one. What does not fit
 * TLS_TICKETS_FILE_MAX is left out. ERR_FOREIGN as tls_tickets_is_foreign(), ERR_IO,
 * ERR_NOT_FOUND (no such folder), ERR_PERMISSION, ERR_NO_FILES, ERR_NO_MEMORY. The file holds
 * secrets: who reads it can impersonate us to these upstreams, and read early data. */
MUST_USE enum err tls_tickets_save(struct tls_tickets *tickets, const char *path, int64_t now_s);

/* Adds the good ones of a file, below those that are there; *count is how many. The file stays:
 * after a crash its tickets are used again. ERR_NOT_FOUND: no such file. ERR_INVALID: torn, or not
 * of this program, or not a plain file (a symbolic link is not followed): nothing is taken from it.
 * ERR_PERMISSION: others than its owner may read or write it, or the owner is not us (then it is
 * not taken either). ERR_LIMIT: more racks than TLS_RACKS_MAX; what fitted is there. */
MUST_USE enum err tls_tickets_load(struct tls_tickets *tickets, const char *path, int64_t now_s,
                                   size_t *count);

/* The same for the bytes of such a file. */
MUST_USE enum err tls_tickets_load_bytes(struct tls_tickets *tickets, struct span bytes,
                                         int64_t now_s, size_t *count);

#endif
