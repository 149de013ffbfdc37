/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_SESSIONS_H
#define NAILUP_DAEMON_SESSIONS_H

/* Keeps the TLS sessions with upstreams over a restart (upstream.session-file), so that a start
 * does not need a full handshake with every server. */

struct tls_tickets;

/* Returns the tickets that all workers share, with those of the file (NULL or "": no file). Removes
 * the file after reading it, because each ticket may be used only once. Logs a warning for a file
 * that is unusable or cannot be written at the end. NULL: out of memory. */
struct tls_tickets *sessions_open(const char *path);

/* Saves the tickets, if there is a path, and frees them. All workers must have ended. */
void sessions_close(struct tls_tickets *tickets, const char *path);

#endif
