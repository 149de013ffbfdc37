/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * The thread that empties the rings. It sleeps while they are empty. The first record wakes it, and
 * then it lets some more gather, so that a busy worker makes few wake-up calls. The owner knows
 * what records mean and where they go.
 *
 * Invariant: no committed record is missed. Either the worker sees that the thread wants to be
 * woken, or the thread sees the record before it sleeps.
 */
#include "tap/drain.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"

enum {
    GATHER_MS = 10, /* the first record waits this long for more */
};

/* When a worker that has written a record wakes the thread. */
enum wake { WAKE_NEVER, WAKE_IF_HALF_FULL, WAKE_ALWAYS };

struct drain {
    struct drain_options options;
    pthread_t thread;
    bool is_running;
    int wake_fd; /* written by workers, emptied by the thread */
    int stop_fd; /* written once */
    atomic_bool is_ending;
    uint64_t end_at_ms;           /* on CLOCK_MONOTONIC; the thread sets it when it begins to end */
    alignas(128) atomic_int wake; /* enum wake */
    struct ring rings[];
};

static uint64_t now_ms(void)
{
    struct timespec now;
    MUST(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* ---- workers ---- */

static void signal_eventfd(int fd)
{
    uint64_t one = 1;
    ssize_t written = write(fd, &one, sizeof(one)); /* fails when full: the thread is awake then */
    (void)written;
}

uint8_t *drain_reserve(struct drain *drain, size_t which, size_t max_len)
{
    return ring_reserve(&drain->rings[which], max_len);
}

void drain_commit(struct drain *drain, size_t which, size_t len)
{
    struct ring *ring = &drain->rings[which];
    ring_commit(ring, len);
    atomic_thread_fence(memory_order_seq_cst);
    int wake = atomic_load_explicit(&drain->wake, memory_order_relaxed);
    if (wake == WAKE_NEVER || (wake == WAKE_IF_HALF_FULL && ring_used(ring) < ring->size / 2))
        return;
    if (atomic_exchange_explicit(&drain->wake, WAKE_NEVER, memory_order_relaxed) != WAKE_NEVER)
        signal_eventfd(drain->wake_fd);
}

/* ---- waiting ---- */

bool drain_is_ending(const struct drain *drain)
{
    return atomic_load_explicit(&drain->is_ending, memory_order_acquire);
}

/* Returns the rest of the time at the end. The first call starts it. */
static int ms_left(struct drain *drain)
{
    uint64_t now = now_ms();
    if (drain->end_at_ms == 0)
        drain->end_at_ms = now + DRAIN_STOP_MS;
    return now < drain->end_at_ms ? (int)(drain->end_at_ms - now) : 0;
}

static bool is_ready(const struct pollfd *waiting)
{
    return waiting->fd >= 0 && waiting->revents != 0;
}

bool drain_wait(struct drain *drain, int fd, short events, int ms)
{
    struct pollfd waiting[] = {{fd, events, 0}, {drain->stop_fd, POLLIN, 0}};
    if (!drain_is_ending(drain)) {
        while (poll(waiting, 2, ms) < 0)
            continue; /* EINTR */
        if (is_ready(&waiting[0]))
            return true;
        if (!drain_is_ending(drain))
            return false;
    }
    int left = ms_left(drain);
    waiting[0].revents = 0;
    while (poll(waiting, 1, ms < 0 ? left : MIN(ms, left)) < 0)
        continue;
    return is_ready(&waiting[0]);
}

static bool are_empty(struct drain *drain)
{
    for (size_t i = 0; i < drain->options.rings; i++)
        if (!ring_is_empty(&drain->rings[i]))
            return false;
    return true;
}

/* Sleeps until a worker wakes the thread or the end comes, at most ms; ms < 0: no limit. */
static void sleep_until_woken(struct drain *drain, int ms)
{
    struct pollfd waiting[] = {{drain->wake_fd, POLLIN, 0}, {drain->stop_fd, POLLIN, 0}};
    uint64_t wakes;
    while (poll(waiting, 2, ms) < 0)
        continue;
    ssize_t taken = read(drain->wake_fd, &wakes, sizeof(wakes)); /* does not block */
    (void)taken;
}

/* A record that comes while the thread examines the rings is either seen or wakes it. */
static void sleep_until_filled(struct drain *drain)
{
    atomic_store_explicit(&drain->wake, WAKE_ALWAYS, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    if (are_empty(drain) && !drain_is_ending(drain))
        sleep_until_woken(drain, -1);
    atomic_store_explicit(&drain->wake, WAKE_IF_HALF_FULL, memory_order_relaxed);
    if (!drain_is_ending(drain))
        sleep_until_woken(drain, GATHER_MS);
    atomic_store_explicit(&drain->wake, WAKE_NEVER, memory_order_relaxed);
}

/* ---- the thread ---- */

/* During the end, a failed write is not repeated. */
static bool is_finished(struct drain *drain, bool is_carried)
{
    if (!drain_is_ending(drain))
        return false;
    return !is_carried || ms_left(drain) == 0 || are_empty(drain);
}

static void *drain_run(void *argument)
{
    struct drain *drain = argument;
    for (;;) {
        bool is_carried = drain->options.carry(drain->options.owner);
        if (is_finished(drain, is_carried))
            return NULL;
        if (is_carried)
            sleep_until_filled(drain);
        else
            (void)drain_wait(drain, -1, 0, (int)drain->options.retry_ms);
    }
}

/* ---- life ---- */

struct drain *drain_new(const struct drain_options *options)
{
    size_t size = sizeof(struct drain) + options->rings * sizeof(struct ring);
    struct drain *drain = aligned_alloc(alignof(struct drain), size);
    if (!drain)
        return NULL;
    memset(drain, 0, size);
    drain->options = *options;
    drain->wake_fd = drain->stop_fd = -1;
    return drain;
}

/* Allocates the missing rings. A second drain_start() after a failure comes here again. */
static enum err make_rings(struct drain *drain)
{
    for (size_t i = 0; i < drain->options.rings; i++)
        if (!drain->rings[i].bytes && ring_init(&drain->rings[i], drain->options.ring_bytes))
            return ERR_NO_MEMORY;
    return ERR_OK;
}

static enum err open_fds(struct drain *drain)
{
    if (drain->wake_fd < 0)
        drain->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (drain->stop_fd < 0)
        drain->stop_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    return drain->wake_fd < 0 || drain->stop_fd < 0 ? ERR_NO_FILES : ERR_OK;
}

/* All signals are blocked in the thread: only the main thread handles them. */
static enum err start_drain_thread(struct drain *drain)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    drain->is_running = pthread_create(&drain->thread, NULL, drain_run, drain) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!drain->is_running)
        return ERR_NO_MEMORY;
    pthread_setname_np(drain->thread, drain->options.name);
    return ERR_OK;
}

enum err drain_start(struct drain *drain)
{
    if (drain->is_running)
        return ERR_OK;
    enum err err = make_rings(drain);
    if (!err)
        err = open_fds(drain);
    return err ? err : start_drain_thread(drain);
}

/* If the thread is awake, its next sleep ends at once. */
void drain_wake(struct drain *drain)
{
    signal_eventfd(drain->wake_fd);
}

void drain_free(struct drain *drain)
{
    if (!drain)
        return;
    if (drain->is_running) {
        atomic_store_explicit(&drain->is_ending, true, memory_order_release);
        signal_eventfd(drain->stop_fd);
        MUST(pthread_join(drain->thread, NULL) == 0);
    }
    for (size_t i = 0; i < drain->options.rings; i++)
        ring_deinit(&drain->rings[i]);
    if (drain->wake_fd >= 0)
        close(drain->wake_fd);
    if (drain->stop_fd >= 0)
        close(drain->stop_fd);
    free(drain);
}

struct ring *drain_ring(struct drain *drain, size_t ring)
{
    return &drain->rings[ring];
}

size_t drain_rings(const struct drain *drain)
{
    return drain->options.rings;
}
