/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Links (link.h): messages over tcp.h, or over tls.h over tcp.h, with framing.h. Deadlines and the
 * meaning of messages are left to the owner.
 *
 * This file has the life of a link and the stream's events; the way out is link_out.c's, the way in
 * link_in.c's, and TLS stands between them and tcp: link_seal() and link_wire_in().
 *
 * Invariant: out holds whole framed messages, but for the one whose begin the kernel has taken; it
 * is flushed at the end of each turn that added to it, or, when the kernel was full, as soon as it
 * has room. With TLS that is true of the sealed bytes in tls_wire(). Whatever calls the owner back
 * holds the link with link_enter() and lets go with link_leave(), so that link_close() inside a
 * callback frees it when the stack has unwound.
 */

#include "net/link.h"

#include <stdlib.h>

#include "base/check.h"
#include "net/link_inside.h"

static void link_enter(struct link *link)
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

static size_t held_bytes(const struct link *link)
{
    size_t bytes = sizeof(*link) + link->in.partial.cap + link->unread.cap + link->out.cap;
    return link->tls ? bytes + tls_held_bytes(link->tls) : bytes;
}

static void tell_held(struct link *link)
{
    size_t bytes = held_bytes(link);
    if (bytes == link->held_bytes && link->write_blocked == link->was_blocked)
        return;
    link->held_bytes = bytes;
    link->was_blocked = link->write_blocked;
    link->handler->on_held(link->owner, bytes);
}

static void link_leave(struct link *link)
{
    if (--link->held > 0)
        return;
    if (link->state == LINK_CLOSED)
        link_free(link);
    else if (link->handler->on_held)
        tell_held(link);
}

void link_opened(struct link *link)
{
    link->state = LINK_OPEN;
    if (buf_len(&link->out) > 0)
        loop_at_turn_end(link->loop, &link->turn_end);
    if (link->handler->on_open)
        link->handler->on_open(link->owner);
}

void link_peer_closed(struct link *link)
{
    link->state = LINK_PEER_CLOSED;
    link->handler->on_peer_closed(link->owner);
}

void link_fail(struct link *link, enum err why)
{
    bool tell =
        link->state == LINK_DIALING || link->state == LINK_SECURING || link->state == LINK_OPEN;

    if (link->state == LINK_CLOSED)
        return;
    link->state = LINK_FAILED;
    buf_clear(&link->out);
    if (link->tls)
        buf_clear(tls_wire(link->tls));
    if (tell)
        link->handler->on_failed(link->owner, why);
}

static void acknowledge(struct link *link)
{
    if (link->awaits_more && link->state == LINK_OPEN && link->writes == link->writes_at_read)
        tcp_acknowledge(link->tcp);
    link->awaits_more = false;
}

static void link_on_turn_end(struct turn_end *end)
{
    struct link *link = CONTAINER_OF(end, struct link, turn_end);

    link_enter(link);
    if (link_has_waiting(link))
        link_read_on(link);
    link_flush(link);
    acknowledge(link);
    link_leave(link);
}

/* ---------------------------------------------------------------- the stream's events */

static void link_on_connected(void *owner)
{
    struct link *link = owner;

    link_enter(link);
    if (link->tls)
        link_begin_tls(link);
    else
        link_opened(link);
    link_leave(link);
}

static bool link_may_read(void *owner)
{
    struct link *link = owner;
    bool may = true;

    if (link->state != LINK_SECURING || !link->handler->may_secure)
        return true;
    link_enter(link);
    may = link->handler->may_secure(link->owner);
    link_leave(link);
    return may;
}

static void link_on_bytes(void *owner, struct span bytes)
{
    struct link *link = owner;

    link_enter(link);
    link->reads++;
    link->writes_at_read = link->writes;
    link->last_byte_at = loop_now(link->loop);
    if (link->tls)
        link_wire_in(link, bytes);
    else
        link_bytes_in(link, bytes);
    link_leave(link);
}

static void link_on_writable(void *owner)
{
    struct link *link = owner;

    link_enter(link);
    link->write_blocked = false;
    link_flush(link);
    link_leave(link);
}

