/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Polls without waiting. A watch that another callback has stopped is not called. */

#include "support/fake_fd_watch.h"

#include <poll.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/list.h"
#include "loop/fd_watch.h"

enum { ROUNDS_MAX = 100000 };

struct fd_watch {
    struct list node;
    int fd;
    struct fd_events wanted;
    fd_watch_fn on_ready;
    void *owner;
    unsigned seen; /* the round that polled it last */
};

static struct list watches = {&watches, &watches};
static unsigned round_number;

enum err fd_watch_start(struct fd_watch **out, struct loop *loop, int fd, struct fd_events wanted,
                        fd_watch_fn on_ready, void *owner)
{
    struct fd_watch *watch = calloc(1, sizeof(*watch));

    (void)loop;
    MUST(watch);
    watch->fd = fd;
    watch->wanted = wanted;
    watch->on_ready = on_ready;
    watch->owner = owner;
    list_append(&watches, &watch->node);
    *out = watch;
    return ERR_OK;
}

void fd_watch_set(struct fd_watch *watch, struct fd_events wanted)
{
    watch->wanted = wanted;
}

void fd_watch_stop(struct fd_watch **watch)
{
    if (!*watch)
        return;
    list_remove(&(*watch)->node);
    free(*watch);
    *watch = NULL;
}

static bool look(struct fd_watch *watch)
{
    short events =
        (short)((watch->wanted.readable ? POLLIN : 0) | (watch->wanted.writable ? POLLOUT : 0));
    struct pollfd poll_fd = {.fd = watch->fd, .events = events};

    watch->seen = round_number;
    if (events == 0 || poll(&poll_fd, 1, 0) <= 0)
        return false;
    short ready = poll_fd.revents;
    bool failed = ready & (POLLERR | POLLHUP);
    watch->on_ready(watch->owner, (struct fd_events){.readable = failed || (ready & POLLIN),
                                                     .writable = failed || (ready & POLLOUT)});
    return true;
}

static struct fd_watch *next_unseen(void)
{
    LIST_EACH(node, &watches)
    {
        struct fd_watch *watch = LIST_ITEM(node, struct fd_watch, node);
        if (watch->seen != round_number)
            return watch;
    }
    return NULL;
}

bool fake_fd_watch_poll(void)
{
    bool any = false;

    round_number++;
    for (struct fd_watch *watch; (watch = next_unseen());)
        any |= look(watch);
    return any;
}

void fake_fd_watch_settle(void)
{
    for (int i = 0; fake_fd_watch_poll(); i++)
        MUST(i < ROUNDS_MAX);
}

size_t fake_fd_watch_count(void)
{
    size_t count = 0;

    LIST_EACH(node, &watches)
    count++;
    return count;
}
