/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* The way in of a link (link.h): bytes become messages, and wait while the owner is not ready. */

#include "net/link.h"
#include "net/link_inside.h"

/* Hands out the whole messages; stops when the owner pauses or closes. */
static void link_in_hand_out(struct link *link, struct span *bytes)
{
    struct span message;
    enum err err = ERR_OK;

    while (link->state == LINK_OPEN && !link->paused &&
           framing_next(&link->in, bytes, &message, &err))
        link->handler->on_message(link->owner, message);
    if (err)
        link_fail(link, err);
}

void link_bytes_in(struct link *link, struct span bytes)
{
    link_in_hand_out(link, &bytes);
    if (link->state == LINK_OPEN && bytes.len > 0) {
        enum err err = buf_append(&link->unread, bytes.data, bytes.len);
        if (err)
            link_fail(link, err);
    }
}

/* After link_resume(): first what was read already, then the socket again. */
void link_read_on(struct link *link)
{
    while (link->state == LINK_OPEN && !link->paused && buf_len(&link->unread) > 0) {
        struct span bytes = buf_span(&link->unread);
        link_in_hand_out(link, &bytes);
        buf_consume(&link->unread, buf_len(&link->unread) - bytes.len);
    }
    if (link->state != LINK_OPEN || link->paused)
        return;
    tcp_resume(link->tcp);
    if (link->peer_done)
        link_peer_closed(link);
}

void link_await_more(struct link *link, bool is_awaited)
{
    link->awaits_more = is_awaited;
    if (is_awaited)
        loop_at_turn_end(link->loop, &link->turn_end);
}

bool link_has_waiting(const struct link *link)
{
    return buf_len(&link->unread) > 0 || link->peer_done;
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
    if (link_has_waiting(link))
        loop_at_turn_end(link->loop, &link->turn_end);
    else if (link->tcp)
        tcp_resume(link->tcp);
}

bool link_has_unread(const struct link *link)
{
    return link->tcp && tcp_has_unread(link->tcp);
}

bool link_peer_has_left(const struct link *link)
{
    return tcp_peer_has_left(link->tcp);
}

size_t link_partial(const struct link *link)
{
    return framing_partial(&link->in);
}
