/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Links (link.h): messages over tcp.h with framing.h. Deadlines and the meaning of messages are
 * left to the owner.
 *
 * Bytes pass through two functions, bytes_in() and flush(): a transform such as TLS goes between
 * them and tcp.
 *
 * Invariant: out holds whole framed messages, but for the one whose begin the kernel has taken; it
 * is flushed at the end of each turn that added to it, or, when the kernel was full, as soon as it
 * has room. Whatever calls the owner back holds the link with enter() and lets go with leave(), so
 * that link_close() inside a callback frees it when the stack has unwound.
 */

#include "net/link.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/check.h"
#include "loop/loop.h"
#include "net/framing.h"

enum { LENGTH_BYTES = 2 };

enum link_state {
    LINK_DIALING,
    LINK_OPEN,
    LINK_PEER_CLOSED, /* half closed: we may still write */
    LINK_FAILED,      /* waits for link_close() */
    LINK_CLOSED,      /* closed inside a callback: freed when it returns */
};

struct link {
    struct loop *loop;
    struct tcp *tcp;
    const struct link_handler *handler;
    void *owner;
    enum link_state state;
    unsigned held;      /* callbacks on the stack */
    bool write_blocked; /* the kernel is full: on_writable() goes on */
    bool was_full;      /* a message did not fit: on_room is owed */
    bool paused;
    struct framing in;
    struct buf unread; /* bytes that were read but not handed out when the owner paused */
    struct buf out;
    struct turn_end turn_end;
    uint64_t reads, writes, last_byte_at;
};

static void enter(struct link *link)
{
    link->held++;
}

static void link_free(struct link *link)
{
    turn_end_cancel(&link->turn_end);
    framing_deinit(&link->in);
    buf_deinit(&link->unread);
    buf_deinit(&link->out);
    free(link);
}

static void leave(struct link *link)
{
    if (--link->held == 0 && link->state == LINK_CLOSED)
        link_free(link);
}

static bool is_writable(const struct link *link)
{
    return link->state == LINK_OPEN || link->state == LINK_PEER_CLOSED;
}

/* The owner hears of a failure once, and not after it heard of a FIN. */
static void fail(struct link *link, enum err why)
{
    bool tell = link->state == LINK_DIALING || link->state == LINK_OPEN;

    if (link->state == LINK_CLOSED)
        return;
    link->state = LINK_FAILED;
    buf_clear(&link->out);
    if (tell)
        link->handler->on_failed(link->owner, why);
}

/* ---------------------------------------------------------------- out */

static void tell_room(struct link *link)
{
    if (!link->was_full || buf_len(&link->out) > link->out.max / 2)
        return;
    link->was_full = false;
    if (link->state == LINK_OPEN && link->handler->on_room)
        link->handler->on_room(link->owner);
}

/* One write of all that waits. */
static enum err write_out(struct link *link)
{
    size_t written;
    enum err err = tcp_write(link->tcp, buf_span(&link->out), &written);

    if (err)
        return err;
    if (written > 0)
        link->writes++;
    buf_consume(&link->out, written);
    link->write_blocked = buf_len(&link->out) > 0;
    return ERR_OK;
}

static void flush(struct link *link)
{
    enum err err;

    if (!is_writable(link) || link->write_blocked || buf_len(&link->out) == 0)
        return;
    err = write_out(link);
    if (err)
        fail(link, err);
    else
        tell_room(link);
}

/* What came together in one turn may be more than the bound, from a peer that reads all of it: the
 * kernel is asked before a message is turned down. A failure here is told by flush(). */
static uint8_t *reserve(struct link *link, size_t len)
{
    uint8_t *room = buf_reserve(&link->out, len);

    if (room || !is_writable(link) || link->write_blocked)
        return room;
    return write_out(link) ? NULL : buf_reserve(&link->out, len);
}

uint8_t *link_reserve(struct link *link, size_t max_len)
{
    uint8_t *room;

    MUST(max_len <= LINK_MESSAGE_MAX);
    if (link->state == LINK_FAILED)
        return NULL;
    room = reserve(link, LENGTH_BYTES + max_len);
    if (!room) {
        link->was_full = true;
        return NULL;
    }
    return room + LENGTH_BYTES;
}

void link_commit(struct link *link, size_t len)
{
    MUST(len <= LINK_MESSAGE_MAX);
    put_u16(link->out.data + link->out.end, (uint16_t)len);
    buf_commit(&link->out, LENGTH_BYTES + len);
    if (is_writable(link) && !link->write_blocked)
        loop_at_turn_end(link->loop, &link->turn_end);
}

enum err link_send(struct link *link, struct span message)
{
    uint8_t *room;

    if (link->state == LINK_FAILED)
        return ERR_RESET;
    room = link_reserve(link, message.len);
    if (!room)
        return ERR_LIMIT;
    if (message.len)
        memcpy(room, message.data, message.len);
    link_commit(link, message.len);
    return ERR_OK;
}

void link_want_room(struct link *link)
{
    link->was_full = true;
}

/* ---------------------------------------------------------------- in */

/* Hands out the whole messages; stops when the owner pauses or closes. */
static void hand_out(struct link *link, struct span *bytes)
{
    struct span message;
    enum err err = ERR_OK;

    while (link->state == LINK_OPEN && !link->paused &&
           framing_next(&link->in, bytes, &message, &err))
        link->handler->on_message(link->owner, message);
    if (err)
        fail(link, err);
}

