/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_LISTEN_SOCKETS_H
#define NAILUP_SERVE_LISTEN_SOCKETS_H

/*
 * The listening sockets of all workers. Main opens them before anything changes, so a list of
 * addresses is served as a whole or not at all. The module remembers the served addresses, so that
 * they keep their sockets when the list changes.
 *
 *   listen_sockets_prepare()    opens the addresses of the new list that the old one lacks
 *   listen_sockets_take()       once for each worker, for server_open() or server_reload()
 *   listen_sockets_commit()     makes the new list the served one
 *   listen_sockets_settle()     every worker has ended the addresses that the new list lacks
 *
 * Instead of listen_sockets_take(), listen_sockets_cancel() forgets the new list.
 *
 * One thread, the one that starts the workers. The number of an address (which) is that of
 * server_address.h.
 */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/addr.h"
#include "base/err.h"
#include "base/transport.h"
#include "net/listen_socket.h"
#include "serve/server_options.h"

struct listener;
struct listen_sockets;

/* One worker's sockets for one list. Its owner closes them with listen_share_free(). */
struct listen_share {
    size_t count;
    struct listen_slot {
        struct listen_socket udp, stream; /* each may be none */
        enum transport transport;         /* of stream */
        size_t before;             /* the number of this address in the old list; SIZE_MAX: new */
        struct listener *listener; /* the server's; NULL here */
    } slots[];
};

void listen_share_free(struct listen_share *share); /* NULL is allowed */

/* Makes the sockets of `workers` workers, at least one (MUST). Returns NULL when out of memory. */
struct listen_sockets *listen_sockets_new(size_t workers);
void listen_sockets_free(struct listen_sockets *sockets); /* NULL is allowed */

enum { LISTEN_SOCKETS_WHY_MAX = 320 };

/*
 * Takes sockets that another process (systemd) has bound for us. All workers share each of them,
 * over UDP or a stream, whenever a list has its address. Call it before the first list; options are
 * the options of that list. A socket at none of their addresses is refused, because it would get
 * queries and no answers. On ERR_INVALID or ERR_NO_MEMORY no descriptor was taken, and why names
 * the wrong one and the remedy; else all were taken.
 */
MUST_USE enum err listen_sockets_adopt(struct listen_sockets *sockets, const int *fds, size_t count,
                                       const struct server_options *options,
                                       char why[LISTEN_SOCKETS_WHY_MAX]);

/*
 * Opens a socket for UDP and one for TCP, or one for TLS or HTTPS, for each worker and each address
 * that is not served yet. ERR_ADDRESS_IN_USE: another program has the address. An address that this
 * machine lacks is a logged warning and is tried again with the next list; if the machine lacks all
 * of them, it is ERR_ADDRESS_UNKNOWN. On error nothing has changed, and *which is the number of the
 * address, except with ERR_NO_MEMORY. With port 0, UDP and TCP of all workers have the same free
 * port.
 */
MUST_USE enum err listen_sockets_prepare(struct listen_sockets *sockets,
                                         const struct server_options *options, size_t *which);

/* Gives a worker its share to the caller, once after each listen_sockets_prepare(). */
struct listen_share *listen_sockets_take(struct listen_sockets *sockets, size_t worker);

/* Every share has been taken (MUST). */
void listen_sockets_commit(struct listen_sockets *sockets);

/* No share has been taken (MUST). Connections that waited for the new addresses are reset. */
void listen_sockets_cancel(struct listen_sockets *sockets);

/* All workers have closed the addresses that commits have removed. Until then they can be added
 * again without a check for other programs. */
void listen_sockets_settle(struct listen_sockets *sockets);

/* The bound address of an entry of the prepared list, or else of the served one. NULL: this machine
 * lacks it. Valid until the next list. */
const struct addr *listen_sockets_local(const struct listen_sockets *sockets, size_t which);

/* Gives the prepared sockets that are not taken yet to this user, before the daemon drops its
 * privileges. Only sockets of one user may share an address. Otherwise a later list could not add
 * 127.0.0.1@53 beside 0.0.0.0@53, and could not add an address again soon after its removal. */
void listen_sockets_chown(const struct listen_sockets *sockets, uid_t user);

#endif
