/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Counts and logs the ends of clients' TLS handshakes. What becomes of them is session.c's. */
#include "serve/client_handshake.h"

#include "base/log.h"
#include "base/stats.h"
#include "tls/tls.h"

void client_handshake_done(struct stats *stats, const struct tls *tls)
{
    stats_add_at(stats, tls_facts(tls).resumed ? stat_client_tls_resumed : stat_client_tls_full, 1);
}

/* Alerts are told: a client that does not trust our certificate shows here and nowhere else. Whom
 * we hear nothing of has left, or scans ports. */
static void log_failure(const struct addr *addr, const struct tls *tls, enum err why)
{
    char client[ADDR_TEXT_MAX];
    const char *detail = tls_detail(tls);
    addr_format(addr, client);
    if (*detail)
        LOG_LIMITED(LOG_INFO, "serve", "TLS handshake with %s failed: %s (%s)", client,
                    err_str(why), detail);
    else
        LOG(LOG_DEBUG, "serve", "TLS handshake with %s failed: %s", client, err_str(why));
}

void client_handshake_failed(struct stats *stats, const struct addr *client, const struct tls *tls,
                             enum err why)
{
    bool was_slow = why == ERR_TIMED_OUT;
    stats_add_at(stats, was_slow ? stat_client_tls_timeout : stat_client_tls_failed, 1);
    log_failure(client, tls, why);
}
