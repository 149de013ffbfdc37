/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Grace periods, numbered. Frees no entries. Invariant: when done >= t, a full grace period has
 * begun after ticket t was drawn, and has ended. */
#include "cache/grace.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <urcu/urcu-memb.h>

#include "base/check.h"

struct grace {
    struct rcu_head head;     /* of the running period */
    uint64_t number;          /* the running period's number, which its starter writes */
    _Atomic uint64_t started; /* periods begun */
    _Atomic uint64_t done;    /* periods ended */
    atomic_bool running;
};

/* ThreadSanitizer does not see into liburcu, so these annotations name the order that liburcu
 * guarantees: a read section comes before everything that follows the grace period, a thread's work
 * comes before the callback that it then queues, and a callback comes before whatever follows the
 * barrier. */
#ifdef __SANITIZE_THREAD__
#define SEES_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SEES_SANITIZER 1
#endif
#endif
#ifdef SEES_SANITIZER
#include <sanitizer/tsan_interface.h>
static char section_order;
#define COMES_BEFORE(order) __tsan_release(order)
#define COMES_AFTER(order) __tsan_acquire(order)
#define SECTION_ENDS() COMES_BEFORE(&section_order)
#define PERIOD_ENDED() COMES_AFTER(&section_order)
#else
#define COMES_BEFORE(order) ((void)0)
#define COMES_AFTER(order) ((void)0)
#define SECTION_ENDS() ((void)0)
#define PERIOD_ENDED() ((void)0)
#endif

struct grace *grace_new(void)
{
    return calloc(1, sizeof(struct grace));
}

void grace_free(struct grace *grace)
{
    /* The callback clears running before it returns. The barrier waits until it has returned. */
    if (atomic_load(&grace->started) > 0)
        urcu_memb_barrier();
    COMES_AFTER(grace);
    free(grace);
}

uint64_t grace_bytes(void)
{
    return sizeof(struct grace) + 2 * sizeof(void *);
}

void grace_thread_begin(void)
{
    urcu_memb_register_thread();
}

void grace_thread_end(void)
{
    urcu_memb_unregister_thread();
}

void grace_read_begin(void)
{
    urcu_memb_read_lock();
}

void grace_read_end(void)
{
    SECTION_ENDS();
    urcu_memb_read_unlock();
}

bool grace_is_reading(void)
{
    return urcu_memb_read_ongoing() != 0;
}

void grace_wait(void)
{
    urcu_memb_synchronize_rcu();
    PERIOD_ENDED();
}

/* Starts liburcu's thread. This happens at the first need, so that the thread has the privileges of
 * the workers, and no longer those of the start. All signals are blocked in it: only the main
 * thread handles them. */
static void start_reclaimer(void)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    (void)urcu_memb_get_default_call_rcu_data();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void on_period_end(struct rcu_head *head)
{
    struct grace *grace = CONTAINER_OF(head, struct grace, head);
    COMES_AFTER(grace);
    atomic_store_explicit(&grace->done, grace->number, memory_order_release);
    atomic_store_explicit(&grace->running, false, memory_order_release);
    COMES_BEFORE(grace);
}

static void begin_period(struct grace *grace, uint64_t ticket)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (atomic_exchange_explicit(&grace->running, true, memory_order_acq_rel))
        return; /* the running period may be too early; a later call begins the next one */
    if (atomic_load_explicit(&grace->started, memory_order_relaxed) >= ticket) {
        atomic_store_explicit(&grace->running, false, memory_order_release);
        return;
    }
    pthread_once(&once, start_reclaimer);
    /* A read-modify-write, so it sees everything that threads with a lower ticket did before. */
    grace->number = 1 + atomic_fetch_add_explicit(&grace->started, 1, memory_order_acq_rel);
    COMES_BEFORE(grace);
    urcu_memb_call_rcu(&grace->head, on_period_end);
}

uint64_t grace_ticket(struct grace *grace)
{
    return 1 + atomic_fetch_add_explicit(&grace->started, 0, memory_order_acq_rel);
}

bool grace_has_passed(struct grace *grace, uint64_t ticket)
{
    if (atomic_load_explicit(&grace->done, memory_order_acquire) >= ticket) {
        PERIOD_ENDED();
        return true;
    }
    if (atomic_load_explicit(&grace->started, memory_order_relaxed) < ticket &&
        !atomic_load_explicit(&grace->running, memory_order_relaxed))
        begin_period(grace, ticket);
    return false;
}
