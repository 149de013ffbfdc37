/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_CLOCK_WATCH_H
#define NAILUP_DAEMON_CLOCK_WATCH_H

/*
 * Asks for the keys of trust anchors from time to time, as a client does in the first view that
 * validates. So a worker validates them, and notes dates that do not fit the clock
 * (validate/anchor_dates.h), also where no client asks anything. On the main loop.
 */

struct clock_watch;
struct control_view;
struct loop;

/* Starts. Borrows view, which must be filled. The loops of its workers must outlive
 * clock_watch_stop(). NULL: out of memory. */
struct clock_watch *clock_watch_start(struct loop *loop, const struct control_view *view);

/* Asks nothing more. Call it before the workers end. NULL is fine. */
void clock_watch_stop(struct clock_watch *watch);

/* Call it when its loop and those of the workers are freed. *watch becomes NULL; NULL is fine. */
void clock_watch_free(struct clock_watch **watch);

#endif
