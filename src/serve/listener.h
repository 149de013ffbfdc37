/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_LISTENER_H
#define NAILUP_SERVE_LISTENER_H

/* One address that a worker serves, over UDP and TCP or over TLS, with its clients. One thread. */

#include <stdbool.h>

#include "base/err.h"
#include "base/list.h"

struct listen_slot;
struct requests;
struct serve_stream;
struct serve_udp;
struct server_quota;
struct session_common;
struct tls_context;

/* Sessions that are still open at that time after their address has ended are finished. */
enum { LISTENER_END_US = 5 * 1000000 };

struct listener {
    struct list node;      /* of the server's ending listeners */
    struct serve_udp *udp; /* NULL with TLS */
    struct serve_stream *stream;
};

/* Takes the slot's sockets, also on error. A slot without a UDP socket serves TLS: *tls is the
 * context for new clients. It may change, and must be set before the loop runs. requests and common
 * are borrowed. */
MUST_USE enum err listener_open(struct listener **out, struct requests *requests,
                                struct session_common *common, struct listen_slot *slot,
                                struct tls_context *const *tls);
/* Closes the sockets and every session. Waiting queries get no answer. *listener becomes NULL; it
 * may be NULL before. */
void listener_close(struct listener **listener);

/* The two steps of a reload, as in session.h. */
void listener_move(struct listener *listener, struct server_quota *quota);
void listener_renew(struct listener *listener);

/* Whether no query waits and no session is open. If the address has ended, the kernel also holds no
 * datagram and no connection. */
bool listener_is_idle(const struct listener *listener);

/*
 * Ends the address: a reload took it away. Datagrams in the kernel are answered, and later ones are
 * refused. Connections that wait are accepted. Answers tell sessions to close (RFC 7828); sessions
 * that have not closed after LISTENER_END_US are finished. on_idle is called, perhaps more than
 * once, when the listener may have become idle, and not within this call.
 */
void listener_end(struct listener *listener, void (*on_idle)(void *context), void *context);

/*
 * Drains the address: the daemon stops. Sessions are finished as session_finish_all() says. A
 * socket that others share is left to them at once, and new clients wait there for the next daemon.
 * A socket that nailupd opened serves as before until listener_stop(), and each answer tells stream
 * clients to leave. on_idle is called as above, also within this call. May follow listener_end().
 */
void listener_drain(struct listener *listener, void (*on_idle)(void *context), void *context);

/* Follows listener_drain(): serves the datagrams and connections that the kernel holds, and no new
 * client. */
void listener_stop(struct listener *listener, void (*on_idle)(void *context), void *context);

#endif
