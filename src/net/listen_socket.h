/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_NET_LISTEN_SOCKET_H
#define NAILUP_NET_LISTEN_SOCKET_H

/*
 * Listening sockets for clients, before they belong to a loop. The daemon opens the sockets of all
 * workers first, so that an unusable address shows before anything has changed. Any thread.
 * tests/support/fake_listen_socket.c replaces it in tests of behaviour.
 */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/addr.h"
#include "base/err.h"

enum listen_type { LISTEN_UDP, LISTEN_TCP };

/*
 * Bounds on the kernel's memory for one TCP client, packet overhead included. By default the kernel
 * grows the send buffer to 4 MiB, and a client that never reads fills it.
 *
 * The send buffer limits the bytes in flight to a distant client: 96 KiB per round trip of 40 ms
 * are some 20,000 answers of 100 bytes a second on one connection. It also exceeds the 64 KiB
 * packets of loopback: with less, each packet waits for the acknowledgement of the previous one.
 * The receive buffer holds queries, which are small. It also bounds one read to somewhat more than
 * a thousand queries, so that the answers of a busy connection share one write.
 */
enum {
    LISTEN_SOCKET_SEND_BYTES = 96 * 1024,
    LISTEN_SOCKET_NOT_SENT_BYTES = 16 * 1024, /* unsent bytes while the client's window is closed */
    LISTEN_SOCKET_RECEIVE_BYTES = 56 * 1024,
    /* A client that acknowledges nothing or keeps its window closed loses its connection after this
     * time. A connection that we have closed ends then too, and frees the kernel's memory. */
    LISTEN_SOCKET_USER_TIMEOUT_MS = 10 * 1000,
};

/* A value with one owner, who closes it or passes it on. */
struct listen_socket {
    int fd; /* -1: none */
    enum listen_type type;
    bool is_shared;    /* others have it open too, so we leave it as it is */
    struct addr local; /* the bound address, with the port that the kernel chose for port 0 */
};

#define LISTEN_SOCKET_NONE ((struct listen_socket){.fd = -1})

struct listen_wish {
    struct addr addr;
    enum listen_type type;
    bool freebind; /* allow an address that this machine does not have (yet) */
    /* One of our sockets may be bound to the address already. Otherwise a second instance is
     * detected: ERR_ADDRESS_IN_USE, where SO_REUSEPORT alone would share the address with it. */
    bool is_beside_ours;
};

/* Opens a socket with SO_REUSEPORT. TCP listens, so connections begin to wait. Errors:
 * ERR_ADDRESS_IN_USE, ERR_ADDRESS_UNKNOWN, ERR_PERMISSION, ERR_NO_FILES. */
MUST_USE enum err listen_socket_open(struct listen_socket *out, const struct listen_wish *wish);

/* Does nothing for LISTEN_SOCKET_NONE. */
void listen_socket_close(struct listen_socket *socket);

/* Duplicates the socket for another loop; both are shared then. */
MUST_USE enum err listen_socket_dup(struct listen_socket *out, const struct listen_socket *socket);

enum { LISTEN_SOCKET_WHY_MAX = 160 };

/* Takes a socket that another process bound and passed to us. It is shared. On error the caller
 * keeps fd, and why names the fault and its remedy. */
MUST_USE enum err listen_socket_adopt(struct listen_socket *out, int fd,
                                      char why[LISTEN_SOCKET_WHY_MAX]);

/* Gives the socket to this user: only sockets of one user may share an address, and the process may
 * have changed its user when it opens the next one. That call then reports a failure. */
void listen_socket_chown(const struct listen_socket *socket, uid_t user);

#endif
