/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * The way out of a link (link.h): messages collect in out, with TLS they are sealed into
 * tls_wire(), and leave in one write.
 */

#include <string.h>

#include "base/check.h"
#include "net/link.h"
#include "net/link_inside.h"

/* What goes to the kernel. */
static struct buf *wire_of(struct link *link)
{
    return link->tls ? tls_wire(link->tls) : &link->out;
}

/* A TLS connection is large by itself: thousands of idle ones keep no queues beside it. */
static void let_go(struct buf *buf)
{
    if (buf_len(buf) == 0 && buf->cap > LINK_KEEP_BYTES)
        buf_deinit(buf);
}

static void link_out_tell_room(struct link *link)
{
    if (!link->was_full || link->state != LINK_OPEN || link_unsent(link) > link->room_at_bytes)
        return;
    link->was_full = false;
    if (link->handler->on_room)
        link->handler->on_room(link->owner);
}

/* After a failure the messages stay: the next link_flush() fails again and reports it. */
enum err link_seal(struct link *link)
{
    if (!link->tls || !link_is_writable(link) || buf_len(&link->out) == 0)
        return ERR_OK;
    enum err err = tls_send_messages(link->tls, buf_span(&link->out));
    if (err)
        return err;
    buf_consume(&link->out, buf_len(&link->out));
    let_go(&link->out);
    return ERR_OK;
}

/* One write of all that waits. */
enum err link_write_out(struct link *link)
{
    struct buf *wire = wire_of(link);
    size_t written;
    enum err err = link_seal(link);

    if (!err && buf_len(wire) > 0)
        err = tcp_write(link->tcp, buf_span(wire), &written);
    else
        written = 0;
    if (err)
        return err;
    if (written > 0) {
        link->writes++;
        link->last_write_at = loop_now(link->loop);
    }
    link->written += written;
    buf_consume(wire, written);
    link->write_blocked = buf_len(wire) > 0;
    if (link->tls)
        let_go(wire);
    return ERR_OK;
}

void link_push(struct link *link)
{
    if (link_is_writable(link) && !link->write_blocked && link_write_out(link) != ERR_OK)
        loop_at_turn_end(link->loop, &link->turn_end);
}

void link_flush(struct link *link)
{
    enum err err;
    bool handshake = link->state == LINK_SECURING;

    if ((!link_is_writable(link) && !handshake) || link->write_blocked)
        return;
    if (buf_len(wire_of(link)) == 0 && (handshake || buf_len(&link->out) == 0))
        return;
    err = link_write_out(link);
    if (err)
        link_fail(link, err);
    else
        link_out_tell_room(link);
}

static uint8_t *reserve_in_out(struct link *link, size_t len)
{
    if (link->tls && link_unsent(link) + len > link->out.max)
        return NULL;
    return buf_reserve(&link->out, len);
}

/* What came together in one turn may be more than the bound, from a peer that reads all of it: the
 * kernel is asked before a message is turned down. A failure here is told by link_flush(). */
static uint8_t *link_out_reserve(struct link *link, size_t len)
{
    uint8_t *room = reserve_in_out(link, len);

    if (room || !link_is_writable(link) || link->write_blocked)
        return room;
    return link_write_out(link) ? NULL : reserve_in_out(link, len);
}

uint8_t *link_reserve(struct link *link, size_t max_len)
{
    uint8_t *room;

    MUST(max_len <= LINK_MESSAGE_MAX);
    if (link->state == LINK_FAILED)
        return NULL;
    room = link_out_reserve(link, LINK_LENGTH_BYTES + max_len);
    if (!room) {
        link->was_full = true;
        return NULL;
    }
    return room + LINK_LENGTH_BYTES;
}

void link_commit(struct link *link, size_t len)
{
    MUST(len <= LINK_MESSAGE_MAX);
    put_u16(link->out.data + link->out.end, (uint16_t)len);
    buf_commit(&link->out, LINK_LENGTH_BYTES + len);
    if (link_is_writable(link)) /* also when blocked: the owner hears what the link holds */
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

size_t link_unsent(const struct link *link)
{
    return buf_len(&link->out) + (link->tls ? buf_len(tls_wire(link->tls)) : 0);
}