static void bytes_in(struct link *link, struct span bytes)
{
    hand_out(link, &bytes);
    if (link->state == LINK_OPEN && bytes.len > 0) {
        enum err err = buf_append(&link->unread, bytes.data, bytes.len);
        if (err)
            fail(link, err);
    }
}

/* After link_resume(): first what was read already, then the socket again. */
static void read_on(struct link *link)
{
    while (link->state == LINK_OPEN && !link->paused && buf_len(&link->unread) > 0) {
        struct span bytes = buf_span(&link->unread);
        hand_out(link, &bytes);
        buf_consume(&link->unread, buf_len(&link->unread) - bytes.len);
    }
    if (link->state == LINK_OPEN && !link->paused)
        tcp_resume(link->tcp);
}

void link_pause(struct link *link)
{
    if (link->paused)
        return;
    link->paused = true;
    if (link->tcp)
        tcp_pause(link->tcp);
}

void link_resume(struct link *link)
{
    if (!link->paused)
        return;
    link->paused = false;
    if (buf_len(&link->unread) > 0)
        loop_at_turn_end(link->loop, &link->turn_end);
    else if (link->tcp)
        tcp_resume(link->tcp);
}

bool link_has_unread(const struct link *link)
{
    return link->tcp && tcp_has_unread(link->tcp);
}

static void on_turn_end(struct turn_end *end)
{
    struct link *link = CONTAINER_OF(end, struct link, turn_end);

    enter(link);
    if (buf_len(&link->unread) > 0)
        read_on(link);
    flush(link);
    leave(link);
}

/* ---------------------------------------------------------------- the stream's events */

static void on_connected(void *owner)
{
    struct link *link = owner;

    enter(link);
    link->state = LINK_OPEN;
    if (buf_len(&link->out) > 0)
        loop_at_turn_end(link->loop, &link->turn_end);
    if (link->handler->on_open)
        link->handler->on_open(link->owner);
    leave(link);
}

static void on_bytes(void *owner, struct span bytes)
{
    struct link *link = owner;

    enter(link);
    link->reads++;
    link->last_byte_at = loop_now(link->loop);
    bytes_in(link, bytes);
    leave(link);
}

static void on_writable(void *owner)
{
    struct link *link = owner;

    enter(link);
    link->write_blocked = false;
    flush(link);
    leave(link);
}

static void on_peer_closed(void *owner)
{
    struct link *link = owner;

    enter(link);
    link->state = LINK_PEER_CLOSED;
    link->handler->on_peer_closed(link->owner);
    leave(link);
}

static void on_failed(void *owner, enum err why)
{
    struct link *link = owner;

    enter(link);
    fail(link, why);
    leave(link);
}

static const struct tcp_handler stream_handler = {
    .on_connected = on_connected,
    .on_bytes = on_bytes,
    .on_writable = on_writable,
    .on_peer_closed = on_peer_closed,
    .on_failed = on_failed,
};

/* ---------------------------------------------------------------- life */

static struct link *link_new(struct loop *loop, const struct link_options *options,
                             const struct link_handler *handler, void *owner)
{
    struct link *link = calloc(1, sizeof(*link));

    if (!link)
        return NULL;
    link->loop = loop;
    link->handler = handler;
    link->owner = owner;
    framing_init(&link->in);
    buf_init(&link->unread, NET_READ_MAX);
    buf_init(&link->out, options->max_unsent_bytes);
    turn_end_init(&link->turn_end, on_turn_end);
    return link;
}

enum err link_dial(struct link **out, struct loop *loop, const struct addr *peer,
                   const struct link_options *options, const struct link_handler *handler,
                   void *owner)
{
    struct link *link = link_new(loop, options, handler, owner);
    enum err err;

    if (!link)
        return ERR_NO_MEMORY;
    err = tcp_dial(&link->tcp, loop, peer, &options->tcp, &stream_handler, link);
    if (err) {
        link_free(link);
        return err;
    }
    link->state = LINK_DIALING;
    *out = link;
    return ERR_OK;
}

enum err link_accept(struct link **out, struct loop *loop, struct tcp **tcp,
                     const struct link_options *options, const struct link_handler *handler,
                     void *owner)
{
    struct link *link = link_new(loop, options, handler, owner);

    if (!link) {
        tcp_close(tcp);
        return ERR_NO_MEMORY;
    }
    link->tcp = *tcp;
    *tcp = NULL;
    link->state = LINK_OPEN;
    tcp_start(link->tcp, &stream_handler, link);
    *out = link;
    return ERR_OK;
}

void link_close(struct link **link)
{
    struct link *closing = *link;

    *link = NULL;
    enter(closing);
    /* A failure of the last try interests nobody any more. */
    if (is_writable(closing) && !closing->write_blocked && buf_len(&closing->out) > 0 &&
        write_out(closing) != ERR_OK)
        buf_clear(&closing->out);
    closing->state = LINK_CLOSED;
    turn_end_cancel(&closing->turn_end);
    tcp_close(&closing->tcp);
    leave(closing);
}

/* ---------------------------------------------------------------- questions */

size_t link_unsent(const struct link *link)
{
    return buf_len(&link->out);
}

size_t link_partial(const struct link *link)
{
    return framing_partial(&link->in);
}

uint64_t link_reads(const struct link *link)
{
    return link->reads;
}

uint64_t link_writes(const struct link *link)
{
    return link->writes;
}

uint64_t link_last_byte_at(const struct link *link)
{
    return link->last_byte_at;
}

const struct addr *link_peer(const struct link *link)
{
    return tcp_peer(link->tcp);
}

const struct addr *link_local(struct link *link)
{
    return tcp_local(link->tcp);
}
