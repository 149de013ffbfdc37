/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_LISTENER_H
#define NAILUP_SERVE_LISTENER_H

/* One address that a worker serves: over UDP and TCP, or over TLS. One thread, the loop's. */

#include <stdbool.h>

#include "base/err.h"
#include "base/list.h"

struct listen_slot;
struct requests;
struct server_quota;
struct session_common;
struct tls_context;

struct listener {
    struct list node;      /* of the server's, when it ends */
    struct serve_udp *udp; /* NULL with TLS */
    struct serve_stream *stream;
};

/* Takes the slot's sockets, on error too. Over TLS where there is none for UDP: tls as in
 * serve_stream.h. requests and common are borrowed. */
MUST_USE enum err listener_open(struct listener **out, struct requests *requests,
                                struct session_common *common, struct listen_slot *slot,
                                struct tls_context *const *tls);
/* Closes everything; what waits gets no answer. *listener becomes NULL; NULL is allowed there. */
void listener_close(struct listener **listener);

/* The two steps of a reload, as in session.h. */
void listener_move(struct listener *listener, struct server_quota *quota);
void listener_renew(struct listener *listener);

/* Nothing of any client is left to wait for. */
bool listener_is_idle(const struct listener *listener);

/* serve_udp_end() and serve_stream_end(): a reload took the address away. on_idle is called,
 * perhaps more than once, when it may have become idle. */
void listener_end(struct listener *listener, void (*on_idle)(void *context), void *context);

/* serve_udp_drain() and serve_stream_drain(): the daemon stops. May follow listener_end(). */
void listener_drain(struct listener *listener, void (*on_idle)(void *context), void *context);

/* The last step after listener_drain(): no new client is served. */
void listener_stop(struct listener *listener, void (*on_idle)(void *context), void *context);

#endif
