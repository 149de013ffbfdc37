/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_WATCHERS_H
#define NAILUP_DAEMON_WATCHERS_H

/* The observers of all workers' queries: the query log and dnstap. */

#include <stddef.h>

#include "base/err.h"
#include "base/stats.h"

struct config;
struct query_log;
struct tap;
struct watchers;

/* Starts dnstap, if configured, and the query log, if it is on. Errors: ERR_NO_MEMORY,
 * ERR_NO_FILES, or the fault of dnstap.file. */
MUST_USE enum err watchers_open(struct watchers **out, const struct config *config, size_t workers);
/* Called after all workers have ended. NULL is fine. */
void watchers_close(struct watchers *watchers);

/* Valid until watchers_close(). */
const struct query_log *watchers_query_log(const struct watchers *watchers);

/* Main thread: prepares for log.queries and log.failures of this configuration, before the workers
 * get it. If the query log cannot start, logs that and continues without it. */
void watchers_prepare(struct watchers *watchers, const struct config *config);

/* Main thread: follows the path of dnstap.file, which a program may have renamed. */
void watchers_reopen(struct watchers *watchers);

/* Worker's thread, at the start and whenever log.queries or log.failures may have changed: returns
 * the tap for server_set_taps(). */
struct tap *watchers_client_tap(struct watchers *watchers, size_t worker, struct stats *stats,
                                const struct config *config);
/* Returns the tap for upstreams_set_taps(), which never changes. */
struct tap *watchers_upstream_tap(struct watchers *watchers, size_t worker, struct stats *stats);

#endif
