/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_NET_ACCEPTOR_H
#define NAILUP_NET_ACCEPTOR_H

/* A listening TCP socket. Replaced by tests/support/fake_net.c in tests of behaviour. */

#include "base/addr.h"
#include "base/err.h"

struct acceptor;
struct listen_socket;
struct loop;
struct tcp;

/* A client connected. The callee owns *tcp: tcp_start() (or link_accept()) it, or tcp_close() it.
 * The acceptor may be closed inside. */
typedef void (*acceptor_fn)(void *owner, struct tcp *tcp);

/* Takes the socket, of which there is none afterwards; on error it is still the caller's. When
 * accept() finds no free file, accepting pauses for a tenth of a second; connections wait in the
 * backlog meanwhile. */
MUST_USE enum err acceptor_open(struct acceptor **out, struct loop *loop,
                                struct listen_socket *socket, acceptor_fn on_accept, void *owner);

/* Closes the socket, which resets waiting connections. A socket that others share stays open, and
 * connections wait there for the others. */
void acceptor_close(struct acceptor **acceptor);

/* Hands out the connections that wait, as long as there are files, then closes the socket. Not
 * inside on_accept. *acceptor becomes NULL. */
void acceptor_finish(struct acceptor **acceptor);

const struct addr *acceptor_local(const struct acceptor *acceptor);

enum { ACCEPTOR_END_US = 1000 * 1000 };

/*
 * Begins no more connections: those that wait, and those whose handshake ends within
 * ACCEPTOR_END_US, are still handed out; then on_ended is called and may close the acceptor. Who
 * comes meanwhile hears nothing, and when it asks again a second later, that nobody listens. Once.
 *
 * A socket that others share is left at once, and what waits is theirs: on_ended comes next turn.
 */
void acceptor_end(struct acceptor *acceptor, void (*on_ended)(void *owner));

#endif
