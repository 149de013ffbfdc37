/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The two sides of an address that is served, as one. */
#include "serve/listener.h"

#include <stdlib.h>

#include "serve/listen_sockets.h"
#include "serve/serve_stream.h"
#include "serve/serve_udp.h"

static enum err open_sides(struct listener *listener, struct requests *requests,
                           struct session_common *common, struct listen_slot *slot,
                           struct tls_context *const *tls)
{
    bool is_tls = slot->udp.fd < 0;
    enum err err = is_tls ? ERR_OK : serve_udp_open(&listener->udp, requests, &slot->udp);
    if (err)
        return err;
    return serve_stream_open(&listener->stream, requests, common, &slot->stream,
                             is_tls ? tls : NULL);
}

enum err listener_open(struct listener **out, struct requests *requests,
                       struct session_common *common, struct listen_slot *slot,
                       struct tls_context *const *tls)
{
    struct listener *listener = calloc(1, sizeof(*listener));
    enum err err = listener ? open_sides(listener, requests, common, slot, tls) : ERR_NO_MEMORY;
    if (listener)
        list_init(&listener->node);
    *out = listener;
    if (!err)
        return ERR_OK;
    listener_close(out);
    listen_socket_close(&slot->udp);
    listen_socket_close(&slot->stream);
    return err;
}

void listener_close(struct listener **listener)
{
    struct listener *closing = *listener;
    *listener = NULL;
    if (!closing)
        return;
    list_remove(&closing->node);
    if (closing->udp)
        serve_udp_close(&closing->udp);
    if (closing->stream)
        serve_stream_close(&closing->stream);
    free(closing);
}

void listener_move(struct listener *listener, struct server_quota *quota)
{
    if (listener->udp)
        serve_udp_move(listener->udp, quota);
    serve_stream_move(listener->stream, quota);
}

void listener_renew(struct listener *listener)
{
    if (listener->udp)
        serve_udp_renew(listener->udp);
    serve_stream_renew(listener->stream);
}

bool listener_is_idle(const struct listener *listener)
{
    if (listener->udp && !serve_udp_is_idle(listener->udp))
        return false;
    return serve_stream_is_idle(listener->stream);
}

void listener_drain(struct listener *listener, void (*on_idle)(void *context), void *context)
{
    if (listener->udp)
        serve_udp_drain(listener->udp, on_idle, context);
    serve_stream_drain(listener->stream, on_idle, context);
}

void listener_stop(struct listener *listener, void (*on_idle)(void *context), void *context)
{
    if (listener->udp)
        serve_udp_end(listener->udp, on_idle, context);
    serve_stream_stop(listener->stream);
}

void listener_end(struct listener *listener, void (*on_idle)(void *context), void *context)
{
    if (listener->udp)
        serve_udp_end(listener->udp, on_idle, context);
    serve_stream_end(listener->stream, on_idle, context);
}
