/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * The epoll sets of watch.h, one for each rank. The loop waits on the prompt set. The other sets
 * are members of it, so their sockets wake the loop too. Each set hands out its own events for a
 * bounded time, so no rank delays another by more than that and one event. The kernel names the
 * sockets of a set in turn, and this module asks again only when all of them have had their event,
 * so streams are served round robin.
 *
 * The watch's owner decides what an event means, and loop.c decides when to wait.
 *
 * Invariant: a watch that is stopped or closed is in no list of pending events, so its memory may
 * be freed at once.
 */

#include "loop/watch.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "base/units.h"
#include "loop/watches.h"

/* A turn hands out the events of a rank no longer than this. */
struct share {
    uint64_t turn_us;
    int events_per_look; /* between two looks at the clock */
};

/* A busy socket brings new work. While events of the last look are left over, it waits for this
 * many turns at most: they may be answers that end work. */
enum { BEHIND_MAX = 4 };

_Static_assert(WATCH_GREEDY + 1 == WATCH_SETS, "a set for each rank");

static const struct share shares[WATCH_SETS] = {
    /* A TLS handshake costs half a millisecond, and a thousand at once must not delay the queries
     * beside them. The next turn continues with the leftover events before it asks the kernel,
     * which would name the first ones again. */
    [WATCH_PROMPT] = {4 * US_PER_MS, 4},
    /* Each prompt event waits for these. One event may be hundreds of queries or a handshake. */
    [WATCH_PATIENT] = {500, 1},
    [WATCH_GREEDY] = {500, 1},
};

static enum err set_init(struct watch_set *set)
{
    set->current = set->count = 0;
    set->is_ready = false;
    list_init(&set->due);
    list_init(&set->round);
    set->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    return set->epoll_fd >= 0 ? ERR_OK : err_from_errno(errno);
}

static inline bool has_left(const struct watch_set *set)
{
    return set->current < set->count || !list_is_empty(&set->round);
}

static void watch_fill(struct watch_set *set, int timeout_ms)
{
    set->current = 0;
    set->is_ready = false;
    list_splice(&set->round, &set->due);
    set->count = epoll_wait(set->epoll_fd, set->events, WATCHES_EVENTS_MAX, timeout_ms);
}

static enum err watch_join(struct watch_set *outer, struct watch_set *inner)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = inner};
    int result = epoll_ctl(outer->epoll_fd, EPOLL_CTL_ADD, inner->epoll_fd, &event);
    return result == 0 ? ERR_OK : err_from_errno(errno);
}

static void close_sets(struct watches *watches, int count)
{
    while (count-- > 0)
        close(watches->sets[count].epoll_fd);
}

enum err watches_init(struct watches *watches)
{
    struct watch_set *sets = watches->sets;
    watches->turns = 0;
    watches->behind = 0;
    watches->streams_wait = false;
    list_init(&watches->busy);
    for (int i = 0; i < WATCH_SETS; i++) {
        enum err err = set_init(&sets[i]);
        if (err) {
            close_sets(watches, i);
            return err;
        }
        if (i != WATCH_PROMPT)
            err = watch_join(&sets[WATCH_PROMPT], &sets[i]);
        if (err) {
            close_sets(watches, i + 1);
            return err;
        }
    }
    return ERR_OK;
}

void watches_deinit(struct watches *watches)
{
    close_sets(watches, WATCH_SETS);
}

