/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Links (link.h): messages over a TCP stream, with framing.h or h2.h and, for TLS, a filter
 * (link_filter.h). The owner handles deadlines and the meaning of messages.
 *
 * Invariant: out holds whole framed messages, except the one whose beginning the kernel has taken.
 * With HTTP it holds frames instead, and the replies that wait for room there are in h2.
 * A flush at the end of each turn that added to it empties it into the kernel; when the kernel was
 * full, the flush comes as soon as it has room. With a filter the same holds for wire. Every
 * callback to the owner happens between link_enter() and link_leave(), so that link_close() inside
 * a callback frees the link after the stack has unwound.
 */

#include "net/link.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/check.h"
#include "base/framing.h"
#include "loop/loop.h"
#include "net/h2.h"
#include "net/link_filter.h"
#include "net/read_max.h"

enum {
    KEEP_BYTES = 1024, /* what an empty queue keeps if the link has a filter */
    /* Holds one read in plain text, and a record whose beginning TLS held. */
    UNREAD_MAX = NET_READ_MAX + 32 * 1024,
};

enum link_state {
    LINK_DIALING,
    LINK_PREFACE,  /* the bytes of a preface outside TLS, and all bytes of a plain link before it */
    LINK_SECURING, /* the filter's handshake is under way */
    LINK_OPEN,
    LINK_PEER_CLOSED, /* half closed: we may still write */
    LINK_FAILED,      /* waits for link_close() */
    LINK_CLOSED,      /* closed inside a callback: link_leave() frees it */
};

struct link {
    struct loop *loop;
    struct tcp *tcp;
    const struct link_filter *filter; /* NULL: plain */
    void *filter_state;
    const struct link_handler *handler;
    void *owner;
    enum link_state state;
    enum link_preface preface; /* the preface that has not come yet */
    unsigned depth;            /* callbacks on the stack */
    bool is_blocked;           /* the kernel is full: link_on_writable() continues */
    bool was_blocked;          /* is_blocked at the last on_held */
    bool is_room_owed;         /* a message did not fit: on_room must follow */
    bool is_paused;
    bool awaits_more;  /* link_await_more() */
    bool is_finished;  /* we sent a FIN */
    bool is_peer_done; /* the peer's end came, but on_peer_closed must wait for earlier messages */
    struct framing in;
    struct h2 *h2;     /* messages are HTTP requests; NULL: they are framed */
    uint32_t exchange; /* of the message that on_message delivers */
    /* Bytes that were read but not delivered when the owner paused, or an incomplete preface. After
     * a preface outside TLS they are the beginning of the handshake. */
    struct buf unread;
    struct buf out;
    struct buf *wire; /* the bytes for the kernel: the filter's, or out */
    size_t room_at_bytes;
    struct turn_end turn_end;
    uint64_t reads, writes, last_write_at, last_byte_at;
    size_t held_bytes;       /* the bytes held at the last on_held */
    uint64_t writes_at_read; /* writes when the last read came */
    uint64_t written;        /* bytes that the kernel has taken */
};

static bool is_writable(const struct link *link)
{
    return !link->is_finished && (link->state == LINK_OPEN || link->state == LINK_PEER_CLOSED);
}

/* ---------------------------------------------------------------- states and the owner */

static void link_enter(struct link *link)
{
    link->depth++;
}

static void link_free(struct link *link)
{
    turn_end_cancel(&link->turn_end);
    framing_deinit(&link->in);
    buf_deinit(&link->unread);
    buf_deinit(&link->out);
    h2_free(link->h2);
    if (link->filter)
        link->filter->free(link->filter_state);
    free(link);
}

static void report_held(struct link *link)
{
    size_t bytes = sizeof(*link) + link->in.partial.cap + link->unread.cap + link->out.cap;
    if (link->filter)
        bytes += link->filter->held_bytes(link->filter_state);
    if (link->h2)
        bytes += h2_held_bytes(link->h2);
    if (bytes == link->held_bytes && link->is_blocked == link->was_blocked)
        return;
    link->held_bytes = bytes;
    link->was_blocked = link->is_blocked;
    link->handler->on_held(link->owner, bytes);
}

