/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONTROL_CONTROL_H
#define NAILUP_CONTROL_CONTROL_H

/*
 * The control socket: takes requests of nailupctl, one a connection, and sends what the commands
 * answer. nailup/control.h is its language, nailup/commands.def its words. On the main loop.
 */

#include "base/err.h"
#include "control/local_socket.h"
#include "control/view.h"

struct control;
struct loop;

enum { CONTROL_WHY_MAX = 256 };

/*
 * Listens at the place; who may use the file may give every command. The socket that a dead daemon
 * left is replaced; a live one is ERR_ADDRESS_IN_USE. On error why says what to do. view is
 * borrowed and is read when commands come: it may be filled later, but before the loop runs.
 */
MUST_USE enum err control_open(struct control **out, struct loop *loop,
                               const struct local_place *place, const struct control_view *view,
                               char why[CONTROL_WHY_MAX]);

/* Closes the socket and every client, and removes the file if it is still ours. What workers are
 * still asked for is thrown away when it comes: the loop must be freed later than this, and their
 * loops too. *control becomes NULL; NULL is fine. */
void control_close(struct control **control);

#endif
