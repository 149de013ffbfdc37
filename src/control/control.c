/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Accepts a bounded number of clients, reads one line from each, runs it as a command and sends the
 * reply. A new client replaces an idle one, so it never waits for a client that does not ask or
 * does not read. While all clients are busy, a new one waits in the kernel's backlog, where it
 * costs nothing.
 *
 * A client has four states: asking (its line is incomplete), waiting (its call runs), feeding (it
 * sends the input of its call) and taking (the reply leaves, in parts when it is long). Commands
 * belong to the call.
 *
 * Invariants: at most CONTROL_CLIENTS_MAX clients exist. A client has a call from the end of its
 * line on. It feeds as long as its call has a feed(), and takes after that.
 */

#include "control/control.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.h"
#include "base/list.h"
#include "base/log.h"
#include "control/call.h"
#include "control/request.h"
#include "loop/fd_watch.h"
#include "loop/loop.h"
#include "loop/timer.h"

enum { PAUSE_US = 50 * 1000 }; /* before the next accept(), without a free place or file */

struct control {
    struct loop *loop;
    const struct control_view *view;
    struct local_socket socket;
    struct fd_watch *watch;
    struct timer pause;
    struct list clients; /* the one that has been idle for longest first */
    unsigned client_count;
};

enum client_state { CLIENT_ASKING, CLIENT_WAITING, CLIENT_FEEDING, CLIENT_TAKING };

struct client {
    struct list node;
    struct control *control;
    enum client_state state;
    int fd;
    struct fd_watch *watch;
    struct timer limit;
    uint64_t active_at; /* when it last sent or read something */
    struct call *call;
    size_t taken; /* bytes of the reply sent since the limit was set */
    size_t len, line_len;
    char line[CONTROL_REQUEST_MAX];
};

static void client_close(struct client *client)
{
    fd_watch_stop(&client->watch);
    close(client->fd);
    timer_stop(&client->limit);
    list_remove(&client->node);
    client->control->client_count--;
    if (client->call && client->state == CLIENT_WAITING)
        call_abandon(client->call);
    else if (client->call)
        call_free(client->call);
    free(client);
}

static void client_on_limit(struct timer *timer)
{
    client_close(CONTAINER_OF(timer, struct client, limit));
}

static void client_set_limit(struct client *client, uint64_t us)
{
    timer_start(client->control->loop, &client->limit, loop_now(client->control->loop) + us);
}

static void client_note_activity(struct client *client)
{
    client->active_at = loop_now(client->control->loop);
    list_remove(&client->node);
    list_append(&client->control->clients, &client->node);
}

/* Makes the next part of a long reply: one per turn, and only when the client has taken the
 * previous part, so that a slow reader costs no memory. The limit starts again, because the client
 * did not cause the time that this work took. */
static void client_make_part(struct client *client)
{
    if (!client->call->more || buf_len(&client->call->reply.buf) > 0)
        return;
    client->taken = 0;
    client_set_limit(client, CONTROL_CLIENT_TAKE_US);
    client->call->more(client->call);
}

/* Sends as much as the kernel takes. Returns false when the client is gone. A client that reads
 * nothing reaches its limit. */
