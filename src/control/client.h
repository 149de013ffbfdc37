/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONTROL_CLIENT_H
#define NAILUP_CONTROL_CLIENT_H

/*
 * One client of the control socket: reads its line, has it run, sends the reply, closes. It has
 * CONTROL_CLIENT_ASK_US for its line, and CONTROL_CLIENT_TAKE_US for each CONTROL_CLIENT_CHUNK
 * bytes of the reply. The main loop's thread.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/list.h"
#include "control/view.h"

struct client;
struct loop;

enum {
    CONTROL_CLIENT_ASK_US = 5 * 1000 * 1000,
    CONTROL_CLIENT_TAKE_US = 10 * 1000 * 1000,
    CONTROL_CLIENT_CHUNK = 64 * 1024,
    /* A client that neither asks nor takes for this long makes room when the places are used up. */
    CONTROL_CLIENT_IDLE_US = 100 * 1000,
};

/* Who holds clients. */
struct client_host {
    struct loop *loop;
    const struct control_view *view;
    struct list clients; /* the one that has been idle for longest first */
    unsigned count;
};

/* Takes a connected, non-blocking socket, which it closes, also on error. It frees itself. */
MUST_USE enum err client_open(struct client_host *host, int fd);

/* Closes the client that has been idle for longest, at least CONTROL_CLIENT_IDLE_US. A client whose
 * command runs is not idle. False: there is none. */
bool client_make_room(struct client_host *host);

/* Closes all. */
void client_close_all(struct client_host *host);

#endif
