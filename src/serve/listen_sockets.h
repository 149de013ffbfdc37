/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_LISTEN_SOCKETS_H
#define NAILUP_SERVE_LISTEN_SOCKETS_H

/*
 * The listening sockets of all workers, made by who starts them before anything changes: a list of
 * addresses is had as a whole or not at all. Remembers which addresses are served, so that those
 * stay as they are when the list changes.
 *
 *   listen_sockets_prepare()    opens what the new list has and the old one has not
 *   listen_sockets_take()       once for each worker: goes to server_open() or server_reload()
 *   listen_sockets_commit()     the new list is the one that is served
 *   listen_sockets_settle()     every worker has said that it ended what the new list has not
 *
 * Instead of taking, listen_sockets_cancel() forgets the new list and leaves the old one served.
 *
 * One thread, the one that starts the workers. Where an address is meant by number (which), it is
 * that of server_address.h.
 */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/addr.h"
#include "base/err.h"
#include "net/listen_socket.h"
#include "serve/server_options.h"

struct listener;
struct listen_sockets;

/* One worker's sockets for one list. Whose it is closes them with listen_share_free(). */
struct listen_share {
    size_t count;
    struct listen_slot {
        struct listen_socket udp, stream; /* each may be none */
        size_t before; /* the number that this address has in the list before; SIZE_MAX: new */
        struct listener *listener; /* the server's; NULL here */
    } slots[];
};

void listen_share_free(struct listen_share *share); /* NULL is allowed */

/* For so many workers, at least one (MUST). NULL out of memory. */
struct listen_sockets *listen_sockets_new(size_t workers);
void listen_sockets_free(struct listen_sockets *sockets); /* NULL is allowed */

enum { LISTEN_SOCKETS_WHY_MAX = 320 };

/*
 * Takes sockets that another process has bound for us (systemd): they serve the address that they
 * are bound to, over UDP, TCP or TLS, all workers alike, whenever a list has it. Before the first
 * list. options are those that this will be of: what serves none of their addresses is refused, as
 * it would get queries that nobody answers. At ERR_INVALID (or ERR_NO_MEMORY) no descriptor was
 * taken, and why says which one is wrong and what to do; else all were.
 */
MUST_USE enum err listen_sockets_adopt(struct listen_sockets *sockets, const int *fds, size_t count,
                                       const struct server_options *options,
                                       char why[LISTEN_SOCKETS_WHY_MAX]);

/*
 * Opens, for each worker, a socket for UDP and one for TCP (of TLS only the latter) of each address
 * that is not served yet. An address that another program has is ERR_ADDRESS_IN_USE, one that this
 * machine lacks a logged warning unless there is no other (ERR_ADDRESS_UNKNOWN); it is tried anew
 * with the next list. On error nothing has changed and *which is the number of the address; with
 * ERR_NO_MEMORY it says nothing. With port 0 UDP and TCP of all workers have the same free one.
 */
MUST_USE enum err listen_sockets_prepare(struct listen_sockets *sockets,
                                         const struct server_options *options, size_t *which);

/* The share of a worker, once each after a listen_sockets_prepare(). The caller's. */
struct listen_share *listen_sockets_take(struct listen_sockets *sockets, size_t worker);

/* Every share has been taken (MUST). */
void listen_sockets_commit(struct listen_sockets *sockets);

/* No share has been taken (MUST). Connections that waited for the new addresses are reset. */
void listen_sockets_cancel(struct listen_sockets *sockets);

/* The addresses that commits have removed are closed in all workers. Until then they can be added
 * again all the same; afterwards somebody else may have them. */
void listen_sockets_settle(struct listen_sockets *sockets);

/* Where an address of the list that is served, or is being prepared, is bound; NULL when this
 * machine lacks it. Valid until the next list. */
const struct addr *listen_sockets_local(const struct listen_sockets *sockets, size_t which);

/* Makes the sockets that are prepared and not taken yet this user's. For who drops privileges
 * between the two: only sockets of one user may share an address, so that a later list could
 * neither add 127.0.0.1@53 beside 0.0.0.0@53 nor add anew what was just removed. */
void listen_sockets_chown(const struct listen_sockets *sockets, uid_t user);

#endif
