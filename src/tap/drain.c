/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * The thread behind the rings. It sleeps while they are empty; the first record wakes it, and it
 * lets some gather before it takes them, so that a busy worker pays for few of the calls that wake.
 * What a record says and where it goes is the owner's.
 *
 * Invariant: a record that was committed is seen: either the worker sees that the thread is wanted
 * to be woken, or the thread sees the record before it sleeps.
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
    GATHER_MS = 10, /* how long the first record waits for others */
};

/* What a worker does that left a record. */
enum call { CALL_NOT, CALL_IF_HALF_FULL, CALL_ALWAYS };

struct drain {
    struct drain_options options;
    pthread_t thread;
    bool is_running;
    int wake_fd; /* written by workers, emptied by the thread */
    int stop_fd; /* written once */
    atomic_bool is_ending;
    uint64_t end_at_ms; /* of CLOCK_MONOTONIC; the thread's, once it is ending */
    alignas(128) atomic_int call;
    struct ring rings[];
};

static uint64_t now_ms(void)
{
    struct timespec now;
    MUST(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* ---- workers ---- */

static void write_to(int fd)
{
    uint64_t one = 1;
    ssize_t written = write(fd, &one, sizeof(one)); /* full: it is awake anyway */
    (void)written;
}

uint8_t *drain_reserve(struct drain *drain, size_t ring, size_t max_len)
{
    return ring_reserve(&drain->rings[ring], max_len);
}

void drain_commit(struct drain *drain, size_t which, size_t len)
{
    struct ring *ring = &drain->rings[which];
    ring_commit(ring, len);
    atomic_thread_fence(memory_order_seq_cst);
    int call = atomic_load_explicit(&drain->call, memory_order_relaxed);
    if (call == CALL_NOT || (call == CALL_IF_HALF_FULL && ring_used(ring) < ring->size / 2))
        return;
    if (atomic_exchange_explicit(&drain->call, CALL_NOT, memory_order_relaxed) != CALL_NOT)
        write_to(drain->wake_fd);
}

/* ---- waiting ---- */

bool drain_is_ending(const struct drain *drain)
{
    return atomic_load_explicit(&drain->is_ending, memory_order_acquire);
}

/* What is left of the time at the end; begins it. */
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

/* Until a worker calls or the end comes; ms < 0: for ever. */
static void sleep_until_called(struct drain *drain, int ms)
{
    struct pollfd waiting[] = {{drain->wake_fd, POLLIN, 0}, {drain->stop_fd, POLLIN, 0}};
    uint64_t calls;
    while (poll(waiting, 2, ms) < 0)
        continue;
    ssize_t taken = read(drain->wake_fd, &calls, sizeof(calls)); /* none: it does not wait */
    (void)taken;
}

/* What comes while it looks at the rings is seen by it or makes a call. */
static void sleep_until_filled(struct drain *drain)
{
    atomic_store_explicit(&drain->call, CALL_ALWAYS, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    if (are_empty(drain) && !drain_is_ending(drain))
        sleep_until_called(drain, -1);
    atomic_store_explicit(&drain->call, CALL_IF_HALF_FULL, memory_order_relaxed);
    if (!drain_is_ending(drain))
        sleep_until_called(drain, GATHER_MS);
    atomic_store_explicit(&drain->call, CALL_NOT, memory_order_relaxed);
}

/* ---- the thread ---- */

/* At the end what is not taken is not tried again. */
static bool drain_is_over(struct drain *drain, bool is_carried)
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
        if (drain_is_over(drain, is_carried))
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

/* After a failure once more, if it is started again. */
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

/* Signals are others' business. */
static enum err drain_start_thread(struct drain *drain)
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
    return err ? err : drain_start_thread(drain);
}

void drain_free(struct drain *drain)
{
    if (!drain)
        return;
    if (drain->is_running) {
        atomic_store_explicit(&drain->is_ending, true, memory_order_release);
        write_to(drain->stop_fd);
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
