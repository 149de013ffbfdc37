/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * The epoll set of poller.h. What an event means is left to the watch's owner.
 *
 * Invariant: a watch that is stopped or closed is in no list of pending events, so its memory may
 * be freed at once.
 */

#include "net/poller.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/check.h"
#include "base/units.h"
#include "loop/loop.h"
#include "loop/loop_uv.h"
#include "net/read_max.h"

enum {
    EVENTS_MAX = 128, /* sockets that get their turn in one turn of the loop; the rest wait */
    FREE_MAX = 1024,  /* free objects kept of each kind */
};

/* A turn hands out events no longer than this: a handshake of TLS costs half a millisecond, and a
 * thousand that come at once must not keep the queries beside them waiting. What is left comes
 * again in the next turn, behind the others. */
#define TURN_MAX_US (4 * US_PER_MS)

struct free_object {
    struct free_object *next;
};

struct poller {
    struct loop_guest guest;
    struct loop *loop;
    uv_poll_t handle;
    int epoll_fd;
    struct poller_tenant *tenant;
    uint64_t turns;
    int current, count; /* events[current, count) are still to be handed out */
    struct epoll_event events[EVENTS_MAX];
    struct {
        struct free_object *first;
        size_t count;
    } spare[POLLER_OBJECTS];
    uint8_t read_buffer[NET_READ_MAX];
};

static void on_sockets_ready(uv_poll_t *handle, int status, int events)
{
    struct poller *poller = CONTAINER_OF(handle, struct poller, handle);

    (void)status;
    (void)events;
    poller->turns++;
    poller->current = 0;
    poller->count = epoll_wait(poller->epoll_fd, poller->events, EVENTS_MAX, 0);
    uint64_t until = loop_clock(poller->loop) + TURN_MAX_US;
    while (poller->current < poller->count && loop_clock(poller->loop) < until) {
        struct epoll_event *event = &poller->events[poller->current++];
        struct watch *watch = event->data.ptr;
        if (watch)
            watch->on_ready(watch, event->events);
    }
    poller->count = 0;
}

static void on_loop_closing(struct loop_guest *guest)
{
    struct poller *poller = CONTAINER_OF(guest, struct poller, guest);

    if (poller->tenant)
        poller->tenant->close(poller->tenant);
    uv_close((uv_handle_t *)&poller->handle, NULL);
    close(poller->epoll_fd);
}

static void on_loop_closed(struct loop_guest *guest)
{
    struct poller *poller = CONTAINER_OF(guest, struct poller, guest);

    for (int which = 0; which < POLLER_OBJECTS; which++) {
        while (poller->spare[which].first) {
            struct free_object *object = poller->spare[which].first;
            poller->spare[which].first = object->next;
            free(object);
        }
    }
    free(poller);
}

static struct poller *poller_new(struct loop *loop)
{
    struct poller *poller = malloc(sizeof(*poller)); /* the read buffer needs no zeros */

    if (!poller)
        return NULL;
    poller->loop = loop;
    poller->current = poller->count = 0;
    poller->tenant = NULL;
    poller->turns = 0;
    for (int which = 0; which < POLLER_OBJECTS; which++) {
        poller->spare[which].first = NULL;
        poller->spare[which].count = 0;
    }
    poller->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (poller->epoll_fd < 0)
        goto fail;
    if (uv_poll_init(loop_uv(loop), &poller->handle, poller->epoll_fd) != 0)
        goto fail;
    MUST(uv_poll_start(&poller->handle, UV_READABLE, on_sockets_ready) == 0);
    poller->guest.close = on_loop_closing;
    poller->guest.free = on_loop_closed;
    loop_set_guest(loop, &poller->guest);
    return poller;
fail:
    if (poller->epoll_fd >= 0)
        close(poller->epoll_fd);
    free(poller);
    return NULL;
}

struct poller *poller_of(struct loop *loop)
{
    struct loop_guest *guest = loop_guest(loop);
    return guest ? CONTAINER_OF(guest, struct poller, guest) : poller_new(loop);
}

struct loop *poller_loop(struct poller *poller)
{
    return poller->loop;
}

uint64_t poller_turns(const struct poller *poller)
{
    return poller->turns;
}

struct poller_tenant *poller_tenant(const struct poller *poller)
{
    return poller->tenant;
}

void poller_set_tenant(struct poller *poller, struct poller_tenant *tenant)
{
    poller->tenant = tenant;
}

uint8_t *poller_read_buffer(struct poller *poller)
{
    return poller->read_buffer;
}

static int control(struct poller *poller, int operation, struct watch *watch)
{
    struct epoll_event event = {.events = watch->events, .data.ptr = watch};
    return epoll_ctl(poller->epoll_fd, operation, watch->fd, &event);
}

enum err watch_start(struct poller *poller, struct watch *watch, int fd, uint32_t events)
{
    watch->fd = fd;
    watch->events = events;
    return control(poller, EPOLL_CTL_ADD, watch) == 0 ? ERR_OK : err_from_errno(errno);
}

void watch_set(struct poller *poller, struct watch *watch, uint32_t events)
{
    if (watch->events == events)
        return;
    watch->events = events;
    MUST(control(poller, EPOLL_CTL_MOD, watch) == 0);
}

static void forget_events(struct poller *poller, const struct watch *watch)
{
    for (int i = poller->current; i < poller->count; i++) {
        if (poller->events[i].data.ptr == watch)
            poller->events[i].data.ptr = NULL;
    }
}

void watch_stop(struct poller *poller, struct watch *watch)
{
    forget_events(poller, watch);
    control(poller, EPOLL_CTL_DEL, watch);
}

void watch_close(struct poller *poller, struct watch *watch)
{
    forget_events(poller, watch);
    close(watch->fd);
    watch->fd = -1;
}

/* Under AddressSanitizer nothing is kept, so that a use after free is seen. */
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
static const size_t keep_max = 0;
#else
static const size_t keep_max = FREE_MAX;
#endif

void *poller_take(struct poller *poller, enum poller_object which, size_t size)
{
    struct free_object *object = poller->spare[which].first;

    if (!object)
        return malloc(MAX(size, sizeof(*object)));
    poller->spare[which].first = object->next;
    poller->spare[which].count--;
    return object;
}

void poller_give(struct poller *poller, enum poller_object which, void *object)
{
    struct free_object *spare = object;

    if (poller->spare[which].count >= keep_max) {
        free(object);
        return;
    }
    spare->next = poller->spare[which].first;
    poller->spare[which].first = spare;
    poller->spare[which].count++;
}
