/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_NET_LISTEN_SOCKET_H
#define NAILUP_NET_LISTEN_SOCKET_H

/*
 * Sockets that clients come to, before they belong to a loop: whoever starts the workers makes them
 * for all of these, so that an address that cannot be had shows before anything has changed. Any
 * thread. Replaced by tests/support/fake_listen_socket.c in tests of behaviour.
 */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/addr.h"
#include "base/err.h"

enum listen_type { LISTEN_UDP, LISTEN_TCP };

/*
 * Bounds on what the kernel holds for one TCP client. The kernel counts the overhead of its packets
 * too. By default it grows the send buffer to 4 MiB, and a client that never reads fills that.
 *
 * The send buffer limits what is under way to a distant client: 96 KiB in a round trip of 40 ms are
 * some 20,000 answers of 100 bytes a second on one connection. It is also larger than the 64 KiB
 * packets of loopback: with less, each packet waits for the acknowledgement of the one before. The
 * receive buffer is for queries, which are small. It also bounds what one read brings: more than a
 * thousand queries, so that a busy connection's answers share one write.
 */
enum {
    LISTEN_SOCKET_SEND_BYTES = 96 * 1024,
    LISTEN_SOCKET_NOT_SENT_BYTES = 16 * 1024, /* unsent ones, of a client whose window is closed */
    LISTEN_SOCKET_RECEIVE_BYTES = 56 * 1024,
    /* A client that acknowledges nothing, or keeps its window closed, loses its connection then; a
     * connection that we have closed ends then too, and frees what the kernel still holds. */
    LISTEN_SOCKET_USER_TIMEOUT_MS = 10 * 1000,
};

/* A value that is moved: whoever has it closes it, or gives it to who takes it. */
struct listen_socket {
    int fd; /* -1: none */
    enum listen_type type;
    bool is_shared;    /* others have the same socket too: it stays as it is when we leave it */
    struct addr local; /* where it is bound, which matters when port 0 was asked for */
};

#define LISTEN_SOCKET_NONE ((struct listen_socket){.fd = -1})

struct listen_wish {
    struct addr addr;
    enum listen_type type;
    bool freebind; /* also an address that this machine does not have (yet) */
    /* One of ours is, or may be, bound to the address already. Otherwise whoever else has it is
     * found: ERR_ADDRESS_IN_USE, where SO_REUSEPORT alone would share it with a second instance. */
    bool is_beside_ours;
};

/* Opens with SO_REUSEPORT; TCP listens, so connections begin to wait. Errors:
 * ERR_ADDRESS_IN_USE, ERR_ADDRESS_UNKNOWN, ERR_PERMISSION, ERR_NO_FILES. */
MUST_USE enum err listen_socket_open(struct listen_socket *out, const struct listen_wish *wish);

/* Nothing happens when there is none. */
void listen_socket_close(struct listen_socket *socket);

/* The same socket once more, for another loop; both are shared. */
MUST_USE enum err listen_socket_dup(struct listen_socket *out, const struct listen_socket *socket);

enum { LISTEN_SOCKET_WHY_MAX = 160 };

/* Takes a socket that another process has bound and gave to us. It is shared. On error fd is still
 * the caller's, and why says what is wrong with it and how that is put right. */
MUST_USE enum err listen_socket_adopt(struct listen_socket *out, int fd,
                                      char why[LISTEN_SOCKET_WHY_MAX]);

/* Makes the socket this user's: the kernel lets only sockets of one user share an address, and who
 * opens the next one may have become another meanwhile. A failure shows then. */
void listen_socket_chown(const struct listen_socket *socket, uid_t user);

#endif
