/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * One client, four states: asking (its line is not whole), waiting (the call runs), feeding (it
 * says what the call is about), taking (the reply leaves, part by part when it is long). What
 * commands do is the call's.
 *
 * Invariant: call is set from the whole line on; it is feeding or taking when the call was handed
 * over, and feeding as long as the call has a feed().
 */

#include "control/client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.h"
#include "control/call.h"
#include "control/request.h"
#include "loop/fd_watch.h"
#include "loop/loop.h"
#include "loop/timer.h"

enum client_state { CLIENT_ASKING, CLIENT_WAITING, CLIENT_FEEDING, CLIENT_TAKING };

struct client {
    struct list node;
    struct client_host *host;
    enum client_state state;
    int fd;
    struct fd_watch *watch;
    struct timer limit;
    uint64_t active_at; /* it asked or took something */
    struct call *call;
    size_t taken; /* bytes of the reply since the limit was set */
    size_t len, line_len;
    char line[CONTROL_REQUEST_MAX];
};

static void client_close(struct client *client)
{
    fd_watch_stop(&client->watch);
    close(client->fd);
    timer_stop(&client->limit);
    list_remove(&client->node);
    client->host->count--;
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
    timer_start(client->host->loop, &client->limit, loop_now(client->host->loop) + us);
}

static void note_activity(struct client *client)
{
    client->active_at = loop_now(client->host->loop);
    list_remove(&client->node);
    list_append(&client->host->clients, &client->node);
}

/* The next part of a reply that comes in parts: one a turn, and only when the client has taken the
 * part before, so that who reads slowly costs no memory. Working on it is not the client's delay.
 */
static void next_part(struct client *client)
{
    if (!client->call->more || buf_len(&client->call->reply.buf) > 0)
        return;
    client->taken = 0;
    client_set_limit(client, CONTROL_CLIENT_TAKE_US);
    client->call->more(client->call);
}

/* Sends what the kernel takes; false when the client is gone. A client that takes nothing meets its
 * limit. */
static bool send_part(struct client *client)
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
        note_activity(client);
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

    next_part(client);
    bool is_there = send_part(client);
    if (!is_there || (!call->more && buf_len(&call->reply.buf) == 0))
        client_close(client);
}

static void begin_taking(struct client *client)
{
    client->state = CLIENT_TAKING;
    client_set_limit(client, CONTROL_CLIENT_TAKE_US);
    fd_watch_set(client->watch, (struct fd_events){.writable = true});
    client_send_reply(client);
}

/* One piece a turn. */
static void read_piece(struct client *client)
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
    note_activity(client);
    client->call->feed(client->call, span_of(piece, (size_t)got));
    if (!client->call->feed)
        begin_taking(client);
}

static void begin_feeding(struct client *client)
{
    size_t line_end = client->line_len + 1; /* its newline too */

    client->state = CLIENT_FEEDING;
    client_set_limit(client, CONTROL_CLIENT_TAKE_US);
    if (client->len > line_end)
        client->call->feed(client->call, span_of(client->line + line_end, client->len - line_end));
}

static void on_done(struct call *call, void *context)
{
    struct client *client = context;

    client->call = call;
    note_activity(client);
    if (call->feed)
        begin_feeding(client);
    else
        begin_taking(client);
}

static void client_run(struct client *client, size_t line_len)
{
    struct call *call = call_new(client->host->loop, client->host->view, on_done, client);

    if (!call) {
        client_close(client);
        return;
    }
    client->call = call;
    client->line_len = line_len;
    client->state = CLIENT_WAITING;
    timer_stop(&client->limit); /* workers are never slow; if one is, the client may go */
    request_run(call, span_of(client->line, line_len));
}

static void read_line(struct client *client)
{
    ssize_t got = recv(client->fd, client->line + client->len, sizeof(client->line) - client->len,
                       MSG_DONTWAIT);

    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        return;
    if (got <= 0) {
        client_close(client);
        return;
    }
    note_activity(client);
    const char *newline = memchr(client->line + client->len, '\n', (size_t)got);
    client->len += (size_t)got;
    if (newline)
        client_run(client, (size_t)(newline - client->line));
    else if (client->len == sizeof(client->line))
        client_run(client, client->len); /* which says that it is too long */
}

/* A client that waits may go: whatever it sends meanwhile is thrown away. */
static void watch_leaving(struct client *client)
{
    char bytes[512];
    ssize_t got = recv(client->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

    if (got == 0) /* it may have closed only its sending side: no more events from there */
        fd_watch_set(client->watch, (struct fd_events){.readable = false});
    else if (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
        client_close(client);
}

static void client_on_ready(void *owner, struct fd_events events)
{
    struct client *client = owner;

    (void)events;
    if (client->state == CLIENT_ASKING)
        read_line(client);
    else if (client->state == CLIENT_WAITING)
        watch_leaving(client);
    else if (client->state == CLIENT_FEEDING)
        read_piece(client);
    else
        client_send_reply(client);
}

enum err client_open(struct client_host *host, int fd)
{
    struct client *client = calloc(1, sizeof(*client));

    if (!client) {
        close(fd);
        return ERR_NO_MEMORY;
    }
    client->host = host;
    client->state = CLIENT_ASKING;
    client->fd = fd;
    timer_init(&client->limit, client_on_limit);
    enum err err = fd_watch_start(&client->watch, host->loop, fd,
                                  (struct fd_events){.readable = true}, client_on_ready, client);
    if (err) {
        close(fd);
        free(client);
        return err;
    }
    list_init(&client->node);
    note_activity(client);
    host->count++;
    client_set_limit(client, CONTROL_CLIENT_ASK_US);
    return ERR_OK;
}

bool client_make_room(struct client_host *host)
{
    uint64_t now = loop_now(host->loop);

    LIST_EACH(node, &host->clients)
    {
        struct client *client = LIST_ITEM(node, struct client, node);
        if (now - client->active_at < CONTROL_CLIENT_IDLE_US)
            return false;
        if (client->state == CLIENT_WAITING)
            continue;
        client_close(client);
        return true;
    }
    return false;
}

void client_close_all(struct client_host *host)
{
    while (!list_is_empty(&host->clients))
        client_close(LIST_ITEM(list_first(&host->clients), struct client, node));
}
