/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Accepts a bounded number of clients. A new client takes the place of one that is idle, so that it
 * never waits for a client that does not ask or does not read. While all are busy it waits in the
 * kernel's backlog, where it costs us nothing.
 *
 * Invariant: at most CLIENTS_MAX clients.
 */

#include "control/control.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/check.h"
#include "base/log.h"
#include "control/client.h"
#include "loop/fd_watch.h"
#include "loop/loop.h"
#include "loop/timer.h"

enum {
    CLIENTS_MAX = 16,
    PAUSE_US = 50 * 1000, /* without a free place or file, before accepting is tried again */
};

struct control {
    struct client_host host;
    struct local_socket socket;
    struct fd_watch *watch;
    struct timer pause;
};

static void control_pause_accepting(struct control *control)
{
    fd_watch_set(control->watch, (struct fd_events){.readable = false});
    timer_start(control->host.loop, &control->pause, loop_now(control->host.loop) + PAUSE_US);
}

static void control_on_pause_over(struct timer *timer)
{
    struct control *control = CONTAINER_OF(timer, struct control, pause);
    fd_watch_set(control->watch, (struct fd_events){.readable = true});
}

static void on_connection(void *owner, struct fd_events events)
{
    struct control *control = owner;

    (void)events;
    if (control->host.count >= CLIENTS_MAX && !client_make_room(&control->host)) {
        control_pause_accepting(control);
        return;
    }
    int fd = accept4(control->socket.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0 && (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED))
        return;
    if (fd < 0 || client_open(&control->host, fd)) {
        LOG_LIMITED(LOG_WARNING, "control", "no room for a client: out of files or memory");
        control_pause_accepting(control);
    }
}

enum err control_open(struct control **out, struct loop *loop, const struct local_place *place,
                      const struct control_view *view, char why[CONTROL_WHY_MAX])
{
    struct control *control = calloc(1, sizeof(*control));
    enum err err;

    *out = NULL;
    snprintf(why, CONTROL_WHY_MAX, "out of memory or files; raise the limits");
    if (!control)
        return ERR_NO_MEMORY;
    control->host.loop = loop;
    control->host.view = view;
    list_init(&control->host.clients);
    timer_init(&control->pause, control_on_pause_over);
    err = local_socket_open(&control->socket, place, why, CONTROL_WHY_MAX);
    if (!err)
        err = fd_watch_start(&control->watch, loop, control->socket.fd,
                             (struct fd_events){.readable = true}, on_connection, control);
    if (err) {
        control_close(&control);
        return err;
    }
    *out = control;
    return ERR_OK;
}

void control_close(struct control **out)
{
    struct control *control = *out;

    *out = NULL;
    if (!control)
        return;
    client_close_all(&control->host);
    fd_watch_stop(&control->watch);
    timer_stop(&control->pause);
    local_socket_close(&control->socket);
    free(control);
}
