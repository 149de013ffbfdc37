/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONTROL_CONTROL_H
#define NAILUP_CONTROL_CONTROL_H

/*
 * The control socket: accepts requests from nailupctl, one per connection, and sends the replies of
 * the commands. nailup/control.h defines the protocol, nailup/commands.def the commands. Runs on
 * the main loop.
 */

#include "base/err.h"
#include "control/local_socket.h"
#include "control/view.h"

struct control;
struct loop;

enum {
    CONTROL_WHY_MAX = 256,
    CONTROL_CLIENTS_MAX = 16,
    CONTROL_CLIENT_ASK_US = 5 * 1000 * 1000,   /* the time for a client's request line */
    CONTROL_CLIENT_TAKE_US = 10 * 1000 * 1000, /* the time to read each chunk of the reply */
    CONTROL_CLIENT_CHUNK = 64 * 1024,
    /* A client that has kept the daemon waiting for this long makes room when all places are
       taken. */
    CONTROL_CLIENT_IDLE_US = 100 * 1000,
};

/*
 * Listens at the place. Every user who may open the file may run every command. Replaces the socket
 * of a dead daemon; the socket of a live one is ERR_ADDRESS_IN_USE. On error why says what to do.
 * Borrows view and reads it only when a command comes, so the caller may fill it later, but before
 * the loop runs.
 */
MUST_USE enum err control_open(struct control **out, struct loop *loop,
                               const struct local_place *place, const struct control_view *view,
                               char why[CONTROL_WHY_MAX]);

/* Closes the socket and every client, and removes the file if it is still ours. Drops the answers
 * that workers still owe: free the main loop and the workers' loops after this. *control becomes
 * NULL; NULL is fine. */
void control_close(struct control **control);

#endif