static bool client_send_part(struct client *client)
{
    struct buf *buf = &client->call->reply.buf;

    while (buf_len(buf) > 0) {
        struct span rest = buf_span(buf);
        ssize_t sent =
            send(client->fd, rest.data, MIN(rest.len, (size_t)CONTROL_CLIENT_CHUNK), MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return true;
        if (sent <= 0)
            return false;
        buf_consume(buf, (size_t)sent);
        client_note_activity(client);
        client->taken += (size_t)sent;
        if (client->taken >= CONTROL_CLIENT_CHUNK) {
            client->taken = 0;
            client_set_limit(client, CONTROL_CLIENT_TAKE_US);
        }
    }
    return true;
}

static void client_send_reply(struct client *client)
{
    struct call *call = client->call;

    client_make_part(client);
    bool is_there = client_send_part(client);
    if (!is_there || (!call->more && buf_len(&call->reply.buf) == 0))
        client_close(client);
}

static void client_begin_taking(struct client *client)
{
    client->state = CLIENT_TAKING;
    client_set_limit(client, CONTROL_CLIENT_TAKE_US);
    fd_watch_set(client->watch, (struct fd_events){.writable = true});
    client_send_reply(client);
}

/* Reads one piece per turn. */
static void client_read_piece(struct client *client)
{
    uint8_t piece[CONTROL_CLIENT_CHUNK];
    ssize_t got = recv(client->fd, piece, sizeof(piece), MSG_DONTWAIT);

    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        return;
    if (got < 0) {
        client_close(client);
        return;
    }
    client_set_limit(client, CONTROL_CLIENT_TAKE_US);
    client_note_activity(client);
    client->call->feed(client->call, span_of(piece, (size_t)got));
    if (!client->call->feed)
        client_begin_taking(client);
}

static void client_begin_feeding(struct client *client)
{
    size_t line_end = client->line_len + 1; /* the newline counts */

    client->state = CLIENT_FEEDING;
    client_set_limit(client, CONTROL_CLIENT_TAKE_US);
    if (client->len > line_end)
        client->call->feed(client->call, span_of(client->line + line_end, client->len - line_end));
}

static void client_on_done(struct call *call, void *context)
{
    struct client *client = context;

    client->call = call;
    client_note_activity(client);
    if (call->feed)
        client_begin_feeding(client);
    else
        client_begin_taking(client);
}

static void client_run(struct client *client, size_t line_len)
{
    struct call *call =
        call_new(client->control->loop, client->control->view, client_on_done, client);

    if (!call) {
        client_close(client);
        return;
    }
    client->call = call;
    client->line_len = line_len;
    client->state = CLIENT_WAITING;
    timer_stop(&client->limit); /* workers are fast; if one is not, the client may leave */
    request_run(call, span_of(client->line, line_len));
}

static void client_read_line(struct client *client)
{
    ssize_t got = recv(client->fd, client->line + client->len, sizeof(client->line) - client->len,
                       MSG_DONTWAIT);

    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        return;
    if (got <= 0) {
        client_close(client);
        return;
    }
    client_note_activity(client);
    const char *newline = memchr(client->line + client->len, '\n', (size_t)got);
    client->len += (size_t)got;
    if (newline)
        client_run(client, (size_t)(newline - client->line));
    else if (client->len == sizeof(client->line))
        client_run(client, client->len); /* refused as too long */
}

/* Notices that a waiting client leaves. Drops everything that it sends meanwhile. */
static void client_watch_leaving(struct client *client)
{
    char bytes[512];
    ssize_t got = recv(client->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

    if (got == 0) /* perhaps only its sending side is closed: expect no more events */
        fd_watch_set(client->watch, (struct fd_events){.readable = false});
    else if (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
        client_close(client);
}

static void client_on_ready(void *owner, struct fd_events events)
{
    struct client *client = owner;

    (void)events;
    if (client->state == CLIENT_ASKING)
        client_read_line(client);
    else if (client->state == CLIENT_WAITING)
        client_watch_leaving(client);
    else if (client->state == CLIENT_FEEDING)
        client_read_piece(client);
    else
        client_send_reply(client);
}

/* Takes a connected, non-blocking socket and closes it, on error too. */
static enum err client_open(struct control *control, int fd)
{
    struct client *client = calloc(1, sizeof(*client));

    if (!client) {
        close(fd);
        return ERR_NO_MEMORY;
    }
    client->control = control;
    client->state = CLIENT_ASKING;
    client->fd = fd;
    timer_init(&client->limit, client_on_limit);
    enum err err = fd_watch_start(&client->watch, control->loop, fd,
                                  (struct fd_events){.readable = true}, client_on_ready, client);
    if (err) {
        close(fd);
        free(client);
        return err;
    }
    list_init(&client->node);
    client_note_activity(client);
    control->client_count++;
    client_set_limit(client, CONTROL_CLIENT_ASK_US);
    return ERR_OK;
}

/* ---- the listener ---- */

/* Whether the daemon waits for the client. The client waits for the daemon if its command runs or
 * walks over the cache. After a long turn, its bytes may be unread, or it may have room for more of
 * its reply. */
static bool client_is_idle(const struct client *client)
{
    short events = client->state == CLIENT_TAKING ? POLLOUT : POLLIN;
    struct pollfd way = {.fd = client->fd, .events = events};

    return client->state != CLIENT_WAITING && poll(&way, 1, 0) <= 0;
}

/* Closes the client that has been idle for longest, at least CONTROL_CLIENT_IDLE_US. Returns false
 * when there is no such client. */
static bool control_make_room(struct control *control)
{
    uint64_t now = loop_now(control->loop);

    LIST_EACH(node, &control->clients)
    {
        struct client *client = LIST_ITEM(node, struct client, node);
        if (now - client->active_at < CONTROL_CLIENT_IDLE_US)
            return false;
        if (!client_is_idle(client))
            continue;
        client_close(client);
        return true;
    }
    return false;
}

static void control_pause_accepting(struct control *control)
{
    fd_watch_set(control->watch, (struct fd_events){.readable = false});
    timer_start(control->loop, &control->pause, loop_now(control->loop) + PAUSE_US);
}

static void control_on_pause_over(struct timer *timer)
{
    struct control *control = CONTAINER_OF(timer, struct control, pause);
    fd_watch_set(control->watch, (struct fd_events){.readable = true});
}

static void control_on_connection(void *owner, struct fd_events events)
{
    struct control *control = owner;

    (void)events;
    if (control->client_count >= CONTROL_CLIENTS_MAX && !control_make_room(control)) {
        control_pause_accepting(control);
        return;
    }
    int fd = accept4(control->socket.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0 && (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED))
        return;
    if (fd < 0 || client_open(control, fd)) {
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
    control->loop = loop;
    control->view = view;
    list_init(&control->clients);
    timer_init(&control->pause, control_on_pause_over);
    err = local_socket_open(&control->socket, place, why, CONTROL_WHY_MAX);
    if (!err)
        err = fd_watch_start(&control->watch, loop, control->socket.fd,
                             (struct fd_events){.readable = true}, control_on_connection, control);
    if (err) {
        control_close(&control);
        return err;
    }
    *out = control;
    return ERR_OK;
}

void control_close(struct control **control)
{
    struct control *closing = *control;

    *control = NULL;
    if (!closing)
        return;
    while (!list_is_empty(&closing->clients))
        client_close(LIST_ITEM(list_first(&closing->clients), struct client, node));
    fd_watch_stop(&closing->watch);
    timer_stop(&closing->pause);
    local_socket_close(&closing->socket);
    free(closing);
}