static uint64_t clock_us(void)
{
    struct timespec now;
    MUST(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
    return (uint64_t)now.tv_sec * US_PER_S + (uint64_t)now.tv_nsec / 1000;
}

static bool is_inner_set(const struct watches *watches, const void *of_event)
{
    return of_event == &watches->sets[WATCH_PATIENT] || of_event == &watches->sets[WATCH_GREEDY];
}

static void call_due(struct watch_set *set)
{
    struct watch *watch = LIST_ITEM(list_take_first(&set->round), struct watch, node);
    watch->is_due = false;
    watch->on_ready(watch, 0);
}

static inline void watch_hand_out(struct watches *watches, struct watch_set *set)
{
    if (set->current >= set->count) {
        call_due(set);
        return;
    }
    struct epoll_event *event = &set->events[set->current++];
    if (is_inner_set(watches, event->data.ptr)) {
        ((struct watch_set *)event->data.ptr)->is_ready = true;
        watches->streams_wait = true;
        return;
    }
    struct watch *watch = event->data.ptr;
    uint32_t asked = watch ? watch->events | EPOLLERR | EPOLLHUP : 0;
    if (event->events & asked) /* the watch may want less than when the event was named */
        watch->on_ready(watch, event->events & asked);
}

/* Hands out at least one, so each turn makes progress. Inline: a lone query pays for each call. */
static inline void hand_out_share(struct watches *watches, enum watch_rank rank)
{
    struct watch_set *set = &watches->sets[rank];
    const struct share *share = &shares[rank];
    uint64_t until_at = UINT64_MAX;
    bool looks = set->count - set->current > share->events_per_look || !list_is_empty(&set->round);
    for (int done = 0; has_left(set); done++) {
        if (looks && done % share->events_per_look == 0) {
            uint64_t now = clock_us();
            until_at = done == 0 ? now + share->turn_us : until_at;
            if (now >= until_at)
                break;
        }
        watch_hand_out(watches, set);
    }
}

/* A busy watch may become calm, or close another, meanwhile. */
static void call_busy(struct watches *watches)
{
    struct list turn;
    list_init(&turn);
    list_splice(&turn, &watches->busy);
    for (struct list *node; (node = list_take_first(&turn)) != NULL;) {
        struct watch *watch = LIST_ITEM(node, struct watch, node);
        list_append(&watches->busy, node);
        watch->on_ready(watch, EPOLLIN);
    }
}

static void serve_streams(struct watches *watches)
{
    watches->streams_wait = false;
    for (enum watch_rank rank = WATCH_PATIENT; rank <= WATCH_GREEDY; rank++) {
        struct watch_set *set = &watches->sets[rank];
        if ((set->is_ready || !list_is_empty(&set->due)) && !has_left(set))
            watch_fill(set, 0);
        hand_out_share(watches, rank);
        watches->streams_wait |= has_left(set) || !list_is_empty(&set->due);
    }
}

void watches_wait(struct watches *watches, int timeout_ms)
{
    struct watch_set *prompt = &watches->sets[WATCH_PROMPT];
    if (!list_is_empty(&watches->busy) || !list_is_empty(&prompt->due) || watches->streams_wait)
        timeout_ms = 0;
    if (has_left(prompt)) { /* leftover events come first */
        watches->behind++;
    } else {
        watches->turns++;
        watches->behind = 0;
        watch_fill(prompt, timeout_ms);
    }
    if (watches->behind % BEHIND_MAX == 0)
        call_busy(watches);
    hand_out_share(watches, WATCH_PROMPT);
    if (watches->streams_wait)
        serve_streams(watches);
}

uint64_t watch_turns(const struct loop *loop)
{
    return loop_watches((struct loop *)loop)->turns;
}

/* ---- one watch ---- */

static struct watch_set *set_of(struct loop *loop, const struct watch *watch)
{
    return &loop_watches(loop)->sets[watch->rank];
}

static int control(struct loop *loop, int operation, struct watch *watch)
{
    struct epoll_event event = {.events = watch->events, .data.ptr = watch};
    return epoll_ctl(set_of(loop, watch)->epoll_fd, operation, watch->fd, &event);
}

enum err watch_start(struct loop *loop, struct watch *watch, int fd, uint32_t events)
{
    watch->fd = fd;
    watch->events = events;
    return control(loop, EPOLL_CTL_ADD, watch) == 0 ? ERR_OK : err_from_errno(errno);
}

void watch_set(struct loop *loop, struct watch *watch, uint32_t events)
{
    if (watch->events == events)
        return;
    watch->events = events;
    if (watch->is_busy)
        return;
    MUST(control(loop, EPOLL_CTL_MOD, watch) == 0);
}

static void watch_forget(struct watch_set *set, struct watch *watch)
{
    if (watch->is_busy || watch->is_due)
        list_remove(&watch->node);
    watch->is_busy = watch->is_due = false;
    for (int i = set->current; i < set->count; i++) {
        if (set->events[i].data.ptr == watch)
            set->events[i].data.ptr = NULL;
    }
}

void watch_set_rank(struct loop *loop, struct watch *watch, enum watch_rank rank)
{
    struct watch_set *before = set_of(loop, watch);
    enum watch_rank old = watch->rank;
    if (rank == old)
        return;
    MUST(!watch->is_busy);
    watch->rank = rank;
    if (control(loop, EPOLL_CTL_ADD, watch) != 0) { /* it is in both sets for a moment */
        watch->rank = old;
        return;
    }
    bool is_due = watch->is_due;
    epoll_ctl(before->epoll_fd, EPOLL_CTL_DEL, watch->fd, NULL);
    watch_forget(before, watch);
    if (is_due)
        watch_call(loop, watch);
}

void watch_call(struct loop *loop, struct watch *watch)
{
    if (watch->is_due || watch->is_busy)
        return;
    watch->is_due = true;
    list_append(&set_of(loop, watch)->due, &watch->node);
    if (watch->rank != WATCH_PROMPT)
        loop_watches(loop)->streams_wait = true;
}

void watch_set_busy(struct loop *loop, struct watch *watch)
{
    if (watch->is_busy)
        return;
    MUST(!watch->is_due);
    control(loop, EPOLL_CTL_DEL, watch);
    watch->is_busy = true;
    list_append(&loop_watches(loop)->busy, &watch->node);
}

enum err watch_set_calm(struct loop *loop, struct watch *watch)
{
    if (!watch->is_busy)
        return ERR_OK;
    if (control(loop, EPOLL_CTL_ADD, watch) != 0)
        return err_from_errno(errno);
    watch->is_busy = false;
    list_remove(&watch->node);
    return ERR_OK;
}

void watch_stop(struct loop *loop, struct watch *watch)
{
    if (!watch->is_busy)
        control(loop, EPOLL_CTL_DEL, watch);
    watch_forget(set_of(loop, watch), watch);
}

void watch_close(struct loop *loop, struct watch *watch)
{
    watch_forget(set_of(loop, watch), watch);
    close(watch->fd);
    watch->fd = -1;
}
