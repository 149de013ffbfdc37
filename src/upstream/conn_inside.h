/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_CONN_INSIDE_H
#define NAILUP_UPSTREAM_CONN_INSIDE_H

/* What conn.c (states, dials, ends) and conn_traffic.c (queries and answers) share. Nobody else
 * looks here. */

#include <stdint.h>

#include "base/span.h"
#include "upstream/conn_state.h"

struct conn;

/* conn.c: every change of state. until_at: the state's deadline, 0: none. */
void conn_move(struct conn *conn, enum conn_state to, uint64_t until_at);

/* conn.c: every end. The connection is gone after it. */
void conn_end(struct conn *conn, enum conn_end why);

/* conn.c: a ready connection's timer; it may be early (it is not moved with every query), never
 * late. */
void conn_arm(struct conn *conn);

/* conn_traffic.c: what the link brings. */
void conn_on_message(void *owner, struct span message);

/* conn_traffic.c: reads and writes since the last call. */
void conn_count_io(struct conn *conn);

#endif
