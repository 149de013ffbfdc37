/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Combines the observers. The query log can start, stop and change with a reload; dnstap stays as
 * it was at the start.
 *
 * Invariant: only the worker links its taps.
 */
#include "daemon/watchers.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "base/tap.h"
#include "config/config.h"
#include "tap/dnstap.h"
#include "tap/query_log.h"

struct watchers {
    struct query_log *log;
    bool can_log;          /* its thread runs */
    struct dnstap *dnstap; /* NULL: none */
};

static enum err watchers_open_dnstap(struct watchers *watchers,
                                     const struct dnstap_options *options, size_t workers)
{
    if (!*options->socket && !*options->file)
        return ERR_OK;
    return dnstap_open(&watchers->dnstap, options, workers);
}

enum err watchers_open(struct watchers **out, const struct config *config, size_t workers)
{
    struct watchers *watchers = calloc(1, sizeof(*watchers));
    if (!watchers)
        return ERR_NO_MEMORY;
    watchers->log = query_log_new(workers, STDERR_FILENO);
    enum err err =
        watchers->log ? watchers_open_dnstap(watchers, &config->dnstap, workers) : ERR_NO_MEMORY;
    if (err) {
        watchers_close(watchers);
        return err;
    }
    watchers_prepare(watchers, config);
    *out = watchers;
    return ERR_OK;
}

const struct query_log *watchers_query_log(const struct watchers *watchers)
{
    return watchers->log;
}

void watchers_close(struct watchers *watchers)
{
    if (!watchers)
        return;
    query_log_free(watchers->log);
    dnstap_close(watchers->dnstap);
    free(watchers);
}

/* A line of log.queries has everything that one of log.failures has. */
static enum query_log_choice watchers_choice(const struct config *config)
{
    if (config->log_queries)
        return QUERY_LOG_ALL;
    return config->log_failures ? QUERY_LOG_FAILED : QUERY_LOG_NONE;
}

void watchers_prepare(struct watchers *watchers, const struct config *config)
{
    if (watchers_choice(config) == QUERY_LOG_NONE || watchers->can_log)
        return;
    enum err err = query_log_start(watchers->log);
    watchers->can_log = !err;
    if (err)
        LOG(LOG_ERROR, "daemon", "log.%s: queries are not logged: %s",
            config->log_queries ? "queries" : "failures", err_str(err));
}

void watchers_reopen(struct watchers *watchers)
{
    if (watchers->dnstap)
        dnstap_reopen(watchers->dnstap);
}

struct tap *watchers_client_tap(struct watchers *watchers, size_t worker, struct stats *stats,
                                const struct config *config)
{
    enum query_log_choice choice = watchers->can_log ? watchers_choice(config) : QUERY_LOG_NONE;
    struct tap *log = query_log_tap(watchers->log, worker, stats, choice);
    if (!watchers->dnstap || !dnstap_sees_clients(watchers->dnstap))
        return log;
    struct tap *dnstap = dnstap_tap(watchers->dnstap, worker, stats);
    dnstap->next = log;
    return dnstap;
}

struct tap *watchers_upstream_tap(struct watchers *watchers, size_t worker, struct stats *stats)
{
    if (!watchers->dnstap || !dnstap_sees_upstreams(watchers->dnstap))
        return NULL;
    return dnstap_tap(watchers->dnstap, worker, stats);
}
