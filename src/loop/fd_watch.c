/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * A uv_poll_t in separate memory, because libuv uses it until a turn after it was closed.
 *
 * Invariant: after fd_watch_stop() on_ready is NULL and is not called.
 */

#include "loop/fd_watch.h"

#include <stdlib.h>

#include "base/check.h"
#include "loop/loop.h"
#include "loop/loop_uv.h"

struct fd_watch {
    uv_poll_t poll;
    struct fd_events wanted;
    fd_watch_fn on_ready;
    void *owner;
};

static void fd_watch_on_closed(uv_handle_t *handle)
{
    free(CONTAINER_OF(handle, struct fd_watch, poll));
}

/* libuv reports an error of the descriptor instead of events: the owner finds it when it reads. */
static void on_poll(uv_poll_t *poll, int status, int bits)
{
    struct fd_watch *watch = CONTAINER_OF(poll, struct fd_watch, poll);
    struct fd_events events = {
        .readable = status < 0 || (bits & UV_READABLE),
        .writable = status < 0 || (bits & UV_WRITABLE),
    };
    if (watch->on_ready)
        watch->on_ready(watch->owner, events);
}

static int bits_of(struct fd_events wanted)
{
    return (wanted.readable ? UV_READABLE : 0) | (wanted.writable ? UV_WRITABLE : 0);
}

static void apply(struct fd_watch *watch)
{
    int bits = bits_of(watch->wanted);
    if (bits)
        MUST(uv_poll_start(&watch->poll, bits, on_poll) == 0);
    else
        MUST(uv_poll_stop(&watch->poll) == 0);
}

enum err fd_watch_start(struct fd_watch **out, struct loop *loop, int fd, struct fd_events wanted,
                        fd_watch_fn on_ready, void *owner)
{
    struct fd_watch *watch = calloc(1, sizeof(*watch));
    if (!watch)
        return ERR_NO_MEMORY;
    if (uv_poll_init(loop_uv(loop), &watch->poll, fd) != 0) {
        free(watch);
        return ERR_IO;
    }
    watch->wanted = wanted;
    watch->on_ready = on_ready;
    watch->owner = owner;
    apply(watch);
    *out = watch;
    return ERR_OK;
}

void fd_watch_set(struct fd_watch *watch, struct fd_events wanted)
{
    if (bits_of(watch->wanted) == bits_of(wanted))
        return;
    watch->wanted = wanted;
    apply(watch);
}

void fd_watch_stop(struct fd_watch **watch)
{
    if (!*watch)
        return;
    (*watch)->on_ready = NULL;
    uv_close((uv_handle_t *)&(*watch)->poll, fd_watch_on_closed);
    *watch = NULL;
}
