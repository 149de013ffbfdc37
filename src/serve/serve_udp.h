/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_SERVE_UDP_H
#define NAILUP_SERVE_SERVE_UDP_H

/* The clients of one UDP address. One thread, the loop's. */

#include <stdbool.h>

#include "base/addr.h"
#include "base/err.h"

struct listen_socket;
struct requests;
struct serve_udp;
struct server_quota;

/* Takes the socket; errors as with udp_server_open(). requests is borrowed. */
MUST_USE enum err serve_udp_open(struct serve_udp **out, struct requests *requests,
                                 struct listen_socket *socket);
/* Closes the socket; what waits gets no answer. *serve becomes NULL. */
void serve_udp_close(struct serve_udp **serve);

/* The two steps of a reload, as in session.h. */
void serve_udp_move(struct serve_udp *serve, struct server_quota *quota);
void serve_udp_renew(struct serve_udp *serve);

/* Nothing waits, and where its address ends, nothing is unread. */
bool serve_udp_is_idle(const struct serve_udp *serve);

/*
 * The daemon stops. A socket that others share is left to them at once: queries wait there for the
 * next daemon. Otherwise it serves as ever until serve_udp_end(). on_idle is called when it becomes
 * idle, perhaps more than once, and not within this call.
 */
void serve_udp_drain(struct serve_udp *serve, void (*on_idle)(void *context), void *context);

/* Stops serving the address: datagrams in the kernel are answered, and later ones are refused. A
 * further call, or a call after a shared socket was left, changes on_idle at most. */
void serve_udp_end(struct serve_udp *serve, void (*on_idle)(void *context), void *context);

#endif