static void link_leave(struct link *link)
{
    if (--link->depth > 0)
        return;
    if (link->state == LINK_CLOSED)
        link_free(link);
    else if (link->handler->on_held)
        report_held(link);
}

/* The owner may have closed the link when one of the next three functions returns. */
static void link_opened(struct link *link)
{
    link->state = LINK_OPEN;
    if (buf_len(&link->out) > 0 || link->h2) /* HTTP begins with our settings */
        loop_at_turn_end(link->loop, &link->turn_end);
    if (link->handler->on_open)
        link->handler->on_open(link->owner);
}

static void link_peer_closed(struct link *link)
{
    link->state = LINK_PEER_CLOSED;
    link->handler->on_peer_closed(link->owner);
}

/* Reports a failure to the owner once, and never after on_peer_closed. */
static void link_fail(struct link *link, enum err why)
{
    bool is_reported = link->state == LINK_DIALING || link->state == LINK_PREFACE ||
                       link->state == LINK_SECURING || link->state == LINK_OPEN;

    if (link->state == LINK_CLOSED)
        return;
    link->state = LINK_FAILED;
    buf_clear(&link->out);
    buf_clear(link->wire);
    if (is_reported)
        link->handler->on_failed(link->owner, why);
}

/* ---------------------------------------------------------------- messages in */

/* Tries once to send the reason, which waits in h2. */
static void fail_http(struct link *link, enum err why);

/* Reads all bytes, also while the owner has paused, and delivers messages until then. */
static void deliver_http(struct link *link, struct span *bytes)
{
    struct span message;

    enum err err = bytes->len > 0 && !link->is_finished ? h2_receive(link->h2, *bytes) : ERR_OK;
    bytes->len = 0;
    if (err) {
        fail_http(link, err);
        return;
    }
    while (link->state == LINK_OPEN && !link->is_paused &&
           h2_next(link->h2, &link->exchange, &message))
        link->handler->on_message(link->owner, message);
    if (link->state == LINK_OPEN)
        loop_at_turn_end(link->loop, &link->turn_end);
}

/* Delivers complete messages until the owner pauses or closes. */
static void deliver(struct link *link, struct span *bytes)
{
    struct span message;
    enum err err = ERR_OK;

    if (link->h2) {
        deliver_http(link, bytes);
        return;
    }
    while (link->state == LINK_OPEN && !link->is_paused &&
           framing_next(&link->in, bytes, &message, &err))
        link->handler->on_message(link->owner, message);
    if (err)
        link_fail(link, err);
}

static void link_keep_unread(struct link *link, struct span bytes)
{
    enum err err = buf_append(&link->unread, bytes.data, bytes.len);
    if (err)
        link_fail(link, err);
}

static void preface_in(struct link *link, struct span bytes);

/* Takes bytes of messages in plain text. */
static void link_bytes_in(struct link *link, struct span bytes)
{
    if (link->preface != LINK_PREFACE_NONE) {
        preface_in(link, bytes);
        return;
    }
    deliver(link, &bytes);
    if (link->state == LINK_OPEN && bytes.len > 0)
        link_keep_unread(link, bytes);
}

/* Bytes that were read and that wait for the turn of the link. */
static bool has_waiting_bytes(const struct link *link)
{
    bool has_bytes = buf_len(&link->unread) > 0 || (link->h2 && h2_has_message(link->h2));
    return link->preface == LINK_PREFACE_NONE && has_bytes;
}

/* The owner paused before it got everything that was read. */
static bool has_waiting(const struct link *link)
{
    return has_waiting_bytes(link) || link->is_peer_done;
}

static bool link_may_secure(struct link *link);
static void filter_in(struct link *link, struct span bytes);

/* A read brought the beginning of the handshake after the preface. */
static void secure_unread(struct link *link)
{
    if (buf_len(&link->unread) == 0 || !link_may_secure(link))
        return;
    struct buf bytes = link->unread;
    buf_init(&link->unread, UNREAD_MAX);
    filter_in(link, buf_span(&bytes));
    buf_deinit(&bytes);
}

