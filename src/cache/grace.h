/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CACHE_GRACE_H
#define NAILUP_CACHE_GRACE_H

/*
 * When no reader can still see what was taken away: the door to liburcu. Its memb flavour gives
 * read sections of a nanosecond, and leaves the waiting to writers.
 *
 * Writers need not wait either: they draw a ticket after taking things away and ask later whether
 * it has passed. One grace period serves every ticket drawn before it began; liburcu's own thread
 * (call_rcu) waits for it. So a store costs no system call, at most one futex wake per period.
 */

#include <stdbool.h>
#include <stdint.h>

struct grace;

/* NULL when out of memory. */
struct grace *grace_new(void);
void grace_free(struct grace *grace); /* waits for a period under way; not in a read section */

/* Bytes that a struct grace takes, its allocation included. */
uint64_t grace_bytes(void);

/* liburcu's registration: once per thread, before and after its read sections. */
void grace_thread_begin(void);
void grace_thread_end(void);

void grace_read_begin(void);
void grace_read_end(void);
bool grace_is_reading(void); /* this thread, now */

/* A ticket for all that this thread has made unreachable so far. */
uint64_t grace_ticket(struct grace *grace);

/* Whether the ticket has passed. When not, sees to it that a period for it begins. Any thread, also
 * in a read section. */
bool grace_has_passed(struct grace *grace, uint64_t ticket);

/* Waits until all that this thread has made unreachable is so for every reader. Not in a read
 * section, nor with a lock held that one may wait for. Some microseconds. */
void grace_wait(void);

#endif
