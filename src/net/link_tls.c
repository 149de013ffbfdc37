/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * TLS between tcp and the messages of a link (link.h): its handshake, what it opens, how it ends.
 * What it seals is link_out.c's.
 */

#include "net/link.h"
#include "net/link_inside.h"

/* As many whole messages as early data may hold. */
static size_t early_len(const struct link *link)
{
    struct span out = buf_span(&link->out);
    size_t max = tls_early_max(link->tls), len = 0;

    while (len + LINK_LENGTH_BYTES <= out.len) {
        size_t message = LINK_LENGTH_BYTES + get_u16(out.data + len);
        if (len + message > max)
            break;
        len += message;
    }
    return len;
}

void link_begin_tls(struct link *link)
{
    link->state = LINK_SECURING;
    if (link->handler->on_connected)
        link->handler->on_connected(link->owner);
    if (link->state != LINK_SECURING) /* closed by its owner */
        return;
    size_t len = early_len(link);
    enum err err = tls_begin(link->tls, span_of(buf_span(&link->out).data, len));
    buf_consume(&link->out, len);
    if (err)
        link_fail(link, err);
    else
        loop_at_turn_end(link->loop, &link->turn_end);
}

static bool on_secured(void *owner)
{
    struct link *link = owner;

    link_opened(link);
    return link->state == LINK_OPEN;
}

static bool on_plain(void *owner, struct span bytes)
{
    struct link *link = owner;

    link_bytes_in(link, bytes);
    return link->state == LINK_OPEN;
}

static const struct tls_reader tls_reader = {.on_secured = on_secured, .on_plain = on_plain};

/* close_notify. What came before it is handed out first. */
static void on_notified(struct link *link)
{
    if (link->state == LINK_SECURING)
        link_fail(link, ERR_TLS_CLOSED);
    else if (link->paused || buf_len(&link->unread) > 0)
        link->peer_done = true;
    else
        link_peer_closed(link);
}

/* An alert tells the peer why; that it arrives is not waited for. */
static void fail_tls(struct link *link, enum err why)
{
    struct buf *wire = tls_wire(link->tls);
    size_t written;

    if (!link->write_blocked && buf_len(wire) > 0 &&
        tcp_write(link->tcp, buf_span(wire), &written) == ERR_OK)
        buf_consume(wire, written);
    link_fail(link, why);
}

void link_wire_in(struct link *link, struct span bytes)
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

const struct tls *link_tls(const struct link *link)
{
    return link->tls;
}