/* After link_resume(): delivers the bytes that were read before, then reads from the socket again.
 */
static void deliver_waiting(struct link *link)
{
    if (link->state == LINK_SECURING && !link->is_paused)
        secure_unread(link);
    while (link->state == LINK_OPEN && !link->is_paused && has_waiting_bytes(link)) {
        struct span bytes = buf_span(&link->unread);
        deliver(link, &bytes);
        buf_consume(&link->unread, buf_len(&link->unread) - bytes.len);
    }
    if ((link->state != LINK_OPEN && link->state != LINK_SECURING) || link->is_paused)
        return;
    tcp_resume(link->tcp);
    if (link->is_peer_done)
        link_peer_closed(link);
}

/* Takes bytes until the owner has read the preface. */
static void preface_in(struct link *link, struct span bytes)
{
    enum link_state before = link->state;
    link_keep_unread(link, bytes);
    if (link->state != before)
        return;
    size_t len = link->handler->on_preface(link->owner, buf_span(&link->unread));
    if (len == 0 || link->state != before)
        return;
    MUST(len <= buf_len(&link->unread));
    buf_consume(&link->unread, len);
    link->preface = LINK_PREFACE_NONE;
    if (before == LINK_PREFACE)
        link->state = link->filter ? LINK_SECURING : LINK_OPEN;
    deliver_waiting(link);
}

void link_await_more(struct link *link, bool is_awaited)
{
    link->awaits_more = is_awaited;
    if (is_awaited)
        loop_at_turn_end(link->loop, &link->turn_end);
}

void link_pause(struct link *link)
{
    if (link->is_paused)
        return;
    link->is_paused = true;
    bool reads_on = link->h2 && link->state == LINK_OPEN;
    if (link->tcp && !reads_on)
        tcp_pause(link->tcp);
}

void link_resume(struct link *link)
{
    if (!link->is_paused)
        return;
    link->is_paused = false;
    if (has_waiting(link) && link->tcp) /* in the next turn, because other links wait for theirs */
        tcp_await_turn(link->tcp);
    else if (link->tcp)
        tcp_resume(link->tcp);
}

bool link_has_unread(const struct link *link)
{
    bool awaits_turn = !link->is_paused && has_waiting_bytes(link);
    return awaits_turn || (link->tcp && tcp_has_unread(link->tcp));
}

bool link_peer_has_left(const struct link *link)
{
    return tcp_peer_has_left(link->tcp);
}

size_t link_partial(const struct link *link)
{
    return framing_partial(&link->in);
}

/* ---------------------------------------------------------------- the filter */

/* Bytes of the handshake have arrived. */
static bool link_may_secure(struct link *link)
{
    bool may = true;

    if (!link->handler->may_secure)
        return true;
    link_enter(link);
    may = link->handler->may_secure(link->owner);
    link_leave(link);
    return may;
}

/* TCP is connected. */
static void begin_filter(struct link *link)
{
    size_t taken;

    link->state = LINK_SECURING;
    if (link->handler->on_connected)
        link->handler->on_connected(link->owner);
    if (link->state != LINK_SECURING) /* the owner closed it */
        return;
    enum err err = link->filter->begin(link->filter_state, buf_span(&link->out), &taken);
    buf_consume(&link->out, taken);
    if (err)
        link_fail(link, err);
    else
        loop_at_turn_end(link->loop, &link->turn_end);
}

static bool link_on_ready(void *owner)
{
    struct link *link = owner;

    link_opened(link);
    return link->state == LINK_OPEN;
}

static bool link_on_plain(void *owner, struct span bytes)
{
    struct link *link = owner;

    link_bytes_in(link, bytes);
    return link->state == LINK_OPEN;
}

static const struct link_filter_sink link_sink = {.on_ready = link_on_ready,
                                                  .on_plain = link_on_plain};

/* The filter met the peer's orderly end. Messages before it come first. */
static void on_filter_end(struct link *link)
{
    if (link->state == LINK_SECURING)
        link_fail(link, ERR_TLS_CLOSED);
    else if (link->is_paused || has_waiting_bytes(link))
        link->is_peer_done = true;
    else
        link_peer_closed(link);
}

