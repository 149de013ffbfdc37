/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CACHE_GRACE_H
#define NAILUP_CACHE_GRACE_H

/*
 * Says when no reader can still see a removed entry. This is the door to liburcu. Its memb flavour
 * makes a read section cost a nanosecond and leaves the waiting to writers.
 *
 * Writers need not wait either: a writer draws a ticket after it removes entries, and asks later
 * whether the ticket has passed. One grace period serves every ticket drawn before it began;
 * liburcu's own thread (call_rcu) waits for it. So a store costs no system call except one futex
 * wake per period.
 */

#include <stdbool.h>
#include <stdint.h>

struct grace;

/* Returns NULL when out of memory. */
struct grace *grace_new(void);
void grace_free(struct grace *grace); /* waits for a running period; not in a read section */

/* Returns the bytes that a struct grace takes, overhead of the allocation included. */
uint64_t grace_bytes(void);

/* Registers the thread with liburcu: once, before and after its read sections. */
void grace_thread_begin(void);
void grace_thread_end(void);

void grace_read_begin(void);
void grace_read_end(void);
bool grace_is_reading(void); /* whether this thread is in a read section */

/* Draws a ticket for everything that this thread has made unreachable so far. */
uint64_t grace_ticket(struct grace *grace);

/* Returns whether the ticket has passed. If not, makes sure that a period for it begins. Any thread
 * may call this, also in a read section. */
bool grace_has_passed(struct grace *grace, uint64_t ticket);

/* Waits until no reader sees anything that this thread has made unreachable: some microseconds. The
 * caller is not in a read section and holds no lock that a reader may wait for. */
void grace_wait(void);

#endif
