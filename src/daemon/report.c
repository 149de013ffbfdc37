/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* The first and last lines of the log. Only reads. */

#include "daemon/report.h"

#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "config/config.h"
#include "control/metrics.h"
#include "nailup/version.h"

enum {
    PREFIXES_SHOWN_MAX = 16
}; /* nailed prefixes with their own line; the rest is only counted */

static void report_nailed(const struct config *config)
{
    char text[PREFIX_TEXT_MAX];
    size_t shown = 0;

    for (size_t i = 0; i < config->entry_count; i++) {
        if (shown++ < PREFIXES_SHOWN_MAX)
            LOG(LOG_INFO, "daemon", "nailed: %s", prefix_format(&config->entries[i].prefix, text));
    }
    if (shown > PREFIXES_SHOWN_MAX)
        LOG(LOG_INFO, "daemon", "nailed: and %zu more prefixes", shown - PREFIXES_SHOWN_MAX);
}

void report_warnings(const struct config *config)
{
    struct span text = buf_span(&config->warnings);

    while (text.len) {
        const uint8_t *end = memchr(text.data, '\n', text.len);
        size_t len = end ? (size_t)(end - text.data) : text.len;
        LOG(LOG_WARNING, "config", "%.*s", (int)len, (const char *)text.data);
        len += end != NULL;
        text = span_of(text.data + len, text.len - len);
    }
}

void report_start(const struct control_view *view)
{
    char text[ADDR_TEXT_MAX];

    const struct config *config = view->config;

    LOG(LOG_NOTICE, "daemon",
        "nailupd %s, process %d; workers: %zu, forward zones: %zu, stub zones: %zu, recursion: %s",
        NAILUP_VERSION, (int)getpid(), view->worker_count, config->zone_count, config->stub_count,
        config_has_recursion(config) ? "yes" : "no");
    for (size_t i = 0; i < view->listening_count; i++)
        LOG(LOG_NOTICE, "daemon", "listening on %s, UDP and TCP",
            addr_format(&view->listening[i], text));
    for (size_t i = 0; i < view->listening_tls_count; i++)
        LOG(LOG_NOTICE, "daemon", "listening on %s, TLS",
            addr_format(&view->listening_tls[i], text));
    for (size_t i = 0; i < view->listening_https_count; i++)
        LOG(LOG_NOTICE, "daemon", "listening on %s, HTTPS",
            addr_format(&view->listening_https[i], text));
    if (addr_family(&view->config->metrics_listen) != AF_UNSPEC)
        LOG(LOG_NOTICE, "daemon", "metrics at %s, over HTTP",
            addr_format(&view->config->metrics_listen, text));
    report_nailed(view->config);
    LOG(LOG_INFO, "daemon", "local data: %zu names, %zu KiB",
        local_names_count(view->config->local), local_names_bytes(view->config->local) >> 10);
}

void report_end(const struct control_view *view, uint64_t now_us)
{
    struct stats stats;

    metrics_collect(view, &stats);
    LOG(LOG_NOTICE, "daemon",
        "stopped after %.1f s: %llu queries, %llu hits, %llu misses, %llu sent to upstreams",
        (double)(now_us - view->started_at) / 1e6,
        (unsigned long long)(stats.queries_udp + stats.queries_tcp + stats.queries_tls),
        (unsigned long long)stats.cache_hits, (unsigned long long)stats.cache_misses,
        (unsigned long long)(stats.upstream_queries_udp + stats.upstream_queries_tcp +
                             stats.upstream_queries_tls));
}