/* Tries once to send an alert that tells the peer why. */
static void fail_filter(struct link *link, enum err why)
{
    size_t written;

    if (!link->is_blocked && buf_len(link->wire) > 0 &&
        tcp_write(link->tcp, buf_span(link->wire), &written) == ERR_OK)
        buf_consume(link->wire, written);
    link_fail(link, why);
}

/* Takes bytes from the wire. */
static void filter_in(struct link *link, struct span bytes)
{
    if (link->state != LINK_SECURING && link->state != LINK_OPEN)
        return;
    if (link->is_peer_done) /* bytes after the peer's end mean nothing */
        return;
    enum err err = link->filter->receive(link->filter_state, bytes, &link_sink, link);
    if (link->state != LINK_SECURING && link->state != LINK_OPEN)
        return;
    if (err == ERR_PEER_CLOSED)
        on_filter_end(link);
    else if (err)
        fail_filter(link, err);
    else if (buf_len(link->wire) > 0)
        loop_at_turn_end(link->loop, &link->turn_end);
}

const struct tls *link_tls(const struct link *link)
{
    return link->filter_state;
}

/* ---------------------------------------------------------------- messages out */

size_t link_unsent(const struct link *link)
{
    size_t bytes = buf_len(&link->out) + (link->filter ? buf_len(link->wire) : 0);
    if (!link->h2)
        return bytes;
    /* Frames without a reply count as one byte: a link that ends must wait for them. */
    return bytes + h2_unsent(link->h2) + h2_has_output(link->h2);
}

/* A TLS connection is large enough: thousands of idle ones must not keep queues as well. */
static void shrink(struct buf *buf)
{
    if (buf_len(buf) == 0 && buf->cap > KEEP_BYTES)
        buf_deinit(buf);
}

/* Passes the messages through the filter. After a failure they stay: the next link_flush() fails
 * again and reports it. */
static enum err link_seal(struct link *link)
{
    if (!link->filter || !is_writable(link) || buf_len(&link->out) == 0)
        return ERR_OK;
    enum err err = link->h2 ? link->filter->send_bytes(link->filter_state, buf_span(&link->out))
                            : link->filter->send(link->filter_state, buf_span(&link->out));
    if (err)
        return err;
    buf_consume(&link->out, buf_len(&link->out));
    shrink(&link->out);
    return ERR_OK;
}

/* Seals and writes everything that waits, in one call. */
static enum err link_write_queue(struct link *link)
{
    size_t written = 0;
    enum err err = link_seal(link);

    if (!err && buf_len(link->wire) > 0)
        err = tcp_write(link->tcp, buf_span(link->wire), &written);
    if (err)
        return err;
    if (written > 0) {
        link->writes++;
        link->last_write_at = loop_now(link->loop);
    }
    link->written += written;
    buf_consume(link->wire, written);
    link->is_blocked = buf_len(link->wire) > 0;
    if (link->filter)
        shrink(link->wire);
    return ERR_OK;
}

/* The same with HTTP, until the kernel or the peer's windows take no more. */
static enum err link_write_out(struct link *link)
{
    enum err err = ERR_OK, fault = ERR_OK;

    if (!link->h2)
        return link_write_queue(link);
    do {
        if (is_writable(link))
            fault = h2_send(link->h2, &link->out);
        err = link_write_queue(link);
    } while (!err && !fault && !link->is_blocked && is_writable(link) && h2_has_output(link->h2));
    return err ? err : fault;
}

static void fail_http(struct link *link, enum err why)
{
    if (is_writable(link) && !link->is_blocked)
        (void)link_write_out(link);
    link_fail(link, why);
}

void link_push(struct link *link)
{
    if (is_writable(link) && !link->is_blocked && link_write_out(link) != ERR_OK)
        loop_at_turn_end(link->loop, &link->turn_end);
}

