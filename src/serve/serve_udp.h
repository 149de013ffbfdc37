/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_SERVE_UDP_H
#define NAILUP_SERVE_SERVE_UDP_H

/* The clients of one UDP address. One thread, the loop's. */

#include <stdbool.h>

#include "base/addr.h"
#include "base/err.h"

struct requests;
struct serve_udp;

/* Errors as with udp_server_open(). requests is borrowed. */
MUST_USE enum err serve_udp_open(struct serve_udp **out, struct requests *requests,
                                 const struct addr *listen);
/* Closes the socket; what waits gets no answer. *serve becomes NULL. */
void serve_udp_close(struct serve_udp **serve);

const struct addr *serve_udp_local(const struct serve_udp *serve);

/* Queries that wait. */
size_t serve_udp_waiting(const struct serve_udp *serve);

/* on_idle is called once, when nothing waits any more and not within this call. Until then answers
 * go out, hits too. */
void serve_udp_drain(struct serve_udp *serve, void (*on_idle)(void *context), void *context);

#endif