static void link_on_peer_closed(void *owner)
{
    struct link *link = owner;

    link_enter(link);
    if (link->state == LINK_SECURING)
        link_fail(link, ERR_TLS_CLOSED);
    else if (link->state == LINK_OPEN)
        link_peer_closed(link);
    link_leave(link);
}

static void link_on_failed(void *owner, enum err why)
{
    struct link *link = owner;

    link_enter(link);
    link_fail(link, why);
    link_leave(link);
}

static const struct tcp_handler stream_handler = {
    .on_connected = link_on_connected,
    .may_read = link_may_read,
    .on_bytes = link_on_bytes,
    .on_writable = link_on_writable,
    .on_peer_closed = link_on_peer_closed,
    .on_failed = link_on_failed,
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
    framing_init(&link->in,
                 options->max_message_bytes ? options->max_message_bytes : LINK_MESSAGE_MAX);
    buf_init(&link->unread, LINK_UNREAD_MAX);
    buf_init(&link->out, options->max_unsent_bytes);
    link->room_at_bytes =
        options->room_at_bytes ? options->room_at_bytes : options->max_unsent_bytes / 2;
    turn_end_init(&link->turn_end, link_on_turn_end);
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
    link_enter(link);
    link_leave(link);
    return ERR_OK;
}

/* An event of the stream reports a failure of the last write. */
void link_finish(struct link *link)
{
    if (!link_is_writable(link))
        return;
    MUST(link_unsent(link) == 0);
    if (link->tls) {
        tls_end(link->tls);
        if (link_write_out(link))
            buf_clear(tls_wire(link->tls));
    }
    link->is_finished = true;
    tcp_finish(link->tcp);
}

void link_reset(struct link **link)
{
    struct link *closing = *link;

    *link = NULL;
    link_enter(closing);
    closing->state = LINK_CLOSED;
    turn_end_cancel(&closing->turn_end);
    tcp_reset(&closing->tcp);
    link_leave(closing);
}

void link_close(struct link **link)
{
    struct link *closing = *link;

    *link = NULL;
    link_enter(closing);
    /* A failure of the last try interests nobody any more. */
    if (link_is_writable(closing) && !closing->write_blocked) {
        enum err err = link_seal(closing);
        if (closing->tls)
            tls_end(closing->tls);
        if (!err)
            err = link_write_out(closing);
        if (err)
            buf_clear(&closing->out);
    }
    closing->state = LINK_CLOSED;
    turn_end_cancel(&closing->turn_end);
    tcp_close(&closing->tcp);
    link_leave(closing);
}

/* ---------------------------------------------------------------- questions */

uint64_t link_reads(const struct link *link)
{
    return link->reads;
}

uint64_t link_writes(const struct link *link)
{
    return link->writes;
}

uint64_t link_last_write_at(const struct link *link)
{
    return link->last_write_at;
}

uint64_t link_last_byte_at(const struct link *link)
{
    return link->last_byte_at;
}

const struct addr *link_peer(const struct link *link)
{
    return tcp_peer(link->tcp);
}

bool link_has_unacknowledged(const struct link *link)
{
    return link_unsent(link) > 0 || tcp_unacknowledged(link->tcp) > 0;
}

bool link_is_delivered(const struct link *link)
{
    return link_unsent(link) == 0 && tcp_is_delivered(link->tcp);
}

bool link_is_blocked(const struct link *link)
{
    return link->write_blocked;
}

uint64_t link_written(const struct link *link)
{
    return link->written;
}

bool link_misses_ack(const struct link *link, uint64_t written)
{
    size_t missing = link_unsent(link) > 0 ? 0 : tcp_unacknowledged(link->tcp);
    return missing > 0 && link->written - missing <= written;
}

uint32_t link_holes(const struct link *link)
{
    return tcp_holes(link->tcp);
}

uint32_t link_retransmits(const struct link *link)
{
    return tcp_retransmits(link->tcp);
}

bool link_is_stranded(struct link *link)
{
    return tcp_is_stranded(link->tcp);
}

const struct addr *link_local(struct link *link)
{
    return tcp_local(link->tcp);
}