/* At the end of a turn, or when the kernel has room again: writes, and reports a failure. */
static void link_flush(struct link *link)
{
    bool is_handshake = link->state == LINK_SECURING;

    if ((!is_writable(link) && !is_handshake) || link->is_blocked)
        return;
    bool has_frames = link->h2 && !is_handshake && h2_has_output(link->h2);
    bool has_room = link->h2 && link->is_room_owed; /* the peer cancelled what waited */
    if (buf_len(link->wire) == 0 && !has_frames && !has_room &&
        (is_handshake || buf_len(&link->out) == 0))
        return;
    enum err err = link_write_out(link);
    if (err) {
        link_fail(link, err);
        return;
    }
    if (!link->is_room_owed || link->state != LINK_OPEN || link_unsent(link) > link->room_at_bytes)
        return;
    link->is_room_owed = false;
    if (link->handler->on_room)
        link->handler->on_room(link->owner);
}

static uint8_t *reserve_in_out(struct link *link, size_t len)
{
    if ((link->filter || link->h2) && link_unsent(link) + len > link->out.max)
        return NULL;
    return link->h2 ? h2_reserve(link->h2, len) : buf_reserve(&link->out, len);
}

uint8_t *link_reserve(struct link *link, size_t max_len)
{
    size_t len = LINK_LENGTH_BYTES + max_len;

    MUST(max_len <= LINK_MESSAGE_MAX);
    if (link->state == LINK_FAILED)
        return NULL;
    uint8_t *room = reserve_in_out(link, len);
    /* One turn may fill the queue although the peer reads everything, so the kernel gets its chance
     * before a message is refused. link_flush() reports a failure. */
    if (!room && is_writable(link) && !link->is_blocked && link_write_out(link) == ERR_OK)
        room = reserve_in_out(link, len);
    if (room)
        return link->h2 ? room : room + LINK_LENGTH_BYTES;
    link->is_room_owed = true;
    return NULL;
}

void link_commit(struct link *link, size_t len)
{
    MUST(len <= LINK_MESSAGE_MAX);
    put_u16(link->out.data + link->out.end, (uint16_t)len);
    buf_commit(&link->out, LINK_LENGTH_BYTES + len);
    if (is_writable(link)) /* also when blocked: the owner learns what the link holds */
        loop_at_turn_end(link->loop, &link->turn_end);
}

uint32_t link_exchange(const struct link *link)
{
    return link->exchange;
}

/* An exchange that finds no memory ends alone. */
void link_answer(struct link *link, uint32_t exchange, size_t len, uint32_t max_age_s)
{
    MUST(link->h2);
    (void)h2_reply(link->h2, exchange, len, max_age_s);
    if (is_writable(link))
        loop_at_turn_end(link->loop, &link->turn_end);
}

void link_decline(struct link *link, uint32_t exchange, bool is_malformed)
{
    MUST(link->h2);
    h2_decline(link->h2, exchange, is_malformed);
    if (is_writable(link))
        loop_at_turn_end(link->loop, &link->turn_end);
}

void link_announce_end(struct link *link)
{
    if (!link->h2 || !is_writable(link))
        return;
    h2_announce_end(link->h2);
    loop_at_turn_end(link->loop, &link->turn_end);
}

void link_refuse_more(struct link *link)
{
    if (!link->h2 || !is_writable(link))
        return;
    h2_end(link->h2);
    loop_at_turn_end(link->loop, &link->turn_end);
}

uint64_t link_refused(const struct link *link)
{
    return link->h2 ? h2_refused(link->h2) : 0;
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
    link->is_room_owed = true;
}

/* ---------------------------------------------------------------- events of the stream */

static void link_on_turn_end(struct turn_end *end)
{
    struct link *link = CONTAINER_OF(end, struct link, turn_end);

    link_enter(link);
    link_flush(link);
    if (link->awaits_more && link->state == LINK_OPEN && link->writes == link->writes_at_read)
        tcp_acknowledge(link->tcp);
    link->awaits_more = false;
    link_leave(link);
}

static void link_on_connected(void *owner)
{
    struct link *link = owner;

    link_enter(link);
    if (link->filter)
        begin_filter(link);
    else
        link_opened(link);
    link_leave(link);
}

