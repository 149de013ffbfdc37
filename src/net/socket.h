/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_NET_SOCKET_H
#define NAILUP_NET_SOCKET_H

/*
 * Private to src/net: sockets made non-blocking and close-on-exec, and the calls on them that more
 * than one module needs. A failure that only costs comfort (buffer sizes, path MTU) is ignored.
 */

#include <stdbool.h>

#include "base/addr.h"
#include "base/err.h"

/* type: SOCK_STREAM or SOCK_DGRAM. *fd is ours to close. */
MUST_USE enum err socket_open(int *fd, int family, int type);

/* IPV6_V6ONLY on IPv6, SO_REUSEPORT as asked, SO_REUSEADDR on streams (a TIME_WAIT of the last run
 * must not keep us from starting), then bind. */
MUST_USE enum err socket_bind_listen(int fd, int type, const struct addr *listen, bool reuse_port);

/* Binds a socket that will connect: any port. */
MUST_USE enum err socket_bind_source(int fd, const struct addr *source);

/* setsockopt of an int; true when the kernel took it. */
bool socket_set(int fd, int level, int option, int value);

/* Takes the pending error of a socket (SO_ERROR). */
enum err socket_error(int fd);

/* Whether this machine has lost the address: nothing could be bound to it. False where that cannot
 * be found out. */
bool socket_address_is_gone(const struct addr *local);

MUST_USE enum err socket_local(int fd, struct addr *out);

#endif
