/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The TLS filter of a link (link_filter.h): a record for each message, early data for the first
 * ones. tls/tls.h does the work. */
#include "net/link_filter.h"
#include "tls/tls.h"

/* Returns the length of the whole messages that fit into early data. */
static size_t early_len(const struct tls *tls, struct span messages)
{
    size_t max = tls_early_max(tls), len = 0;

    while (len + LINK_LENGTH_BYTES <= messages.len) {
        size_t message = LINK_LENGTH_BYTES + get_u16(messages.data + len);
        if (len + message > max)
            break;
        len += message;
    }
    return len;
}

static enum err link_tls_begin(void *state, struct span messages, size_t *taken)
{
    *taken = early_len(state, messages);
    return tls_begin(state, span_of(messages.data, *taken));
}

static enum err link_tls_send(void *state, struct span messages)
{
    return tls_send_messages(state, messages);
}

static enum err link_tls_send_bytes(void *state, struct span bytes)
{
    return tls_send(state, bytes);
}

struct delivery {
    const struct link_filter_sink *sink;
    void *owner;
};

static bool link_tls_on_secured(void *owner)
{
    const struct delivery *delivery = owner;
    return delivery->sink->on_ready(delivery->owner);
}

static bool link_tls_on_plain(void *owner, struct span bytes)
{
    const struct delivery *delivery = owner;
    return delivery->sink->on_plain(delivery->owner, bytes);
}

static enum err link_tls_receive(void *state, struct span bytes,
                                 const struct link_filter_sink *sink, void *owner)
{
    static const struct tls_reader reader = {.on_secured = link_tls_on_secured,
                                             .on_plain = link_tls_on_plain};
    struct delivery delivery = {.sink = sink, .owner = owner};

    return tls_receive(state, bytes, &reader, &delivery);
}

static void link_tls_end(void *state)
{
    tls_end(state);
}

static struct buf *link_tls_wire(void *state)
{
    return tls_wire(state);
}

static size_t link_tls_held_bytes(const void *state)
{
    return tls_held_bytes(state);
}

static void link_tls_free(void *state)
{
    struct tls *tls = state;
    tls_free(&tls);
}

const struct link_filter link_tls_filter = {
    .begin = link_tls_begin,
    .send = link_tls_send,
    .send_bytes = link_tls_send_bytes,
    .receive = link_tls_receive,
    .end = link_tls_end,
    .wire = link_tls_wire,
    .held_bytes = link_tls_held_bytes,
    .free = link_tls_free,
};
