/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_SESSIONS_H
#define NAILUP_DAEMON_SESSIONS_H

/* The TLS sessions of upstreams over a restart (upstream.session-file), so that a start is no storm
 * of full handshakes. */

struct tls_tickets;

/* The tickets that all workers share, with those of the file (NULL or "": none). The file is
 * removed once it is read, as each ticket is to be used once. One that cannot be used, or written
 * at the end, is a logged warning. NULL: out of memory. */
struct tls_tickets *sessions_open(const char *path);

/* Saves them, if there is a path, and frees them. No worker may run any more. */
void sessions_close(struct tls_tickets *tickets, const char *path);

#endif
