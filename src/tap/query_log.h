/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TAP_QUERY_LOG_H
#define NAILUP_TAP_QUERY_LOG_H

/*
 * A line on stderr for each query that was answered (log.queries). Workers leave a record each in
 * a ring of QUERY_LOG_RING bytes, a thread makes lines of them. stderr may be a pipe whose reader
 * is slow or asleep: then records are lost and counted (query_log_dropped), and workers go on.
 * stderr may be a file on a full disk: then lines are lost, and query_log_lost() counts them. The
 * order of a worker's lines is that of its answers.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/stats.h"
#include "base/tap.h"

enum { QUERY_LOG_RING = 2 * 1024 * 1024 }; /* bytes of each worker, some 15000 queries */

struct query_log;

/* fd: where lines go, borrowed; stderr. NULL: out of memory. */
struct query_log *query_log_new(size_t workers, int fd);
/* The thread begins, before the first tap is used; again: nothing. Of one thread, as _free(). */
MUST_USE enum err query_log_start(struct query_log *log);
/* A worker's tap, for its own thread; stats are its. Lives as long as the log. */
struct tap *query_log_tap(struct query_log *log, size_t worker, struct stats *stats);
/* Lines that could not be written. Any thread. */
uint64_t query_log_lost(const struct query_log *log);
/* No worker uses its tap any more. Writes what is left, for DRAIN_STOP_MS at most. NULL is fine. */
void query_log_free(struct query_log *log);

#endif
