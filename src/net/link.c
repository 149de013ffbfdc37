/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Links (link.h): messages over tcp.h, or over tls.h over tcp.h, with framing.h. Deadlines and the
 * meaning of messages are left to the owner.
 *
 * TLS stands between the messages and tcp in two places: seal() on the way out, on_wire() on the
 * way in.
 *
 * Invariant: out holds whole framed messages, but for the one whose begin the kernel has taken; it
 * is flushed at the end of each turn that added to it, or, when the kernel was full, as soon as it
 * has room. With TLS that is true of the sealed bytes in tls_wire(). Whatever calls the owner back
 * holds the link with enter() and lets go with leave(), so that link_close() inside a callback
 * frees it when the stack has unwound.
 */

#include "net/link.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/check.h"
#include "loop/loop.h"
#include "net/framing.h"
#include "net/tls.h"

enum {
    LENGTH_BYTES = 2,
    /* One read in plain text: what TLS kept of a record before it comes on top. */
    UNREAD_MAX = NET_READ_MAX + 32 * 1024,
};

enum link_state {
    LINK_DIALING,
    LINK_SECURING, /* the handshake of TLS is under way */
    LINK_OPEN,
    LINK_PEER_CLOSED, /* half closed: we may still write */
    LINK_FAILED,      /* waits for link_close() */
    LINK_CLOSED,      /* closed inside a callback: freed when it returns */
};

struct link {
    struct loop *loop;
    struct tcp *tcp;
    struct tls *tls; /* NULL: plain */
    const struct link_handler *handler;
    void *owner;
    enum link_state state;
    unsigned held;      /* callbacks on the stack */
    bool write_blocked; /* the kernel is full: on_writable() goes on */
    bool was_full;      /* a message did not fit: on_room is owed */
    bool paused;
    bool peer_done; /* close_notify came while messages before it wait in unread */
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
    if (link->tls)
        tls_free(&link->tls);
    free(link);
}

static void leave(struct link *link)
{
    if (--link->held == 0 && link->state == LINK_CLOSED)
        link_free(link);
}

/* Messages may leave. */
static bool is_writable(const struct link *link)
{
    return link->state == LINK_OPEN || link->state == LINK_PEER_CLOSED;
}

/* What goes to the kernel. */
static struct buf *wire_of(struct link *link)
{
    return link->tls ? tls_wire(link->tls) : &link->out;
}

/* The owner hears of a failure once, and not after it heard of a FIN. */
static void fail(struct link *link, enum err why)
{
    bool tell =
        link->state == LINK_DIALING || link->state == LINK_SECURING || link->state == LINK_OPEN;

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
    if (!link->was_full || link_unsent(link) > link->out.max / 2)
        return;
    link->was_full = false;
    if (link->state == LINK_OPEN && link->handler->on_room)
        link->handler->on_room(link->owner);
}

/* All messages of the turn in as few records as can be. */
static enum err seal(struct link *link)
{
    if (!link->tls || !tls_is_secured(link->tls) || buf_len(&link->out) == 0)
        return ERR_OK;
    enum err err = tls_send(link->tls, buf_span(&link->out));
    buf_consume(&link->out, buf_len(&link->out));
    return err;
}

/* One write of all that waits. */
static enum err write_out(struct link *link)
{
    struct buf *wire = wire_of(link);
    size_t written;
    enum err err = seal(link);

    if (!err && buf_len(wire) > 0)
        err = tcp_write(link->tcp, buf_span(wire), &written);
    else
        written = 0;
    if (err)
        return err;
    if (written > 0)
        link->writes++;
    buf_consume(wire, written);
    link->write_blocked = buf_len(wire) > 0;
    return ERR_OK;
}

static void flush(struct link *link)
{
    enum err err;
    bool handshake = link->state == LINK_SECURING;

    if ((!is_writable(link) && !handshake) || link->write_blocked)
        return;
    if (buf_len(wire_of(link)) == 0 && (handshake || buf_len(&link->out) == 0))
        return;
    err = write_out(link);
    if (err)
        fail(link, err);
    else
        tell_room(link);
}

static uint8_t *reserve_in_out(struct link *link, size_t len)
{
    if (link->tls && link_unsent(link) + len > link->out.max)
        return NULL;
    return buf_reserve(&link->out, len);
}

/* What came together in one turn may be more than the bound, from a peer that reads all of it: the
 * kernel is asked before a message is turned down. A failure here is told by flush(). */