static bool link_may_read(void *owner)
{
    struct link *link = owner;

    return link->state != LINK_SECURING || link_may_secure(link);
}

static void link_on_bytes(void *owner, struct span bytes)
{
    struct link *link = owner;

    link_enter(link);
    link->reads++;
    link->writes_at_read = link->writes;
    link->last_byte_at = loop_now(link->loop);
    if (link->state == LINK_PREFACE)
        preface_in(link, bytes);
    else if (link->filter)
        filter_in(link, bytes);
    else
        link_bytes_in(link, bytes);
    link_leave(link);
}

static void link_on_turn(void *owner)
{
    struct link *link = owner;

    link_enter(link);
    deliver_waiting(link);
    link_leave(link);
}

static void link_on_writable(void *owner)
{
    struct link *link = owner;

    link_enter(link);
    link->is_blocked = false;
    link_flush(link);
    link_leave(link);
}

static void link_on_peer_closed(void *owner)
{
    struct link *link = owner;

    link_enter(link);
    if (link->state == LINK_PREFACE)
        link_fail(link, ERR_PEER_CLOSED);
    else if (link->state == LINK_SECURING)
        link_fail(link, ERR_TLS_CLOSED);
    else if (link->state == LINK_OPEN && link->h2 && (link->is_paused || has_waiting_bytes(link)))
        link->is_peer_done = true;
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
    .on_turn = link_on_turn,
    .on_writable = link_on_writable,
    .on_peer_closed = link_on_peer_closed,
    .on_failed = link_on_failed,
};

/* ---------------------------------------------------------------- life */

static struct link *link_new(struct loop *loop, const struct link_options *options,
                             const struct link_handler *handler, void *owner)
{
    const struct link_filter *filter = options->tls ? &link_tls_filter : NULL;
    size_t max_message_bytes =
        options->max_message_bytes ? options->max_message_bytes : LINK_MESSAGE_MAX;
    struct link *link = calloc(1, sizeof(*link));
    struct h2 *h2 = options->http_path ? h2_new(options->http_path, max_message_bytes) : NULL;

    if (!link || (options->http_path && !h2)) {
        h2_free(h2);
        free(link);
        if (filter)
            filter->free(options->tls);
        return NULL;
    }
    link->h2 = h2;
    link->loop = loop;
    link->filter = filter;
    link->filter_state = options->tls;
    link->wire = filter ? filter->wire(options->tls) : &link->out;
    link->handler = handler;
    link->owner = owner;
    framing_init(&link->in, max_message_bytes);
    buf_init(&link->unread, UNREAD_MAX);
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
    link->preface = options->preface;
    if (link->preface == LINK_PREFACE_OUTSIDE)
        link->state = LINK_PREFACE;
    else
        link->state = link->filter ? LINK_SECURING : LINK_OPEN;
    tcp_start(link->tcp, &stream_handler, link);
    *out = link;
    link_enter(link);
    link_leave(link);
    return ERR_OK;
}

/* An event of the stream reports a failure of the last write. */
void link_finish(struct link *link)
{
    if (!is_writable(link))
        return;
    MUST(link_unsent(link) == 0);
    if (link->filter) {
        link->filter->end(link->filter_state);
        if (link_write_out(link))
            buf_clear(link->wire);
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
    if (is_writable(closing) && !closing->is_blocked) {
        enum err err = closing->h2 ? h2_send(closing->h2, &closing->out) : ERR_OK;
        if (!err)
            err = link_seal(closing);
        if (closing->filter)
            closing->filter->end(closing->filter_state);
        if (!err)
            err = link_write_queue(closing);
        if (err) /* a failure no longer matters */
            buf_clear(&closing->out);
    }
    closing->state = LINK_CLOSED;
    turn_end_cancel(&closing->turn_end);
    tcp_close(&closing->tcp);
    link_leave(closing);
}

/* ---------------------------------------------------------------- facts */

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
    return link->is_blocked || (link->h2 && h2_is_stalled(link->h2));
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
