/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TAP_QUERY_LOG_H
#define NAILUP_TAP_QUERY_LOG_H

/*
 * Writes a line to stderr for each answered query (log.queries), or for each that ends with
 * SERVFAIL (log.failures), within a bound. Each worker leaves records in a ring of QUERY_LOG_RING
 * bytes, and a thread makes lines of them. If stderr is a pipe with a slow or sleeping reader,
 * records are lost and counted (query_log_dropped), and workers go on. If it is a file on a full
 * disk, lines are lost, and query_log_lost() counts them. A worker's lines are in the order of its
 * answers.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/stats.h"
#include "base/tap.h"

enum { QUERY_LOG_RING = 2 * 1024 * 1024 }; /* bytes for each worker, some 15000 queries */

/* The bound of lines of failures alone, for all workers: this many at once, then one in this time.
 * The next line counts the failures that had none. The journal of systemd suppresses all lines of a
 * service that writes 10000 in 30 s, so workers do not multiply the bound. */
enum { QUERY_LOG_FAILURES = 100, QUERY_LOG_FAILURE_US = 100 * 1000 };

/* The queries that get a line. */
enum query_log_choice {
    QUERY_LOG_NONE,
    QUERY_LOG_FAILED, /* SERVFAIL is their end */
    QUERY_LOG_ALL,
};

struct query_log;

/* Lines go to fd (stderr), which is borrowed. Returns NULL when out of memory. */
struct query_log *query_log_new(size_t workers, int fd);
/* Starts the thread, before the first use of a tap; a second call does nothing. Call it from the
 * thread that calls query_log_free(). */
MUST_USE enum err query_log_start(struct query_log *log);
/* Returns the tap of a worker for these queries, for that worker's thread; stats are the worker's.
 * It lives as long as the log, and each call changes the choice. NULL with QUERY_LOG_NONE. */
struct tap *query_log_tap(struct query_log *log, size_t worker, struct stats *stats,
                          enum query_log_choice choice);
/* Returns the number of lines that could not be written. Any thread. */
uint64_t query_log_lost(const struct query_log *log);
/* Writes the last lines for at most DRAIN_STOP_MS. All workers must have stopped using their taps.
 * NULL is fine.
 */
void query_log_free(struct query_log *log);

#endif
