/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_NET_SOCKET_H
#define NAILUP_NET_SOCKET_H

/*
 * Private to src/net: opens non-blocking, close-on-exec sockets, with the calls that several
 * modules need. Ignores failures of mere tuning (buffer sizes, path MTU).
 */

#include <stdbool.h>

#include "base/addr.h"
#include "base/err.h"

/* type: SOCK_STREAM or SOCK_DGRAM. The caller closes *fd. */
MUST_USE enum err socket_open(int *fd, int family, int type);

/* Binds a socket that will listen, with IPV6_V6ONLY on IPv6, SO_REUSEPORT on request, and
 * SO_REUSEADDR on streams (a TIME_WAIT of the last run must not prevent a start). */
MUST_USE enum err socket_bind_listen(int fd, int type, const struct addr *listen, bool reuse_port);

/* Binds a socket that will connect. Port 0: the kernel draws it. is_foreign: this machine need not
 * have the address (IP_FREEBIND). */
MUST_USE enum err socket_bind_source(int fd, const struct addr *source, bool is_foreign);

/* Connects, or begins to. is_bound: socket_bind_source() has bound it. ERR_NO_PORT: the kernel
 * finds no free port for this peer. */
MUST_USE enum err socket_connect(int fd, const struct addr *peer, bool is_bound);

/* Sets an int option; returns whether the kernel took it. */
bool socket_set(int fd, int level, int option, int value);

/* Takes the pending error of a socket (SO_ERROR). */
enum err socket_error(int fd);

/* Whether this machine has lost the address, so that no socket can bind to it. False if that cannot
 * be determined. */
bool socket_address_is_gone(const struct addr *local);

MUST_USE enum err socket_local(int fd, struct addr *out);

#endif
