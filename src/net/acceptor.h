/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_NET_ACCEPTOR_H
#define NAILUP_NET_ACCEPTOR_H

/* A listening TCP socket. tests/support/fake_net.c replaces it in tests of behaviour. */

#include "base/addr.h"
#include "base/err.h"

struct acceptor;
struct listen_socket;
struct loop;
struct tcp;

/* A client connected. The callee owns *tcp and passes it to tcp_start(), link_accept() or
 * tcp_close(). It may close the acceptor. */
typedef void (*acceptor_fn)(void *owner, struct tcp *tcp);

/* Takes the socket and leaves LISTEN_SOCKET_NONE; on error the caller keeps it. Without a free
 * descriptor the acceptor pauses for a tenth of a second, and connections wait in the backlog. */
MUST_USE enum err acceptor_open(struct acceptor **out, struct loop *loop,
                                struct listen_socket *socket, acceptor_fn on_accept, void *owner);

/* Closes the socket, which resets waiting connections. A shared socket stays open, and connections
 * wait there for its other owners. */
void acceptor_close(struct acceptor **acceptor);

/* Accepts the waiting connections as long as descriptors are free, then closes the socket. Not
 * inside on_accept. *acceptor becomes NULL. */
void acceptor_finish(struct acceptor **acceptor);

const struct addr *acceptor_local(const struct acceptor *acceptor);

enum { ACCEPTOR_END_US = 1000 * 1000 };

/*
 * Stops taking new connections, once. Connections that wait, or complete their handshake within
 * ACCEPTOR_END_US, are still accepted; then on_ended comes and may close the acceptor. A client
 * that arrives meanwhile gets no reply, and a refusal when it retries a second later.
 *
 * A shared socket is left at once, with its waiting connections: on_ended comes in the next turn.
 */
void acceptor_end(struct acceptor *acceptor, void (*on_ended)(void *owner));

#endif
