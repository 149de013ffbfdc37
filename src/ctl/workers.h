/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CTL_WORKERS_H
#define NAILUP_CTL_WORKERS_H

/* Tables with a row for each worker: of one worker, or added up. Pure. */

struct parsed_reply;

/* Keeps the rows of one worker in each table that has a column worker. */
void workers_pick(struct parsed_reply *answer, const char *worker);

/*
 * Adds up rows that only differ in their worker: those with the same upstream, transport and, for
 * connections, state. The column worker becomes the number of workers, or of connections. Counts
 * and counters become sums, max_requests and other durations the highest value, times whose name
 * ends in rtt the mean, flags yes if any is yes (authenticated: if all are). Texts that differ
 * become the first one that reports a fault, with the number of rows that have it. Tables without
 * worker and upstream stay as they are, and so do tables for which memory is short.
 */
void workers_sum(struct parsed_reply *answer);

#endif
