/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_WATCHERS_H
#define NAILUP_DAEMON_WATCHERS_H

/* Who watches the queries of all workers: the query log, and a dnstap reader. */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/stats.h"

struct config;
struct query_log;
struct tap;
struct watchers;

/* The dnstap of the configuration begins, and the query log if it is on. ERR_NO_MEMORY,
 * ERR_NO_FILES, or what is wrong with dnstap.file. */
MUST_USE enum err watchers_open(struct watchers **out, const struct config *config, size_t workers);
/* No worker runs any more. NULL is fine. */
void watchers_close(struct watchers *watchers);

/* Lives as long as the watchers. */
const struct query_log *watchers_query_log(const struct watchers *watchers);

/* Main's: a configuration with this log.queries is about to be given to the workers. On a failure
 * it is logged that there will be no query log. */
void watchers_prepare(struct watchers *watchers, bool log_queries);

/* A worker's, on its thread, whenever log.queries changed: for server_set_taps(). */
struct tap *watchers_of_clients(struct watchers *watchers, size_t worker, struct stats *stats,
                                bool log_queries);
/* Likewise for upstreams_set_taps(); always the same. */
struct tap *watchers_of_upstreams(struct watchers *watchers, size_t worker, struct stats *stats);

#endif