static uint8_t *reserve(struct link *link, size_t len)
{
    uint8_t *room = reserve_in_out(link, len);

    if (room || !is_writable(link) || link->write_blocked)
        return room;
    return write_out(link) ? NULL : reserve_in_out(link, len);
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

static void peer_closed(struct link *link)
{
    link->state = LINK_PEER_CLOSED;
    link->handler->on_peer_closed(link->owner);
}

/* After link_resume(): first what was read already, then the socket again. */
static void read_on(struct link *link)
{
    while (link->state == LINK_OPEN && !link->paused && buf_len(&link->unread) > 0) {
        struct span bytes = buf_span(&link->unread);
        hand_out(link, &bytes);
        buf_consume(&link->unread, buf_len(&link->unread) - bytes.len);
    }
    if (link->state != LINK_OPEN || link->paused)
        return;
    tcp_resume(link->tcp);
    if (link->peer_done)
        peer_closed(link);
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

/* ---------------------------------------------------------------- TLS */

static void open_link(struct link *link)
{
    link->state = LINK_OPEN;
    if (buf_len(&link->out) > 0)
        loop_at_turn_end(link->loop, &link->turn_end);
    if (link->handler->on_open)
        link->handler->on_open(link->owner);
}

/* As many whole messages as early data may hold. */
static size_t early_len(const struct link *link)
{
    struct span out = buf_span(&link->out);
    size_t max = tls_early_max(link->tls), len = 0;

    while (len + LENGTH_BYTES <= out.len) {
        size_t message = LENGTH_BYTES + get_u16(out.data + len);
        if (len + message > max)
            break;
        len += message;
    }
    return len;
}

static void begin_tls(struct link *link)
{
    link->state = LINK_SECURING;
    if (link->handler->on_connected)
        link->handler->on_connected(link->owner);
    if (link->state != LINK_SECURING) /* closed by its owner */
        return;
    size_t len = early_len(link);
    enum err err = tls_begin(link->tls, span_of(link->out.data + link->out.start, len));
    buf_consume(&link->out, len);
    if (err)
        fail(link, err);
    else
        loop_at_turn_end(link->loop, &link->turn_end);
}

static bool on_secured(void *owner)
{
    struct link *link = owner;

    open_link(link);
    return link->state == LINK_OPEN;
}

static bool on_plain(void *owner, struct span bytes)
{
    struct link *link = owner;

    bytes_in(link, bytes);
    return link->state == LINK_OPEN;
}

static const struct tls_reader tls_reader = {.on_secured = on_secured, .on_plain = on_plain};

/* close_notify. What came before it is handed out first. */
static void on_notified(struct link *link)
{
    if (link->state == LINK_SECURING)
        fail(link, ERR_TLS_CLOSED);
    else if (link->paused || buf_len(&link->unread) > 0)
        link->peer_done = true;
    else
        peer_closed(link);
}

/* An alert tells the peer why; that it arrives is not waited for. */
static void fail_tls(struct link *link, enum err why)
{
    struct buf *wire = tls_wire(link->tls);
    size_t written;

    if (!link->write_blocked && buf_len(wire) > 0 &&
        tcp_write(link->tcp, buf_span(wire), &written) == ERR_OK)
        buf_consume(wire, written);
    fail(link, why);
}

static void on_wire(struct link *link, struct span bytes)
{
    if (link->state != LINK_SECURING && link->state != LINK_OPEN)
        return;
    if (link->peer_done) /* nothing has a meaning after a close_notify */
        return;
    enum err err = tls_receive(link->tls, bytes, &tls_reader, link);
    if (link->state != LINK_SECURING && link->state != LINK_OPEN)
        return;
    if (err == ERR_PEER_CLOSED)
        on_notified(link);
    else if (err)
        fail_tls(link, err);
    else if (buf_len(tls_wire(link->tls)) > 0)
        loop_at_turn_end(link->loop, &link->turn_end);
}

/* ---------------------------------------------------------------- the stream's events */

static void on_connected(void *owner)
{
    struct link *link = owner;

    enter(link);
    if (link->tls)
        begin_tls(link);
    else
        open_link(link);
    leave(link);
}

static void on_bytes(void *owner, struct span bytes)
{
    struct link *link = owner;

    enter(link);
    link->reads++;
    link->last_byte_at = loop_now(link->loop);
    if (link->tls)
        on_wire(link, bytes);
    else
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
    if (link->state == LINK_SECURING)
        fail(link, ERR_TLS_CLOSED);
    else if (link->state == LINK_OPEN)
        peer_closed(link);
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
    struct tls *tls = options->tls;

    if (!link) {
        if (tls)
            tls_free(&tls);
        return NULL;
    }
    link->loop = loop;
    link->tls = tls;
    link->handler = handler;
    link->owner = owner;
    framing_init(&link->in);
    buf_init(&link->unread, UNREAD_MAX);
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
    link->state = link->tls ? LINK_SECURING : LINK_OPEN;
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
    if (is_writable(closing) && !closing->write_blocked) {
        enum err err = seal(closing);
        if (closing->tls)
            tls_end(closing->tls);
        if (!err)
            err = write_out(closing);
        if (err)
            buf_clear(&closing->out);
    }
    closing->state = LINK_CLOSED;
    turn_end_cancel(&closing->turn_end);
    tcp_close(&closing->tcp);
    leave(closing);
}

/* ---------------------------------------------------------------- questions */

size_t link_unsent(const struct link *link)
{
    return buf_len(&link->out) + (link->tls ? buf_len(tls_wire(link->tls)) : 0);
}

const struct tls *link_tls(const struct link *link)
{
    return link->tls;
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
