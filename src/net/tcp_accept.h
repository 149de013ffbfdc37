/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_NET_TCP_ACCEPT_H
#define NAILUP_NET_TCP_ACCEPT_H

/* Private to src/net: makes a connection from a socket that accept() returned, for acceptor.c. */

#include "base/addr.h"

struct stock;
struct tcp;

/* Takes the socket, also on failure. Returns NULL when out of memory. */
struct tcp *tcp_from_socket(struct stock *stock, int fd, const struct addr *peer);

#endif
