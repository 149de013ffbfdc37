/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_NET_ACCEPTOR_H
#define NAILUP_NET_ACCEPTOR_H

/*
 * A listening TCP socket, and the check that nobody else listens. Replaced by
 * tests/support/fake_net.c in tests of behaviour.
 */

#include <stdbool.h>

#include "base/addr.h"
#include "base/err.h"

struct acceptor;
struct loop;
struct tcp;

/* A client connected. The callee owns *tcp: tcp_start() (or link_accept()) it, or tcp_close() it.
 * The acceptor may be closed inside. */
typedef void (*acceptor_fn)(void *owner, struct tcp *tcp);

/* Opens with SO_REUSEPORT and a backlog of 4096. When accept() finds no free file, accepting pauses
 * for a tenth of a second; connections wait in the backlog meanwhile. */
MUST_USE enum err acceptor_open(struct acceptor **out, struct loop *loop, const struct addr *listen,
                                acceptor_fn on_accept, void *owner);
void acceptor_close(struct acceptor **acceptor);
const struct addr *acceptor_local(const struct acceptor *acceptor);

/* Binds without SO_REUSEPORT, for TCP and, if it is to be served too, for UDP, and lets go again:
 * SO_REUSEPORT alone would let a second instance start unnoticed. ERR_ADDRESS_IN_USE,
 * ERR_ADDRESS_UNKNOWN, ERR_PERMISSION. */
MUST_USE enum err acceptor_probe(const struct addr *listen, bool with_udp);

#endif
